"""Which formula is the best of all that were kept; `docs/guide/results.md` says the same to users.

0. What has a lower score and a higher penalty than the formula of the highest score is never chosen: regularizers bind
   the choice as they bind the search.
1. Of relations, the one with the highest score: 1 = 1 has no error.
2. Of a table of few values, the program that is shortest with its exceptions; see `outliers`.
3. The exact formula of least cost, odd numbers at a high price; of programs, the simplest exact one.
4. A constant, where what is best may be so by luck; see `luck`.
5. The formula with the shortest description of itself and of what it leaves of the rows for training and choosing; of
   those that are nearly as short, the simplest; and a plainer one where rows follow one another, see `trajectory`.
6. Under a fitness that does not rank by squares, as descriptions do: the simplest formula of the front that none fits
   clearly better, where it is much better by that fitness.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from occamkit import traits
from occamkit.archive.candidate import Candidate
from occamkit.archive.figures import ROUNDING
from occamkit.archive.outliers import Outliers
from occamkit.graph import Expression
from occamkit.protocols import Kind
from occamkit.task.problem import Problem


@dataclass(frozen=True)
class ChoiceSettings:
    """enough_rows: with fewer rows for choosing, the rows for training help to choose.

    clearly: how many standard errors a difference must be to count. most_worse: how many times as large an error may be
    at all, for where one row outweighs the others chance explains everything. much_better: a loss below this part of
    another is much better. All were set by hand, and not varied since.
    """

    enough_rows: int = 20
    clearly: float = 2.0
    most_worse: float = 1.5
    much_better: float = 0.8


SETTINGS = ChoiceSettings()


def choose(
    problem: Problem,
    output: int,
    kept: Sequence[Candidate],
    front: Sequence[Candidate],
    shortest: Candidate | None,
    outliers: Outliers,
) -> Candidate | None:
    """Return the best of an output: kept is all, front the best of each complexity, shortest the shortest described."""
    if problem.kind is Kind.RELATION:
        return front[-1] if front else None
    chosen = outliers.choose(kept)
    if chosen is not None or not front:
        return chosen
    if problem.kind is Kind.PROGRAM:
        return next((one for one in front if one.exact), front[-1])
    if shortest is None or shortest.exact or traits.squares(problem.fitness):
        return shortest
    usual = plainest(problem, front, output)
    return usual if usual.choice[0] < SETTINGS.much_better * shortest.choice[0] else shortest


def admissible(candidates: Iterable[Candidate], among: Iterable[Candidate]) -> list[Candidate]:
    """Return those candidates that regularizers leave a choice of, beside the highest score among others."""
    leader = max(among, key=lambda one: one.score, default=None)
    return [
        one
        for one in candidates
        if leader is None or one.score >= leader.score or one.penalty <= leader.penalty + ROUNDING * abs(leader.fitness)
    ]


def plainest(problem: Problem, front: Sequence[Candidate], output: int) -> Candidate:
    """Return the simplest of a front, ordered by complexity, whose rows the last does not fit clearly better.

    Rows are those for choosing, and those for training too if they are few. The two formulas are compared row by row,
    so what is hard for both does not blur the difference between them.
    """
    last = front[-1]
    few = problem.dataset.valid.numel() < SETTINGS.enough_rows
    columns, targets = problem.dataset.named("valid", *(("train",) if few else ()))
    best = _squares(last.tree, columns, targets[output])
    for candidate in front[:-1]:
        squares = _squares(candidate.tree, columns, targets[output])
        worse = squares - best
        deviation = worse.std() / worse.numel() ** 0.5
        by_chance = worse.mean() <= SETTINGS.clearly * deviation  # false where a row is undefined
        near = SETTINGS.much_better * candidate.choice[0] <= last.choice[0]  # by what the task is after
        if near and bool(by_chance) and bool(squares.mean() <= SETTINGS.most_worse * best.mean()):
            return candidate
    return last


def _squares(tree: Expression, columns: dict[str, Tensor], target: Tensor) -> Tensor:
    return torch.square(tree.evaluate(columns).expand_as(target) - target)
