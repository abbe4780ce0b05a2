"""The judge: what a function is worth, however it came about (Methods, "Loss Function", "Regularization").

score = fitness − s · Σ weight · penalty        s the ceiling, the fitness of a perfect prediction
      = − w · s                                 for a function that is undefined, or vetoed

Functions of a graph and single trees go through the same stages; only the order of work differs.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from occamkit.evaluate import predictions
from occamkit.graph import Expression, Graph, Leaf, Monomial
from occamkit.graph.spelling import Speller
from occamkit.protocols import Stage
from occamkit.score.forward import ForwardStage
from occamkit.score.nodes import GraphJudge
from occamkit.score.scaled import bare, scalings
from occamkit.score.structure import StructureStage
from occamkit.score.whole import WholeStage
from occamkit.task.constant_units import judged
from occamkit.task.search_problem import SearchProblem


@dataclass(frozen=True)
class TreeScore:
    """What a tree is worth as an output; fitness is NaN where it is undefined or vetoed."""

    score: float
    fitness: float


class Judge:
    """Scores functions for a problem, on the rows to train on."""

    def __init__(self, problem: SearchProblem) -> None:
        self.problem = problem
        self.ceiling = problem.fitness.ceiling(problem.columns.shape[1])
        self.scalings = scalings(problem)
        outputs = judged(problem.outputs, problem.settings.scale, problem.settings.constants, problem.powers)
        self.structure = StructureStage(self._of(Stage.STRUCTURE), problem.network_inputs, outputs)
        self.forward = ForwardStage(self._of(Stage.FORWARD))
        self.whole = WholeStage(self._of(Stage.SYMBOLIC), self._of(Stage.TREE), problem.outputs)
        self.variables = tuple(Leaf(variable.name, variable.value) for variable in problem.variables)
        self._speller = None if problem.closed else Speller(problem.distinct_primitives, self.variables)

    @classmethod
    def of(cls, problem: SearchProblem) -> Judge:
        """Return the judge of a problem, made once, so that all who search it share what was asked of formulas."""
        return problem.once(cls, lambda: cls(problem))

    def _of(self, stage: Stage) -> list[Any]:
        return [one for one in self.problem.regularizers if one.stage is stage and one.weight > 0]

    @property
    def leaves(self) -> tuple[Expression, ...]:
        """What the network reads as trees: a group is a product of powers of variables."""
        groups = (
            Monomial(tuple((leaf, power) for leaf, power in zip(self.variables, exponents, strict=True) if power))
            for exponents in self.problem.groups
        )
        return (*self.variables, *groups)

    def allowed(self, tree: Expression) -> Expression | None:
        """Return a tree as the problem allows it: closed parts spelt out where it has none; None if that cannot be."""
        return tree if self._speller is None else self._speller.spelt(tree)

    def on(self, graph: Graph) -> GraphJudge:
        """Return the same for the functions of a graph, thousands at once, on the problem's device."""
        return GraphJudge(self, graph)

    def tree(self, tree: Expression, output: int) -> TreeScore:
        """Return what a tree is worth as an output."""
        return self._score(tree, output, None)

    def program(self, trees: Sequence[Expression], depth: int) -> tuple[TreeScore, ...]:
        """Return what each tree of a program is worth at a depth of its wrapper, by what the whole of it predicts."""
        predicted = predictions(self.problem, trees, depth, list(self.problem.named), self.problem.columns)
        return tuple(self._score(tree, output, predicted[output]) for output, tree in enumerate(trees))

    def _score(self, tree: Expression, output: int, predicted: Tensor | None) -> TreeScore:
        """Score a tree by what it predicts [n]; by its own values where nothing is given."""
        function = bare(tree, self.scalings[output])
        penalty, worth = self.structure.tree(function, output)
        if worth < 0:
            return TreeScore(worth * self.ceiling, math.nan)
        values, paid = self.forward.tree(tree, self.problem.named)
        target = self.problem.targets[output]
        shown = (values if predicted is None else predicted).expand_as(target).unsqueeze(0)
        fitness = float(self.problem.fitness.score(shown.clone(), target))
        if not math.isfinite(fitness) or not bool(torch.isfinite(shown).all()):
            return TreeScore(-self.problem.settings.trainer.undefined_weight * self.ceiling, math.nan)
        alone = self.problem.wrapper is None or len(self.problem.outputs) == 1
        penalty += paid + (self.whole.tree(function, tree, output) if alone and self.whole else 0.0)
        return TreeScore(fitness - self.ceiling * penalty, fitness)
