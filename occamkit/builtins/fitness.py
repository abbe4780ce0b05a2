"""How well a prediction matches the target: the paper's Gaussian likelihood and three others.

Each has a positive ceiling, the score of a perfect prediction: penalties are measured in it.
A prediction that is undefined anywhere has an undefined score.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Annotated, ClassVar

import torch
from annotated_types import Gt
from torch import Tensor

from occamkit import Kind, Problem

Width = Annotated[float, Gt(0)]

# The width of a likelihood whose sigma is not given, as a part of the target's own spread.
_RELATIVE_WIDTH = 0.1
# The same for a target of few values: what is exact on half of the rows and far off on the others must not pay.
_WIDE = 1.0
# A target has few values if the commonest of them takes this part of the rows.
_COMMON = 0.1
_FEWEST_ROWS = 20


def _width(target: Tensor, sigma: float | None, part: float = _RELATIVE_WIDTH) -> Tensor | float:
    """Return sigma, or a part of the target's spread when it is not given."""
    if sigma is not None:
        return sigma
    spread = target.std(correction=0)
    return part * torch.where(spread > 0, spread, torch.ones_like(spread))


def _repeats(target: Tensor) -> bool:
    """Whether a target has few values, each of many rows."""
    _, counts = torch.unique(target, return_counts=True)
    rows = target.numel()
    return rows >= _FEWEST_ROWS and len(counts) > 1 and int(counts.max()) >= _COMMON * rows


def _bits(values: Tensor) -> bool:
    return bool(((values == 0) | (values == 1)).all())


@dataclass(frozen=True)
class Gaussian:
    """Sum over points of the normal density of the error (the paper's K; Training, "Loss Function").

    sigma: the width of the density; absent, `part` of the target's standard deviation, with the density then taken in
    units of that deviation. part: a tenth, but all of it for a function whose target has few
    values, which is no table of bits.
    """

    name: ClassVar[str] = "gaussian"
    squares: ClassVar[bool] = True
    sigma: Width | None = None
    part: Width | None = None

    def prepare(self, problem: Problem) -> Gaussian:
        """Suit a target that repeats its values, but for tables of bits, where a row is met or missed."""
        table = _bits(problem.dataset.inputs) and _bits(problem.dataset.targets)
        wide = problem.kind is Kind.FUNCTION and not table and any(map(_repeats, problem.targets("train")))
        return replace(self, part=_WIDE) if wide and self.sigma is None and self.part is None else self

    def score(self, predicted: Tensor, target: Tensor) -> Tensor:
        """Score [F, n] against [n]: [F]."""
        error = predicted - target
        exponent = error.mul_(error).mul_(-0.5 / _width(target, self.sigma, self._part) ** 2)
        # Below exp(-80) a density adds nothing, and the maths library is slow there.
        return exponent.clamp_(min=-80.0).exp_().sum(1).mul_(self._peak)

    def ceiling(self, points: int) -> float:
        """Return points / sqrt(2 pi sigma²), the paper's s."""
        return points * self._peak

    @property
    def _part(self) -> float:
        return _RELATIVE_WIDTH if self.part is None else self.part

    @property
    def _peak(self) -> float:
        return 1 / (math.sqrt(2 * math.pi) * (self._part if self.sigma is None else self.sigma))


@dataclass(frozen=True)
class Absolute:
    """Sum over points of the Laplace density of the error: judges by absolute error, forgives outliers.

    sigma: the scale of the density; absent, a tenth of the target's standard deviation.
    """

    name: ClassVar[str] = "absolute"
    sigma: Width | None = None

    def score(self, predicted: Tensor, target: Tensor) -> Tensor:
        """Score [F, n] against [n]: [F]."""
        exponent = (predicted - target).abs_().mul_(-1 / _width(target, self.sigma))
        return exponent.clamp_(min=-80.0).exp_().sum(1).mul_(self._peak)

    def ceiling(self, points: int) -> float:
        """Return points / (2 sigma)."""
        return points * self._peak

    @property
    def _peak(self) -> float:
        return 1 / (2 * (_RELATIVE_WIDTH if self.sigma is None else self.sigma))


@dataclass(frozen=True)
class RSquared:
    """The share of the target's variance that the prediction explains, at most 1."""

    name: ClassVar[str] = "r2"
    squares: ClassVar[bool] = True

    def score(self, predicted: Tensor, target: Tensor) -> Tensor:
        """Score [F, n] against [n]: [F]."""
        total = (target - target.mean()).square().sum()
        return 1 - (predicted - target).square().sum(1) / torch.where(total > 0, total, torch.ones_like(total))

    def ceiling(self, points: int) -> float:
        """Return 1."""
        return 1.0


@dataclass(frozen=True)
class Correlation:
    """The size of Pearson's correlation with the target: right up to a factor and an offset."""

    name: ClassVar[str] = "correlation"

    def score(self, predicted: Tensor, target: Tensor) -> Tensor:
        """Score [F, n] against [n]: [F]."""
        centred = predicted - predicted.mean(1, keepdim=True)
        wanted = target - target.mean()
        length = centred.norm(dim=1) * wanted.norm()
        # A constant prediction correlates with nothing: zero, not undefined.
        return torch.where(length == 0, torch.zeros_like(length), (centred * wanted).sum(1).abs() / length).clamp(
            max=1.0
        )

    def ceiling(self, points: int) -> float:
        """Return 1."""
        return 1.0


FITNESSES = (Gaussian, Absolute, RSquared, Correlation)
