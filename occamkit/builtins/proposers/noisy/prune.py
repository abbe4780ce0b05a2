"""Formulas with a part less: what a fit has put in that the rows do not ask for."""

from __future__ import annotations

import math
from collections.abc import Iterator

from occamkit import Expression, Leaf, Product, Sum
from occamkit.graph import SIGNS, product, weighted_sum

ALIKE = 0.15
"""Weights that differ by no more than this part may be one and the same."""


def with_less(tree: Expression) -> Iterator[Expression]:
    """Yield the formulas that lack one part of a formula; numbers that are left are to be fitted again.

    A part is an offset, a term, a factor that is no input, a number in front, or that weights differ.
    """
    if isinstance(tree, Sum):
        yield from _sum_with_less(tree)
    elif isinstance(tree, Product):
        yield from _product_with_less(tree)
    for place, below in enumerate(tree.below):
        for less in with_less(below):
            yield tree.rebuilt([*tree.below[:place], less, *tree.below[place + 1 :]], tree.own_fitted)


def _sum_with_less(tree: Sum) -> Iterator[Expression]:
    terms = tree.terms
    if tree.offset != 0 and terms:
        yield weighted_sum(0.0, terms)
    if len(terms) + (tree.offset != 0) > 1:
        yield from (weighted_sum(tree.offset, terms[:place] + terms[place + 1 :]) for place in range(len(terms)))
    sizes = [abs(weight) for weight, _ in terms]
    if tree.offset == 0 and len(terms) > 1 and len({*sizes}) > 1 and max(sizes) < (1 + ALIKE) * min(sizes):
        signed = [(math.copysign(1.0, weight), term) for weight, term in terms]
        yield product(sum(sizes) / len(sizes), [(weighted_sum(0.0, signed), 1)])


def _product_with_less(tree: Product) -> Iterator[Expression]:
    factors = tree.factors
    if tree.coefficient not in SIGNS and factors:
        yield product(math.copysign(1.0, tree.coefficient), factors)
    for place, (factor, _) in enumerate(factors):
        # Powers of inputs hold the unit together, and are moved elsewhere.
        if not isinstance(factor, Leaf) and len(factors) > 1:
            yield product(tree.coefficient, factors[:place] + factors[place + 1 :])
