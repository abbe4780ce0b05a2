"""Numbers of a sum that are one number: 7.9 − 7.9·f is 7.9·(1 − f).

Of two terms only such as are alike, as two exponentials are: of all others some would be equal by chance.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations

from occamkit.graph.closed import Product, Sum
from occamkit.graph.expression import Expression
from occamkit.graph.rewrite import SIGNS

NEARLY = 0.15
"""By which part two numbers may differ that are tried as one."""


def tied(tree: Expression) -> Iterator[Expression]:
    """Yield a formula with two nearly equal numbers of a sum, whatever their signs, as one in front of both."""
    for place, below in enumerate(tree.below):
        for changed in tied(below):
            yield tree.rebuilt([*tree.below[:place], changed, *tree.below[place + 1 :]], tree.own_fitted)
    if isinstance(tree, Sum):
        numbers = [place for place, value in enumerate(tree.own_fitted) if value not in (0.0, *SIGNS)]
        for one, other in combinations(numbers, 2):
            sizes = sorted(abs(tree.own_fitted[place]) for place in (one, other))
            alike = one == 0 or _shape(tree.below[one - 1]) == _shape(tree.below[other - 1])
            if alike and sizes[1] - sizes[0] <= NEARLY * sizes[1]:
                yield _with_one(tree, one, other)


def _shape(tree: Expression) -> Expression:
    """Return a formula with all its numbers alike."""
    return tree.with_constants([0.5] * tree.constant_count)


def _with_one(tree: Sum, one: int, other: int) -> Expression:
    """Return a sum with two of its numbers as one; the first number is the offset."""
    weights = tree.own_fitted
    shared = math.copysign((abs(weights[one]) + abs(weights[other])) / 2, weights[one])
    signs = {place: math.copysign(1.0, weights[place] * shared) for place in (one, other)}
    inside = Sum(signs.get(0, 0.0), tuple((signs[place], tree.below[place - 1]) for place in signs if place))
    rest = tuple(term for place, term in enumerate(tree.terms, 1) if place not in signs)
    offset = 0.0 if 0 in signs else tree.offset
    if not rest and not offset:
        return Product(shared, ((inside, Fraction(1)),))
    return Sum(offset, ((shared, inside), *rest))
