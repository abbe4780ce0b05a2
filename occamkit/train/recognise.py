"""Numbers that people would recognise: whole numbers, small fractions, and small multiples of pi, 1/pi and e."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction

LARGEST_DENOMINATOR = 12

_UNITS = ((1.0, 1.0), (math.pi, 0.02), (1 / math.pi, 0.02), (math.e, 0.02))
"""What small fractions are taken of, and how readily: a hit by chance counts the more, the rarer the number is."""

_WHOLE_CHANCE = 0.5
_FRACTION_CHANCE = 0.1


def recognised(value: float, tolerance: float) -> Iterator[float]:
    """Yield numbers that `value` may stand for when it is known to within `tolerance`, the likeliest first.

    A number counts only if it would hardly be hit by chance: the more numbers of its kind there are, the better the
    value must be known. So 2.03 ± 0.04 may be 2, but 0.43 ± 0.04 is not 3/7.
    """
    seen = set()
    for unit, ease in _UNITS:
        ratio, spread = value / unit, tolerance / unit
        for denominator in range(1, LARGEST_DENOMINATOR + 1):
            nearest = Fraction(round(ratio * denominator), denominator)
            if nearest.denominator != denominator or (nearest == 0 and unit != 1):
                continue
            chance = 2 * spread * _up_to(denominator)
            allowed = ease * (_WHOLE_CHANCE if denominator == 1 else _FRACTION_CHANCE)
            found = float(nearest) * unit
            if abs(found - value) <= tolerance and chance <= allowed and found not in seen:
                seen.add(found)
                yield found


def _up_to(denominator: int) -> int:
    """Return how many fractions with at most this denominator there are between two whole numbers."""
    return sum(math.gcd(top, bottom) == 1 for bottom in range(1, denominator + 1) for top in range(bottom))
