"""Rows that follow one another, such as a trajectory's: how well they resolve a law, and what is not to be told.

Slopes that were taken between rows are some tenths of a per cent off everywhere, and smoothly so. A description takes
what is left of the rows for random: there every row would be a fact of its own, worth many words. But what is left
smoothly, and is less than a row differs from what its neighbours say of it, may be how the rows were made.
"""

from __future__ import annotations

from collections.abc import Iterable

import torch
from torch import Tensor

from occamkit.archive.candidate import Candidate
from occamkit.description import own_length, words
from occamkit.task.problem import Problem

RESOLVED = 0.05
"""Rows follow one another if they differ by less than this part of the spread from what their neighbours say."""
SMOOTH = 0.25
"""Errors are smooth if their sign changes from one row to the next this often; random ones change it half of the time.
"""
ENOUGH_ROWS = 20
"""Of fewer rows nobody can tell."""


class Trajectory:
    """The rows of an output for training and choosing, in the order of the data.

    resolution: how far a row is from the straight line between its neighbours, as a part of the spread; none where rows
    do not follow one another.
    """

    def __init__(self, problem: Problem, output: int) -> None:
        self._columns, targets = problem.dataset.named("train", "valid")
        self._target = targets[output]
        rows = torch.cat([problem.dataset.train, problem.dataset.valid])
        self._order = rows.argsort()
        found = _resolution(self._target[self._order], rows[self._order])
        self.resolution = found if found is not None and found < RESOLVED else None

    def plainer(self, best: Candidate, others: Iterable[Candidate]) -> Candidate | None:
        """Return the formula of fewest words that the rows cannot tell from the best, if that misses them smoothly."""
        if self.resolution is None or not self._smoothly(best):
            return None
        near = [one for one in others if _error(one) <= self.resolution and _own(one) < _own(best)]
        return min((one for one in near if self._smoothly(one)), key=_own, default=None)

    def _smoothly(self, one: Candidate) -> bool:
        errors = one.tree.evaluate(self._columns).expand_as(self._target) - self._target
        above = errors[self._order] > 0
        return float((above[1:] != above[:-1]).double().mean()) < SMOOTH


def _resolution(target: Tensor, rows: Tensor) -> float | None:
    """Return how far a target [n] is from lines between neighbours, for steps of one row; rows: their places."""
    spread = float(target.std(correction=0))
    if target.numel() < ENOUGH_ROWS or spread == 0:
        return None
    before, after = (rows[1:-1] - rows[:-2]).double(), (rows[2:] - rows[1:-1]).double()
    line = (target[:-2] * after + target[2:] * before) / (before + after)
    return float(((target[1:-1] - line) / (before * after)).square().mean().sqrt()) / spread


def _error(one: Candidate) -> float:
    return max(one.figures.relative[part] for part in ("train", "valid") if part in one.figures.relative)


def _own(one: Candidate) -> float:
    return own_length(1, *words(one.tree)) + words(one.tree)[1]
