"""Whether a formula is good by luck: thousands are tried, and on rows without a law one of them is the luckiest.

Then a constant is the answer: no formula was found.
"""

from __future__ import annotations

from collections.abc import Iterable

import torch
from torch import Tensor

from occamkit.archive.candidate import Candidate
from occamkit.archive.choose import admissible
from occamkit.description import PRICE, by_heart, fitted_numbers, odd_numbers, own_length, words
from occamkit.task.problem import Problem

BY_LUCK = 6.0
"""How much shorter than that of a constant the description of a formula must be, as a log likelihood.

Of sixty tables of noise, by which it was set, the luckiest formula gained two."""
LOUD = 0.02
"""One row and this part of all are not enough for a formula to gain by."""
NOTHING = 1e-3
"""A row whose error is below this part of the distance between two values of the target is told."""


def unless_lucky(
    problem: Problem,
    output: int,
    chosen: Candidate | None,
    told: tuple[bool, float] | None,
    constant: tuple[float, Candidate] | None,
    kept: Iterable[Candidate],
) -> Candidate | None:
    """Return what was chosen, or the constant where that may be the luckiest formula of thousands.

    told: how it was ranked, if it was chosen by its description. constant: with how it is ranked. kept: what
    regularizers have to leave the constant beside.
    """
    if chosen is None or told is None or constant is None or not admissible([constant[1]], kept):
        return chosen
    level_told, level = constant
    return level if lucky(problem, output, chosen, level, told, level_told) else chosen


def lucky(
    problem: Problem, output: int, best: Candidate, level: Candidate, told: tuple[bool, float], level_told: float
) -> bool:
    """Whether the best is hardly better than a constant, for the sake of few rows alone, or learnt by heart.

    told: how it is ranked: whether it is inexact, and the length of its description, or its cost if it is exact.
    """
    inexact, length = told
    target = problem.dataset.named("train", "valid")[1][output]
    if not inexact:
        # Whatever is given as many numbers as a target of few values has rows is exact; numbers that mean nothing
        # are doubted more.
        spare = BY_LUCK * bool(odd_numbers(best.tree))
        return fitted_numbers(best.tree) > 0 and PRICE * length > by_heart(target) - spare
    squares = _squares(problem, output, best)
    own, constant = (own_length(target.numel(), *words(one.tree)) for one in (best, level))
    if length > level_told - BY_LUCK or (_told(squares, target) and own > by_heart(target) - BY_LUCK):
        return True
    if best.figures.of_values or best is level:
        return False
    return _gain_elsewhere(squares, target) < own - constant + BY_LUCK


def _squares(problem: Problem, output: int, candidate: Candidate) -> Tensor:
    """Return the square of the error of every row [n]."""
    columns, targets = problem.dataset.named("train", "valid")
    return (candidate.tree.evaluate(columns).expand_as(targets[output]) - targets[output]).square()


def _told(squares: Tensor, target: Tensor) -> bool:
    """Whether every row is told by its square [n]: what is left is nothing beside how far apart two values are."""
    apart = torch.unique(target).diff()
    return bool(apart.numel()) and float(squares.max()) < float(NOTHING * apart.min()) ** 2


def _gain_elsewhere(squares: Tensor, target: Tensor) -> float:
    """Return what a formula gains on a constant by all rows but the few that speak loudest for it, as a log likelihood.

    Where few rows hold most of the variance, a pole near them would explain everything.
    """
    loud = 1 + round(LOUD * squares.numel())
    others = ((target - target.mean()).square() - squares).argsort()[: squares.numel() - loud]
    left = squares[others].mean() / target[others].var(correction=0)
    return -float(left.log()) * others.numel() / 2
