"""The front: the best function of every complexity, over everything that was seen."""

from __future__ import annotations

from dataclasses import dataclass

import torch

from occamkit.graph import Expression
from occamkit.task.problem import Problem
from occamkit.train.figures import Figures, figures_of
from occamkit.train.trainer import Step, Trainer

MOST_COMPLEX = 64
"""Functions of this complexity and above share the last place."""


@dataclass(frozen=True)
class Candidate:
    """A function that was kept, with its score in the search and its exact figures."""

    tree: Expression
    score: float
    fitness: float
    figures: Figures
    log_q: float

    @property
    def complexity(self) -> float:
        """What the written tree costs."""
        return self.tree.complexity


class Front:
    """Keeps, for one output, the best-scoring function of each whole complexity.

    Every function of every step is looked at on the device; only those that improve on what is kept are read, and
    evaluated exactly. So the front is over everything seen, and never larger than MOST_COMPLEX + 1.
    """

    def __init__(self, problem: Problem, trainer: Trainer, output: int) -> None:
        self.problem = problem
        self.trainer = trainer
        self.output = output
        self._kept: dict[int, Candidate] = {}
        self._front: list[Candidate] | None = None
        self._bars = torch.full((MOST_COMPLEX + 1,), -torch.inf, device=problem.device, dtype=problem.dtype)

    def look(self, step: Step) -> None:
        """Look at the functions of one step; reads back one number per complexity, and what improves.

        Scores on different rows cannot be compared, so of a mini-batch only the leaders are looked at, on all rows.
        """
        functions = step.leaders[self.output] if step.batched else None
        roots, scores = step.roots[self.output], step.top if step.batched else step.scores
        if functions is not None:
            roots = roots.index_select(0, functions)
        fitness = scores.fitness[self.output]
        score = scores.score[self.output].masked_fill(~torch.isfinite(fitness), -torch.inf)
        costs = self.trainer.graph.complexities.index_select(0, roots)
        level = costs.ceil().long().clamp_(max=MOST_COMPLEX)
        best = torch.full_like(self._bars, -torch.inf).scatter_reduce_(0, level, score, "amax")
        better = best > self._bars
        if not bool(better.any()):
            return
        leads = torch.nonzero((score == best.index_select(0, level)) & better.index_select(0, level)).squeeze(1)
        place = torch.full_like(self._bars, -1, dtype=torch.int64)
        place.scatter_(0, level.index_select(0, leads), leads)
        self._bars = torch.maximum(self._bars, best)
        for complexity, at in enumerate(place.tolist()):
            if at >= 0:
                drawn = place.new_tensor([at]) if functions is None else functions[at : at + 1]
                log_q = self.trainer.log_q(step.sample.edges(drawn), self.output)
                self._keep(complexity, self._candidate(int(roots[at]), float(score[at]), float(fitness[at]), log_q))

    def _candidate(self, root: int, score: float, fitness: float, log_q: float) -> Candidate:
        tree = self.trainer.judge.read(root)
        return Candidate(tree, score, fitness, figures_of(self.problem, tree, self.output), log_q)

    def _keep(self, level: int, candidate: Candidate) -> None:
        kept = self._kept.get(level)
        # A search in single precision sees rounding as progress; what is exact already stays.
        if kept is None or not kept.figures.exact:
            self._kept[level] = candidate
            self._front = None

    def likeliest(self) -> Candidate:
        """Return the function that the network holds likeliest now."""
        edges = self.trainer.likeliest_edges()
        roots = self.trainer.nodes_of(edges)  # [v, 1]
        scores = self.trainer.judge.score(roots, top=1)
        score, fitness = float(scores.score[self.output]), float(scores.fitness[self.output])
        return self._candidate(int(roots[self.output]), score, fitness, self.trainer.log_q(edges, self.output))

    def candidates(self) -> list[Candidate]:
        """Return the Pareto front: each has a smaller error on the choosing rows than all simpler ones."""
        if self._front is not None:
            return self._front
        front: list[Candidate] = []
        for candidate in sorted(self._kept.values(), key=lambda one: (one.complexity, one.figures.choice)):
            if not front or candidate.figures.choice < front[-1].figures.choice:
                front.append(candidate)
        self._front = front
        return front

    def best(self) -> Candidate | None:
        """Return the simplest exact function, or else the one with the smallest error on the choosing rows."""
        front = self.candidates()
        exact = [candidate for candidate in front if candidate.figures.exact]
        return exact[0] if exact else front[-1] if front else None
