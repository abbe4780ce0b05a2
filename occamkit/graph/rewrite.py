"""Small algebra of closed parts: products and sums put together without needless nesting, and read back as parts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction

from occamkit.graph.closed import Power, Product, Sum
from occamkit.graph.expression import Expression, Leaf

SIGNS = (1.0, -1.0)
"""Coefficients that are no fitted constants."""


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


def is_number(tree: Expression) -> bool:
    """Whether a tree holds no input."""
    return all(leaf.value is not None for leaf in tree.nodes() if isinstance(leaf, Leaf))


def _whole(power: Power) -> bool:
    return float(power).is_integer()


def _times(one: Power, other: Power) -> Power:
    exact = (Fraction(one) if _whole(one) else one, Fraction(other) if _whole(other) else other)
    return exact[0] * exact[1]
