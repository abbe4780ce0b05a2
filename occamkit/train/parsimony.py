"""The choice between formulas that fit about equally well: the simplest that none is clearly better than."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from occamkit.graph import Expression
from occamkit.task.problem import Problem

if TYPE_CHECKING:
    from occamkit.train.front import Candidate

ENOUGH_ROWS = 20
"""With fewer rows for choosing than this, the rows for training help to choose."""
CLEARLY = 2.0
"""How many standard errors a difference must be to count."""
MOST_WORSE = 1.5
"""How many times as large an error may be at all: where one row outweighs the others, chance explains everything."""


def plainest(problem: Problem, front: Sequence[Candidate], output: int) -> Candidate:
    """Return the simplest of a front, ordered by complexity, whose rows the last does not fit clearly better.

    Rows are those for choosing, and those for training too if they are few. The two formulas are compared row by row,
    so what is hard for both does not blur the difference between them.
    """
    last = front[-1]
    inputs, targets = _choosing_rows(problem)
    columns = dict(zip((one.name for one in problem.dataset.variables), inputs, strict=True))
    best = _squares(last.tree, columns, targets[output])
    for candidate in front[:-1]:
        squares = _squares(candidate.tree, columns, targets[output])
        worse = squares - best
        deviation = worse.std() / worse.numel() ** 0.5
        by_chance = worse.mean() <= CLEARLY * deviation  # false where a row is undefined
        if bool(by_chance) and bool(squares.mean() <= MOST_WORSE * best.mean()):
            return candidate
    return last


def _choosing_rows(problem: Problem) -> tuple[Tensor, Tensor]:
    """Return inputs and targets of the rows for choosing; with those for training if they are too few to tell."""
    chosen = problem.dataset.part("valid")
    if chosen[0].shape[1] >= ENOUGH_ROWS:
        return chosen
    both = zip(chosen, problem.dataset.part("train"), strict=True)
    inputs, targets = (torch.cat(pair, 1) for pair in both)
    return inputs, targets


def _squares(tree: Expression, columns: dict[str, Tensor], target: Tensor) -> Tensor:
    return torch.square(tree.evaluate(columns).expand_as(target) - target)
