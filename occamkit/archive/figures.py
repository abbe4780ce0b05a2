"""Exact figures of a function on the user's rows: errors and shares of variance, in float64 and declared units."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields, replace

import torch
from torch import Tensor

from occamkit.fit import noise
from occamkit.graph import Expression
from occamkit.protocols import Fitness
from occamkit.task.data.dataset import Part
from occamkit.task.problem import Problem

PARTS: tuple[Part, ...] = ("train", "valid", "test")

EXACT = 1e-10
"""A function whose error is below this part of the target's spread is exact: only rounding is left."""
DIGITS = 2.0**-51
"""The last digits of a double: a target that is large beside its spread is not known better."""
ROUNDING = 1e-8
"""A row whose error is below this part of the target's size is met."""


@dataclass(frozen=True)
class Figures:
    """How a function does on each part of the rows; parts without rows are left out.

    loss: what is missing to a perfect fitness, as a part of it: the task's own measure of error.
    relative: the root mean square error as a part of the target's spread. rounding: what its digits leave of that.
    proportional: the same if errors are parts of values; absent where that has no meaning; see `fit.noise`.
    undefined: how many rows it is undefined on. wrong: how many rows it misses by more than rounding.
    """

    loss: dict[str, float] = field(default_factory=dict)
    mse: dict[str, float] = field(default_factory=dict)
    r2: dict[str, float] = field(default_factory=dict)
    relative: dict[str, float] = field(default_factory=dict)
    proportional: dict[str, float] = field(default_factory=dict)
    undefined: dict[str, int] = field(default_factory=dict)
    wrong: dict[str, int] = field(default_factory=dict)
    rounding: float = EXACT

    @property
    def choice(self) -> tuple[float, float]:
        """The error by which functions are chosen: on validation rows if there are any, else on training rows.

        The task's own measure comes first; where it tells no difference, the mean square does.
        """
        part = "valid" if "valid" in self.mse else "train"
        return self.loss[part], float(f"{self.relative[part] ** 2:.9g}")  # beyond nine digits it is rounding

    @property
    def of_values(self) -> bool:
        """Whether errors are likelier to be a part of the value than the same on all rows."""
        return self.proportional.get("train", math.inf) < self.relative["train"]

    @property
    def errors(self) -> dict[str, float]:
        """The root mean square errors under the likelier model of errors."""
        return self.proportional if self.of_values else self.relative

    def with_part(self, part: Part, other: Figures) -> Figures:
        """Return these figures with those of others on one part of the rows."""
        changed = {
            one.name: {**getattr(self, one.name), part: getattr(other, one.name)[part]}
            for one in fields(self)
            if one.name != "rounding" and part in getattr(other, one.name)
        }
        return replace(self, **changed)  # type: ignore[arg-type]

    @property
    def exact(self) -> bool:
        """Whether the function leaves nothing but rounding on the rows that it is trained and chosen on."""
        return all(self.relative[part] <= self.rounding for part in ("train", "valid") if part in self.relative)


Predictor = Callable[[Tensor], Tensor]
"""From inputs [u, n] in base units to predictions [n], or one for all rows."""


def figures_of(problem: Problem, tree: Expression, output: int) -> Figures:
    """Evaluate a function on every part of the rows."""
    # Given constants carry their own value: a column that is called like one is another thing.
    names = [variable.name for variable in problem.dataset.variables]
    return figures_with(problem, output, lambda inputs: tree.evaluate(dict(zip(names, inputs, strict=True))))


def figures_with(problem: Problem, output: int, predict: Predictor, parts: Sequence[Part] = PARTS) -> Figures:
    """Hold predictions against parts of the rows."""
    scale = problem.dataset.output_scale(output)
    spread, rounding = _spread(scale.declared(problem.dataset.part("train")[1][output]))
    figures = Figures(rounding=rounding)
    known = torch.cat([problem.dataset.part(part)[1][output] for part in PARTS[:2]])
    size = noise.size_of(scale.declared(known))
    for part in parts:
        inputs, outputs = problem.dataset.part(part)
        targets = outputs[output]
        if targets.numel() == 0:
            continue
        predicted = predict(inputs).expand_as(targets)
        figures.loss[part] = _loss(problem.fitness, predicted, targets)
        error = scale.declared(predicted) - scale.declared(targets)
        _enter(figures, part, error, scale.declared(targets), spread)
        if size is not None:
            figures.proportional[part] = (
                noise.of_values(scale.declared(predicted), scale.declared(targets), size) / spread
            )
    return figures


def _loss(fitness: Fitness, predicted: Tensor, target: Tensor) -> float:
    """Return what is missing to a perfect fitness; the same to nine digits is the same."""
    if not torch.isfinite(predicted).all():
        return float("inf")
    ceiling = fitness.ceiling(target.numel())
    missing = float((ceiling - fitness.score(predicted.unsqueeze(0), target)) / abs(ceiling))
    return round(missing, 9) if math.isfinite(missing) else float("inf")


def misses(error: Tensor, size: float) -> Tensor:
    """Return which errors [n] are more than rounding, beside a target of this root mean square."""
    return ~(error.abs() <= ROUNDING * (size or 1.0))


def _spread(target: Tensor) -> tuple[float, float]:
    """Return the deviation of a target about its mean, and which part of it is rounding.

    Of a target that is the same on all rows, its size takes the place of the spread.
    """
    largest = float(target.abs().max())
    if largest == 0:
        return 1.0, EXACT
    deviation = largest * float((target / largest).std(correction=0))  # squares of what is tiny would be nothing
    if deviation <= DIGITS * largest:
        return largest, EXACT
    return deviation, max(EXACT, DIGITS * largest / deviation)


def _enter(figures: Figures, part: Part, error: Tensor, target: Tensor, spread: float) -> None:
    undefined = int((~torch.isfinite(error)).sum())
    own = float((target / spread).var(correction=0))
    left = float((error / spread).square().mean()) if undefined == 0 else float("inf")
    figures.undefined[part] = undefined
    figures.wrong[part] = int(misses(error, float(target.square().mean()) ** 0.5).sum())
    figures.mse[part] = float(error.square().mean()) if undefined == 0 else float("inf")
    figures.r2[part] = 1 - left / own if own > 0 else float(left == 0)
    figures.relative[part] = left**0.5
