"""Adam on one tensor (Kingma and Ba, 2015).

torch has its own, but importing it loads the compiler, which takes longer than finding most formulas; and our
gradient is computed, not recorded, so nothing else of an optimiser is needed. A test holds the two together.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

BETA_MEAN, BETA_SQUARE, EPSILON = 0.9, 0.999, 1e-8


class Adam:
    """Moves a tensor along its gradient's mean over its root mean square."""

    def __init__(self, weights: Tensor, rate: float) -> None:
        self.weights = weights
        self.rate = rate
        self.steps = 0
        self.mean = torch.zeros_like(weights)
        self.square = torch.zeros_like(weights)

    @torch.no_grad()
    def ascend(self, gradient: Tensor) -> None:
        """Take one step upwards."""
        self.steps += 1
        self.mean.lerp_(gradient, 1 - BETA_MEAN)
        self.square.mul_(BETA_SQUARE).addcmul_(gradient, gradient, value=1 - BETA_SQUARE)
        size = (self.square / (1 - BETA_SQUARE**self.steps)).sqrt_().add_(EPSILON)
        self.weights.addcdiv_(self.mean, size, value=self.rate / (1 - BETA_MEAN**self.steps))

    def state(self) -> dict[str, Any]:
        """Return what changes, as plain values on the host."""
        return {"steps": self.steps, "mean": self.mean.cpu().clone(), "square": self.square.cpu().clone()}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Go back to a state."""
        self.steps = state["steps"]
        self.mean.copy_(state["mean"])
        self.square.copy_(state["square"])
