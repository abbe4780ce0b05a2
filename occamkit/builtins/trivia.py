"""Penalties for nodes that do next to nothing on the data at hand (Methods, "Regularization").

They see a node's values during evaluation; what only algebra can see is not their business.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from occamkit import NodeBatch, Stage


@dataclass(frozen=True)
class NearTrivia:
    """Adds up, over a primitive's clusters, how closely its outputs huddle there (the paper's psi)."""

    name: ClassVar[str] = "near_trivia"
    stage: ClassVar[Stage] = Stage.FORWARD
    weight: float = 0.3

    def score_nodes(self, batch: NodeBatch) -> Tensor:
        """Return the penalty of each node: [U]."""
        penalty = batch.output.new_zeros(batch.output.shape[0])
        for cluster in batch.primitive.clusters:
            if cluster.of == "output":
                distance = (batch.output.mean(1) - cluster.point).abs()
            else:
                distance = (batch.output - batch.arguments[0]).abs().mean(1)
            severity = (cluster.scale / distance).clamp(max=cluster.cap)
            penalty = penalty + torch.where(distance < cluster.tolerance, severity, 0.0)
        return penalty


@dataclass(frozen=True)
class TrivialConstants:
    """Counts fitted constants that make their primitive trivial, such as the c of x^0.001 (phi, part two)."""

    name: ClassVar[str] = "trivial_constants"
    stage: ClassVar[Stage] = Stage.FORWARD
    weight: float = 0.7

    def score_nodes(self, batch: NodeBatch) -> Tensor:
        """Return the number of trivial constants of each node: [U]."""
        count = batch.output.new_zeros(batch.output.shape[0])
        for constant, fitted in zip(batch.primitive.constants, batch.constants, strict=True):
            for low, high in constant.trivial:
                count = count + ((low < fitted) & (fitted < high))
        return count


REGULARIZERS = (NearTrivia, TrivialConstants)
