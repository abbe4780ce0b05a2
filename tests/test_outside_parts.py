"""Regularizers and fitnesses from outside do all that ours can: every stage, vetoes, units, nodes, trees and data."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from occamkit import Leaf, Registry
from occamkit.errors import UserError
from occamkit.score import Judge
from occamkit.task.file.load import check_document
from occamkit.task.prepared import PreparedTask
from occamkit.task.problem import Problem, make_problem
from occamkit.train.trainer import Trainer
from tests.problems import train

OUTSIDE = """
    from dataclasses import dataclass, replace
    from typing import ClassVar
    import sympy, torch
    from occamkit import Output, Problem, Quantity, Stage, Verdict, hookimpl, units
    from occamkit.errors import UserError

    @dataclass(frozen=True)
    class NoSums:
        "Vetoes what adds, and charges for lengths."
        name: ClassVar[str] = "no_sums"
        stage: ClassVar[Stage] = Stage.STRUCTURE
        weight: float = 0.25
        def leaf(self, variable): return (False, int(variable.unit == units.parse("m").dim))
        def combine(self, primitive, args):
            return (primitive.name == "add" or any(one for one, _ in args), sum(count for _, count in args))
        def verdict(self, root, output): return Verdict(penalty=float(root[1]), veto=root[0])

    @dataclass(frozen=True)
    class LargeNodes:
        "Charges for nodes with values above the largest target."
        name: ClassVar[str] = "large_nodes"
        stage: ClassVar[Stage] = Stage.FORWARD
        weight: float = 0.25
        limit: float = 0.0
        def prepare(self, problem): return replace(self, limit=float(problem.dataset.part("train")[1].max()))
        def score_nodes(self, batch): return (batch.output > self.limit).to(batch.output.dtype).mean(1)

    @dataclass(frozen=True)
    class Wordy:
        "Charges for operations."
        name: ClassVar[str] = "wordy"
        stage: ClassVar[Stage] = Stage.SYMBOLIC
        weight: float = 0.25
        def penalty(self, written, simplified): return float(sympy.count_ops(written))

    @dataclass(frozen=True)
    class AtZero:
        "Charges for not being zero where x is."
        name: ClassVar[str] = "at_zero"
        stage: ClassVar[Stage] = Stage.TREE
        weight: float = 0.25
        names: tuple[str, ...] = ()
        def prepare(self, problem):
            if any(one.name == "forbidden" for one in problem.dataset.variables):
                raise UserError("at_zero: no input may be called 'forbidden'")
            return replace(self, names=tuple(one.name for one in problem.dataset.variables))
        def look(self, tree, output):
            assert output.unit == units.parse("m**2").dim
            value = tree.evaluate({name: torch.zeros(1, dtype=torch.float64) for name in self.names})
            return 0.0 if float(value) == 0 else 1.0

    @dataclass(frozen=True)
    class Relative:
        "Errors as a part of the largest target of all rows, seen beforehand."
        name: ClassVar[str] = "relative"
        size: float = 1.0
        def prepare(self, problem): return replace(self, size=float(problem.dataset.targets.abs().max()))
        def score(self, predicted, target): return torch.exp(-((predicted - target) / self.size).abs()).sum(1)
        def ceiling(self, points): return float(points)

    @hookimpl
    def occamkit_regularizers(): return [NoSums, LargeNodes, Wordy, AtZero]
    @hookimpl
    def occamkit_fitnesses(): return [Relative]
    @hookimpl
    def occamkit_constants(): return [Quantity("stride", 75.0, "cm", "one step")]
"""


@pytest.fixture
def outside(make_pack: Callable[..., None]) -> Registry:
    make_pack("outside", OUTSIDE)
    return Registry.load(only=["outside"])


def make(registry: Registry, *regularizers: str, name: str = "x", weight: float = 0.25) -> Problem:
    document: dict[str, Any] = {
        "occamkit": 1,
        "name": "outside",
        "data": {"source": "formula", "target": f"{name}*{name}", "points": 30},
        "inputs": [{"name": name, "unit": "m", "range": [0.5, 3]}],
        "outputs": [{"name": "y", "unit": "m**2"}],
        "search": {"primitives": ["add", "mul", "square"], "constants": ["stride"], "depth": 2},
        "fitness": {"name": "relative"},
        "regularizers": [{"name": one, "weight": weight} for one in regularizers],
        "stop": {"max_steps": 5},
    }
    spec = check_document(document, registry, Path())
    return make_problem(PreparedTask(spec, registry, Path()), registry, 0, "cpu")


def scores(problem: Problem) -> tuple[Judge, dict[str, tuple[float, float]]]:
    """Return the judge, and score and fitness of what one step draws, by the written tree."""
    trainer = Trainer(problem.search_problem, torch.Generator().manual_seed(0))
    step = trainer.step()
    rows = zip(step.roots[0].tolist(), step.scores.score[0].tolist(), step.scores.fitness[0].tolist(), strict=True)
    return trainer.judge, {trainer.judge.read(root).written(): (score, fitness) for root, score, fitness in rows}


def test_a_structural_one_sees_units_and_vetoes(outside: Registry) -> None:
    judge, found = scores(make(outside, "no_sums"))
    score, fitness = found["mul(x, x)"]
    assert score == pytest.approx(fitness - 0.25 * 2 * judge.ceiling, rel=1e-5)
    vetoed = {written: score for written, (score, _) in found.items() if "add" in written}
    assert vetoed
    assert list(vetoed.values()) == pytest.approx([-0.25 * judge.ceiling] * len(vetoed))


def test_a_forward_one_sees_nodes_and_the_data(outside: Registry) -> None:
    problem = make(outside, "large_nodes")
    assert problem.regularizers[0].limit == float(problem.dataset.part("train")[1].max())  # type: ignore[attr-defined]
    _, found = scores(problem)
    score, fitness = found["square(x)"]
    assert score == pytest.approx(fitness, rel=1e-6)
    score, fitness = found["square(mul(x, x))"]
    assert score < fitness


def test_a_symbolic_one_sees_algebra(outside: Registry) -> None:
    judge, found = scores(make(outside, "wordy"))
    score, fitness = found["square(x)"]
    assert score == pytest.approx(fitness - 0.25 * judge.ceiling, rel=1e-5)


def test_one_for_trees_evaluates_them_on_points_of_its_own(outside: Registry) -> None:
    judge, found = scores(make(outside, "at_zero"))
    score, fitness = found["square(x)"]
    assert score == pytest.approx(fitness)
    given = judge.judge.tree(Leaf("stride", judge.problem.variables[-1].value), 0)
    assert given.score == pytest.approx(given.fitness - 0.25 * judge.ceiling)
    without = Judge.of(make(outside).search_problem).tree(Leaf("stride", judge.problem.variables[-1].value), 0)
    assert without.score == without.fitness == given.fitness
    best = max(found, key=lambda written: found[written][0])
    assert best in {"square(x)", "mul(x, x)"}
    assert judge.ceiling > 0


def test_all_stages_together_find_the_law(outside: Registry) -> None:

    from occamkit.result.write import make_result

    problem = make(outside, "no_sums", "large_nodes", "wordy", "at_zero", weight=0.01)
    best = make_result(problem, train(problem)).outputs[0].best
    assert best is not None
    assert best.expression == "x**2"


def test_a_fitness_sees_the_data_before_the_run(outside: Registry) -> None:
    problem = make(outside)
    assert problem.fitness.size == float(problem.dataset.targets.abs().max())  # type: ignore[attr-defined]


def test_what_a_plugin_refuses_is_the_users_to_mend(outside: Registry) -> None:
    with pytest.raises(UserError, match="no input may be called 'forbidden'"):
        make(outside, "at_zero", name="forbidden")


def test_named_constants_have_units_and_near_matches(outside: Registry) -> None:
    problem = make(outside)
    stride = problem.variables[-1]
    assert (stride.name, stride.value) == ("stride", pytest.approx(0.75))
    from occamkit.task.vocabulary import constant

    assert constant("outside:stride", outside).unit == stride.unit
    with pytest.raises(UserError, match="unknown constant 'strid'; did you mean 'stride'"):
        constant("strid", outside)
