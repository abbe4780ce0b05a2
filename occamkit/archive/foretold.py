"""Formulas whose whole making was repeated without each row: what they foretell is held against what others fit.

A description says how well a formula fits the rows that it was looked for on, and charges its words for the choice.
Where a proposer repeats its whole search without some of the rows, time and again, what it misses them by is what it
will miss new rows by, and nothing is left to charge. Both are what it takes to tell the rows one by one, so they can be
held against each other row by row.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor

from occamkit.archive.candidate import Candidate
from occamkit.archive.choose import admissible
from occamkit.archive.figures import figures_with
from occamkit.archive.luck import BY_LUCK
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

    wild: a formula that runs away inside the ranges of its inputs must miss rows by less than this part; drawn: rows
    that are looked at for that.
    """

    clearly: float = 1.0
    hardly: float = 0.3
    alike: float = 0.15
    wild: float = 0.01
    drawn: int = 2_000


SETTINGS = ForetoldSettings()


def told(squares: Sequence[float], problem: SearchProblem) -> bool:
    """Whether squares are those of all rows for training and choosing, or of none."""
    rows = sum(columns.shape[1] for columns in (problem.columns, *(problem.held or ())[:1]))
    return len(squares) in (0, rows) and all(0 <= square < math.inf for square in squares)


class Foretold:
    """What foretells the rows of an output best, by whomever it was made."""

    def __init__(self, problem: Problem, output: int) -> None:
        self.problem, self.output = problem, output
        self._columns, targets = problem.dataset.named("train", "valid")
        self._target = targets[output] if output < len(targets) else targets[:0]
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
        if not self.candidate or sum(squares) < sum(self.squares):
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
        squares = torch.tensor(self.squares, dtype=torch.float64)
        left = (best.tree.evaluate(self._columns).expand_as(self._target) - self._target).square()
        rows = left.numel()
        if best.tree == constant[1].tree:
            # As with any other formula, luck alone must not make it better than the mean.
            apart = (self._target - self._target.mean()).square()
            gained = rows / 2 * math.log(float(apart.mean()) / float(squares.mean()))
            return self.candidate if gained > BY_LUCK and behind(apart, squares) > SETTINGS.clearly else best
        if self._runs_away(best) and float(left.mean()) > SETTINGS.wild * float(squares.mean()):
            return self.candidate
        own, other = (own_length(rows, *words(one.tree)) for one in (best, self.candidate))
        if behind(squares, left * math.exp(2 * own / rows)) > SETTINGS.clearly:
            return best
        apart = (best.tree.evaluate(self._columns) - self.candidate.tree.evaluate(self._columns)).square()
        alike = float(apart.mean()) < SETTINGS.alike * float(squares.mean())
        return best if own <= other and (alike or self._hardly_worse(best, left, squares)) else self.candidate

    def _runs_away(self, best: Candidate) -> bool:
        """Whether a formula leaves the target's range by another such range where every input has been seen."""
        low, high = float(self._target.min()), float(self._target.max())
        draw = torch.Generator().manual_seed(self.problem.seed)
        drawn = {
            name: column[torch.randint(column.numel(), (SETTINGS.drawn,), generator=draw)]
            for name, column in self._columns.items()
        }
        told = best.tree.evaluate(drawn)
        return not bool(((told >= 2 * low - high) & (told <= 2 * high - low)).all())

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
    deviation = float(apart.std(correction=0)) / apart.numel() ** 0.5
    return float(apart.mean() / max(deviation, 1e-300))
