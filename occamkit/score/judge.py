"""The judge: what each sampled function is worth (Methods, "Loss Function", "Regularization", "Undefined Outputs").

score = fitness − s · Σ weight · penalty        s the ceiling, the fitness of a perfect prediction
      = − w · s                                 for a function that is undefined, or vetoed
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

import torch
from torch import Tensor

from occamkit.evaluate import Evaluator
from occamkit.graph import Expression, Graph, Leaf, read_expression
from occamkit.protocols import (
    ForwardRegularizer,
    NodeBatch,
    Regularizer,
    Stage,
    StructureRegularizer,
    SymbolicRegularizer,
)
from occamkit.score.structure import StructureStage
from occamkit.score.symbolic import SymbolicStage
from occamkit.task.problem import Problem


@dataclass(frozen=True)
class Scores:
    """What functions are worth for each output; fitness is NaN where a function is undefined or vetoed."""

    score: Tensor  # [v, R]
    fitness: Tensor  # [v, R]


class Judge:
    """Scores functions of a graph for a problem, on the training rows."""

    def __init__(self, problem: Problem, graph: Graph, columns: Tensor, targets: Tensor) -> None:
        self.problem = problem
        self.graph = graph
        self.targets = targets
        self.ceiling = problem.fitness.ceiling(columns.shape[1])
        forward = _of_stage(problem.regularizers, Stage.FORWARD)
        hooks = [_weighted(one) for one in forward]
        self.evaluator = Evaluator(graph, columns, outputs=len(targets), hooks=hooks)
        structure = cast("list[StructureRegularizer]", _of_stage(problem.regularizers, Stage.STRUCTURE))
        self._structure = StructureStage(graph, structure, problem.variables, problem.outputs) if structure else None
        symbolic = cast("list[SymbolicRegularizer]", _of_stage(problem.regularizers, Stage.SYMBOLIC))
        self._symbolic = SymbolicStage(graph, symbolic, self.read) if symbolic else None
        self.leaves = tuple(Leaf(variable.name, variable.value) for variable in problem.variables)

    def read(self, root: int) -> Expression:
        """Return the tree of a node."""
        return read_expression(self.graph, root, self.leaves)

    def score(self, roots: Tensor, top: int, rows: Tensor | None = None) -> Scores:
        """Score functions roots[i] as output i: [v, R]; the best `top` of each output are final.

        rows: the training rows of a mini-batch; None takes all of them, and remembers.
        """
        penalty, worth = self._structure.look(roots) if self._structure else (roots.new_zeros(()), None)
        asked = roots if worth is None else roots.masked_fill(worth < 0, 0)
        evaluator, targets, ceiling = self.evaluator, self.targets, self.ceiling
        if rows is not None:
            evaluator, targets = evaluator.on(rows), targets.index_select(1, rows)
            ceiling = self.problem.fitness.ceiling(rows.numel())
        found = evaluator.score(asked, targets, self.problem.fitness)
        if evaluator is not self.evaluator:
            self.evaluator.evaluated += evaluator.evaluated
        score = found.fitness - ceiling * (penalty.to(found.fitness) + found.penalty)
        undefined = -self.problem.spec.trainer.undefined_weight * ceiling
        score = torch.where(torch.isfinite(score), score, undefined)
        if worth is not None:
            score = torch.where(worth < 0, worth.to(score) * ceiling, score)
        if self._symbolic is not None:
            settled = [self._symbolic.settle(score[i], roots[i], top, ceiling) for i in range(len(roots))]
            score = torch.stack(settled)
        return Scores(score, found.fitness)


def _of_stage(regularizers: Sequence[Regularizer], stage: Stage) -> list[Any]:
    return [one for one in regularizers if one.stage is stage and one.weight > 0]


def _weighted(regularizer: ForwardRegularizer) -> Any:
    def hook(batch: NodeBatch) -> Tensor:
        return regularizer.weight * regularizer.score_nodes(batch)

    return hook
