"""The judge over one graph: scores of thousands of functions at once, in the order that spares the most work."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from occamkit.evaluate import Evaluator, ProgramEvaluator
from occamkit.evaluate.constants import ConstantFitter, Settings
from occamkit.graph import Expression, Graph, read_expression
from occamkit.score.fitted import FittedFunctions
from occamkit.score.scaled import Scaled, closed

if TYPE_CHECKING:
    from occamkit.score.judge import Judge


@dataclass(frozen=True)
class NodeScores:
    """What functions are worth for each output; fitness is NaN where a function is undefined or vetoed.

    programs: what they are worth as one program, for a task with a wrapper.
    """

    score: Tensor  # [v, R]
    fitness: Tensor  # [v, R]
    vetoed: Tensor  # [v, R]
    programs: ProgramWorth | None = None


@dataclass(frozen=True)
class ProgramWorth:
    """What programs of all outputs are worth at the depth that suits them best; depth 0 where none is defined."""

    score: Tensor  # [R], the mean over outputs
    each: Tensor  # [v, R], the score of each output
    fitness: Tensor  # [v, R]
    depth: Tensor  # [R]


class GraphJudge:
    """Scores functions of a graph, on the rows to train on."""

    def __init__(self, judge: Judge, graph: Graph) -> None:
        problem = judge.problem
        self.judge, self.problem, self.graph = judge, problem, graph
        self.leaves, self.ceiling = judge.leaves, judge.ceiling
        columns = problem.network_columns.to(problem.device, problem.dtype)
        self.targets = problem.targets.to(problem.device, problem.dtype)
        self._fitnesses = tuple(
            Scaled(problem.fitness, one.like(columns)) if one else problem.fitness for one in judge.scalings
        )
        hooks = judge.forward.hooks
        self.evaluator = Evaluator(graph, columns, outputs=len(self.targets), hooks=hooks)
        self._repeated = (
            ProgramEvaluator(graph, columns, problem.wrapper, problem.feedback, hooks=hooks)
            if problem.wrapper is not None and problem.feedback is not None
            else None
        )
        self._structure = judge.structure.on(graph) if judge.structure else None
        self._whole = judge.whole.on(graph, self.leaves, self._both) if judge.whole else None
        self._fitted = self._fitter() if graph.has_constants else None

    def _fitter(self) -> FittedFunctions:
        """Return what fits constants: in double precision, where the device has it."""
        problem, chosen = self.problem, self.problem.settings.constants
        settings = Settings(chosen.method, chosen.starts, chosen.iterations, chosen.retries, problem.seed)
        dtype = torch.float32 if problem.device.type == "mps" else torch.float64
        columns = problem.network_columns.to(problem.device, dtype)
        targets = problem.targets.to(problem.device, dtype)
        return FittedFunctions(ConstantFitter(self.graph, columns, settings), targets, self.judge.scalings)

    @property
    def fitting(self) -> int:
        """Numbers that were computed so far to fit constants, roughly."""
        return self._fitted.fitter.computed if self._fitted else 0

    @property
    def ranks_the_top_alone(self) -> bool:
        """Whether scores below the top may be too high, because whole formulas were not asked for them."""
        return self._whole is not None

    def read(self, root: int) -> Expression:
        """Return the tree of a node, without values for its fitted constants."""
        return read_expression(self.graph, root, self.leaves)

    def expression(self, root: int, output: int) -> Expression:
        """Return the tree of a node as it was judged for an output: constants fitted, factor and such solved for."""
        return self._both(root, output)[1]

    def _both(self, root: int, output: int) -> tuple[Expression, Expression]:
        constants = self._fitted.constants(output, root) if self._fitted else ()
        tree = read_expression(self.graph, root, self.leaves, constants)
        target, scaling = self.problem.targets[output], self.judge.scalings[output]
        return tree, closed(tree, self.problem.named, target, scaling, self.judge.variables)

    def stored(self) -> dict[str, Any]:
        """Return what is known of functions, to be kept in a file along with the graph."""
        return {"evaluator": self.evaluator.stored(), "constants": self._fitted.stored() if self._fitted else None}

    def restore(self, stored: Mapping[str, Any]) -> None:
        """Know what `stored` says; the graph must have been restored before."""
        self.evaluator.restore(stored["evaluator"])
        if self._fitted is not None:
            self._fitted.restore(stored["constants"])

    @property
    def can_veto(self) -> bool:
        """Whether there is a regularizer that may refuse functions before they are evaluated."""
        return self._structure is not None

    def accepts(self, roots: Tensor) -> Tensor:
        """Return which functions roots[i] are not vetoed as output i: [v, F]. Nothing is evaluated."""
        if self._structure is None:
            return torch.ones_like(roots, dtype=torch.bool)
        return self._structure.look(roots)[1] >= 0

    def score(self, roots: Tensor, top: int, rows: Tensor | None = None) -> NodeScores:
        """Score functions roots[i] as output i: [v, R]; the best `top` of each output are final.

        rows: the training rows of a mini-batch; None takes all of them, and remembers.
        """
        penalty, worth = self._structure.look(roots) if self._structure else (roots.new_zeros(()), None)
        asked = roots if worth is None else roots.masked_fill(worth < 0, 0)
        if self._repeated is not None:
            return self._score_programs(self._repeated, roots, asked, top, penalty, worth)
        evaluator, targets, ceiling, fitnesses = self.evaluator, self.targets, self.ceiling, self._fitnesses
        if rows is not None:
            evaluator, targets = evaluator.on(rows), targets.index_select(1, rows)
            ceiling = self.problem.fitness.ceiling(rows.numel())
            fitnesses = tuple(one.on(rows) if isinstance(one, Scaled) else one for one in fitnesses)
        if self._fitted is not None:
            self._fitted.enter(evaluator, asked, targets, fitnesses)
        found = evaluator.score(asked, targets, fitnesses)
        if evaluator is not self.evaluator:
            self.evaluator.evaluated += evaluator.evaluated
        score = self._less(found.fitness, penalty.to(found.fitness) + found.penalty, worth, ceiling)
        settled = self._settled(score, found.fitness, roots, top, ceiling)
        return NodeScores(settled, found.fitness, _vetoed(roots, worth))

    def limit_depth(self, depth: int) -> None:
        """Look no deeper than this from now on, for a task with a wrapper."""
        if self._repeated is not None:
            self._repeated.limit_depth(depth)

    def _score_programs(
        self, repeated: ProgramEvaluator, roots: Tensor, asked: Tensor, top: int, penalty: Tensor, worth: Tensor | None
    ) -> NodeScores:
        """Score programs, whose columns in `roots` belong together, on all rows."""
        found = repeated.score(asked, self.targets, self.problem.fitness)
        self.evaluator.evaluated = repeated.evaluated
        paid = penalty.to(found.fitness) + found.penalty
        less = self._less(found.fitness, paid, worth, self.ceiling)
        score = self._settled(less, found.fitness, roots, top, self.ceiling)
        each = score if len(roots) == 1 else self._less(found.together, paid, worth, self.ceiling)
        programs = ProgramWorth(each.mean(0), each, found.together, found.depth)
        return NodeScores(score, found.fitness, _vetoed(roots, worth), programs)

    def _less(self, fitness: Tensor, penalty: Tensor, worth: Tensor | None, ceiling: float) -> Tensor:
        """Return fitness less penalties, and what undefined and vetoed functions are worth: [v, R]."""
        score = fitness - ceiling * penalty
        undefined = -self.problem.settings.trainer.undefined_weight * ceiling
        score = torch.where(torch.isfinite(score), score, undefined)
        return score if worth is None else torch.where(worth < 0, worth.to(score) * ceiling, score)

    def _settled(self, score: Tensor, fitness: Tensor, roots: Tensor, top: int, ceiling: float) -> Tensor:
        """Return scores [v, R] less the penalties of whole formulas, as far down the ranking as matters."""
        if self._whole is None:
            return score
        defined = roots.masked_fill(~torch.isfinite(fitness), 0)
        settled = [self._whole.settle(score[i], defined[i], top, ceiling, i) for i in range(len(roots))]
        return torch.stack(settled)


def _vetoed(roots: Tensor, worth: Tensor | None) -> Tensor:
    return torch.zeros_like(roots, dtype=torch.bool) if worth is None else worth < 0
