"""The front: the best function of every complexity, over everything that was seen."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from occamkit.graph import Expression, flattened
from occamkit.score.trees import TreeJudge
from occamkit.task.problem import Problem
from occamkit.train.exceptions import Exceptions
from occamkit.train.figures import Figures, figures_of
from occamkit.train.parsimony import plainest
from occamkit.train.relation import informative
from occamkit.train.tidy import tidy
from occamkit.train.trainer import Step, Trainer

PROMISING = 1e-4
"""A function whose error is below this part of the target's size may be exact once its constants are at their best."""

MOST_LOST = 1.1
ROUNDING_LOST = 1e-6
"""How much worse, by the task's own fitness, a formula may become by the last touch on its constants."""

MOST_COMPLEX = 64
"""Functions of this complexity and above share the last place."""


@dataclass(frozen=True)
class Whole:
    """All functions of a program, with their figures."""

    trees: tuple[Expression, ...]
    figures: tuple[Figures, ...]


@dataclass(frozen=True)
class Candidate:
    """A function that was kept, with its score in the search and its exact figures.

    proposer: what found it. recurrence: how often it is applied, for a task with a wrapper.
    by_score: whether it is chosen by its score rather than by its error, as relations are.
    errors: the standard error of each fitted constant, or None; empty before the constants have had their last touch.
    """

    tree: Expression
    score: float
    fitness: float
    figures: Figures
    log_q: float
    proposer: str = "network"
    recurrence: int | None = None
    errors: tuple[float | None, ...] = ()
    by_score: bool = False
    whole: Whole | None = None
    """The program that the function is a part of, where outputs stand or fall together."""

    @property
    def complexity(self) -> float:
        """What the written tree costs, or all trees of a program."""
        return self.tree.complexity if self.whole is None else sum(tree.complexity for tree in self.whole.trees)

    @property
    def choice(self) -> tuple[float, ...]:
        """What functions are chosen by, the lower the better; see Figures. Of a program, the sum over its outputs."""
        if self.by_score:
            return (-self.score,)
        if self.whole is None:
            return self.figures.choice
        losses, errors = zip(*(one.choice for one in self.whole.figures), strict=True)
        return sum(losses), sum(errors)

    @property
    def wrong(self) -> int:
        """How many of the rows for training and choosing are missed, added up over the outputs of a program."""
        figures = self.whole.figures if self.whole is not None else (self.figures,)
        return sum(one.wrong.get(part, 0) for one in figures for part in ("train", "valid"))

    @property
    def exact(self) -> bool:
        """Whether nothing but rounding is left, in all outputs of a program."""
        return all(one.exact for one in (self.whole.figures if self.whole is not None else (self.figures,)))


def tidied(problem: Problem, candidate: Candidate, output: int) -> Candidate:
    """Return the candidate with its fitted constants at their best, once and for all."""
    if candidate.errors or not candidate.tree.fitted:
        return candidate
    tidy_one = tidy(problem, candidate.tree, output)
    figures = figures_of(problem, tidy_one.tree, output)
    if figures.loss["train"] > MOST_LOST * candidate.figures.loss["train"] + ROUNDING_LOST:
        # Least squares are not what every fitness is after: a robust one passes over rows that pull at them.
        return replace(candidate, errors=tuple(None for _ in candidate.tree.fitted))
    return replace(candidate, tree=tidy_one.tree, figures=figures, errors=tidy_one.errors)


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
        self._exceptions = Exceptions(problem)
        self._best: Candidate | None = None
        self._bars = torch.full((MOST_COMPLEX + 1,), -torch.inf, device=problem.device, dtype=problem.dtype)
        self._trees = TreeJudge(problem)

    @property
    def is_table(self) -> bool:
        """Whether the rows are a table of few values, whose programs may have exceptions."""
        return self._exceptions.applies

    def offer(self, tree: Expression, proposer: str) -> Candidate | None:
        """Score a tree that somebody proposes and keep it if it improves; None if it is undefined or vetoed."""
        tree = flattened(tree)
        found = self._trees.score(tree, self.output)
        if not math.isfinite(found.fitness):
            return None
        figures = figures_of(self.problem, tree, self.output)
        by_score = self.problem.spec.implicit is not None
        candidate = Candidate(tree, found.score, found.fitness, figures, -math.inf, proposer, by_score=by_score)
        level = min(math.ceil(candidate.complexity), MOST_COMPLEX)
        if level not in self._kept or found.score > float(self._bars[level]) or figures.exact:
            self._keep(level, candidate)
            self._bars[level] = max(found.score, float(self._bars[level]))
        return candidate

    def look(self, step: Step) -> None:
        """Look at the functions of one step; reads back one number per complexity, and what improves.

        Scores on different rows cannot be compared, so of a mini-batch only the leaders are looked at, on all rows;
        and likewise when only theirs are final.
        """
        leaders = step.batched or self.trainer.judge.ranks_the_top_alone
        functions = step.leaders[self.output] if leaders else None
        roots, scores = step.roots[self.output], step.top if leaders else step.scores
        if functions is not None:
            roots = roots.index_select(0, functions)
        fitness = scores.fitness[self.output]
        score = scores.score[self.output].masked_fill(~torch.isfinite(fitness), -torch.inf)
        costs = self.trainer.graph.complexities.index_select(0, roots)
        level = costs.ceil().long().clamp_(max=MOST_COMPLEX)
        for complexity, at in self._improving(score, level):
            drawn = level.new_tensor([at]) if functions is None else functions[at : at + 1]
            log_q = self.trainer.log_q(step.sample.edges(drawn), self.output)
            self._keep(complexity, self._candidate(int(roots[at]), float(score[at]), float(fitness[at]), log_q))

    def _improving(self, score: Tensor, level: Tensor) -> list[tuple[int, int]]:
        """Return the levels at which a score [F] improves on what is kept, and where it stands; raise the bars."""
        best = torch.full_like(self._bars, -torch.inf).scatter_reduce_(0, level, score, "amax")
        better = best > self._bars
        if not bool(better.any()):
            return []
        leads = torch.nonzero((score == best.index_select(0, level)) & better.index_select(0, level)).squeeze(1)
        place = torch.full_like(self._bars, -1, dtype=torch.int64)
        place.scatter_(0, level.index_select(0, leads), leads)
        self._bars = torch.maximum(self._bars, best)
        return [(complexity, at) for complexity, at in enumerate(place.tolist()) if at >= 0]

    def _candidate(self, root: int, score: float, fitness: float, log_q: float) -> Candidate:
        tree = self.trainer.judge.expression(root, self.output)
        figures = figures_of(self.problem, tree, self.output)
        # 1 = 1 has no error, so relations are chosen by score.
        found = Candidate(tree, score, fitness, figures, log_q, by_score=self.problem.spec.implicit is not None)
        return tidied(self.problem, found, self.output) if found.figures.relative["train"] < PROMISING else found

    def _keep(self, level: int, candidate: Candidate) -> None:
        kept = self._kept.get(level)
        # A search in single precision sees rounding as progress; what is exact already stays.
        if self.problem.spec.implicit is not None and not informative(self.problem, candidate.tree):
            return
        if kept is None or not kept.exact or candidate.choice < kept.choice:
            self._kept[level] = candidate
            self._front = self._best = None

    def likeliest(self) -> Candidate:
        """Return the function that the network holds likeliest now."""
        edges = self.trainer.likeliest_edges()
        roots = self.trainer.nodes_of(edges)  # [v, 1]
        scores = self.trainer.judge.score(roots, top=1)
        score, fitness = float(scores.score[self.output]), float(scores.fitness[self.output])
        return self._candidate(int(roots[self.output]), score, fitness, self.trainer.log_q(edges, self.output))

    def candidates(self) -> list[Candidate]:
        """Return the Pareto front: each has a smaller error on the choosing rows than all simpler ones.

        A relation has a higher score than all simpler ones.
        """
        if self._front is not None:
            return self._front
        front: list[Candidate] = []
        for candidate in sorted(self._kept.values(), key=lambda one: (one.complexity, one.choice)):
            if not front or candidate.choice < front[-1].choice:
                front.append(candidate)
        self._front = front
        return front

    def finished(self, most: int) -> list[Candidate]:
        """Return the front with all constants at their best; of a long one, only the last `most`.

        A touch may change who is on the front, so this goes on until nobody there is without it.
        """
        while True:
            rough = [one for one in self.candidates()[-most:] if one.tree.fitted and not one.errors]
            if not rough:
                return self.candidates()[-most:]
            for level, candidate in self._kept.items():
                if candidate in rough:
                    self._kept[level] = tidied(self.problem, candidate, self.output)
            self._front = self._best = None

    def best(self) -> Candidate | None:
        """Return the simplest exact function, or else the simplest that none is clearly better than.

        Of a table, the shortest that meets all rows but a few; see Exceptions. Of relations, the one with the highest
        score.
        """
        if self._best is None:
            self._best = self._choose()
        return self._best

    def _choose(self) -> Candidate | None:
        front = self.candidates()
        if self.problem.spec.implicit is not None:
            return front[-1] if front else None
        chosen = self._exceptions.choose(self._kept.values())
        exact = [candidate for candidate in front if candidate.exact]
        if chosen is not None or exact or not front:
            return chosen or (exact[0] if exact else None)
        return front[-1] if front[-1].whole is not None else plainest(self.problem, front, self.output)
