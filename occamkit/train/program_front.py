"""The front of a task with a wrapper: outputs feed each other, so what is kept is whole programs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Any

import torch
from torch import Tensor

from occamkit.evaluate import iterates
from occamkit.graph import Expression
from occamkit.score.judge import ProgramWorth
from occamkit.task.problem import Problem
from occamkit.train.figures import Figures, figures_with
from occamkit.train.front import MOST_COMPLEX, Candidate, Front, Whole
from occamkit.train.trainer import Step, Trainer

FEWEST_STEPS = 30
"""Steps that are spent at the least on finding an exact program that repeats its step less often."""


class ProgramFront(Front):
    """Keeps the best-scoring program of each whole complexity, and shows one output of it.

    Scores and complexities are those of programs, so the fronts of all outputs hold the same ones.
    """

    def look(self, step: Step) -> None:
        """Look at the programs of one step; reads back one number per complexity, and what improves."""
        worth = _worth(step.scores.programs)
        score = worth.score.masked_fill(worth.depth == 0, -torch.inf)
        costs = self.trainer.graph.complexities.index_select(0, step.roots.reshape(-1)).view_as(step.roots).sum(0)
        level = costs.ceil().long().clamp_(max=MOST_COMPLEX)
        for complexity, at in self._improving(score, level):
            log_q = self.trainer.log_q(step.sample.edges(level.new_tensor([at])), self.output)
            self._keep(complexity, self._program(step.roots[:, at], worth, at, log_q))

    def begin_again(self) -> None:
        """Look at all that comes as if for the first time; what is kept stays."""
        self._bars = torch.full_like(self._bars, -torch.inf)

    def _keep(self, level: int, candidate: Candidate) -> None:
        kept = self._kept.get(level)
        if kept is None or _better(candidate, kept):
            self._kept[level] = candidate
            self._front = self._best = None

    def likeliest(self) -> Candidate:
        """Return the program that the network holds likeliest now."""
        edges = self.trainer.likeliest_edges()
        roots = self.trainer.nodes_of(edges)  # [v, 1]
        worth = _worth(self.trainer.judge.score(roots, top=1).programs)
        return self._program(roots[:, 0], worth, 0, self.trainer.log_q(edges, self.output))

    def _program(self, roots: Tensor, worth: ProgramWorth, at: int, log_q: float) -> Candidate:
        trees = tuple(self.trainer.judge.read(root) for root in roots.tolist())
        depth = max(int(worth.depth[at]), 1)
        figures = program_figures(self.problem, trees, depth)
        score, fitness = float(worth.each[self.output, at]), float(worth.fitness[self.output, at])
        tree, own = trees[self.output], figures[self.output]
        return Candidate(tree, score, fitness, own, log_q, recurrence=depth, whole=Whole(trees, figures))


def _better(new: Candidate, old: Candidate) -> bool:
    """Whether a program is better than another of its complexity: first by score, then by fewer repetitions."""
    if old.exact:
        return new.exact and (new.recurrence or 0) < (old.recurrence or 0)
    return new.exact or new.choice < old.choice


class Shallower:
    """Looks for a program that repeats its step less often, once one is exact.

    On a limited range a step applied four times may do what another does in two; the fewer repetitions are the better
    explanation, and the better guess beyond the range. As many steps again as were needed before, from a fresh start.
    """

    def __init__(self, trainer: Trainer, fronts: Sequence[ProgramFront]) -> None:
        self.trainer = trainer
        self.fronts = fronts
        self._depth: int | None = None
        self._until = 0

    def exhausted(self, good: Sequence[Candidate]) -> bool:
        """Note the exact programs of a step; whether the search for shallower ones is over."""
        depth = good[0].recurrence or 1
        if depth == 1:
            return True
        if self._depth is None or depth < self._depth:
            self._depth = depth
            self._until = self.trainer.steps + max(FEWEST_STEPS, self.trainer.steps)
            self.trainer.judge.limit_depth(depth - 1)
            self.trainer.restart(again=True)
            for front in self.fronts:
                front.begin_again()
        return self.trainer.steps >= self._until

    def stored(self) -> dict[str, Any]:
        """Return how far the search for shallower programs has come, as plain values."""
        return {"depth": self._depth, "until": self._until}

    def restore(self, stored: Mapping[str, Any]) -> None:
        """Go on from what `stored` says."""
        self._depth, self._until = stored["depth"], stored["until"]
        if self._depth is not None:
            self.trainer.judge.limit_depth(self._depth - 1)


def program_figures(problem: Problem, trees: Sequence[Expression], depth: int) -> tuple[Figures, ...]:
    """Evaluate a program at one depth on every part of the rows: figures for each output."""

    def predict(output: int, inputs: Tensor) -> Tensor:
        return predictions(problem, trees, depth, inputs)[output]

    return tuple(
        figures_with(problem, output, lambda inputs, output=output: predict(output, inputs))  # type: ignore[misc]
        for output in range(len(trees))
    )


def predictions(problem: Problem, trees: Sequence[Expression], depth: int, inputs: Tensor) -> Tensor:
    """Return what a program predicts at one depth, [v, n], on inputs [u, n] in base units; NaN if it ends before."""
    if problem.wrapper is None or problem.feedback is None:
        raise ValueError("only a task with a wrapper repeats its functions")
    names = [variable.name for variable in problem.dataset.variables]
    states = iterates(problem.wrapper, problem.feedback, trees, names, inputs)
    undefined = inputs.new_full((len(trees), inputs.shape[1]), torch.nan)
    return next(islice(states, depth - 1, None), undefined)


def _worth(programs: ProgramWorth | None) -> ProgramWorth:
    if programs is None:
        raise ValueError("the judge of this task does not repeat functions")
    return programs
