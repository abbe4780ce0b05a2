"""Simpler formulas behind a good one: without a term, a factor or an offset, and with exponents that people use."""

from __future__ import annotations

from collections.abc import Iterator

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
from occamkit.kernel import Effort, Offset

THOROUGH = Effort(starts=0, steps=40, least=1e-3)
MOST_ROUNDS = 8
MOST_POWER = 24
NEAR = 0.25
"""A fitted exponent is tried as a half or a whole number that is nearer than this."""


def pruned(race: Race, found: Fitted) -> Fitted:
    """Return the shortest formula that is reached by leaving parts out one by one.

    What is simpler but needs other numbers joins the race.
    """
    for _ in range(MOST_ROUNDS):
        memory = Memory(race.grammar).learn(found.formula, found.fit.constants)
        powers = memory.exponents
        runners, rough = [], []
        for simpler in dict.fromkeys(_simpler(found.formula, powers)):
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


def _simpler(formula: Sum, powers: dict[Factor, float]) -> Iterator[Sum]:
    offset, products = formula
    yield (Offset.NONE if offset else Offset.ONE), products
    yield from _simpler_inside(formula, powers, root=True)


def _simpler_inside(inside: Sum, powers: dict[Factor, float], root: bool = False) -> Iterator[Sum]:
    offset, products = inside
    if not root and offset != Offset.NONE:
        yield Offset.NONE, products
    for place, product in enumerate(products):
        rest = (products[:place], products[place + 1 :])
        if len(products) > 1:
            yield offset, (*rest[0], *rest[1])
        if len(product) == 1 and product[0][0] == FUNCTION:
            yield offset, (*rest[0], *product[0][3][1], *rest[1])  # f(c·x) with a small c
        for simpler in _simpler_product(product, powers):
            yield offset, (*rest[0], simpler, *rest[1])


def _simpler_product(product: Product, powers: dict[Factor, float]) -> Iterator[Product]:
    for place, factor in enumerate(product):
        before, after = product[:place], product[place + 1 :]
        if len(product) > 1:
            yield (*before, *after)
        kind, which, power, inside = factor
        if power == FREE and factor in powers:
            whole = round(powers[factor] * 2) * 2
            if 0 < abs(whole) <= MOST_POWER and abs(powers[factor] - whole / 4) < NEAR:
                yield (*before, (kind, which, whole, inside), *after)
        if kind == POWER and inside[0] != Offset.NONE and len(inside[1]) == 1:
            yield (*before, *_opened(inside[1][0], power), *after)  # (1 + c·x)^p with a large c
        if kind == FUNCTION:  # f(c·x) with a small c
            bare = not inside[0] and len(inside[1]) == 1
            line = raised((Offset.ONE if inside[0] else Offset.NONE, inside[1]), 4)
            yield (*before, *(inside[1][0] if bare else (line,)), *after)
        if kind != VARIABLE:
            for simpler in _simpler_inside(inside, powers):
                yield (*before, (kind, which, power, simpler), *after)


def _opened(product: Product, power: int) -> Product:
    """Return the power of a product as a product, or nothing of it where that cannot be written."""
    opened = []
    for kind, which, own, inside in product:
        whole = FREE if FREE in (own, power) else own * power // 4
        if (FREE not in (own, power) and own * power % 4) or (kind == FUNCTION and power != 4):
            return ()
        opened.append((kind, which, whole if kind != FUNCTION else own, inside))
    return tuple(opened)
