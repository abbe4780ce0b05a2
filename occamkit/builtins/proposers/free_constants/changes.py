"""Changes that make one formula of another, or of two: what is varied once all small ones were tried.

A change is made to the formula without its numbers; parts that stay keep their numbers as a start.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator, Mapping
from itertools import accumulate

import numpy as np

from occamkit.builtins.proposers.free_constants.plan import OUTER
from occamkit.builtins.proposers.free_constants.skeleton import (
    FREE,
    FUNCTION,
    POWER,
    POWERS,
    VARIABLE,
    Factor,
    Grammar,
    Product,
    Sum,
    raised,
    variable,
)
from occamkit.kernel import Numbers, Offset, Op


class Changes:
    """Random changes of formulas of a grammar, some more often than others."""

    def __init__(self, grammar: Grammar, draw: random.Random) -> None:
        self._grammar, self._random = grammar, draw
        chances = {
            self._add_term: 22,
            self._add_factor: 14,
            self._replace: 10,
            self._switch: 7,
            self._wrap: 9,
            self._drop: 8,
            self._unwrap: 5,
            self._cross: 25,
        }
        self._changes, self._chances = list(chances), list(accumulate(chances.values()))

    def child(self, parent: Sum, other: Sum) -> Sum | None:
        """Return a changed parent, in which there may be parts of another; None where the change makes no sense."""
        (change,) = self._random.choices(self._changes, cum_weights=self._chances)
        changed = change((Offset.ONE, parent[1]), other)
        return None if changed is None else self._grammar.tidy(*changed)

    def atom(self, depth: int = 0) -> Factor:
        """Return a random factor: an input, or a function of few."""
        draw = self._random
        if depth > 1 or draw.random() < 0.45:
            which = draw.choice(self._grammar.inputs)
            power = draw.choice((4, 4, 4, 4, -4, -4, 8, FREE, 2))
            return variable(which, power if self._grammar.may(which, power) else draw.choice((4, 8)))
        products = []
        for _ in range(1 if draw.random() < 0.75 else 2):
            product = [self.atom(depth + 1)]
            if draw.random() < 0.15:
                product.append(variable(draw.choice(self._grammar.inputs)))
            products.append(tuple(product))
        return self._wrapped((Offset.ONE if draw.random() < 0.85 else Offset.NONE, tuple(products)))

    def _wrapped(self, inside: Sum) -> Factor:
        place = self._random.randrange(len(self._grammar.functions) + len(OUTER) + 1)
        if place < len(self._grammar.functions):
            return self._grammar.function(place, inside)
        return raised(inside, (*OUTER, 4)[place - len(self._grammar.functions)])

    def _add_term(self, parent: Sum, other: Sum) -> Sum:
        term: Product = (self.atom(), *((self.atom(1),) if self._random.random() < 0.3 else ()))
        return self._at_sum(parent, lambda inside: (inside[0], (*inside[1], term)), 0.6)

    def _add_factor(self, parent: Sum, other: Sum) -> Sum:
        return self._at_product(parent, lambda product: (*product, self.atom()))

    def _replace(self, parent: Sum, other: Sum) -> Sum:
        return self._at_factor(parent, lambda _: (self.atom(),))

    def _switch(self, parent: Sum, other: Sum) -> Sum:
        return self._at_factor(parent, self._switched)

    def _switched(self, factor: Factor) -> Product:
        kind, which, power, inside = factor
        if kind == VARIABLE:
            if self._random.random() < 0.5:
                return (variable(self._random.choice(self._grammar.inputs), power),)
            return (variable(which, self._random.choice((*POWERS[:8], FREE))),)
        if self._random.random() < 0.3:
            inside = (Offset.NONE if inside[0] else Offset.ONE, inside[1])
        return (self._wrapped(inside),)

    def _wrap(self, parent: Sum, other: Sum) -> Sum:
        if self._random.random() < 0.5:
            return self._at_product(parent, lambda product: (self._wrapped((Offset.ONE, (product,))),))
        return self._at_factor(parent, lambda factor: (self._wrapped((Offset.ONE, ((factor,),))),))

    def _drop(self, parent: Sum, other: Sum) -> Sum:
        if self._random.random() < 0.5:
            return self._at_sum(parent, lambda inside: (inside[0], _without(inside[1], self._random)), 0.3)
        return self._at_product(parent, lambda product: _without(product, self._random))

    def _unwrap(self, parent: Sum, other: Sum) -> Sum:
        def opened(factor: Factor) -> Product:
            return (factor,) if factor[0] == VARIABLE else self._random.choice(factor[3][1])

        return self._at_factor(parent, opened)

    def _cross(self, parent: Sum, other: Sum) -> Sum:
        product = self._random.choice(list(products_of(other)))
        factor = self._random.choice([one for some in products_of(other) for one in some])
        kind = self._random.random()
        if kind < 0.35:
            return self._at_sum(parent, lambda inside: (inside[0], (*inside[1], product)), 0.5)
        if kind < 0.6:
            return self._at_product(parent, lambda _: product)
        if kind < 0.8:
            return self._at_factor(parent, lambda _: (factor,))
        return self._at_product(parent, lambda mine: (*mine, factor))

    def _at_sum(self, formula: Sum, change: Callable[[Sum], Sum], root: float) -> Sum:
        """Change one of the sums of a formula, with this chance the one at the root."""
        inner = sum(1 for product in products_of(formula) for factor in product if factor[0] != VARIABLE)
        if not inner or self._random.random() < root:
            return change(formula)
        return _nth_sum(formula, self._random.randrange(inner), change)

    def _at_product(self, formula: Sum, change: Callable[[Product], Product]) -> Sum:
        chosen = self._random.randrange(sum(1 for _ in products_of(formula)))
        return _rebuilt(formula, iter([None] * chosen + [change]))

    def _at_factor(self, formula: Sum, change: Callable[[Factor], Product]) -> Sum:
        places = [(chosen, at) for chosen, one in enumerate(products_of(formula)) for at in range(len(one))]
        chosen, at = self._random.choice(places)

        def changed(product: Product) -> Product:
            return (*product[:at], *change(product[at]), *product[at + 1 :])

        return _rebuilt(formula, iter([None] * chosen + [changed]))


def products_of(formula: Sum) -> Iterator[Product]:
    """Go through the products of a formula, each before those inside it."""
    for product in formula[1]:
        yield product
        for factor in product:
            if factor[0] != VARIABLE:
                yield from products_of(factor[3])


def _rebuilt(formula: Sum, changes: Iterator[Callable[[Product], Product] | None]) -> Sum:
    """Return a formula with a change at each product for which there is one, in the order of `products_of`."""
    made = []
    for product in formula[1]:
        change = next(changes, None)
        if change is not None:
            made.append(tuple(change(product)))
            continue
        made.append(
            tuple(
                factor if factor[0] == VARIABLE else (*factor[:3], _rebuilt(factor[3], changes)) for factor in product
            )
        )
    return formula[0], tuple(made)


def _nth_sum(formula: Sum, place: int, change: Callable[[Sum], Sum]) -> Sum:
    left = [place]

    def walk(inside: Sum) -> Sum:
        made = []
        for product in inside[1]:
            factors = []
            for factor in product:
                if factor[0] != VARIABLE:
                    left[0] -= 1
                    below = change(factor[3]) if left[0] == -1 else walk(factor[3])
                    factors.append((*factor[:3], below))
                else:
                    factors.append(factor)
            made.append(tuple(factors))
        return inside[0], tuple(made)

    return walk(formula)


def _without(parts: tuple[Factor, ...] | tuple[Product, ...], draw: random.Random) -> tuple[Factor, ...]:
    if len(parts) < 2:
        return parts
    place = draw.randrange(len(parts))
    return (*parts[:place], *parts[place + 1 :])


class Memory:
    """The numbers of fitted formulas, part by part, for formulas that share parts with them.

    twins: functions whose weights are those of other functions, as a cosine has those of a sine.
    """

    def __init__(self, grammar: Grammar, twins: Mapping[int, int] | None = None) -> None:
        self._grammar, self._twins = grammar, twins or {}
        self._factors: dict[Factor, tuple[float, ...]] = {}
        self._weights: dict[tuple[int, int, Product], float] = {}
        self._offsets: dict[tuple[int, int], float] = {}

    @property
    def exponents(self) -> dict[Factor, float]:
        """The fitted exponents, each by the factor that has it."""
        return {factor: own[-1] for factor, own in self._factors.items() if factor[2] == FREE}

    def learn(self, formula: Sum, constants: Numbers) -> Memory:
        """Remember the constants of a formula, in the order of its program."""
        numbers = iter(constants.tolist())
        for product in formula[1]:
            for factor in product:
                self._learn(factor, numbers)
        return self

    def _learn(self, factor: Factor, numbers: Iterator[float]) -> tuple[float, ...]:
        kind, which, power, inside = factor
        own: list[float] = []
        if kind != VARIABLE:
            for product in inside[1]:
                for one in product:
                    own += self._learn(one, numbers)
            for place, product in enumerate(inside[1]):
                if place or not first_is_one(self._grammar, factor):
                    own.append(next(numbers))
                    self._weights[kind, which, product] = own[-1]
            if inside[0] == Offset.FREE:
                own.append(next(numbers))
                self._offsets[kind, which] = own[-1]
        if power == FREE:
            own.append(next(numbers))
        self._factors[factor] = tuple(own)
        return tuple(own)

    def recall(self, formula: Sum, other: Memory | None = None) -> Numbers:
        """Return constants for another formula; NaN for those of parts that neither this nor another memory knows."""
        found: list[float] = []
        for product in formula[1]:
            for factor in product:
                found += self._recall(factor, other or self)
        return np.array(found)

    def _recall(self, factor: Factor, other: Memory) -> list[float]:
        known = self._factors.get(factor) or other._factors.get(factor)
        if known is not None:
            return list(known)
        kind, which, power, inside = factor
        found: list[float] = []
        if kind != VARIABLE:
            for product in inside[1]:
                for one in product:
                    found += self._recall(one, other)
            for place, product in enumerate(inside[1]):
                if place or not first_is_one(self._grammar, factor):
                    key = kind, self._twins.get(which, which), product
                    found.append(self._weights.get(key, other._weights.get(key, math.nan)))
            if inside[0] == Offset.FREE:
                found.append(self._offsets.get((kind, which), other._offsets.get((kind, which), math.nan)))
        return [*found, math.nan] if power == FREE else found


def first_is_one(grammar: Grammar, factor: Factor) -> bool:
    """Whether the first weight of the sum inside a factor is one."""
    kind, which, _, inside = factor
    if inside[0] != Offset.NONE:
        return False
    return kind == POWER or (kind == FUNCTION and grammar.functions[which].op is Op.LOG)
