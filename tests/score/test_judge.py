"""Scores: every stage counts, vetoes spare the evaluation, and the symbolic stage is exact though lazy."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from occamkit import Registry, Stage
from occamkit.builtins.complexity import Activations
from occamkit.builtins.dimensions import Units
from occamkit.builtins.trivia import NearTrivia
from occamkit.graph import Expression, Graph
from occamkit.protocols import NodeBatch
from occamkit.score import Judge
from occamkit.score.whole import WholeStage
from occamkit.train.trainer import Trainer
from tests.problems import problem


def trainer(registry: Registry, *regularizers: Any, **sections: Any) -> Trainer:
    task = replace(problem(registry, **sections), regularizers=regularizers)
    return Trainer(task.search_problem, torch.Generator().manual_seed(1))


def test_structural_penalties_are_weighted_in_units_of_a_perfect_fitness(registry: Registry) -> None:
    made = trainer(registry, Activations(weight=0.25))
    step = made.step()
    trees = [made.judge.read(root) for root in step.roots[0].tolist()]
    counts = torch.tensor([tree.complexity for tree in trees])
    expected = step.scores.fitness[0] - 0.25 * made.judge.ceiling * counts
    defined = torch.isfinite(step.scores.fitness[0])
    torch.testing.assert_close(step.scores.score[0][defined], expected[defined])


def test_a_veto_spares_the_evaluation(registry: Registry) -> None:
    sections = {
        "inputs": [{"name": "x", "range": [1, 10], "unit": "m"}],
        "outputs": [{"name": "y", "unit": "m**2"}],
        "target": "3*x*x",
    }
    free, bound = trainer(registry, **sections), trainer(registry, Units(weight=0.6), **sections)
    free.step()
    step = bound.step()
    vetoed = torch.isnan(step.scores.fitness[0])
    assert bool(vetoed.any())
    assert not bool(vetoed.all())
    expected = torch.tensor(-0.6 * bound.judge.ceiling, dtype=torch.float32)
    torch.testing.assert_close(step.scores.score[0][vetoed], expected.expand(int(vetoed.sum())))
    assert bound.judge.evaluator.evaluated < free.judge.evaluator.evaluated
    fold = Units()
    for root, veto in zip(step.roots[0].tolist(), vetoed.tolist(), strict=True):
        assert veto == _unit_veto(fold, bound, root)


def _unit_veto(fold: Units, made: Trainer, root: int) -> bool:
    variables = {variable.name: variable for variable in made.problem.variables}

    def state(tree: Any) -> Any:
        if not hasattr(tree, "primitive"):
            return fold.leaf(variables[tree.name])
        return fold.combine(tree.primitive, [state(argument) for argument in tree.arguments])

    return fold.verdict(state(made.judge.read(root)), made.problem.outputs[0]).veto


def test_forward_penalties_are_paid_for_every_node_of_the_tree(registry: Registry) -> None:
    made = trainer(registry, NearTrivia(weight=0.1))
    step = made.step()
    columns = dict(zip([one.name for one in made.problem.variables], made.problem.network_columns.float(), strict=True))

    def penalty(tree: Any) -> float:
        if not hasattr(tree, "primitive"):
            return 0.0
        arguments = tuple(argument.evaluate(columns)[None] for argument in tree.arguments)
        batch = NodeBatch(tree.primitive, arguments, (), tree.primitive.call(*arguments))
        return float(NearTrivia().score_nodes(batch)) + sum(map(penalty, tree.arguments))

    for place in range(100):
        fitness, score = float(step.scores.fitness[0, place]), float(step.scores.score[0, place])
        expected = fitness - 0.1 * made.judge.ceiling * penalty(made.judge.read(int(step.roots[0, place])))
        assert score == pytest.approx(expected, rel=1e-4, abs=1e-3)


@dataclass(frozen=True)
class Drawn:
    """A symbolic penalty that a test chooses per function."""

    of: Callable[[str], float]
    name: ClassVar[str] = "drawn"
    stage: ClassVar[Stage] = Stage.SYMBOLIC
    weight: float = 1.0

    def penalty(self, written: Any, simplified: Any) -> float:
        return self.of(str(written))


@given(st.lists(st.tuples(st.integers(0, 20), st.integers(0, 5)), min_size=1, max_size=30), st.integers(1, 8))
def test_the_symbolic_stage_settles_the_top_exactly(pairs: list[tuple[int, int]], top: int) -> None:
    asked: list[int] = []

    @dataclass(frozen=True)
    class Tree(Expression):
        root: int
        below: ClassVar[tuple[Expression, ...]] = ()
        own_fitted: ClassVar[tuple[float, ...]] = ()
        own_constants: ClassVar[int] = 0
        own_complexity: ClassVar[float] = 0.0

        def rebuilt(self, *_: Any) -> Expression:
            return self

        def written(self) -> str:
            return str(self.root)

        compute = to_dict = _sympy = rebuilt  # type: ignore[assignment]

        def sympy(self, *, evaluate: bool = True, named: Any = ()) -> int:
            asked.append(self.root)
            return self.root

        def simplified(self) -> int:
            return self.root

    told = WholeStage([Drawn(lambda text: float(pairs[int(text) - 1][1]))], [], ())
    stage = told.on(Graph(1, []), (), lambda root, _: (Tree(root), Tree(root)))
    bounds = torch.tensor([float(bound) for bound, _ in pairs])
    roots = torch.arange(1, len(pairs) + 1)
    settled = stage.settle(bounds, roots, top, ceiling=2.0)
    final = torch.tensor([bound - 2.0 * penalty for bound, penalty in pairs])
    kept = min(top, len(pairs))
    assert settled.topk(kept).values.tolist() == final.topk(kept).values.tolist()
    assert len(asked) == len(set(asked))


def test_scores_do_not_depend_on_the_order_of_functions(registry: Registry) -> None:
    made = trainer(registry, Activations(), NearTrivia())
    step = made.step()
    order = torch.randperm(step.roots.shape[1])
    fresh = Judge(made.problem).on(made.graph)
    again = fresh.score(step.roots[:, order], top=10)
    assert torch.equal(again.score, step.scores.score[:, order])
