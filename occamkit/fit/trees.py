"""The fitted numbers of one formula, fitted again on given rows."""

from __future__ import annotations

from collections.abc import Collection, Mapping

import torch
from torch import Tensor

from occamkit.fit.nonlinear import Differences, Fit, fit
from occamkit.fit.scaling import Scaling
from occamkit.graph.closed import Product, Sum
from occamkit.graph.expression import Expression
from occamkit.graph.rewrite import SIGNS


def structural(tree: Expression) -> frozenset[int]:
    """Return which constants are no fitted numbers but the lack of one: no offset, a factor of one or minus one."""
    owned = [(node, value) for node in tree.nodes() for value in node.own_fitted]
    return frozenset(
        place for place, (node, value) in enumerate(owned) if isinstance(node, Product | Sum) and value in (0.0, *SIGNS)
    )


def exponents(tree: Expression) -> frozenset[int]:
    """Return which constants are exponents of products."""
    owned = [(node, place) for node in tree.nodes() for place in range(node.own_constants)]
    return frozenset(at for at, (node, place) in enumerate(owned) if isinstance(node, Product) and place)


def model_of(tree: Expression, columns: Mapping[str, Tensor], weights: Tensor, fixed: Collection[int]) -> Differences:
    """Return a formula times weights [n] as a model for least squares; fixed constants have no slopes."""
    free = torch.tensor([place not in fixed for place in range(tree.constant_count)])

    def values(constants: Tensor) -> Tensor:
        return tree.evaluate(columns, constants).expand(len(constants), weights.numel()) * weights

    return Differences(values, free, weights.numel())


def fit_tree(
    tree: Expression,
    columns: Mapping[str, Tensor],
    target: Tensor,
    fixed: Collection[int] | None,
    iterations: int,
    weights: Tensor | None = None,
) -> tuple[Expression, float]:
    """Fit the numbers of a formula to a target [n] from where they are; return it with the squares that it leaves.

    fixed: the places of numbers that stay as they are; None, those that are `structural`. weights: factors of errors.
    """
    weights = torch.ones_like(target) if weights is None else weights
    kept = structural(tree) if fixed is None else fixed
    if len(kept) == tree.constant_count:
        left = (tree.evaluate(columns).expand_as(target) - target) * weights
        return tree, float(left.square().sum())
    model, start = model_of(tree, columns, weights, kept), target.new_tensor([tree.fitted])
    found: Fit = fit(model, start, target * weights, Scaling(), iterations)
    return tree.with_constants(found.constants[0].tolist()), float(found.error)
