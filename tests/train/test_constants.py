"""Searches with constants: found, made simple, with honest errors; and what a task says of them."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import occamkit
from occamkit import Registry
from occamkit.archive.tidy import tidy
from occamkit.errors import PackError, TaskError
from occamkit.graph import Apply, Leaf, Sum
from occamkit.graph.numbers import likely
from occamkit.packs.shapes import require_shape
from occamkit.task.file.load import check_document
from tests.problems import problem, train

LEARNED = {"search": {"primitives": ["mul", "sin", "add_c", "mul_c", "pow_c"], "constants": [], "depth": 2}}
POSITIVE = {"inputs": [{"name": "x", "range": [0.5, 4]}]}


def test_a_law_with_unknown_numbers_is_found(registry: Registry) -> None:
    task = problem(registry, "3.7*x**1.25", **LEARNED, **POSITIVE)
    best = train(task).best[0]
    assert best is not None
    assert best.figures.exact
    x = torch.linspace(5, 9, 20, dtype=torch.float64)
    torch.testing.assert_close(best.tree.evaluate({"x": x}), 3.7 * x**1.25, rtol=1e-8, atol=0)


def test_equal_seeds_fit_equal_constants(registry: Registry) -> None:
    outcomes = [train(problem(registry, "sin(1.3*x)+x/7", seed=2, **LEARNED, stop={"max_steps": 8})) for _ in range(2)]
    first, second = ([one.tree for one in outcome.fronts[0]] for outcome in outcomes)
    assert first == second
    assert any(tree.fitted for tree in first)


def test_mini_batches_use_constants_fitted_on_all_rows(registry: Registry) -> None:
    task = problem(registry, "3.7*x**1.25", **LEARNED, **POSITIVE, trainer={"functions": 200, "batch": 10})
    best = train(task).best[0]
    assert best is not None
    assert best.figures.exact


@pytest.mark.parametrize("scale", ["prefactor", "affine"])
def test_an_output_can_be_scaled_without_any_primitive_for_it(registry: Registry, scale: str) -> None:
    target = "2.5*sin(x)" + ("+0.3" if scale == "affine" else "")
    search = {"primitives": ["sin"], "constants": [], "depth": 1}
    task = problem(registry, target, search=search, fitness={"name": "gaussian", "scale": scale})
    best = train(task).best[0]
    assert best is not None
    assert best.figures.exact
    result = occamkit.solve.make_result(task, train(task)).outputs[0].best
    assert result is not None
    assert result.expression in {"2.5*sin(x)", "2.5*sin(x) + 0.3"}


def test_a_noisy_slope_comes_with_its_standard_error(registry: Registry) -> None:
    """The textbook's formula for a line, on the training rows."""
    task = problem(registry, "2.03*x + 0.7", data={"points": 400, "noise": 0.05}, constants={"snap": False})
    mul_c, add_c = (registry.find("primitives", name).value for name in ("mul_c", "add_c"))
    line = Apply(add_c, (Apply(mul_c, (Leaf("x"),), (1.0,)),), (0.0,))
    found = tidy(task, line, 0)
    inputs, targets = task.dataset.part("train")
    x, y = inputs[0], targets[0]
    centred = x - x.mean()
    slope = float((centred * y).sum() / centred.square().sum())
    offset = float(y.mean()) - slope * float(x.mean())
    scatter = float((y - slope * x - offset).square().sum()) / (x.numel() - 2)
    assert found.tree.fitted == pytest.approx((offset, slope), rel=1e-6)
    assert found.errors[1] == pytest.approx(math.sqrt(scatter / float(centred.square().sum())), rel=1e-4)


def test_constants_become_simple_when_nothing_is_lost(registry: Registry) -> None:
    sine = registry.find("primitives", "sin").value
    start = Sum(0.1, ((1.1, Apply(sine, (Leaf("x"),))),))
    exact = tidy(problem(registry, "pi*sin(x)/3 + 2/7"), start, 0)
    assert exact.tree.fitted == (2 / 7, math.pi / 3)
    assert exact.errors == (None, None)
    odd = tidy(problem(registry, "1.2345678*sin(x) + 2"), start, 0)
    assert odd.tree.fitted == pytest.approx((2, 1.2345678))
    assert odd.errors == (None, None)
    noisy = tidy(problem(registry, "1.9*sin(x) + 2", data={"points": 1000, "noise": 0.01}), start, 0)
    assert noisy.tree.fitted[0] == 2
    assert noisy.tree.fitted[1] == pytest.approx(1.9, abs=0.01)


def test_a_constant_that_another_makes_up_for_is_given_up(registry: Registry) -> None:
    mul_c, add_c = (registry.find("primitives", name).value for name in ("mul_c", "add_c"))
    twice = Apply(add_c, (Apply(mul_c, (Apply(mul_c, (Leaf("x"),), (1.7,)),), (1.1,)),), (0.0,))
    found = tidy(problem(registry, "1.93*x + 0.7", data={"points": 400, "noise": 0.05}), twice, 0)
    assert sum(error is not None for error in found.errors) <= 2
    assert all(error is None or error < 0.2 for error in found.errors)
    assert math.prod(found.tree.fitted[1:]) == pytest.approx(1.93, abs=0.05)


@given(st.fractions(-20, 20, max_denominator=12), st.sampled_from([1.0, math.pi, 1 / math.pi, math.e]))
def test_simple_numbers_are_recognised(fraction: object, unit: float) -> None:
    value = float(fraction) * unit  # type: ignore[arg-type]
    assert value in list(likely(value, 1e-9))


@given(st.floats(-10, 10), st.floats(0.02, 1))
def test_what_is_badly_known_is_no_fraction(value: float, tolerance: float) -> None:
    assert all(found.is_integer() or (2 * found).is_integer() for found in likely(value, tolerance))
    assert all(abs(found - value) <= tolerance for found in likely(value, tolerance))


def test_free_constants_take_units_and_plain_ones_do_not(registry: Registry) -> None:
    document = {
        "occamkit": 1, "name": "fall", "data": {"source": "formula", "target": "4.9*t**2"},
        "inputs": [{"name": "t", "unit": "s", "range": [1, 2]}], "outputs": [{"name": "d", "unit": "m"}],
        "search": {"primitives": ["mul", "mul_c"], "constants": []},
    }  # fmt: skip
    check_document(document, registry, Path())
    with pytest.raises(TaskError, match=r"nothing carries"):
        check_document({**document, "constants": {"units": "dimensionless"}}, registry, Path())
    scaled = {**document, "search": {"primitives": ["mul"], "constants": []}, "fitness": {"name": "gaussian"}}
    with pytest.raises(TaskError):
        check_document(scaled, registry, Path())
    check_document({**scaled, "fitness": {"name": "gaussian", "scale": "prefactor"}}, registry, Path())


def test_a_fitness_may_not_have_an_option_that_all_have(registry: Registry) -> None:
    from dataclasses import make_dataclass

    clash = make_dataclass(
        "Clash", [("scale", float, 1.0)], namespace={"score": lambda *_: None, "ceiling": lambda *_: 1.0}
    )
    with pytest.raises(PackError, match="may not have an option 'scale'"):
        require_shape("rude", "fitnesses", clash)


def test_of_formulas_that_fit_alike_the_simplest_is_best(registry: Registry) -> None:
    task = problem(
        registry, "2*sin(x)+x/2", data={"points": 500, "noise": 0.1}, stop={"max_steps": 40}, fitness={"name": "r2"}
    )
    outcome = train(task)
    best, last = outcome.best[0], outcome.fronts[0][-1]
    assert best is not None
    assert best.complexity <= last.complexity
    assert best.figures.mse["valid"] <= 1.1 * last.figures.mse["valid"]
