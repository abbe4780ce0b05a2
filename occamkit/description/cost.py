"""What a formula costs to write down: nodes, exponents, and the numbers in it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

import torch
from torch import Tensor

from occamkit import traits
from occamkit.graph.closed import Product, Sum
from occamkit.graph.expression import Apply, Expression, Leaf
from occamkit.graph.numbers import simple
from occamkit.graph.rewrite import SIGNS
from occamkit.protocols import Primitive


@dataclass(frozen=True)
class Prices:
    """What words cost beside each other, in the unit of one node; set by hand.

    turning: a primitive that accepts plain numbers alone and both rises and falls (sine and the like), beyond its own
    complexity: these imitate other shapes most easily. An exponential or a logarithm is as ordinary as a power. half:
    exponents of ±2 or ±1/2. doubled: what a whole exponent costs more than half of it; of whole powers in the sixty
    Feynman equations 52 are squares, five are higher. broken, fitted: other fractions, and exponents that are fitted.
    odd: a number that means nothing, where nothing is left of the rows by which it could be known less well.
    """

    turning: float = 2.0
    half: float = 1.0
    doubled: float = 1.5
    broken: float = 2.5
    fitted: float = 2.0
    odd: float = 4.0


PRICES = Prices()
BITS_PER_WORD = 3.0
"""Bits for each word of a program over a table of few values, whatever there is to choose from."""
MOST_EXCEPTIONS = 0.1
"""The largest part of the rows of such a table that may be exceptions: none of nine, one of ten."""


def power_cost(power: Fraction | float) -> float:
    """Return what an exponent costs: one of 1 nothing, 2 and a half little, other whole numbers the more the larger."""
    size = abs(float(power))
    if size in (0, 1):
        return 0.0
    if size in (0.5, 2):
        return PRICES.half
    if size.is_integer():
        return PRICES.half + PRICES.doubled * math.log2(size / 2)
    return PRICES.broken if isinstance(power, Fraction) else PRICES.fitted


def function_cost(primitive: Primitive) -> float:
    """Return what a primitive costs, without its arguments; signs of products are not written."""
    if traits.multiplies(primitive):
        return 0.0
    turning = traits.refuses_units(primitive) and traits.turns(primitive)
    return primitive.complexity + PRICES.turning * turning


def cost(tree: Expression) -> float:
    """Return what a formula costs to write down, but for the digits of its numbers."""
    total = 0.0
    for node in tree.nodes():
        if isinstance(node, Leaf):
            total += node.value not in SIGNS  # 1 + x costs a sign alone, whoever wrote it
        elif isinstance(node, Apply):
            total += function_cost(node.primitive)
        elif isinstance(node, Product):
            # v²/c² is (v/c)², with one exponent.
            total += sum(map(power_cost, {abs(power): power for _, power in node.factors}.values()))
        elif isinstance(node, Sum):
            total += len(node.terms) - 1 + (node.offset != 0)
    return total


def fitted_numbers(tree: Expression) -> int:
    """Return how many fitted numbers a formula holds; an exponent that is no fraction is one."""
    return sum(value not in (0.0, *SIGNS) for value in tree.fitted)


def odd_numbers(tree: Expression) -> int:
    """Return how many numbers of a formula are no small fractions, nor such times a power of π."""
    return sum(not simple(value) for value in tree.fitted)


def exact_cost(tree: Expression) -> float:
    """Return what a formula costs that leaves nothing of the rows, the digits of odd numbers included."""
    return cost(tree) + PRICES.odd * odd_numbers(tree)


def plain(tree: Expression) -> bool:
    """Whether no number of a formula but its factor means nothing; others may hide a simpler formula.

    Nor may an exponent: where columns carry the same information, any mixture of them is as exact.
    """
    inside = tree.below if isinstance(tree, Product) else (tree,)
    powers = (power for node in tree.nodes() if isinstance(node, Product) for _, power in node.factors)
    usual = all(power == int(power) or abs(power) == Fraction(1, 2) for power in powers)
    return usual and not any(map(odd_numbers, inside))


def wasted_digits(tree: Expression, columns: Mapping[str, Tensor]) -> float:
    """Return how many digits of the numbers in sums only serve to cancel, as natural logarithms.

    A term a thousand times as large as the sum that it is in needs three digits more than the sum is known by.
    """
    total = 0.0
    for node in tree.nodes():
        if isinstance(node, Sum):
            terms = [torch.as_tensor(node.offset)] + [weight * one.evaluate(columns) for weight, one in node.terms]
            whole = _size(node.evaluate(columns))
            sizes = [_size(one) / whole for one in terms] if whole > 0 else []
            total += sum(math.log(one) for one in sizes if 1 < one < math.inf)
    return total


def _size(values: Tensor) -> float:
    return float(values.double().square().mean().sqrt())


def words(tree: Expression) -> tuple[float, int]:
    """Return the cost of a formula and how many fitted numbers it holds."""
    return cost(tree), fitted_numbers(tree)
