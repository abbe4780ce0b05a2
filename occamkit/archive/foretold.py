"""Formulas whose whole making was repeated without each row: what they foretell is held against what others fit.

A description says how well a formula fits the rows that it was looked for on, and charges its words for the choice.
Where a proposer repeats its search without some of the rows, time and again, what it misses them by is nearly what it
will miss new rows by, and little is left to charge. So the two can be held against each other row by row.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import torch
from torch import Tensor

from occamkit.archive.candidate import Candidate
from occamkit.archive.choose import admissible
from occamkit.archive.figures import figures_with
from occamkit.archive.luck import BY_LUCK
from occamkit.archive.trajectory import Trajectory
from occamkit.description import own_length, words
from occamkit.protocols import Primitive
from occamkit.task.problem import Problem
from occamkit.task.search_problem import SearchProblem


@dataclass(frozen=True)
class ForetoldSettings:
    """In standard errors of paired differences, row by row.

    clearly: by how much less than what foretells rows a formula must miss them to be kept, its words charged, and what
    foretells rows than the mean. hardly: by how much more a formula may miss rows where it is no longer. alike: the
    share of what rows are missed by below which two formulas say the same.

    good: a formula that runs away between rows, by so many ranges of the target, gives way to what leaves less than
    this part of its variance. drawn: rows that are looked at for that, each with so many nearest; beyond: how far
    beyond both ends, as a part of what lies between.
    """

    clearly: float = 1.01
    hardly: float = 0.3
    alike: float = 0.15
    good: float = 0.5
    ranges: float = 10.0
    drawn: int = 1_000
    nearest: int = 8
    beyond: float = 0.25


SETTINGS = ForetoldSettings()


def told(squares: Sequence[float], problem: SearchProblem) -> bool:
    """Whether squares are those of all rows for training and choosing, or of none."""
    rows = sum(columns.shape[1] for columns in (problem.columns, *(problem.held or ())[:1]))
    return not squares or (len(squares) == rows and min(squares) >= 0 and 0 < sum(squares) < math.inf)


class Foretold:
    """What foretells the rows of an output best, by whomever it was made."""

    def __init__(self, problem: Problem, output: int) -> None:
        self.problem, self.output = problem, output
        self._columns, targets = problem.dataset.named("train", "valid")
        self._target = targets[output] if output < len(targets) else targets[:0]
        self._follows = Trajectory(problem, output).resolution is not None
        self._held = problem.dataset.part("valid")[1].shape[1]
        self.candidate: Candidate | None = None
        self.squares: tuple[float, ...] = ()

    def taken(self, candidate: Candidate, squares: Sequence[float]) -> Candidate:
        """Return a candidate whose numbers are from all rows, with figures of rows for choosing as they were foretold.

        squares: by which rows for training and choosing were missed when they had no part in it.
        """
        figures, target = candidate.figures, self._target[-self._held :]
        if self._held:
            told = target + torch.tensor(squares[-self._held :], dtype=target.dtype).sqrt()
            figures = figures.with_part("valid", figures_with(self.problem, self.output, lambda _: told, ("valid",)))
        errors = (None,) * len(candidate.tree.fitted)
        taken = replace(candidate, figures=figures, errors=errors, refitted=True)
        if not self.candidate or self.candidate.proposer == taken.proposer or sum(squares) < sum(self.squares):
            self.candidate, self.squares = taken, tuple(squares)
        return taken

    def decided(
        self, best: Candidate | None, constant: tuple[float, Candidate] | None, kept: Iterable[Candidate]
    ) -> Candidate | None:
        """Return the best of what fits, or what foretells rows; constant: with how it is ranked.

        What fits is kept where it is clearly better, or not longer and the same or hardly worse; and runs nowhere away.
        """
        if not best or not constant or best.exact or not self.candidate or not admissible([self.candidate], kept):
            return best
        if self._follows:  # what slopes between rows miss is foretold, too
            return best
        squares = torch.tensor(self.squares, dtype=torch.float64)
        left = (best.tree.evaluate(self._columns).expand_as(self._target) - self._target).square()
        rows = left.numel()
        if best.tree == constant[1].tree:
            # As with any other formula, luck alone must not make it better than the mean.
            apart = (self._target - self._target.mean()).square()
            gained = rows / 2 * math.log(float(apart.mean()) / float(squares.mean()))
            return self.candidate if gained > BY_LUCK and behind(apart, squares) > SETTINGS.clearly else best
        good = float(squares.mean()) < SETTINGS.good * float(self._target.var(correction=0))
        if good and self._runs_away(best) and not self._runs_away(self.candidate):
            return self.candidate
        if best.figures.of_values:  # then rows count by their values
            size = self._target.square()
            left, squares = left / size, squares / size
        own, other = (own_length(rows, *words(one.tree)) for one in (best, self.candidate))
        if behind(squares, left * math.exp(2 * own / rows)) > SETTINGS.clearly:
            return best
        apart = (best.tree.evaluate(self._columns) - self.candidate.tree.evaluate(self._columns)).square()
        alike = float(apart.mean()) < SETTINGS.alike * float(squares.mean())
        return best if own <= other and (alike or self._hardly_worse(best, left, squares)) else self.candidate

    def _runs_away(self, best: Candidate) -> bool:
        """Whether a formula leaves the target's range by many such ranges somewhere between neighbouring rows."""
        low, high = float(self._target.min()), float(self._target.max())
        told, far = best.tree.evaluate(self._between), SETTINGS.ranges * (high - low)
        return bool(((told < low - far) | (told > high + far)).any())

    @cached_property
    def _between(self) -> dict[str, Tensor]:
        """Rows whose every input lies between those of a row and of one of its nearest, or a little beyond."""
        draw = torch.Generator().manual_seed(self.problem.seed)
        rows = torch.stack(list(self._columns.values()))  # [u, n]
        rows = rows[:, torch.randperm(rows.shape[1], generator=draw)[: SETTINGS.drawn]]
        spread = rows.std(1, keepdim=True, correction=0)
        near = torch.cdist((rows / spread.where(spread > 0, 1.0)).T, (rows / spread.where(spread > 0, 1.0)).T)
        others = near.argsort(1)[:, 1 : 1 + SETTINGS.nearest]  # [n, k]
        ends = rows[:, others.T]  # [u, k, n]
        share = (1 + 2 * SETTINGS.beyond) * torch.rand(ends.shape, dtype=rows.dtype, generator=draw) - SETTINGS.beyond
        drawn = (rows[:, None] + share * (ends - rows[:, None])).flatten(1)
        return dict(zip(self._columns, drawn, strict=True))

    def _hardly_worse(self, best: Candidate, left: Tensor, squares: Tensor) -> bool:
        """Whether what fits misses rows hardly more: those held back, and all, those for training put right."""
        fitted, numbers = left.numel() - self._held, len(best.tree.fitted)
        right = torch.cat([left[:fitted] * (fitted + numbers) / max(fitted - numbers, 1), left[fitted:]])
        by = [behind(right, squares)]
        if self._held:
            by.append(behind(left[fitted:], squares[fitted:]))
        return sum(by) / len(by) <= SETTINGS.hardly

    def stored(self) -> dict[str, Any] | None:
        """Return what JSON can hold."""
        return None if self.candidate is None else {"candidate": self.candidate.stored(), "squares": self.squares}

    def restore(self, stored: Mapping[str, Any] | None, primitives: Mapping[str, Primitive]) -> None:
        """Read what `stored` returned."""
        if stored is not None:
            self.candidate = Candidate.read(stored["candidate"], primitives)
            self.squares = tuple(stored["squares"])


def behind(worse: Tensor, better: Tensor) -> float:
    """Return by how many standard errors one misses rows by more than another does, row by row."""
    apart = worse - better
    deviation = float(apart.std(correction=1)) / apart.numel() ** 0.5
    return float(apart.mean() / max(deviation, 1e-300))
