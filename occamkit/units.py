"""Physical dimensions with exact exponents, and the rules by which primitives pass them on.

A unit seen by a rule is one of
    Dim      exact powers of base dimensions; `DIMENSIONLESS` is the empty one
    FREE     not fixed, takes whatever is asked of it (the paper's NaN: the product with a free constant)
    CLASH    inconsistent, and so is everything made from it (the paper's infinity)

Laws (Methods, "OccamNet with Units"): CLASH absorbs, FREE yields to whatever a rule requires.

pint stays at the border: `parse` reads text, `show` writes it; nothing in between knows pint.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from typing import Any, Final

from occamkit.errors import UnitError, nearest


class Special(Enum):
    """The two units that are no dimension."""

    FREE = "free"
    CLASH = "clash"

    def __repr__(self) -> str:
        return self.name


FREE: Final = Special.FREE
CLASH: Final = Special.CLASH


@dataclass(frozen=True)
class Dim:
    """Powers of base dimensions, such as length¹·time⁻²; zero powers are never kept."""

    powers: tuple[tuple[str, Fraction], ...] = ()

    @classmethod
    def of(cls, powers: Mapping[str, Fraction | int]) -> Dim:
        """Build from a mapping such as {"length": 1, "time": -2}."""
        return cls(tuple(sorted((name, Fraction(power)) for name, power in powers.items() if power)))

    def __mul__(self, other: Dim) -> Dim:
        total = dict(self.powers)
        for name, power in other.powers:
            total[name] = total.get(name, Fraction(0)) + power
        return Dim.of(total)

    def __truediv__(self, other: Dim) -> Dim:
        return self * other ** Fraction(-1)

    def __pow__(self, exponent: Fraction | int) -> Dim:
        return Dim.of({name: power * exponent for name, power in self.powers})

    def __repr__(self) -> str:
        return f"Dim({show(self)})"


Unit = Dim | Special
UnitRule = Callable[..., Unit]

DIMENSIONLESS: Final = Dim()


@dataclass(frozen=True)
class Rule:
    """A named unit rule, which itself never sees CLASH.

    A pack's own rule may be any callable of units; wrapping it in `Rule` adds the absorption of CLASH
    and a name for lists and reports.
    """

    name: str
    of: Callable[..., Unit]

    def __call__(self, *units: Unit) -> Unit:
        if any(unit is CLASH for unit in units):
            return CLASH
        return self.of(*units)

    def __repr__(self) -> str:
        return self.name


def agree(*units: Unit) -> Unit:
    """Return the one unit that all of these can have: FREE yields, two different dimensions clash."""
    known = {unit for unit in units if unit is not FREE}
    if CLASH in known or len(known) > 1:
        return CLASH
    return known.pop() if known else FREE


def in_span(target: Dim, units: Sequence[Dim]) -> bool:
    """Whether the target is a product of rational powers of these units, by exact elimination."""
    names = sorted({name for unit in (*units, target) for name, _ in unit.powers})
    rows = [[dict(unit.powers).get(name, Fraction(0)) for name in names] for unit in units]
    rest = [dict(target.powers).get(name, Fraction(0)) for name in names]
    for column in range(len(names)):
        pivot = next((row for row in rows if row[column] != 0), None)
        if pivot is None:
            continue
        rows = [row for row in rows if row is not pivot]
        for row in (*rows, rest):
            factor = row[column] / pivot[column]
            row[:] = [value - factor * other for value, other in zip(row, pivot, strict=True)]
    return not any(rest)


def _dimensionless(*units: Unit) -> Unit:
    return agree(*units, DIMENSIONLESS)


def _product(*units: Unit) -> Unit:
    total = DIMENSIONLESS
    for unit in units:
        if not isinstance(unit, Dim):
            return unit
        total = total * unit
    return total


def _quotient(numerator: Unit, denominator: Unit) -> Unit:
    if isinstance(numerator, Dim) and isinstance(denominator, Dim):
        return numerator / denominator
    return FREE


@dataclass(frozen=True)
class _RaiseTo:
    exponent: Fraction

    def __call__(self, unit: Unit) -> Unit:
        return unit**self.exponent if isinstance(unit, Dim) else unit


def _fitted_power(base: Unit, exponent: Unit) -> Unit:
    # A dimensional base raised to a number that is still to be fitted may come out as any power of it.
    if agree(exponent, DIMENSIONLESS) is CLASH:
        return CLASH
    return DIMENSIONLESS if base == DIMENSIONLESS else FREE


def _branch(left: Unit, right: Unit, *results: Unit) -> Unit:
    return CLASH if agree(left, right) is CLASH else agree(*results)


def _plain(*units: Unit) -> Unit:
    return DIMENSIONLESS


def _free(*units: Unit) -> Unit:
    return FREE


same: Final = Rule("same", agree)
"""All arguments share one unit, which is the result's: sums, maxima, absolute values."""
dimensionless: Final = Rule("dimensionless", _dimensionless)
"""All arguments are plain numbers, and so is the result: sin, exp."""
product: Final = Rule("product", _product)
"""Units multiply."""
quotient: Final = Rule("quotient", _quotient)
"""Units divide."""
fitted_power: Final = Rule("fitted_power", _fitted_power)
"""A power whose exponent is fitted: dimensionless stays so, anything else may become any unit."""
branch: Final = Rule("branch", _branch)
"""`if a ≤ b then c else d`: a and b share a unit, c and d share the result's."""
free: Final = Rule("free", _free)
"""No constraint at all, and the result may be anything."""
indicator: Final = Rule("indicator", _plain)
"""Any unit in, a plain number out: a step at zero."""


def power(exponent: Fraction | int | float) -> Rule:
    """Return the rule that raises the unit of its one argument to a fixed power."""
    exact = Fraction(exponent).limit_denominator(1000)
    return Rule(f"power({exact})", _RaiseTo(exact))


@dataclass(frozen=True)
class Measure:
    """A unit as the user wrote it: its dimension, and the exact factor that leads to base units."""

    text: str
    dim: Dim
    factor: Fraction


PLAIN: Final = Measure("", DIMENSIONLESS, Fraction(1))

# How base dimensions are written; a dimension that is not among them is shown by its own name.
_BASE_SYMBOLS: Final = {
    "mass": "kg",
    "length": "m",
    "time": "s",
    "current": "A",
    "temperature": "K",
    "substance": "mol",
    "luminosity": "cd",
}


@functools.cache
def _pint() -> Any:
    import pint

    return pint.UnitRegistry(non_int_type=Fraction)


@functools.lru_cache(maxsize=4096)
def parse(text: str) -> Measure:
    """Read a unit such as "km/h" or "kg*m**2/s**2"; the empty text is a plain number.

    Units with an offset or a logarithm (degC, dB) are refused: they do not multiply.
    """
    if not text:
        return PLAIN  # most columns have no unit, and pint takes a second to come up
    import pint

    registry = _pint()
    try:
        unit = registry.parse_units(text)
        one = registry.Quantity(Fraction(1), unit).to_base_units()
        zero = registry.Quantity(Fraction(0), unit).to_base_units()
    except pint.UndefinedUnitError as error:
        unknown = error.unit_names if isinstance(error.unit_names, str) else error.unit_names[0]
        match = nearest(unknown, dir(registry))
        hint = f"; did you mean {match!r}?" if match else ""
        raise UnitError(f"unknown unit {unknown!r} in {text!r}{hint}") from error
    except Exception as error:  # pint raises bare AssertionError, TypeError and ValueError on bad text
        reason = "a logarithmic unit does not multiply" if "log" in str(error) else "cannot be read as a unit"
        raise UnitError(f"{text!r}: {reason}; write for example 'm/s**2'") from error
    if zero.magnitude != 0:
        raise UnitError(
            f"{text!r} has an offset (its zero is not zero in base units), so it cannot be multiplied "
            f"or compared with other units; convert the data first, for example degC to kelvin"
        )
    powers = {name.strip("[]"): Fraction(power) for name, power in unit.dimensionality.items()}
    return Measure(text, Dim.of(powers), Fraction(one.magnitude))


def parse_quantity(text: str) -> tuple[Fraction, Measure]:
    """Split a number with a unit, such as "9.81 m/s**2", into the exact number and its unit."""
    number, _, unit = text.strip().partition(" ")
    try:
        return Fraction(number), parse(unit.strip())
    except (ValueError, ZeroDivisionError):
        raise UnitError(f"{text!r} is not a number followed by a unit, such as '9.81 m/s**2'") from None


def show(unit: Unit) -> str:
    """Write a unit in base symbols, such as "kg*m/s**2"; plain numbers are "dimensionless"."""
    if not isinstance(unit, Dim):
        return unit.value
    order = {name: place for place, name in enumerate(_BASE_SYMBOLS)}
    powers = sorted(unit.powers, key=lambda item: (order.get(item[0], len(order)), item[0]))
    above = [_factor(name, power) for name, power in powers if power > 0]
    below = [_factor(name, -power) for name, power in powers if power < 0]
    if not above and not below:
        return "dimensionless"
    return "/".join(["*".join(above) or "1", *below])


def _factor(name: str, power: Fraction) -> str:
    symbol = _BASE_SYMBOLS.get(name, f"[{name}]")
    if power == 1:
        return symbol
    return f"{symbol}**{power}" if power.denominator == 1 else f"{symbol}**({power})"
