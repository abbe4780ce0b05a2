"""Dimensional analysis: which products of powers of the inputs have a given unit, by exact arithmetic.

Without units every product of powers is dimensionless, and all of this still holds: the groups are the inputs
themselves, and anything may stand in front.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from torch import Tensor

from occamkit.dimensions.lattice import MOST_VECTORS, box_of, null_vectors, one_of_each, small_vectors
from occamkit.protocols import Variable
from occamkit.units import DIMENSIONLESS, Dim, Unit

Exponents = tuple[Fraction, ...]
"""One exponent for each input."""

MOST_SUPPORTS = 500


@dataclass(frozen=True)
class PowerProducts:
    """The products of powers that have a unit: start + any combination of the rows of basis, which have none."""

    start: Exponents
    basis: tuple[Exponents, ...]


def unit_rows(variables: Sequence[Variable]) -> list[list[Fraction]]:
    """Return the exponents of each base dimension (rows) in each variable (columns)."""
    units = [one.unit if isinstance(one.unit, Dim) else DIMENSIONLESS for one in variables]
    names = sorted({name for unit in units for name, _ in unit.powers})
    return [[dict(unit.powers).get(name, Fraction(0)) for unit in units] for name in names]


def groups(variables: Sequence[Variable]) -> list[Exponents]:
    """Return the dimensionless groups of the variables that carry units, simplest first, then the plain variables.

    A group has whole exponents without a common divisor, small where that can be, and stands for its inverse too.
    Together they span all groups.
    """
    carries = [one.unit != DIMENSIONLESS for one in variables]
    dimensional = [place for place, one in enumerate(carries) if one]
    found = []
    if dimensional:
        rows = unit_rows([variables[place] for place in dimensional])
        for exponents in null_vectors(rows, len(dimensional)):
            spread = [Fraction(0)] * len(variables)
            for place, exponent in zip(dimensional, exponents, strict=True):
                spread[place] = Fraction(exponent)
            found.append(tuple(spread))
    plain = [place for place, one in enumerate(carries) if not one]
    return [*found, *(_unit_vector(place, len(variables)) for place in plain)]


def scaling(variables: Sequence[Variable], unit: Unit) -> PowerProducts | None:
    """Return what may stand in front of a dimensionless function to give a unit; None if nothing can."""
    count = len(variables)
    target = unit if isinstance(unit, Dim) else DIMENSIONLESS
    start = with_unit(variables, target)
    if start is None:
        return None
    return PowerProducts(start, tuple(_independent(groups(variables), count)))


def scaling_of_some(variables: Sequence[Variable], able: Sequence[bool], unit: Unit) -> PowerProducts | None:
    """Return the same where only some of the variables may take part; the others have the exponent zero."""
    found = scaling([one for one, takes_part in zip(variables, able, strict=True) if takes_part], unit)
    if found is None:
        return None

    def spread(exponents: Exponents) -> Exponents:
        rest = iter(exponents)
        return tuple(next(rest) if takes_part else Fraction(0) for takes_part in able)

    return PowerProducts(spread(found.start), tuple(map(spread, found.basis)))


def in_echelon(basis: Sequence[Exponents], order: Iterable[int]) -> tuple[list[Exponents], list[int]]:
    """Return rows with the span of a basis, each of which alone moves one exponent, by one; and which that is.

    order: the variables, those first whose exponents are to be moved alone.
    """
    left, rows, pivots = list(basis), list[Exponents](), list[int]()
    for place in order:
        pivot = next((row for row in left if row[place]), None)
        if pivot is None:
            continue
        left.remove(pivot)
        one = tuple(value / pivot[place] for value in pivot)
        left, rows = ([_without(row, one, place) for row in part] for part in (left, rows))
        rows.append(one)
        pivots.append(place)
    return rows, pivots


def _without(row: Exponents, pivot: Exponents, place: int) -> Exponents:
    return tuple(value - row[place] * other for value, other in zip(row, pivot, strict=True))


def with_unit(variables: Sequence[Variable], unit: Dim) -> Exponents | None:
    """Return the simplest product of powers that has a unit, or None."""
    count = len(variables)
    if unit == DIMENSIONLESS:
        return (Fraction(0),) * count
    units = [one.unit if isinstance(one.unit, Dim) else DIMENSIONLESS for one in variables]
    names = sorted({name for one in (*units, unit) for name, _ in one.powers})
    columns = [[dict(one.powers).get(name, Fraction(0)) for name in names] for one in units]
    wanted = [dict(unit.powers).get(name, Fraction(0)) for name in names]
    places = [place for place in range(count) if units[place] != DIMENSIONLESS]
    best: Exponents | None = None
    tried = 0
    for size in range(1, len(names) + 1):
        for support in itertools.combinations(places, size):
            tried += 1
            solved = _solve([columns[place] for place in support], wanted)
            if solved is not None and all(solved):
                spread = [Fraction(0)] * count
                for place, exponent in zip(support, solved, strict=True):
                    spread[place] = exponent
                if best is None or _size(spread) < _size(best):
                    best = tuple(spread)
            if tried > MOST_SUPPORTS and best is not None:
                return best
    return best


def simple_monomials(scale: PowerProducts, most: int) -> list[Exponents]:
    """Return the simplest products of powers of a scaling: small steps from its start along its basis."""
    found = {scale.start: _size(scale.start)}
    steps = [Fraction(step, 1) for step in (-2, -1, 1, 2)] + [Fraction(step, 2) for step in (-1, 1)]
    moves: list[tuple[tuple[int, Fraction], ...]] = [
        (one,) for one in itertools.product(range(len(scale.basis)), steps)
    ]
    moves += list(itertools.combinations(itertools.product(range(len(scale.basis)), (Fraction(-1), Fraction(1))), 2))
    for move in moves[:MOST_SUPPORTS]:
        here = scale.start
        for place, step in move:
            here = tuple(old + step * more for old, more in zip(here, scale.basis[place], strict=True))
        found[here] = _size(here)
    whole = [one for one in found if all((2 * exponent).denominator == 1 for exponent in one)]
    return sorted(whole, key=lambda one: (found[one], any(exponent.denominator > 1 for exponent in one)))[:most]


def low_monomials(count: int, most: int) -> list[Exponents]:
    """Return products of the inputs with exponents -1, 0 and 1, simplest first, each for its inverse too."""
    if 3**count > MOST_VECTORS:
        return [_unit_vector(place, count) for place in range(count)][:most]
    return [tuple(map(Fraction, one)) for one in one_of_each(box_of(count, 1))[:most]]


def in_directions(keep: Tensor, count: int, tolerance: float, most: int) -> list[Exponents]:
    """Return small whole exponents that lie in the span of the rows of `keep` [r, u], nearly."""
    box = small_vectors(count)
    total = box.abs().sum(1)
    box = box[(total > 0) & (total <= max(6, count + 1))]
    numbers = box.to(keep.dtype)
    outside = numbers - (numbers @ keep.T) @ keep
    near = outside.norm(dim=1) < tolerance * numbers.norm(dim=1)
    return [tuple(map(Fraction, one)) for one in one_of_each(box[near])[:most]]


def _independent(vectors: Iterable[Exponents], count: int) -> list[Exponents]:
    """Return the first vectors that are linearly independent."""
    kept: list[Exponents] = []
    reduced: list[list[Fraction]] = []
    for vector in vectors:
        rest = list(vector)
        for row in reduced:
            pivot = next(place for place, value in enumerate(row) if value)
            factor = rest[pivot] / row[pivot]
            rest = [value - factor * other for value, other in zip(rest, row, strict=True)]
        if any(rest):
            reduced.append(rest)
            kept.append(vector)
        if len(kept) == count:
            break
    return kept


def _solve(columns: list[list[Fraction]], wanted: list[Fraction]) -> list[Fraction] | None:
    """Solve Σ columns · x = wanted exactly; None without a unique solution."""
    rows = [[column[place] for column in columns] + [wanted[place]] for place in range(len(wanted))]
    pivots = 0
    for column in range(len(columns)):
        pivot = next((row for row in rows[pivots:] if row[column]), None)
        if pivot is None:
            return None
        rows.remove(pivot)
        pivot = [value / pivot[column] for value in pivot]
        rows = [
            [value - row[column] * other for value, other in zip(row, pivot, strict=True)] if row[column] else row
            for row in rows
        ]
        rows.insert(pivots, pivot)
        pivots += 1
    if any(row[-1] for row in rows[pivots:]):
        return None
    return [rows[place][-1] for place in range(len(columns))]


def _size(exponents: Sequence[Fraction]) -> float:
    return float(sum(abs(one) + Fraction(1, 2) * (one.denominator > 1) for one in exponents))


def _unit_vector(place: int, count: int) -> Exponents:
    return tuple(Fraction(int(other == place)) for other in range(count))
