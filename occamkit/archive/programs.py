"""The archive of a task with a wrapper: outputs feed each other, so what is kept is whole programs."""

from __future__ import annotations

import math
from collections.abc import Sequence

from torch import Tensor

from occamkit.archive.archive import Archive
from occamkit.archive.candidate import Candidate, Whole
from occamkit.archive.figures import Figures, figures_with
from occamkit.evaluate import predictions
from occamkit.graph import Expression
from occamkit.protocols import Kind
from occamkit.score import Judge
from occamkit.task.problem import Problem


class ProgramArchive(Archive):
    """Keeps the best-scoring program of each whole complexity, and shows one output of it.

    Scores and complexities are those of programs, so the archives of all outputs hold the same ones.
    """

    def program(self, trees: Sequence[Expression], depth: int, proposer: str, log_q: float = -math.inf) -> Candidate:
        """Return a program at one depth of its wrapper with what it is worth as this output."""
        own, figures = self.judge.program(trees, depth)[self.output], program_figures(self.problem, trees, depth)
        whole, tree = Whole(tuple(trees), figures), trees[self.output]
        return Candidate(tree, own.score, own.fitness, figures[self.output], log_q, proposer, depth, whole=whole)

    def offer_program(
        self, trees: Sequence[Expression], depth: int, proposer: str, log_q: float = -math.inf
    ) -> Candidate | None:
        """Judge a program and keep it if it improves; None if it is undefined."""
        candidate = self.program(trees, depth, proposer, log_q)
        if not math.isfinite(candidate.fitness):
            return None
        score = sum(one.score for one in self.judge.program(trees, depth)) / len(trees)
        level = self.level(candidate)
        if level not in self._kept or score > self._bars[level] or _better(candidate, self._kept[level]):
            self._bars[level] = max(score, self._bars.get(level, -math.inf))
            self._keep(level, candidate)
        return candidate

    def _keep(self, level: int, candidate: Candidate) -> None:
        kept = self._kept.get(level)
        if kept is None or _better(candidate, kept):
            self._kept[level] = candidate
            self._front = self._best = None


def _better(new: Candidate, old: Candidate) -> bool:
    """Whether a program is better than another of its complexity: exact, with fewer repetitions, a smaller error."""
    if old.exact:
        return new.exact and (new.recurrence or 0) < (old.recurrence or 0)
    return new.exact or new.choice < old.choice


def program_figures(problem: Problem, trees: Sequence[Expression], depth: int) -> tuple[Figures, ...]:
    """Evaluate a program at one depth on every part of the rows: figures for each output."""
    names = [variable.name for variable in problem.dataset.variables]

    def predict(output: int, inputs: Tensor) -> Tensor:
        return predictions(problem, trees, depth, names, inputs)[output]

    return tuple(
        figures_with(problem, output, lambda inputs, output=output: predict(output, inputs))  # type: ignore[misc]
        for output in range(len(trees))
    )


def archives_of(problem: Problem, judge: Judge) -> tuple[Archive, ...]:
    """Return an archive for each output; outputs that are fed back stand or fall together."""
    made = ProgramArchive if problem.kind is Kind.PROGRAM else Archive
    return tuple(made(problem, judge, output) for output in range(len(problem.outputs)))
