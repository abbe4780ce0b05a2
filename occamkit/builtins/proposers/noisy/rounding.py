"""Exponents out of logarithms with noise: solved for, and rounded one by one."""

from __future__ import annotations

import torch
from torch import Tensor

RIDGE = 1e-10
_TINY = 1e-300


def solve_and_round(design: Tensor, target: Tensor, halves: Tensor) -> Tensor:
    """Solve target [P] = weights · design [k, m, P] for k problems at once, with whole and half weights in `halves`.

    What one weight loses by rounding others can make up for, so the surest is rounded first and the rest is solved
    for again. Weights outside `halves` [k, m] stay as they come.
    """
    length = design.norm(dim=2).clamp(min=_TINY)  # [k, m]
    unit = design / length.unsqueeze(2)
    many, count = length.shape
    normal = unit @ unit.transpose(1, 2) + RIDGE * torch.eye(count, dtype=design.dtype)
    covariance, _ = torch.linalg.inv_ex(normal)
    solved = (covariance @ (unit @ target).unsqueeze(2)).squeeze(2) / length
    covariance = covariance / (length.unsqueeze(1) * length.unsqueeze(2))
    left, every = halves.clone(), torch.arange(many)
    for _ in range(count):
        variances = torch.where(left, covariance.diagonal(dim1=1, dim2=2), torch.inf)
        variance, surest = variances.min(1)
        open_ = torch.isfinite(variance)
        if not bool(open_.any()):
            break
        column = covariance[every, :, surest]  # [k, m]
        goal = (2 * solved[every, surest]).round() / 2
        step = torch.where(open_, (goal - solved[every, surest]) / variance.clamp(min=_TINY), 0.0)
        solved = solved + column * step.unsqueeze(1)
        solved[every, surest] = torch.where(open_, goal, solved[every, surest])
        lost = column.unsqueeze(2) * column.unsqueeze(1) / variance.clamp(min=_TINY)[:, None, None]
        covariance = covariance - torch.where(open_[:, None, None], lost, 0.0)
        left[every, surest] = False
    # Solving for the rest has moved what was rounded before by the last bits.
    rounded: Tensor = torch.where(halves, (2 * solved).round() / 2, solved)
    return rounded
