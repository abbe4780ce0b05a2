"""Which unit each fitted number of a formula has: the one with which the formula has a meaning.

Every sum asks that its terms have one unit, every sine that its argument has none: linear equations in the exponents of
the unknown units, solved exactly. A unit that nothing decides is none.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from occamkit.graph.closed import Product, Sum
from occamkit.graph.expression import Apply, Expression, Leaf
from occamkit.protocols import Primitive
from occamkit.units import CLASH, DIMENSIONLESS, Dim

_LENGTH, _TIME = Dim.of({"length": 1}), Dim.of({"time": 1})


@dataclass(frozen=True)
class _Unit:
    """A known unit times powers of unknown ones, by their places."""

    known: Dim = DIMENSIONLESS
    unknown: Mapping[int, Fraction] = field(default_factory=dict)

    def times(self, other: _Unit, power: Fraction = Fraction(1)) -> _Unit:
        unknown = dict(self.unknown)
        for place, exponent in other.unknown.items():
            unknown[place] = unknown.get(place, Fraction(0)) + power * exponent
        return _Unit(self.known * other.known**power, {place: one for place, one in unknown.items() if one})

    def over(self, other: _Unit) -> _Unit:
        return self.times(other, Fraction(-1))


def units_of_constants(
    tree: Expression, units: Mapping[str, Dim], output: Dim, plain: Collection[int] = ()
) -> tuple[Dim, ...] | None:
    """Return the unit of each fitted number of a tree, in order; None where no units give the formula a meaning.

    units: of the leaves. plain: the places of numbers that have none, as a factor of one has.
    """
    asked = _Asked(units)
    whole = asked.of(tree)
    asked.none.append(whole.over(_Unit(output)))
    asked.none += [_Unit(unknown={place: Fraction(1)}) for place in plain]
    return _solved(asked.none, tree.constant_count)


class _Asked:
    """Goes through a tree and collects what must have no unit."""

    def __init__(self, units: Mapping[str, Dim]) -> None:
        self.none: list[_Unit] = []
        self._units, self._place = units, 0

    def of(self, tree: Expression) -> _Unit:
        own = [self._number() for _ in range(tree.own_constants)]
        if isinstance(tree, Leaf):
            return _Unit(self._units.get(tree.name, DIMENSIONLESS))
        below = [self.of(one) for one in tree.below]
        if isinstance(tree, Product):
            return self._product(tree, own, below)
        if isinstance(tree, Sum):
            offset, *weights = own
            terms = [weight.times(one) for weight, one in zip(weights, below, strict=True)]
            terms += [offset] if tree.offset != 0 or not terms else []
            self.none += [one.over(terms[0]) for one in terms[1:]]
            return terms[0]
        assert isinstance(tree, Apply)
        return self._applied(tree.primitive, [*below, *own])

    def _number(self) -> _Unit:
        self._place += 1
        return _Unit(unknown={self._place - 1: Fraction(1)})

    def _product(self, tree: Product, own: Sequence[_Unit], below: Sequence[_Unit]) -> _Unit:
        made = own[0] if own else _Unit()
        self.none += own[1:]  # exponents
        for one, (_, power) in zip(below, tree.factors, strict=True):
            if isinstance(power, Fraction):
                made = made.times(one, power)
            else:  # any other number would give the result a unit of its own
                self.none.append(one)
        return made

    def _applied(self, primitive: Primitive, arguments: Sequence[_Unit]) -> _Unit:
        """Return the unit of a primitive's value, by what it makes of lengths and times."""
        count = len(arguments)
        if count == 2 and (powers := _powers(primitive.units(_LENGTH, _TIME), 2)) is not None:
            return _Unit().times(arguments[0], powers[0]).times(arguments[1], powers[1])
        powers = _powers(primitive.units(*[_LENGTH] * count), 1)
        if powers is None:
            self.none += arguments
            return _Unit()
        self.none += [one.over(arguments[0]) for one in arguments[1:]]
        return _Unit().times(arguments[0], powers[0])


def _powers(unit: object, count: int) -> list[Fraction] | None:
    """Return the powers of length, and of time, that a unit is made of; None for any other."""
    if unit is CLASH or not isinstance(unit, Dim):
        return None
    powers = dict(unit.powers)
    return [powers.get(name, Fraction(0)) for name in ("length", "time")[:count]]


def _solved(none: Sequence[_Unit], count: int) -> tuple[Dim, ...] | None:
    """Return the unknown units that leave all of these without a unit; None if there are none such."""
    rows: dict[int, _Unit] = {}
    for one in none:
        for place, row in rows.items():
            one = one.times(row, -one.unknown.get(place, Fraction(0)))  # noqa: PLW2901 reduced step by step
        if not one.unknown:
            if one.known != DIMENSIONLESS:
                return None
            continue
        place = max(one.unknown)
        one = _Unit().times(one, 1 / one.unknown[place])  # noqa: PLW2901
        rows = {at: row.times(one, -row.unknown.get(place, Fraction(0))) for at, row in rows.items()}
        rows[place] = one
    return tuple(rows[place].known ** Fraction(-1) if place in rows else DIMENSIONLESS for place in range(count))
