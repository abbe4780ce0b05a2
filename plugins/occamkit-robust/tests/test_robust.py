"""Outliers are forgiven, and formulas of the wrong shape pay for it."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from occamkit_robust.fitnesses import FITNESSES, Huber, Quantile, StudentT
from occamkit_robust.shapes import Bounds, Extrapolation, Monotone, Symmetry

import occamkit
from occamkit import Apply, Leaf, Problem, Registry, load_task
from occamkit.errors import UserError
from occamkit.task.problem import make_problem

TARGET = torch.linspace(-1, 2, 20, dtype=torch.float64)


@pytest.fixture(scope="module")
def problem() -> Problem:
    registry = Registry.load()
    return make_problem(load_task("robust/saturating", registry), registry, 0, "cpu")


@pytest.mark.parametrize("fitness", FITNESSES)
@given(rows=st.lists(st.lists(st.floats(-1e6, 1e6), min_size=20, max_size=20), min_size=1, max_size=3))
def test_no_prediction_beats_the_truth(fitness: Any, rows: list[list[float]]) -> None:
    predicted = torch.tensor([*rows, TARGET.tolist()], dtype=torch.float64)
    scores = fitness().score(predicted, TARGET)
    assert bool((scores <= 20 + 1e-9).all())
    assert float(scores[-1]) == pytest.approx(20)


@pytest.mark.parametrize("fitness", [Huber(), StudentT()])
def test_one_wild_row_costs_at_most_itself(fitness: Any) -> None:
    spoilt = TARGET.clone()
    spoilt[3] += 1e6
    assert float(fitness.score(spoilt[None], TARGET)) == pytest.approx(19, abs=1e-3)


def test_a_quantile_prefers_its_side() -> None:
    above, below = (TARGET + 0.05)[None], (TARGET - 0.05)[None]
    high, low = Quantile(q=0.9), Quantile(q=0.1)
    assert float(high.score(above, TARGET)) > float(high.score(below, TARGET))
    assert float(low.score(above, TARGET)) < float(low.score(below, TARGET))


def tree(problem: Problem, name: str, *arguments: Any) -> Apply:
    primitive = next(one for one in problem.registry.entries("primitives") if one.qualified == f"occamkit:{name}").value
    return Apply(primitive, tuple(Leaf(one) if isinstance(one, str) else one for one in arguments))


def test_monotone(problem: Problem) -> None:
    output = problem.outputs[0]
    rising = Monotone(rising=("a",)).prepare(problem)
    assert rising.look(tree(problem, "add", "a", "b"), output) == 0
    assert rising.look(tree(problem, "sub", "b", "a"), output) == 1
    assert Monotone(falling=("a",)).prepare(problem).look(tree(problem, "sub", "b", "a"), output) == 0
    wave = rising.look(tree(problem, "sin", tree(problem, "square", "a")), output)
    assert 0 < wave < 1
    with pytest.raises(UserError, match="no input is called 'aa'"):
        Monotone(rising=("aa",)).prepare(problem)


def test_bounds(problem: Problem) -> None:
    output = problem.outputs[0]
    bounds = Bounds(low=0, high=1).prepare(problem)
    assert bounds.look(tree(problem, "tanh", "a"), output) == 0
    assert 0 < bounds.look(Leaf("a"), output) < 1
    assert bounds.look(tree(problem, "neg", "a"), output) == 1
    with pytest.raises(UserError, match="is above high"):
        Bounds(low=2, high=1).prepare(problem)


def test_symmetry(problem: Problem) -> None:
    output = problem.outputs[0]
    exchange = Symmetry(exchange=("a", "b")).prepare(problem)
    assert exchange.look(tree(problem, "mul", "a", "b"), output) == 0
    assert exchange.look(tree(problem, "sub", "a", "b"), output) == 1
    assert Symmetry(even=("a",)).prepare(problem).look(tree(problem, "square", "a"), output) == 0
    assert Symmetry(even=("a",)).prepare(problem).look(Leaf("a"), output) == 1
    assert Symmetry(odd=("a",)).prepare(problem).look(Leaf("a"), output) == 0


def test_extrapolation(problem: Problem) -> None:
    output = problem.outputs[0]
    tame = Extrapolation(beyond=1.0).prepare(problem)
    assert tame.look(tree(problem, "tanh", "a"), output) == 0
    assert tame.look(tree(problem, "log", "a"), output) > 0  # undefined left of zero
    cube = tree(problem, "cube", tree(problem, "cube", "a"))
    assert tame.look(cube, output) > 0


def test_the_task_charges_for_the_wrong_shape_only(problem: Problem) -> None:
    """sin(a·b) and tanh(a·b) both rise at first; only one keeps rising and stays above zero."""
    inside = tree(problem, "mul", "a", "b")
    paid = {
        name: {one.name: one.look(tree(problem, name, inside), problem.outputs[0]) for one in problem.regularizers}
        for name in ("sin", "tanh")
    }
    assert set(paid["tanh"].values()) == {0.0}
    assert paid["sin"]["monotone"] > 0
    assert paid["sin"]["bounds"] > 0
    assert paid["sin"]["symmetry"] == 0


def test_free_fall_is_found_among_spoilt_readings() -> None:
    best = occamkit.run("robust/outliers", seed=0, device="cpu").outputs[0].best
    assert best is not None
    assert best.expression == "4.905*t**2"


def test_a_saturating_signal_is_found() -> None:
    best = occamkit.run("robust/saturating", seed=0, device="cpu").outputs[0].best
    assert best is not None
    assert best.expression == "tanh(a*b)"
