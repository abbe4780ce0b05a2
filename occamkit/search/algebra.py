"""Small algebra of closed parts: products and sums put together without needless nesting, and numbers recognised."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction

from occamkit.graph import Expression, Leaf, Product, Sum

Power = Fraction | float

DENOMINATORS = (1, 2, 3, 4)
LARGEST_NUMERATOR = 60
LARGEST_DENOMINATOR = 60
PI_POWERS = (0, 1, -1, 2, -2, Fraction(1, 2), Fraction(-1, 2))


def product(coefficient: float, factors: Iterable[tuple[Expression, Power]]) -> Expression:
    """Return coefficient · Π factor ^ power; products inside are opened where that changes no value."""
    flat: dict[Expression, Power] = {}
    for factor, power in factors:
        if isinstance(factor, Product) and (_whole(power) or _only_inputs(factor)):
            coefficient *= factor.coefficient ** float(power)
            inner: Sequence[tuple[Expression, Power]] = factor.factors
        else:
            inner = ((factor, 1),)
        for one, exponent in inner:
            flat[one] = _times(exponent, power) + flat.get(one, 0)
    kept = tuple((one, Fraction(power) if _whole(power) else power) for one, power in flat.items() if power != 0)
    if coefficient == 1 and len(kept) == 1 and kept[0][1] == 1:
        return kept[0][0]
    return Product(float(coefficient), kept)


def _only_inputs(factor: Product) -> bool:
    """Whether a product to the power one half, say, may be opened: a factor that is positive alone."""
    return (
        factor.coefficient > 0
        and len(factor.factors) == 1
        and _whole(factor.factors[0][1])
        and (int(factor.factors[0][1]) % 2 == 1)
    )


def weighted_sum(offset: float, terms: Iterable[tuple[float, Expression]]) -> Expression:
    """Return offset + Σ coefficient · term, without terms of coefficient zero; a lone term is scaled instead."""
    kept = tuple((float(weight), term) for weight, term in terms if weight != 0)
    if offset == 0 and len(kept) == 1:
        return product(kept[0][0], [(kept[0][1], 1)])
    return Sum(float(offset), kept)


def snapped(value: float, tolerance: float) -> Fraction | float:
    """Return the nearest fraction with a small denominator if it is near enough, else the value."""
    for denominator in DENOMINATORS:
        nearest = Fraction(round(value * denominator), denominator)
        if abs(float(nearest) - value) <= tolerance:
            return nearest
    return value


def recognised(value: float, tolerance: float) -> float:
    """Return the simple number that a fitted one stands for: a small fraction, perhaps times a power of pi."""
    if value == 0 or not math.isfinite(value):
        return value
    for power in PI_POWERS:
        scale = math.pi ** float(power)
        near = Fraction(abs(value) / scale).limit_denominator(LARGEST_DENOMINATOR)
        if 0 < near.numerator <= LARGEST_NUMERATOR and abs(float(near) * scale - abs(value)) <= tolerance * abs(value):
            return math.copysign(float(near) * scale, value)
    return value


def simple(value: float) -> bool:
    """Whether a number is a small fraction, perhaps times a power of pi."""
    return any(
        abs(float(Fraction(abs(value) / scale).limit_denominator(LARGEST_DENOMINATOR)) * scale - abs(value))
        <= 1e-11 * abs(value)
        for scale in (math.pi ** float(power) for power in PI_POWERS)
        if abs(value) / scale < LARGEST_NUMERATOR
    )


def is_number(tree: Expression) -> bool:
    """Whether a tree holds no input."""
    return all(leaf.value is not None for leaf in tree.nodes() if isinstance(leaf, Leaf))


def _whole(power: Power) -> bool:
    return float(power).is_integer()


def _times(one: Power, other: Power) -> Power:
    exact = (Fraction(one) if _whole(one) else one, Fraction(other) if _whole(other) else other)
    return exact[0] * exact[1]
