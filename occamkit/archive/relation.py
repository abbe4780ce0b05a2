"""Relations between inputs: whether one says anything of the data, and which of two says more."""

from __future__ import annotations

import torch

from occamkit.graph import Expression
from occamkit.task.problem import Problem

_TIMES_WORSE = 10.0
_ROUNDING = 1e-6


def informative(problem: Problem, tree: Expression) -> bool:
    """Whether a relation holds for the rows better than for rows whose columns were shuffled each on its own.

    An identity such as sin(x)² + cos(x)² = 1 holds for any rows, and so says nothing; algebra may not see it.
    """
    inputs, targets = problem.dataset.part("train")
    generator = torch.Generator().manual_seed(problem.seed)
    shuffled = [column[torch.randperm(column.numel(), generator=generator)] for column in inputs]
    names = [variable.name for variable in problem.dataset.variables]
    honest = tree.evaluate(dict(zip(names, inputs, strict=True))).expand_as(targets[0]) - targets[0]
    random = tree.evaluate(dict(zip(names, shuffled, strict=True))).expand_as(targets[0]) - targets[0]
    left, there = float(honest.square().mean().sqrt()), float(random.square().mean().sqrt())
    return not there <= max(_TIMES_WORSE * left, _ROUNDING)
