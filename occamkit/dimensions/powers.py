"""Which powers of the variables may stand in front of a function, and which products of them are columns of their own.

A power of a column that is zero somewhere may be infinite, and of one that is negative somewhere only whole powers are
numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import torch
from torch import Tensor

from occamkit.dimensions.products import Exponents, groups, in_echelon, scaling_of_some
from occamkit.protocols import Variable
from occamkit.units import DIMENSIONLESS, Unit

_TINY = 1e-12
"""Smaller than this part of a column's largest value is zero."""


@dataclass(frozen=True)
class InFront:
    """What may stand in front of a function as an output: start · Π row ^ weight, with any weights.

    Each row alone moves the exponent of one variable, its pivot, and by one. signed: the variables whose exponents must
    be whole.
    """

    start: Exponents
    rows: tuple[Exponents, ...]
    pivots: tuple[int, ...]
    signed: tuple[bool, ...]


@dataclass(frozen=True)
class Powers:
    """Variables, which of them have no zeros, and which are negative somewhere."""

    variables: tuple[Variable, ...]
    able: tuple[bool, ...]
    signed: tuple[bool, ...]

    @classmethod
    def of(cls, variables: Sequence[Variable], inputs: Tensor) -> Powers:
        """Look at the rows [u, n] of the inputs, which come first among the variables; given constants have none."""
        given = [inputs.new_tensor([one.value]) for one in variables if one.value is not None]
        columns = [*inputs, *given]
        able = [bool((one.abs() > _TINY * one.abs().max()).all()) for one in columns]
        return cls(tuple(variables), tuple(able), tuple(bool((one < 0).any()) for one in columns))

    @classmethod
    def unseen(cls, variables: Sequence[Variable], *, able: bool) -> Powers:
        """Suppose that no variable has zeros, or that all have, for want of rows."""
        return cls(tuple(variables), (able,) * len(variables), (False,) * len(variables))

    def reach(self, unit: Unit) -> bool:
        """Whether some product of powers has a unit."""
        return self._in_front(unit) is not None

    def in_front(self, unit: Unit) -> InFront:
        """Return what may stand in front of a function as an output of a unit.

        Where no product of powers has the unit, only dimensionless ones may, and the unit is left to the function or
        its factor.
        """
        found = self._in_front(unit) or self._in_front(DIMENSIONLESS)
        assert found is not None  # nothing is in the way of the empty product
        return found

    def _in_front(self, unit: Unit) -> InFront | None:
        # A given number is no column: the factor makes up for it.
        able = [
            takes_part and (one.value is None or one.unit != DIMENSIONLESS)
            for one, takes_part in zip(self.variables, self.able, strict=True)
        ]
        found = scaling_of_some(self.variables, able, unit)
        if found is not None and not self._defined(found.start):
            able = [takes_part and not signed for takes_part, signed in zip(able, self.signed, strict=True)]
            found = scaling_of_some(self.variables, able, unit)
        if found is None:
            return None
        # Exponents that must be whole, then those of inputs, are moved by weights of their own.
        order = sorted(
            range(len(able)), key=lambda place: (not self.signed[place], self.variables[place].value is not None)
        )
        rows, pivots = in_echelon(found.basis, order)
        return InFront(found.start, tuple(rows), tuple(pivots), self.signed)

    def _defined(self, exponents: Exponents) -> bool:
        return all(one.denominator == 1 for one, signed in zip(exponents, self.signed, strict=True) if signed)

    def groups(self, most: int) -> tuple[Exponents, ...]:
        """Return the simplest dimensionless products of variables that carry units, defined on all rows.

        Of a group and its inverse the one that is defined is taken, the group first. Products of given constants alone
        are numbers, and no groups.
        """
        carry = [place for place, one in enumerate(self.variables) if one.unit != DIMENSIONLESS]
        found: list[Exponents] = []
        for group in groups([self.variables[place] for place in carry]) if most else ():
            powers = dict(zip(carry, group, strict=True))
            spread = tuple(powers.get(place, Fraction(0)) for place in range(len(self.variables)))
            if any(power and self.variables[place].value is None for place, power in powers.items()):
                found += [one for one in (spread, tuple(-power for power in spread)) if self._finite(one)][:1]
        return tuple(found[:most])

    def _finite(self, exponents: Exponents) -> bool:
        return all(able or one >= 0 for able, one in zip(self.able, exponents, strict=True))


def product_of_powers(columns: Tensor, exponents: Exponents) -> Tensor:
    """Return the values [n] of a product of powers of columns [u, n]."""
    values = torch.ones_like(columns[0])
    for column, exponent in zip(columns, exponents, strict=True):
        if exponent:
            values = values * torch.pow(column, float(exponent))
    return values


def group_variables(groups: Sequence[Exponents], variables: Sequence[Variable]) -> tuple[Variable, ...]:
    """Return groups as variables, each under the name that people would write."""
    return tuple(Variable(written(group, variables), DIMENSIONLESS) for group in groups)


def written(exponents: Exponents, variables: Sequence[Variable]) -> str:
    """Return a product of powers as people write it, such as a*b**2/c."""
    named = [(one.name, exponent) for one, exponent in zip(variables, exponents, strict=True) if exponent]
    above = "*".join(name if power == 1 else f"{name}**{power}" for name, power in named if power > 0) or "1"
    below = "*".join(name if power == -1 else f"{name}**{-power}" for name, power in named if power < 0)
    several = sum(power < 0 for _, power in named) > 1
    return f"{above}/({below})" if several else f"{above}/{below}" if below else above
