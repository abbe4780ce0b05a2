"""Adam on the constants of many functions at once: the paper's way, kept to compare with."""

from __future__ import annotations

import torch
from torch import Tensor

from occamkit.fit.nonlinear import Fit, Model
from occamkit.fit.scaling import Scaling

_RATE = 0.05
"""The paper's learning rate of constants."""
_STEPS_PER_ITERATION = 10
"""A step of Adam does far less than one of a second-order method."""


def fit(model: Model, start: Tensor, target: Tensor, scaling: Scaling, iterations: int) -> Fit:
    """Fit constants [F, c] to a target [n] by descending the mean square error; the best constants met are returned."""
    constants = start.clone()
    best, error = start.clone(), start.new_full((start.shape[0],), torch.inf)
    mean, square = torch.zeros_like(start), torch.zeros_like(start)
    for step in range(1, iterations * _STEPS_PER_ITERATION + 1):
        values, slopes = model.evaluate(constants)
        residual, slopes = scaling.project(values, slopes, target)
        found = residual.square().sum(1)
        better = found < error  # false where it is undefined
        best, error = torch.where(better.unsqueeze(1), constants, best), torch.where(better, found, error)
        gradient = -(slopes @ residual.unsqueeze(2)).squeeze(2) / target.numel()
        # Who has become undefined goes back to the best constants and stays there.
        lost = ~torch.isfinite(found) | ~torch.isfinite(gradient).all(1)
        gradient = torch.where(lost.unsqueeze(1), 0.0, gradient)
        mean, square = 0.9 * mean + 0.1 * gradient, 0.999 * square + 0.001 * gradient.square()
        move = mean / (1 - 0.9**step) / ((square / (1 - 0.999**step)).sqrt() + 1e-8)
        constants = torch.where(lost.unsqueeze(1), best, constants - _RATE * move)
    return Fit(best, error)
