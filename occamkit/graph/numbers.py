"""Numbers that people would recognise: whole numbers, small fractions, and these of powers of π and of e.

One question in four strengths: to the last bit (how a number is written), to rounding (what a solved number stands
for), to a tolerance with chance counted (what a fitted number may stand for), and to a tolerance alone (exponents).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction

LARGEST_PART = 60
"""Numerators and denominators of what a solved number may stand for: beyond these any number is near a fraction."""
LARGEST_DENOMINATOR = 12
"""Denominators of what a fitted number may stand for, and of what is written as a fraction."""
LARGEST_ROOT = 4
"""Denominators of exponents."""
PI_POWERS = (0, 1, -1, 2, -2, Fraction(1, 2), Fraction(-1, 2))
LIKELY_UNITS = ((1.0, 1.0), (math.pi, 0.02), (1 / math.pi, 0.02), (math.e, 0.02))
"""What small fractions are taken of, and how readily: a hit by chance counts the more, the rarer the number is."""
WHOLE_CHANCE, FRACTION_CHANCE = 0.5, 0.1
SOLVED = 1e-11
"""Rounding of a number that was solved for."""


def snapped(value: float, tolerance: float) -> Fraction | float:
    """Return the nearest fraction with a small denominator if it is near enough, else the value."""
    for denominator in range(1, LARGEST_ROOT + 1):
        nearest = Fraction(round(value * denominator), denominator)
        if abs(float(nearest) - value) <= tolerance:
            return nearest
    return value


def recognised(value: float, tolerance: float) -> float:
    """Return the simple number that a solved one stands for: a small fraction, perhaps times a power of π."""
    if value == 0 or not math.isfinite(value):
        return value
    for power in PI_POWERS:
        scale = math.pi ** float(power)
        near = Fraction(abs(value) / scale).limit_denominator(LARGEST_PART)
        if 0 < near.numerator <= LARGEST_PART and abs(float(near) * scale - abs(value)) <= tolerance * abs(value):
            return math.copysign(float(near) * scale, value)
    return value


def simple(value: float) -> bool:
    """Whether a number is zero, a small fraction, or such times a power of π."""
    return value == 0 or any(
        abs(float(Fraction(abs(value) / scale).limit_denominator(LARGEST_PART)) * scale - abs(value))
        <= SOLVED * abs(value)
        for scale in (math.pi ** float(power) for power in PI_POWERS)
        if abs(value) / scale < LARGEST_PART
    )


def likely(value: float, tolerance: float) -> Iterator[float]:
    """Yield numbers that `value` may stand for when it is known to within `tolerance`, the likeliest first.

    A number counts only if it would hardly be hit by chance: the more numbers of its kind there are, the better the
    value must be known. So 2.03 ± 0.04 may be 2, but 0.43 ± 0.04 is not 3/7.
    """
    seen = set()
    for unit, ease in LIKELY_UNITS:
        ratio, spread = value / unit, tolerance / unit
        for denominator in range(1, LARGEST_DENOMINATOR + 1):
            nearest = Fraction(round(ratio * denominator), denominator)
            if nearest.denominator != denominator or (nearest == 0 and unit != 1):
                continue
            chance = 2 * spread * _up_to(denominator)
            allowed = ease * (WHOLE_CHANCE if denominator == 1 else FRACTION_CHANCE)
            found = float(nearest) * unit
            if abs(found - value) <= tolerance and chance <= allowed and found not in seen:
                seen.add(found)
                yield found


def to_the_last_bit(value: float, unit: float) -> Fraction | None:
    """Return the simple fraction that a value is of a unit, to the last bit; short decimals such as 2.5 are none."""
    if not math.isfinite(value):
        return None
    fraction = Fraction(value / unit).limit_denominator(LARGEST_DENOMINATOR)
    decimal = unit == 1 and (
        fraction.denominator in (5, 10) or (abs(fraction) > 2 and fraction.denominator in (2, 4, 8))
    )
    return fraction if float(fraction) * unit == value and fraction and not decimal else None


def _up_to(denominator: int) -> int:
    """Return how many fractions with at most this denominator there are between two whole numbers."""
    return sum(math.gcd(top, bottom) == 1 for bottom in range(1, denominator + 1) for top in range(bottom))
