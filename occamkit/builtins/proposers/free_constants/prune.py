"""Simpler formulas behind a good one: without a term, a factor or an offset, and with exponents that people use."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from occamkit.builtins.proposers.free_constants.changes import Memory
from occamkit.builtins.proposers.free_constants.levels import Fitted
from occamkit.builtins.proposers.free_constants.race import Race, Runner
from occamkit.builtins.proposers.free_constants.skeleton import (
    FREE,
    FUNCTION,
    POWER,
    VARIABLE,
    Factor,
    Product,
    Sum,
    raised,
)
from occamkit.kernel import Effort, Offset, Op

THOROUGH = Effort(starts=0, steps=40, least=1e-3)
MOST_ROUNDS = 8
MOST_POWER = 24
NEAR = 0.25
"""A fitted exponent is tried as a half or a whole number that is nearer than this."""


def pruned(race: Race, found: Fitted) -> Fitted:
    """Return the shortest formula that is reached by leaving parts out one by one.

    What is simpler but needs other numbers joins the race.
    """
    ops = {one.op: which for which, one in enumerate(race.grammar.functions)}
    cosines = {ops[Op.SIN]: ops[Op.COS]} if {Op.SIN, Op.COS} <= ops.keys() else {}
    sines = {cosine: sine for sine, cosine in cosines.items()}
    for _ in range(MOST_ROUNDS):
        memory = Memory(race.grammar, sines).learn(found.formula, found.fit.constants)
        runners, rough = [], []
        for simpler in dict.fromkeys(_Simpler(memory.exponents, cosines).of(found.formula)):
            formula = race.grammar.tidy(*simpler)
            made = None if formula is None or formula == found.formula else race.grammar.program(formula)
            if formula is not None and made is not None and made[0].numbers <= race.most_numbers:
                given = memory.recall(formula)
                if not np.isnan(given).any():
                    runners.append(Runner(formula, *made, given))
                else:
                    rough.append((formula, given))
        race.run(rough)
        tried = race.refit(runners, THOROUGH) if runners else []
        best = min(tried, key=lambda one: one.described, default=None)
        if best is None or best.described >= found.described - 1e-9:
            break
        found = best
        race.levels.add(found)
    return found


@dataclass(frozen=True)
class _Simpler:
    """What is simpler than a formula by one part; powers: its fitted exponents, cosines: of each sine, where given."""

    powers: dict[Factor, float]
    cosines: dict[int, int]

    def of(self, formula: Sum) -> Iterator[Sum]:
        offset, products = formula
        yield (Offset.NONE if offset else Offset.ONE), products
        yield from self._sums(formula, root=True)

    def _sums(self, inside: Sum, root: bool = False) -> Iterator[Sum]:
        offset, products = inside
        if not root and offset != Offset.NONE:
            yield Offset.NONE, products
        for place, product in enumerate(products):
            rest = (products[:place], products[place + 1 :])
            if len(products) > 1:
                yield offset, (*rest[0], *rest[1])
            if len(product) == 1 and product[0][0] == FUNCTION:
                yield offset, (*rest[0], *product[0][3][1], *rest[1])  # f(c·x) with a small c
            for simpler in self._products(product):
                yield offset, (*rest[0], simpler, *rest[1])

    def _products(self, product: Product) -> Iterator[Product]:
        for place, factor in enumerate(product):
            before, after = product[:place], product[place + 1 :]
            if len(product) > 1:
                yield (*before, *after)
            for simpler in self._factors(factor):
                yield (*before, *simpler, *after)

    def _factors(self, factor: Factor) -> Iterator[Product]:
        kind, which, power, inside = factor
        if power == FREE and factor in self.powers:
            whole = round(self.powers[factor] * 2) * 2
            if 0 < abs(whole) <= MOST_POWER and abs(self.powers[factor] - whole / 4) < NEAR:
                yield ((kind, which, whole, inside),)
        if kind == POWER and inside[0] != Offset.NONE and len(inside[1]) == 1:
            yield _opened(inside[1][0], power)  # (1 + c·x)^p with a large c
        if kind == FUNCTION:  # f(c·x) with a small c
            bare = not inside[0] and len(inside[1]) == 1
            line = raised((Offset.ONE if inside[0] else Offset.NONE, inside[1]), 4)
            yield inside[1][0] if bare else (line,)
            if inside[0] == Offset.FREE and which in self.cosines:
                yield ((FUNCTION, self.cosines[which], power, (Offset.NONE, inside[1])),)
        if kind != VARIABLE:
            for simpler in self._sums(inside):
                yield ((kind, which, power, simpler),)


def _opened(product: Product, power: int) -> Product:
    """Return the power of a product as a product, or nothing of it where that cannot be written."""
    opened = []
    for kind, which, own, inside in product:
        whole = FREE if FREE in (own, power) else own * power // 4
        if (FREE not in (own, power) and own * power % 4) or (kind == FUNCTION and power != 4):
            return ()
        opened.append((kind, which, whole if kind != FUNCTION else own, inside))
    return tuple(opened)
