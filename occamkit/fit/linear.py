"""Linear least squares: weights of a sum, smooth surrogates, and how well weights are known.

Designs are rows: [t, n] holds the values of t terms on n points. Terms are brought to unit length first, so that no
choice of units makes a design look better or worse than it is.
"""

from __future__ import annotations

import torch
from torch import Tensor

TINY = 1e-300
"""Keeps a division by the size of nothing from being one by zero."""
MOST_CONDITION = 1e7
"""Of a design of unit rows, the largest to the smallest singular value. Beyond this, weights are sixteen digits that
cancel to nine: no formula, whatever it fits. `bench feynman` and `bench nguyen` lose nothing by it."""
RIDGE = 1e-9
"""What keeps a surrogate's normal equations solvable, as a part of a row's own square."""
OUTWEIGHS = 20.0
"""By how much a row may outweigh the usual one, lest a few rows decide alone."""


def solve(
    design: Tensor, target: Tensor, weights: Tensor | None = None, most_condition: float = MOST_CONDITION
) -> Tensor | None:
    """Return the weights [t] with which rows [t, n] come nearest to a target [n]; None where they are no formula.

    weights: how much each point counts [n], as a factor of its error. None comes of values that are not finite, of too
    few points, and of rows that are all but dependent: their weights are huge and cancel.
    """
    if weights is not None:
        design, target = design * weights, target * weights
    if design.shape[1] < design.shape[0] or not bool(torch.isfinite(design).all()):
        return None
    length = design.norm(dim=1).clamp(min=TINY)
    found = torch.linalg.lstsq((design / length[:, None]).T, target, driver="gelsd")
    largest, smallest = found.singular_values[0], found.singular_values[-1]
    if not bool(largest <= most_condition * smallest):
        return None
    solved: Tensor = found.solution / length
    return solved if bool(torch.isfinite(solved).all()) else None


def smooth(design: Tensor, target: Tensor) -> Tensor:
    """Return weights [t] of a surrogate, whose rows [t, n] may depend on each other: only what it predicts counts."""
    length = design.norm(dim=1, keepdim=True).clamp(min=TINY)
    unit = design / length
    normal = unit @ unit.T
    normal.diagonal().add_(RIDGE)
    solved: Tensor = torch.linalg.solve_ex(normal, unit @ target)[0] / length.squeeze(1)
    return solved


def standard_errors(slopes: Tensor, squares: float, least: float = 0.0) -> Tensor:
    """Return the standard error of each of c numbers, from the slopes of the predictions by them [c, n].

    squares: the sum of squares that is left; least: the error of a single point that is rounding and nothing else.
    Those of linearised least squares, σ² (J Jᵀ)⁻¹ with σ² the mean of what is left for each number that is spare.
    """
    size = slopes.norm(dim=1).clamp(min=TINY)
    unit = slopes / size[:, None]
    variances = torch.linalg.pinv(unit @ unit.T, hermitian=True).diagonal() / size.square()
    scatter = (squares / max(1, slopes.shape[1] - len(slopes))) ** 0.5
    found: Tensor = variances.clamp(min=0).sqrt() * max(scatter, least)
    return found


def bounded(weight: Tensor) -> Tensor:
    """Return weights [n] of points, none of which outweighs the usual one by much; zero stays zero."""
    positive = weight[weight > 0]
    return weight.clamp(max=OUTWEIGHS * float(positive.median())) if positive.numel() else weight
