"""The judge: what each sampled function is worth (Methods, "Loss Function", "Regularization", "Undefined Outputs").

score = fitness − s · Σ weight · penalty        s the ceiling, the fitness of a perfect prediction
      = − w · s                                 for a function that is undefined, or vetoed
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import torch
from torch import Tensor

from occamkit.evaluate import Evaluator, ProgramEvaluator
from occamkit.evaluate.constants import ConstantFitter, Settings
from occamkit.evaluate.scaling import Scaling
from occamkit.graph import Expression, Graph, Leaf, Monomial, read_expression
from occamkit.protocols import (
    ForwardRegularizer,
    NodeBatch,
    Regularizer,
    Stage,
    StructureRegularizer,
)
from occamkit.score.fitted import FittedFunctions
from occamkit.score.scaled import Scaled, closed, scalings
from occamkit.score.structure import StructureStage
from occamkit.score.symbolic import SymbolicStage
from occamkit.task.policy import judged
from occamkit.task.powers import Powers
from occamkit.task.problem import Problem


@dataclass(frozen=True)
class Scores:
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


def variables_of(problem: Problem) -> tuple[Leaf, ...]:
    """Return the inputs and given constants as trees."""
    return tuple(Leaf(variable.name, variable.value) for variable in problem.variables)


def leaves_of(problem: Problem) -> tuple[Expression, ...]:
    """Return what the network reads as trees: a group is a product of powers of variables."""
    variables = variables_of(problem)
    groups = (
        Monomial(tuple((leaf, power) for leaf, power in zip(variables, exponents, strict=True) if power))
        for exponents in problem.groups
    )
    return (*variables, *groups)


class Judge:
    """Scores functions of a graph for a problem, on the training rows."""

    def __init__(self, problem: Problem, graph: Graph, columns: Tensor, targets: Tensor) -> None:
        self.problem = problem
        self.graph = graph
        self.targets = targets
        self.leaves = leaves_of(problem)
        powers = Powers.of(problem.variables, problem.dataset.inputs)
        self._scalings = scalings(problem, powers)
        self._fitnesses = tuple(
            Scaled(problem.fitness, one.like(columns)) if one else problem.fitness for one in self._scalings
        )
        self.ceiling = problem.fitness.ceiling(columns.shape[1])
        forward = _of_stage(problem.regularizers, Stage.FORWARD)
        hooks = [_weighted(one) for one in forward]
        self.evaluator = Evaluator(graph, columns, outputs=len(targets), hooks=hooks)
        self._repeated = (
            ProgramEvaluator(graph, columns, problem.wrapper, problem.feedback, hooks=hooks)
            if problem.wrapper is not None and problem.feedback is not None
            else None
        )
        structure = cast("list[StructureRegularizer]", _of_stage(problem.regularizers, Stage.STRUCTURE))
        outputs = judged(problem.outputs, problem.spec, powers)
        self._structure = StructureStage(graph, structure, problem.network_inputs, outputs) if structure else None
        symbolic = _of_stage(problem.regularizers, Stage.SYMBOLIC) + _of_stage(problem.regularizers, Stage.TREE)
        self._symbolic = (
            SymbolicStage(graph, symbolic, self.read, self.expression, self.leaves, problem.outputs)
            if symbolic
            else None
        )
        self._fitted = _fitted(problem, graph, self._scalings) if graph.has_constants else None

    @property
    def ranks_the_top_alone(self) -> bool:
        """Whether scores below the top may be too high, because algebra was not asked of them."""
        return self._symbolic is not None

    def read(self, root: int) -> Expression:
        """Return the tree of a node, without values for its fitted constants."""
        return read_expression(self.graph, root, self.leaves)

    def expression(self, root: int, output: int) -> Expression:
        """Return the tree of a node as it was judged for an output: constants fitted, factor and such solved for."""
        constants = self._fitted.constants(output, root) if self._fitted else ()
        tree = read_expression(self.graph, root, self.leaves, constants)
        if not self._scalings[output]:
            return tree
        inputs, targets = self.problem.dataset.part("train")
        named = dict(zip((one.name for one in self.problem.dataset.variables), inputs, strict=True))
        return closed(tree, named, targets[output], self._scalings[output], variables_of(self.problem))

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

    def score(self, roots: Tensor, top: int, rows: Tensor | None = None) -> Scores:
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
        return Scores(settled, found.fitness, _vetoed(roots, worth))

    def limit_depth(self, depth: int) -> None:
        """Look no deeper than this from now on, for a task with a wrapper."""
        if self._repeated is not None:
            self._repeated.limit_depth(depth)

    def _score_programs(
        self, repeated: ProgramEvaluator, roots: Tensor, asked: Tensor, top: int, penalty: Tensor, worth: Tensor | None
    ) -> Scores:
        """Score programs, whose columns in `roots` belong together, on all rows."""
        found = repeated.score(asked, self.targets, self.problem.fitness)
        self.evaluator.evaluated = repeated.evaluated
        paid = penalty.to(found.fitness) + found.penalty
        less = self._less(found.fitness, paid, worth, self.ceiling)
        score = self._settled(less, found.fitness, roots, top, self.ceiling)
        each = score if len(roots) == 1 else self._less(found.together, paid, worth, self.ceiling)
        programs = ProgramWorth(each.mean(0), each, found.together, found.depth)
        return Scores(score, found.fitness, _vetoed(roots, worth), programs)

    def _less(self, fitness: Tensor, penalty: Tensor, worth: Tensor | None, ceiling: float) -> Tensor:
        """Return fitness less penalties, and what undefined and vetoed functions are worth: [v, R]."""
        score = fitness - ceiling * penalty
        undefined = -self.problem.spec.trainer.undefined_weight * ceiling
        score = torch.where(torch.isfinite(score), score, undefined)
        return score if worth is None else torch.where(worth < 0, worth.to(score) * ceiling, score)

    def _settled(self, score: Tensor, fitness: Tensor, roots: Tensor, top: int, ceiling: float) -> Tensor:
        """Return scores [v, R] less symbolic penalties, as far down the ranking as matters."""
        if self._symbolic is None:
            return score
        defined = roots.masked_fill(~torch.isfinite(fitness), 0)
        settled = [self._symbolic.settle(score[i], defined[i], top, ceiling, i) for i in range(len(roots))]
        return torch.stack(settled)


def _vetoed(roots: Tensor, worth: Tensor | None) -> Tensor:
    return torch.zeros_like(roots, dtype=torch.bool) if worth is None else worth < 0


def _fitted(problem: Problem, graph: Graph, scalings: Sequence[Scaling]) -> FittedFunctions:
    """Return what fits constants: in double precision, where the device has it."""
    chosen = problem.spec.constants
    settings = Settings(chosen.method, chosen.starts, chosen.iterations, chosen.retries, problem.seed)
    dtype = torch.float32 if problem.device.type == "mps" else torch.float64
    columns = problem.exact_columns("train").to(problem.device, dtype)
    targets = problem.dataset.part("train")[1].to(problem.device, dtype)
    return FittedFunctions(ConstantFitter(graph, columns, settings), targets, scalings)


def _of_stage(regularizers: Sequence[Regularizer], stage: Stage) -> list[Any]:
    return [one for one in regularizers if one.stage is stage and one.weight > 0]


def _weighted(regularizer: ForwardRegularizer) -> Any:
    def hook(batch: NodeBatch) -> Tensor:
        return regularizer.weight * regularizer.score_nodes(batch)

    return hook
