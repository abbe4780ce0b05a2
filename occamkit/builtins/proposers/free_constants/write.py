"""Fitted formulas as trees over the user's own columns, in the form that people write.

Inside the search inputs are divided by their spread and stand about their mean; here the numbers are brought back, and
those that belong to each other are put together: exp(a + b·x) is a factor and exp(b·x), (a + b·x)^p is b^p·(x + a/b)^p.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from occamkit import Apply, Expression, Leaf, Product, Sum
from occamkit.builtins.proposers.free_constants.changes import first_is_one
from occamkit.builtins.proposers.free_constants.functions import UnaryFunction
from occamkit.builtins.proposers.free_constants.levels import Fitted
from occamkit.builtins.proposers.free_constants.rows import Rows
from occamkit.builtins.proposers.free_constants.settings import SETTINGS
from occamkit.builtins.proposers.free_constants.skeleton import FREE, POWER, VARIABLE, Factor, Grammar
from occamkit.builtins.proposers.free_constants.skeleton import Product as Factors
from occamkit.graph import Monomial, Power, product, recognised, snapped, weighted_sum
from occamkit.kernel import Offset, Op

LAST_DIGITS = 1e-11
"""Rounding of numbers in an exact formula."""
MOST_OUTSIDE = 200.0
"""The largest logarithm of a factor that is taken out of a power."""
LARGEST = 600.0
"""The largest logarithm of a factor that is taken out of an exponential."""


@dataclass(frozen=True)
class Written:
    """A factor: exp(log) times sign times a tree to a power; tree None for one. shift: what is to be added to it."""

    tree: Expression | None
    power: Power = Fraction(1)
    log: float = 0.0
    sign: float = 1.0
    shift: float = 0.0


Terms = list[tuple[float, Expression]]


class Writer:
    """Writes formulas of a grammar over some rows."""

    def __init__(self, grammar: Grammar, rows: Rows) -> None:
        self._grammar, self._rows = grammar, rows
        self._inputs = rows.view.inputs
        self._cos = next((one for one in grammar.functions if one.op is Op.COS), None)

    def tree(self, found: Fitted) -> Expression | None:
        """Return a formula as a tree; None where its numbers are beyond what a double holds."""
        numbers = iter(found.fit.constants.tolist())
        offset, *weights = found.fit.weights.tolist()
        try:
            written = [self._product(one, bool(found.formula[0]), numbers) for one in found.formula[1]]
            level, terms = self._collected(offset, weights, written)
        except (OverflowError, ZeroDivisionError):
            return None
        if not all(math.isfinite(one) for one in (level, *(weight for weight, _ in terms))):
            return None
        inverted = self._rows.view.inverted
        scale = 1 / self._rows.level if inverted else self._rows.level
        level = 0.0 if abs(level) < LAST_DIGITS else level
        whole = weighted_sum(scale * level, [(scale * weight, tree) for weight, tree in terms])
        tree = product(1.0, [(whole, -1 if inverted else 1), *self._rows.view.front])
        if not math.isfinite(float(tree.evaluate(self._rows.sample))):
            return None
        return _plain(tree) if found.left < SETTINGS.exact else tree

    def _collected(self, offset: float, weights: list[float], written: list[list[Written]]) -> tuple[float, Terms]:
        """Return offset and weighted terms in the user's units."""
        terms: Terms = []
        for weight, factors in zip(weights, written, strict=True):
            value = weight * math.exp(sum(one.log for one in factors)) * math.prod(one.sign for one in factors)
            if len(factors) == 1 and factors[0].shift:
                offset += value * factors[0].shift
            terms.append((value, product(1.0, [(one.tree, one.power) for one in factors if one.tree is not None])))
        return offset, terms

    def _product(self, factors: Factors, centred: bool, numbers: Iterator[float]) -> list[Written]:
        alone = len(factors) == 1
        return [self._factor(one, centred and alone, alone, numbers) for one in factors]

    def _factor(self, factor: Factor, centred: bool, alone: bool, numbers: Iterator[float]) -> Written:
        kind, which, power, inside = factor
        if kind == VARIABLE:
            return self._variable(which, next(numbers) if power == FREE else Fraction(power, 4), centred and power == 4)
        offset, products = inside
        function = None if kind == POWER else self._grammar.functions[which]
        has_offset = offset != Offset.NONE or (function is not None and function.op is Op.EXP)
        written = [self._product(one, has_offset, numbers) for one in products]
        weights = [
            1.0 if place == 0 and first_is_one(self._grammar, factor) else next(numbers)
            for place in range(len(products))
        ]
        level = {Offset.NONE: 0.0, Offset.ONE: 1.0}.get(Offset(offset))
        level, terms = self._collected(next(numbers) if level is None else level, weights, written)
        if function is None:
            exponent = next(numbers) if power == FREE else Fraction(power, 4)
            return _power(level, terms, exponent, self._sign(level, terms))
        if function.op is Op.EXP:
            return _exponential(function, level, terms)
        if function.op is Op.LOG:
            return _logarithm(function, level, terms, alone, self._sign(level, terms))
        if function.op in (Op.SIN, Op.COS):
            return self._wave(function, level, terms)
        return Written(Apply(function.primitive, (weighted_sum(level, terms),)))

    def _variable(self, which: int, power: Power, centred: bool) -> Written:
        scale, leaf = float(self._rows.scales[which]), self._inputs[which]
        if centred:
            return Written(leaf, log=-math.log(scale), shift=-float(self._rows.means[which]))
        negative = self._rows.signs[which] < 0 and float(power) != int(power)
        base = product(-1.0, [(leaf, 1)]) if negative else leaf
        return Written(base, power, -float(power) * math.log(scale))

    def _sign(self, level: float, terms: Terms) -> float:
        """Return the sign that a sum has on the rows, from one of them."""
        value = level + sum(weight * float(tree.evaluate(self._rows.sample)) for weight, tree in terms)
        return math.copysign(1.0, value)

    def _wave(self, function: UnaryFunction, level: float, terms: Terms) -> Written:
        """Write a wave with a positive rate and a phase between -π/4 and π/4, or as near to that as may be."""
        sign = 1.0
        if terms[0][0] < 0:
            sign = -1.0 if function.op is Op.SIN else 1.0
            level, terms = -level, [(-weight, tree) for weight, tree in terms]
        turns = round(level / math.pi)
        level -= turns * math.pi
        sign = -sign if turns % 2 else sign
        if function.op is Op.SIN and self._cos is not None and abs(level) > math.pi / 4:
            sign, level = (sign, level - math.pi / 2) if level > 0 else (-sign, level + math.pi / 2)
            function = self._cos
        return Written(Apply(function.primitive, (weighted_sum(level, terms),)), sign=sign)


def _plain(tree: Expression) -> Expression:
    """Return an exact formula without the last digits that rounding has left in its numbers."""

    def shown(node: Expression, below: Sequence[Expression]) -> Expression:
        if isinstance(node, Product):
            factors = [(one, _power_of(power)) for one, (_, power) in zip(below, node.factors, strict=True)]
            return product(recognised(node.coefficient, LAST_DIGITS), factors)
        if isinstance(node, Sum):
            offset, *weights = (recognised(value, LAST_DIGITS) for value in node.own_fitted)
            return weighted_sum(offset, zip(weights, below, strict=True))
        return node.rebuilt(below, node.own_fitted)

    def walk(node: Expression) -> Expression:
        return node if isinstance(node, Monomial) else shown(node, [walk(one) for one in node.below])

    return walk(tree)


def _power_of(power: Power) -> Power:
    return power if isinstance(power, Fraction) else snapped(float(power), LAST_DIGITS)


def _power(level: float, terms: Terms, power: Power, sign: float) -> Written:
    """Write (level + terms)^power with the first weight in front."""
    whole = float(power).is_integer()
    first = terms[0][0] or 1.0
    scale = abs(first) if not whole else first
    if abs(float(power) * math.log(abs(scale))) > MOST_OUTSIDE:
        scale = 1.0  # what would stand in front is beyond what a double holds, though the product is not
    base = weighted_sum(level / scale, [(weight / scale, tree) for weight, tree in terms])
    if not whole and sign < 0:
        base = weighted_sum(-level / scale, [(-weight / scale, tree) for weight, tree in terms])
    odd = whole and scale < 0 and int(power) % 2
    return Written(base, power, float(power) * math.log(abs(scale)), -1.0 if odd else 1.0)


def _exponential(function: UnaryFunction, level: float, terms: Terms) -> Written:
    """Write exp(level + terms) with exp(level) in front, and a square in the exponent as that of a distance."""
    rate = function.rate
    peak = _peak(terms)
    if peak is not None:
        place, height, inner = peak
        level += height
        terms = [*inner, place]
    if abs(level) > LARGEST:
        return Written(Apply(function.primitive, (weighted_sum(level / rate, _divided(terms, rate)),)))
    return Written(Apply(function.primitive, (weighted_sum(0.0, _divided(terms, rate)),)), log=level)


def _divided(terms: Terms, rate: float) -> Terms:
    return [(weight / rate, tree) for weight, tree in terms]


def _peak(terms: Terms) -> tuple[tuple[float, Expression], float, Terms] | None:
    """Return a·x² + b·x as a·(x - m)² and what that leaves, with the other terms; None where there is no such pair."""
    for square, (weight, tree) in enumerate(terms):
        for line, (slope, leaf) in enumerate(terms):
            if isinstance(leaf, Leaf) and tree == product(1.0, [(leaf, 2)]):
                middle = -slope / (2 * weight)
                if abs(weight * middle**2) > LARGEST:
                    continue  # hardly a square, and no peak
                distance = product(1.0, [(weighted_sum(-middle, [(1.0, leaf)]), 2)])
                rest = [one for place, one in enumerate(terms) if place not in (square, line)]
                return (weight, distance), -weight * middle**2, rest
    return None


def _logarithm(function: UnaryFunction, level: float, terms: Terms, alone: bool, sign: float) -> Written:
    """Write log(level + terms) with the first weight taken out, where it can be added to what is around."""
    scale = (abs(terms[0][0]) or 1.0) if alone else 1.0
    scale *= sign
    base = weighted_sum(level / scale, [(weight / scale, tree) for weight, tree in terms])
    return Written(Apply(function.primitive, (base,)), shift=math.log(abs(scale)))
