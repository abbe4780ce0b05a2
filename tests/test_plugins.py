"""Built-in fitnesses, regularizers and the wrapper: the numbers of the paper."""

from __future__ import annotations

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from occamkit import Elementwise, NodeBatch, Output, Registry, Variable, units
from occamkit.units import DIMENSIONLESS, FREE, parse

floats = st.floats(-3, 3)
TARGET = torch.tensor([0.5, -1.0, 2.0, 0.0], dtype=torch.float64)


def plugin(registry: Registry, kind: str, name: str, **options: float | bool) -> object:
    return registry.find(kind, name).value(**options)


@pytest.mark.parametrize(
    ("name", "options"),
    [("gaussian", {}), ("gaussian", {"sigma": 0.3}), ("absolute", {}), ("absolute", {"sigma": 2.0}), ("r2", {}),
     ("correlation", {})],
)  # fmt: skip
@given(rows=st.lists(st.lists(floats, min_size=4, max_size=4), min_size=1, max_size=4))
def test_no_prediction_exceeds_the_ceiling(
    registry: Registry, name: str, options: dict, rows: list[list[float]]
) -> None:
    fitness = plugin(registry, "fitnesses", name, **options)
    ceiling = fitness.ceiling(4)
    predicted = torch.tensor([*rows, TARGET.tolist()], dtype=torch.float64)
    scores = fitness.score(predicted, TARGET)
    assert ceiling > 0
    assert bool((scores <= ceiling + 1e-9).all())
    assert float(scores[-1]) == pytest.approx(ceiling)
    alone = torch.cat([fitness.score(row[None], TARGET) for row in predicted])
    torch.testing.assert_close(scores, alone)


def test_gaussian_is_the_papers(registry: Registry) -> None:
    fitness = plugin(registry, "fitnesses", "gaussian", sigma=0.5)
    predicted = TARGET + 0.5
    peak = 1 / math.sqrt(2 * math.pi * 0.25)
    assert float(fitness.score(predicted[None], TARGET)) == pytest.approx(4 * peak * math.exp(-0.5))
    assert fitness.ceiling(4) == pytest.approx(4 / math.sqrt(2 * math.pi * 0.25))


@pytest.mark.parametrize("name", ["gaussian", "absolute", "r2", "correlation"])
def test_an_undefined_prediction_has_an_undefined_score(registry: Registry, name: str) -> None:
    fitness = plugin(registry, "fitnesses", name)
    predicted = torch.stack([TARGET.clone(), TARGET.clone()])
    predicted[0, 1] = torch.nan
    scores = fitness.score(predicted, TARGET)
    assert not torch.isfinite(scores[0])
    assert torch.isfinite(scores[1])


def test_scores_do_not_depend_on_the_targets_unit_when_sigma_is_not_given(registry: Registry) -> None:
    fitness = plugin(registry, "fitnesses", "gaussian")
    predicted = TARGET[None] * 1.1
    torch.testing.assert_close(fitness.score(predicted * 1e6, TARGET * 1e6), fitness.score(predicted, TARGET))
    constant = torch.ones(4, dtype=torch.float64)
    assert float(fitness.score(constant[None], constant)) == pytest.approx(fitness.ceiling(4))


def test_counts_are_per_occurrence(registry: Registry) -> None:
    x, two = Variable("x", DIMENSIONLESS), Variable("2", DIMENSIONLESS, 2.0)
    mul, mul_c = (registry.find("primitives", name).value for name in ("mul", "mul_c"))
    for name, expected in (("activations", 3.0), ("constants", 3.0)):
        fold = plugin(registry, "regularizers", name)
        inner = fold.combine(mul, [fold.leaf(x), fold.leaf(two)])
        root = fold.combine(mul_c, [fold.combine(mul, [inner, fold.leaf(two)])])
        assert fold.verdict(root, Output("y", DIMENSIONLESS)).penalty == expected


def test_units_veto_what_does_not_fit(registry: Registry) -> None:
    metre, second = parse("m").dim, parse("s").dim
    add, div, mul_c = (registry.find("primitives", name).value for name in ("add", "div", "mul_c"))
    fold = plugin(registry, "regularizers", "units")
    distance, time = fold.leaf(Variable("d", metre)), fold.leaf(Variable("t", second))
    speed = Output("v", metre / second)
    assert not fold.verdict(fold.combine(div, [distance, time]), speed).veto
    assert fold.verdict(fold.combine(add, [distance, time]), speed).veto
    assert fold.verdict(distance, speed).veto
    assert fold.combine(mul_c, [distance]) is FREE


def batch(primitive: Elementwise, x: torch.Tensor, *constants: float) -> NodeBatch:
    tensors = tuple(torch.tensor([constant], dtype=x.dtype) for constant in constants)
    return NodeBatch(primitive, (x,), tensors, primitive.call(x, *tensors))


@pytest.mark.parametrize(
    ("name", "values", "penalty"),
    [
        ("cos", [-0.01, 0.01], 5.0),
        ("cos", [0.5, -0.5], 0.1 / (1 - math.cos(0.5))),
        ("cos", [0.0, 3.1], 0.0),
        ("sin", [0.01, -0.01], 5.0),
        ("sin", [math.pi / 2, math.pi / 2], 5.0),
        ("square", [0.1, 0.5], 0.1 / 0.13),
        ("exp", [0.0, 0.0], 0.0),
    ],
)
def test_near_trivia_follows_the_papers_table(
    registry: Registry, name: str, values: list[float], penalty: float
) -> None:
    regularizer = plugin(registry, "regularizers", "near_trivia")
    x = torch.tensor([values], dtype=torch.float64)
    nodes = regularizer.score_nodes(batch(registry.find("primitives", name).value, x))
    assert float(nodes) == pytest.approx(penalty)


@pytest.mark.parametrize(
    ("name", "constant", "count"),
    [
        ("add_c", 0.05, 1),
        ("add_c", 0.5, 0),
        ("mul_c", 1.05, 1),
        ("mul_c", -0.05, 1),
        ("pow_c", 0.95, 1),
        ("pow_c", 2.0, 0),
    ],
)
def test_trivial_constants(registry: Registry, name: str, constant: float, count: int) -> None:
    regularizer = plugin(registry, "regularizers", "trivial_constants")
    x = torch.tensor([[1.0, 2.0]], dtype=torch.float64)
    assert int(regularizer.score_nodes(batch(registry.find("primitives", name).value, x, constant))) == count


def test_recurrence_yields_every_depth(registry: Registry) -> None:
    wrapper = plugin(registry, "wrappers", "recurrence", depth=3)
    states = list(wrapper.unroll(lambda state: 2 * state, torch.tensor([1.0])))
    assert [float(state) for state in states] == [2, 4, 8]


@pytest.mark.parametrize("name", ["and", "or", "not", "nand", "xor"])
def test_logic_is_exact_on_bits_and_undefined_elsewhere(registry: Registry, name: str) -> None:
    primitive = registry.find("primitives", name).value
    tables = {"and": [0, 0, 0, 1], "or": [0, 1, 1, 1], "nand": [1, 1, 1, 0], "xor": [0, 1, 1, 0], "not": [1, 1, 0, 0]}
    a, b = torch.tensor([0.0, 0, 1, 1]), torch.tensor([0.0, 1, 0, 1])
    arguments = (a, b)[: primitive.arity]
    assert primitive.call(*arguments).tolist() == tables[name]
    assert torch.isnan(primitive.call(*(argument + 0.5 for argument in arguments))).all()
    assert primitive.units(*[parse("m").dim] * primitive.arity) is units.CLASH
