"""Formulas without their numbers: sums of products of factors, as plain tuples in one order.

    sum      (offset, products)            offset: an `Offset`
    product  (factor, ...)
    factor   (VARIABLE, which, power, ())  power in quarters, or FREE
             (POWER, 0, power, sum)
             (FUNCTION, which, 4, sum)

Where a sum stands decides which of its numbers are free, since constants absorb constants: at the root, weights are
solved for; inside an exponential an offset would be a factor; inside a power or a logarithm the offset is one, or the
first weight is. Equal formulas are equal tuples, so no formula is fitted twice.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, cached_property
from typing import Any

from occamkit.builtins.proposers.free_constants.functions import UnaryFunction
from occamkit.description import PRICES, power_cost
from occamkit.kernel import MOST_CONSTANTS, Offset, Op, Program, sum_of

VARIABLE, POWER, FUNCTION = 0, 1, 2
FREE = 99
"""In place of a power: it is fitted."""
POWERS = (4, -4, 8, -8, 2, -2, 12, -12, 6, -6, 16, -16, 20, -20, 24, -24)
"""The powers of an input that are columns of a table, in quarters."""
WIDTH = len(POWERS) + 2
"""Columns of an input: its powers, then itself about its mean, then its logarithm."""
CENTRED, LOGARITHM = WIDTH - 2, WIDTH - 1
COLUMN = {power: place for place, power in enumerate(POWERS)}
MOST_FACTORS, MOST_TERMS, MOST_DEPTH = 6, 8, 3
MOST_REMEMBERED = 100_000
"""Parts whose programs are at hand: some tens of megabytes."""

Factor = tuple[Any, ...]
Product = tuple[Factor, ...]
Sum = tuple[int, tuple[Product, ...]]


@dataclass(frozen=True)
class Coded:
    """What a factor, a product or a sum comes to: its program, its constants, and what it costs to write down."""

    code: tuple[int, ...]
    constants: int
    cost: float


def variable(which: int, power: int = 4) -> Factor:
    """Return a power of an input."""
    return (VARIABLE, which, power, ())


def raised(inside: Sum, power: int) -> Factor:
    """Return a power of a sum."""
    return (POWER, 0, power, inside)


class Grammar:
    """Makes formulas over some inputs and functions, and knows which make sense.

    one_sign: which inputs have one sign and no zero on all rows, so that all powers of them exist. plain: which have no
    unit, so that a power of them may be fitted.
    """

    def __init__(self, functions: Sequence[UnaryFunction], one_sign: Sequence[bool], plain: Sequence[bool]) -> None:
        self.functions = tuple(functions)
        self.one_sign, self.plain = tuple(one_sign), tuple(plain)
        self._parts: dict[tuple[Factor, bool], Coded] = {}
        self._products: dict[Product, Coded] = {}
        self._tidied: dict[Factor, Factor | None] = {}
        self._tidied_products: dict[tuple[Product, int], Product | None] = {}

    @cached_property
    def inputs(self) -> range:
        return range(len(self.one_sign))

    def function(self, which: int, inside: Sum) -> Factor:
        """Return a function of a sum, which gets an offset that the function allows."""
        offsets = self.functions[which].offsets
        return (FUNCTION, which, 4, (inside[0] if inside[0] in offsets else offsets[0], inside[1]))

    def may(self, which: int, power: int) -> bool:
        """Whether a power of an input exists on all rows and has a meaning."""
        if power == FREE:
            return self.one_sign[which] and self.plain[which]
        return power in COLUMN and (self.one_sign[which] or (power > 0 and power % 4 == 0))

    def tidy(self, offset: int, products: Iterable[Product]) -> Sum | None:
        """Return a sum at the root in its one order; None where it makes no sense or has a simpler twin."""
        return self._sum(offset, products, 0)

    def _sum(self, offset: int, products: Iterable[Product], depth: int) -> Sum | None:
        if depth > MOST_DEPTH:
            return None
        kept: list[Product] = []
        for one in products:
            key = (one, depth)
            if key not in self._tidied_products:
                self._tidied_products[key] = self._product(one, depth)
            product = self._tidied_products[key]
            if product is None or (len(product) == 1 and product[0][0] == POWER and product[0][2] == 4):
                return None
            twins = kept.count(product)
            if twins == 0 or (twins == 1 and _has_constants(product)):
                kept.append(product)
        if not kept or len(kept) > MOST_TERMS:
            return None
        return offset, tuple(sorted(kept))

    def _product(self, factors: Product, depth: int) -> Product | None:
        powers: dict[int, int] = {}
        rest: list[Factor] = []
        exponents: dict[int, tuple[Product, ...]] = {}
        for factor in factors:
            kind, which, power, inside = factor
            if kind == VARIABLE:
                before = powers.get(which, 0)
                powers[which] = FREE if FREE in (before, power) else before + power
            elif kind == FUNCTION and self.functions[which].op is Op.EXP:
                exponents[which] = exponents.get(which, ()) + inside[1]
            else:
                rest.append(factor)
        rest += [(FUNCTION, which, 4, (Offset.NONE, inside)) for which, inside in exponents.items()]
        kept: list[Factor] = []
        for which, power in powers.items():
            if power != 0:
                if not self.may(which, power):
                    return None
                kept.append((VARIABLE, which, power, ()))
        for factor in rest:
            tidied = self._factor(factor, depth)
            if tidied is None or (tidied in kept and not (tidied[0] == FUNCTION and self._wave(tidied))):
                return None
            kept.append(tidied)
        return tuple(sorted(kept)) if 0 < len(kept) <= MOST_FACTORS else None

    def _wave(self, factor: Factor) -> bool:
        return self.functions[factor[1]].op in (Op.SIN, Op.COS)

    def _factor(self, factor: Factor, depth: int) -> Factor | None:
        key = (*factor, depth)
        if key not in self._tidied:
            self._tidied[key] = self._tidy_factor(factor, depth)
        return self._tidied[key]

    def _tidy_factor(self, factor: Factor, depth: int) -> Factor | None:  # noqa: PLR0911 each is a reason of its own
        kind, which, power, (offset, products) = factor
        inside = self._sum(offset, products, depth + 1)
        if inside is None:
            return None
        terms = inside[1]
        lone = terms[0][0] if len(terms) == 1 and len(terms[0]) == 1 else None
        if kind == POWER:
            if offset == Offset.NONE and len(terms) == 1:
                return None  # a power of a product is a product
            return (POWER, 0, power, (Offset.ONE if offset else Offset.NONE, terms))
        function = self.functions[which]
        offset = offset if offset in function.offsets else function.offsets[0]
        if lone is not None and lone[0] == FUNCTION:
            below = self.functions[lone[1]].op
            if {function.op, below} == {Op.EXP, Op.LOG} and (function.op is Op.EXP or not offset):
                return None
            if below in _BOUNDED and function.op in _BOUNDED:
                return None
        if function.op is Op.LOG and offset == Offset.NONE and len(terms) == 1 and lone is None:
            return None  # the logarithm of a product is a sum
        return (FUNCTION, which, 4, (offset, terms))

    def part(self, factor: Factor, centred: bool) -> Coded:
        """Return what a factor comes to; centred: it stands alone in a sum that has an offset."""
        key = (factor, centred)
        found = self._parts.get(key)
        if found is None:
            if len(self._parts) > MOST_REMEMBERED:
                for cache in (self._parts, self._products, self._tidied, self._tidied_products):
                    cache.clear()
            found = self._parts[key] = self._part(factor, centred)
        return found

    def _part(self, factor: Factor, centred: bool) -> Coded:
        kind, which, power, inside = factor
        if kind == VARIABLE:
            if power == FREE:
                return Coded((int(Op.LOAD_POWER), which * WIDTH + LOGARITHM), 1, 1 + PRICES.fitted)
            column = CENTRED if centred and power == 4 else COLUMN[power]
            return Coded((int(Op.LOAD), which * WIDTH + column), 0, 1 + _cost(power))
        offset, products = inside
        first_is_one = False
        if kind == POWER:
            first_is_one = offset == Offset.NONE
            last: tuple[int, ...] = (Op.RAISE_FREE, 0) if power == FREE else (Op.RAISE, power)
            price = PRICES.fitted if power == FREE else _cost(power)
        else:
            function = self.functions[which]
            first_is_one = function.op is Op.LOG and offset == Offset.NONE
            last = (function.op, which)
            price = function.cost
        has_offset = offset != Offset.NONE or (kind == FUNCTION and self.functions[which].op is Op.EXP)
        parts = [self.product(one, has_offset) for one in products]
        code = tuple(number for part in parts for number in part.code)
        free = len(parts) - first_is_one + (offset == Offset.FREE)
        constants = sum(part.constants for part in parts) + free + (power == FREE)
        cost = sum(part.cost for part in parts) + len(parts) - 1 + (offset != Offset.NONE) + price
        last = sum_of(len(parts), Offset(offset), first_is_one) + last
        return Coded(code + tuple(map(int, last)), constants, cost)

    def product(self, product: Product, centred: bool) -> Coded:
        """Return what a product comes to."""
        if len(product) == 1:
            return self.part(product[0], centred)
        found = self._products.get(product)
        if found is None:
            parts = [self.part(factor, False) for factor in product]
            code = parts[0].code + tuple(n for part in parts[1:] for n in (*part.code, *_MULTIPLY))
            powers = [abs(one[2]) for one in product if one[2] not in (4, FREE)]
            twice = sum(map(_cost, powers)) - sum(map(_cost, set(powers)))  # (v/c)² has one exponent
            found = Coded(code, sum(part.constants for part in parts), sum(part.cost for part in parts) - twice)
            self._products[product] = found
        return found

    def program(self, formula: Sum) -> tuple[Program, float] | None:
        """Return the program of a formula, and what it costs to write down; None if it has too many constants."""
        offset, products = formula
        parts = [self.product(one, bool(offset)) for one in products]
        constants = sum(part.constants for part in parts)
        if constants > MOST_CONSTANTS:
            return None
        code = [number for part in parts for number in (*part.code, *_TERM)]
        cost = sum(part.cost for part in parts) + len(parts) - 1 + bool(offset)
        return Program(tuple(code), constants, len(parts), bool(offset)), cost


_MULTIPLY, _TERM = (int(Op.MULTIPLY), 0), (int(Op.TERM), 0)
_BOUNDED = (Op.SIN, Op.COS, Op.TANH)


@cache
def _cost(power: int) -> float:
    """Return what an exponent in quarters costs."""
    return power_cost(Fraction(power, 4))


def stored(formula: Sum) -> Sum:
    """Return a formula as plain numbers, which are equal to those that it is made of."""
    return int(formula[0]), tuple(tuple(map(_stored, product)) for product in formula[1])


def _stored(factor: Factor) -> Factor:
    kind, which, power, inside = factor
    return kind, which, power, stored(inside) if inside else ()


def has_constants(formula: Sum) -> bool:
    """Whether there is a number inside a term."""
    return any(_has_constants(product) for product in formula[1])


def _has_constants(product: Product) -> bool:
    return any(factor[0] != VARIABLE or factor[2] == FREE for factor in product)
