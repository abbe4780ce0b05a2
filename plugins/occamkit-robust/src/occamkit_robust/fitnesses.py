"""Fitnesses that forgive outliers: each point adds a number from 0 to 1, which falls slowly with its error.

The score is Σ exp(−ρ(error / width)) with a loss ρ of its own for each, so a perfect prediction of n points scores n.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated, ClassVar

import torch
from annotated_types import Gt, Lt
from torch import Tensor

Width = Annotated[float, Gt(0)]

_RELATIVE_WIDTH = 0.1
_NORMAL = 1.4826  # the deviation of a normal distribution over its median absolute deviation


def _errors(predicted: Tensor, target: Tensor, width: float | None) -> Tensor:
    """Return errors in widths: [F, n]. Absent, a width is a tenth of the target's spread, by its median deviation."""
    if width is not None:
        return (predicted - target) / width
    spread = _NORMAL * (target - target.median()).abs().median()
    return (predicted - target) / (_RELATIVE_WIDTH * torch.where(spread > 0, spread, torch.ones_like(spread)))


class _PerPoint:
    """A fitness to which each point adds at most 1."""

    def ceiling(self, points: int) -> float:
        """Return the number of points."""
        return float(points)


@dataclass(frozen=True)
class Huber(_PerPoint):
    """Quadratic loss for small errors, linear beyond `bend` widths.

    width: the unit of errors; absent, a tenth of the target's spread.
    """

    name: ClassVar[str] = "huber"
    width: Width | None = None
    bend: Annotated[float, Gt(0)] = 1.345

    def score(self, predicted: Tensor, target: Tensor) -> Tensor:
        """Score [F, n] against [n]: [F]."""
        error = _errors(predicted, target, self.width).abs()
        loss = torch.where(error <= self.bend, 0.5 * error.square(), self.bend * (error - 0.5 * self.bend))
        return torch.exp(-loss).sum(1)


@dataclass(frozen=True)
class StudentT(_PerPoint):
    """The density of Student's t, as a part of its peak: errors of any size are possible.

    width: the unit of errors; absent, a tenth of the target's spread. freedom: 1 forgives most, 30 hardly anything.
    """

    name: ClassVar[str] = "student_t"
    width: Width | None = None
    freedom: Annotated[float, Gt(0)] = 3.0

    def score(self, predicted: Tensor, target: Tensor) -> Tensor:
        """Score [F, n] against [n]: [F]."""
        error = _errors(predicted, target, self.width)
        return torch.pow(1 + error.square() / self.freedom, -(self.freedom + 1) / 2).sum(1)


@dataclass(frozen=True)
class Quantile(_PerPoint):
    """Pinball loss: asks for the curve below which a share `q` of the targets lies.

    width: the unit of errors; absent, a tenth of the target's spread.
    """

    name: ClassVar[str] = "quantile"
    width: Width | None = None
    q: Annotated[float, Gt(0), Lt(1)] = 0.5

    def score(self, predicted: Tensor, target: Tensor) -> Tensor:
        """Score [F, n] against [n]: [F]."""
        missing = -_errors(predicted, target, self.width)
        return torch.exp(-torch.maximum(self.q * missing, (self.q - 1) * missing)).sum(1)


@dataclass(frozen=True)
class LogCosh(_PerPoint):
    """The loss log cosh(error): quadratic for small errors, absolute for large ones, smooth between.

    width: the unit of errors; absent, a tenth of the target's spread.
    """

    name: ClassVar[str] = "log_cosh"
    width: Width | None = None

    def score(self, predicted: Tensor, target: Tensor) -> Tensor:
        """Score [F, n] against [n]: [F]."""
        error = _errors(predicted, target, self.width).abs()
        # cosh overflows where its logarithm is small yet: log cosh x = x + log(1 + exp(-2x)) - log 2.
        return torch.exp(-(error + torch.log1p(torch.exp(-2 * error)) - math.log(2))).sum(1)


FITNESSES = (Huber, StudentT, Quantile, LogCosh)
