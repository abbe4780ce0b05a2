"""The archive of one output: the best formula of every complexity, and the shortest descriptions, of all that came."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from occamkit import traits
from occamkit.archive.candidate import Candidate
from occamkit.archive.choose import admissible, choose
from occamkit.archive.figures import PARTS, Figures, figures_of
from occamkit.archive.foretold import Foretold
from occamkit.archive.luck import unless_lucky
from occamkit.archive.outliers import Outliers
from occamkit.archive.relation import informative
from occamkit.archive.tidy import tidy
from occamkit.archive.trajectory import Trajectory
from occamkit.description import exact_cost, fitted_numbers, length, own_length, plain, wasted_digits, words
from occamkit.graph import Expression, flattened
from occamkit.protocols import Kind, Primitive
from occamkit.score import Judge
from occamkit.task.problem import Problem

PROMISING = 1e-4
"""A function whose error is below this part of the target's size may be exact once its constants are at their best."""
MOST_LOST, ROUNDING_LOST = 1.1, 1e-6
"""How much worse, by the task's own fitness, a formula may become by the last touch on its constants."""
MOST_COMPLEX = 64
"""Functions of this complexity and above share the last place."""
MOST_DESCRIBED = 100
"""Formulas whose descriptions are kept, so that the memory of a long run stays bounded."""
FEW_NUMBERS = 6
"""Formulas of more numbers are touched at the end alone: it takes long, and hardly one of them is a simple number."""
NEAR_TIE = 1.0
"""By how much a description may be longer than the shortest for the formula to be as good: a Bayes factor of three."""
FEW_TOUCHED, MOST_TOUCHED, TOUCHED_ROWS = 16, 64, 8_000
"""Formulas whose numbers are touched at the end, and rows that they are fitted to: few rows leave time for more."""


def tidied(problem: Problem, candidate: Candidate, output: int) -> Candidate:
    """Return the candidate with its fitted constants at their best, once and for all."""
    if candidate.errors or not candidate.tree.fitted:
        return candidate
    tidy_one = tidy(problem, candidate.tree, output, candidate.figures.of_values)
    figures = figures_of(problem, tidy_one.tree, output)
    if worse(problem, figures, candidate):
        return replace(candidate, errors=tuple(None for _ in candidate.tree.fitted))
    return replace(candidate, tree=tidy_one.tree, figures=figures, errors=tidy_one.errors)


def worse(problem: Problem, figures: Figures, candidate: Candidate) -> bool:
    """Whether other numbers are worse by a fitness that does not rank by squares, which is what they are fitted by.

    A robust one passes over rows that pull at them.
    """
    most = MOST_LOST * candidate.figures.loss["train"] + ROUNDING_LOST
    return not traits.squares(problem.fitness) and figures.loss["train"] > most


def _rounded(tree: Expression, digits: int = 8) -> Expression:
    return tree.with_constants([float(f"{one:.{digits}g}") for one in tree.fitted])


class Archive:
    """Keeps, for one output, the best-scoring function of each whole complexity and the shortest descriptions."""

    def __init__(self, problem: Problem, judge: Judge, output: int) -> None:
        self.problem, self.judge, self.output = problem, judge, output
        self.outliers = Outliers(problem)
        self._trajectory, self._foretold = Trajectory(problem, output), Foretold(problem, output)
        self._sizes = {part: problem.dataset.part(part)[1].shape[1] for part in PARTS[:2]}
        self.rows = sum(self._sizes.values())
        self._kept: dict[int, Candidate] = {}
        self._bars: dict[int, float] = {}
        self._described: dict[Expression, tuple[tuple[bool, float], Candidate]] = {}
        self._rounded: dict[Expression, Expression] = {}
        self._shortest: tuple[bool, float] | None = None
        self._level: tuple[float, Candidate] | None = None
        self._front: list[Candidate] | None = None
        self._best: Candidate | None = None

    def candidate(self, tree: Expression, proposer: str, log_q: float = -math.inf) -> Candidate:
        """Return a tree with what it is worth; its fitness is undefined where it is, and where it is vetoed."""
        found, figures = self.judge.tree(tree, self.output), figures_of(self.problem, tree, self.output)
        by_score = self.problem.kind is Kind.RELATION
        made = Candidate(tree, found.score, found.fitness, figures, log_q, proposer, by_score=by_score)
        near = figures.relative["train"] < PROMISING and not figures.exact and fitted_numbers(tree) <= FEW_NUMBERS
        return tidied(self.problem, made, self.output) if near else made

    def offer(
        self, tree: Expression, proposer: str, log_q: float = -math.inf, foretold: Sequence[float] = ()
    ) -> Candidate | None:
        """Judge a tree that somebody proposes and keep it if it improves; None if it is undefined or refused."""
        if (allowed := self.judge.allowed(flattened(tree))) is None:
            return None
        # Under noise the same formula comes again and again with other last digits.
        known = self._rounded.get(rounded := _rounded(allowed))
        if known is not None and known in self._described and not foretold:
            return self._described[known][1]
        candidate = self.candidate(allowed, proposer, log_q)
        if not math.isfinite(candidate.fitness):
            return None
        if foretold and not candidate.errors:
            candidate, self._best = self._foretold.taken(candidate, foretold), None
        if candidate.figures.relative["train"] > PROMISING:
            self._rounded[rounded] = candidate.tree
        self.add(candidate)
        return candidate

    def _touch_described(self) -> None:
        """Give numbers their last touch where the formula may then be the best: a simple number is a shorter word."""
        inexact, shortest = min((told for told, _ in self._described.values()), default=(False, 0.0))
        if not inexact:
            return
        rough: dict[Expression, tuple[float, Candidate]] = {}
        for (_, told), one in self._described.values():
            left, numbers = self._left(one), fitted_numbers(one.tree)
            if not one.errors and 0 < numbers <= FEW_NUMBERS and math.isfinite(told):
                spared = length(left, self.rows, 0.0, numbers) - length(left, self.rows, 0.0)  # if all are simple
                rough.setdefault(_rounded(one.tree, 3), (told - spared, one))  # others differ in last digits
        most = min(MOST_TOUCHED, max(FEW_TOUCHED, TOUCHED_ROWS // self.rows))
        for simple, one in sorted(rough.values(), key=lambda pair: pair[0])[:most]:
            if simple > shortest + NEAR_TIE:
                return
            touched = tidied(self.problem, one, self.output)
            self.add(touched)
            shortest = min(shortest, self._length(touched)[1])

    def add(self, candidate: Candidate) -> None:
        """Keep a candidate if it improves on those of its complexity, or is described in few words."""
        level = self.level(candidate)
        if level not in self._kept or candidate.score > self._bars[level] or candidate.exact:
            self._bars[level] = max(candidate.score, self._bars.get(level, -math.inf))
            self._keep(level, candidate)
        if self.problem.kind is Kind.FUNCTION and candidate.tree not in self._described:
            self._describe(candidate)

    def _describe(self, candidate: Candidate) -> None:
        told = self._length(candidate)
        self._described[candidate.tree] = (told, candidate)
        if not candidate.tree.inputs and (self._level is None or told[1] < self._level[0]):
            self._level, self._best = (told[1], candidate), None
        if self._shortest is None or told < (self._shortest[0], self._shortest[1] + NEAR_TIE):
            self._best = None
        if len(self._described) > 2 * MOST_DESCRIBED:
            ranked = sorted(self._described.items(), key=lambda item: item[1][0])
            self._described = dict(ranked[:MOST_DESCRIBED])
            self._rounded = {key: tree for key, tree in self._rounded.items() if tree in self._described}

    @staticmethod
    def level(candidate: Candidate) -> int:
        """Return the place that a candidate competes for."""
        return min(math.ceil(candidate.complexity), MOST_COMPLEX)

    def _keep(self, level: int, candidate: Candidate) -> None:
        if self.problem.kind is Kind.RELATION and not informative(self.problem, candidate.tree):
            return
        # A search in single precision sees rounding as progress; what is exact already stays.
        if (kept := self._kept.get(level)) is None or not kept.exact or candidate.choice < kept.choice:
            self._kept[level] = candidate
            self._front = self._best = None

    def _length(self, candidate: Candidate) -> tuple[bool, float]:
        """Return what formulas are ranked by: exact ones first, by cost, and then others by description length."""
        tree = candidate.tree
        if candidate.figures.exact:
            return False, exact_cost(tree)
        digits = wasted_digits(tree, self.judge.problem.named)
        return True, length(self._left(candidate), self.rows, *words(tree), digits)

    def _left(self, candidate: Candidate) -> float:
        """Return the mean square error on the rows for training and choosing, as a part of the variance."""
        errors = candidate.figures.errors
        left = sum(count * errors[part] ** 2 for part, count in self._sizes.items() if count) / self.rows
        return max(left, candidate.figures.rounding**2)

    def front(self) -> list[Candidate]:
        """Return the Pareto front: each has a smaller error on the choosing rows than all simpler ones.

        A relation has a higher score than all simpler ones.
        """
        if self._front is None:
            front: list[Candidate] = []
            kept = admissible(self._kept.values(), self._kept.values())
            for candidate in sorted(kept, key=lambda one: (one.complexity, one.choice)):
                if not front or candidate.choice < front[-1].choice:
                    front.append(candidate)
            self._front = front
        return self._front

    def best(self) -> Candidate | None:
        """Return the best formula; see `choose`."""
        if self._best is None:
            kept = admissible(self._kept.values(), self._kept.values())
            described = admissible((one for _, one in self._described.values()), self._kept.values())
            shortest = min(described, key=lambda one: self._described[one.tree][0], default=None)
            self._shortest = None if shortest is None else self._described[shortest.tree][0]
            if shortest is not None and not shortest.exact:
                shortest = min(self._tied(described), key=self._order)
                shortest = self._trajectory.plainer(shortest, [*described, *kept]) or shortest
            chosen = choose(self.problem, self.output, kept, self.front(), shortest, self.outliers)
            told = self._length(chosen) if chosen and chosen.figures.exact else chosen is shortest and self._shortest
            best = unless_lucky(self.problem, self.output, chosen, told or None, self._level, self._kept.values())
            self._best = self._foretold.decided(best, self._level, self._kept.values())
        return self._best

    def _order(self, one: Candidate) -> tuple[float, float, float]:
        """Return what near ties are ordered by: their own length; of forms of one function, the simplest is first."""
        return own_length(self.rows, *words(one.tree)), round(self._described[one.tree][0][1], 2), one.complexity

    def _tied(self, described: Sequence[Candidate]) -> list[Candidate]:
        """Return those whose descriptions are nearly as short as the shortest."""
        lengths = [self._described[one.tree][0][1] for one in described]
        return [one for one, told in zip(described, lengths, strict=True) if told <= min(lengths) + NEAR_TIE]

    def nearly_best(self) -> list[Candidate]:
        """Return what regularizers leave of the formulas whose descriptions are nearly as short as the shortest."""
        described = admissible((one for _, one in self._described.values()), self._kept.values())
        return sorted(self._tied(described), key=lambda one: self._described[one.tree][0]) if described else []

    @property
    def good(self) -> bool:
        """Whether the best is exact, or has the score that the task asks for.

        An exact formula that loses half of a perfect score to penalties breaks what the task asks for; there may be one
        that does not.
        """
        best, wanted = self.best(), self.problem.spec.stop.score
        if best is None:
            return False
        kept = best.exact and (2 * best.penalty < self.judge.ceiling or self.problem.kind is not Kind.FUNCTION)
        return kept or (wanted is not None and best.score >= wanted * self.judge.ceiling)

    @property
    def solved(self) -> bool:
        """Whether an exact formula is known that no simpler one is likely to stand behind."""
        if self.problem.kind is not Kind.FUNCTION:
            return False
        return self.good and any(one.exact and plain(one.tree) for one in self.front())

    def finished(self, most: int) -> list[Candidate]:
        """Return the front with all constants at their best; of a long one, only the last `most`.

        A touch may change who is on the front, so this goes on until nobody there is without it.
        """
        self._touch_described()
        while True:
            rough = [one for one in self.front()[-most:] if one.tree.fitted and not one.errors]
            if not rough:
                return self.front()[-most:]
            for level, candidate in self._kept.items():
                if candidate in rough:
                    self._kept[level] = tidied(self.problem, candidate, self.output)
            self._front = self._best = None

    def state(self) -> dict[str, Any]:
        """Return all that is kept, as plain values."""
        return {
            "bars": dict(self._bars),
            "kept": {level: candidate.stored() for level, candidate in self._kept.items()},
            "described": [candidate.stored() for _, candidate in self._described.values()],
            "level": None if self._level is None else self._level[1].stored(),
            "foretold": self._foretold.stored(),
        }

    def restore(self, state: Mapping[str, Any], primitives: Mapping[str, Primitive]) -> None:
        """Go back to a state."""
        self._bars = dict(state["bars"])
        self._kept = {level: Candidate.read(one, primitives) for level, one in state["kept"].items()}
        self._described, self._shortest, self._level = {}, None, None
        for one in state["described"]:
            self._describe(Candidate.read(one, primitives))
        if state["level"] is not None:
            level = Candidate.read(state["level"], primitives)
            self._level = (self._length(level)[1], level)
        self._foretold.restore(state["foretold"], primitives)
        described = [one for _, one in self._described.values() if one.figures.relative["train"] > PROMISING]
        self._rounded = {_rounded(one.tree): one.tree for one in described}
        self._front = self._best = None
