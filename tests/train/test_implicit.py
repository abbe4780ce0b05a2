"""Relations: the one that the data obey, and none that every row obeys."""

from __future__ import annotations

from typing import Any

import pytest
import sympy
import torch
from hypothesis import given
from hypothesis import strategies as st

from occamkit import Registry
from occamkit.archive.relation import informative
from occamkit.builtins.algebra import TrivialOperations, canonical
from occamkit.graph import Apply, Leaf
from occamkit.protocols import Task
from occamkit.result.formulas import Formula
from occamkit.result.relations import relation_of
from occamkit.result.write import make_result
from occamkit.solve import run
from occamkit.task.file.load import load_task
from occamkit.task.problem import make_problem
from occamkit.train.trainer import Trainer
from tests.problems import train

x, y, z = sympy.symbols("x y z", real=True)
add, mul, power = sympy.Add, sympy.Mul, sympy.Pow

NOT_TRIVIAL = {
    "x + x": lambda: add(x, x),
    "x*x": lambda: mul(x, x),
    "x*x*x": lambda: mul(x, mul(x, x)),
    "y + x": lambda: add(y, x),
    "x - y": lambda: x - y,
    "x - (y - z)": lambda: x - (y - z),
    "(x/y)/z": lambda: (x / y) / z,
    "x/(y/z)": lambda: x / (y / z),
    "x*y + x*z": lambda: x * y + x * z,
    "x*x + y*y": lambda: add(mul(x, x), mul(y, y)),
    "x/cos(y)": lambda: x / sympy.cos(y),
    "sin(x + x)": lambda: sympy.sin(add(x, x)),
    "(x + y)*(x + y)": lambda: mul(add(x, y), add(x, y)),
    "x/2": lambda: x / 2,
    "-x": lambda: -x,
}
TRIVIAL = {
    "x - x": lambda: x - x,
    "x/x": lambda: x / x,
    "1*x": lambda: mul(1, x),
    "x^1": lambda: power(x, 1),
    "x^0": lambda: power(x, 0),
    "0 + x": lambda: add(0, x),
    "-(-x)": lambda: mul(-1, mul(-1, x)),
    "x + y - x": lambda: add(x, y) - x,
    "x*y/x": lambda: mul(x, y) / x,
    "(x + x)/x": lambda: add(x, x) / x,
    "x + x - x": lambda: add(x, x) - x,
    "1 + 1": lambda: add(sympy.Integer(1), sympy.Integer(1)),
    "sin² + cos²": lambda: add(mul(sympy.sin(x), sympy.sin(x)), mul(sympy.cos(x), sympy.cos(x))),
}


def penalty(make: Any) -> float:
    with sympy.evaluate(False):
        written = make()
    return TrivialOperations().penalty(written, sympy.simplify(make()))


@pytest.mark.parametrize("text", NOT_TRIVIAL)
def test_what_does_something_is_not_trivial(text: str) -> None:
    assert penalty(NOT_TRIVIAL[text]) == 0


@pytest.mark.parametrize("text", TRIVIAL)
def test_what_does_nothing_is_trivial(text: str) -> None:
    assert penalty(TRIVIAL[text]) == 1


terms = st.recursive(
    st.sampled_from([x, y, z]),
    lambda inner: st.builds(
        lambda kind, one, two: kind(one, two, evaluate=False), st.sampled_from([add, mul]), inner, inner
    ),
    max_leaves=6,
)


@given(terms, terms)
def test_order_and_grouping_do_not_matter(one: Any, two: Any) -> None:
    for kind in (add, mul):
        assert canonical(kind(one, two, evaluate=False)) == canonical(kind(two, one, evaluate=False))
        grouped = kind(one, kind(two, x, evaluate=False), evaluate=False)
        assert canonical(grouped) == canonical(kind(kind(one, two, evaluate=False), x, evaluate=False))


def loaded(name: str, registry: Registry, **overrides: Any) -> Task:
    return load_task(name, registry, {key.replace("__", "."): value for key, value in overrides.items()})


def test_the_graph_tells_trivial_parts_before_algebra_does(registry: Registry) -> None:
    """Whatever the patterns say is a lower bound on what sympy says."""
    searched = make_problem(loaded("paper/circle", registry), registry).search_problem
    made = Trainer(searched, torch.Generator().manual_seed(0))
    roots = made.step().roots[0].unique()
    stage = made.judge._whole
    assert stage is not None
    assert stage._patterns is not None
    bounds = stage._patterns.bounds(roots)
    assert float((bounds > 0).double().mean()) > 0.2
    for root, bound in list(zip(roots.tolist(), bounds.tolist(), strict=True))[::7]:
        assert bound <= stage.penalty(root) + 1e-6


@pytest.mark.parametrize("name", ["x0x1", "x0-over-x1", "x0-over-cos"])
def test_relations_of_the_paper_are_found(registry: Registry, name: str) -> None:
    found = run(f"paper/{name}", registry=registry).outputs[0].best
    assert found is not None
    assert found.relation in {
        "x0*x1 = 1", "x0/x1 = 1", "x1/x0 = 1", "x0/cos(x1) = 1", "cos(x1)/x0 = 1",
    }  # fmt: skip
    assert "x0" in found.solved


def test_thirty_shuffled_points_of_a_circle_are_enough(registry: Registry) -> None:
    found = run("paper/circle", registry=registry, data__points=30).outputs[0].best
    assert found is not None
    assert found.relation == "x0**2 + x1**2 = 1"
    assert found.solved["x0"] == ["-sqrt(1 - x1**2)", "sqrt(1 - x1**2)"]


def test_an_identity_says_nothing_of_the_data(registry: Registry) -> None:
    task = make_problem(loaded("paper/circle", registry), registry)
    plus, times, sine, cosine = (registry.find("primitives", name).value for name in ("add", "mul", "sin", "cos"))

    def square(tree: Any) -> Any:
        return Apply(times, (tree, tree))

    x0, x1 = Leaf("x0"), Leaf("x1")
    assert informative(task, Apply(plus, (square(x0), square(x1))))
    assert not informative(task, Apply(plus, (square(Apply(sine, (x0,))), square(Apply(cosine, (x0,))))))


def test_a_relation_task_gets_penalties_for_trivia_by_itself(registry: Registry) -> None:
    spec = loaded("paper/circle", registry, regularizers=None).spec
    assert {choice.name.removeprefix("occamkit:") for choice in spec.regularizers} >= {
        "trivial_operations", "trivial_constants", "near_trivia",
    }  # fmt: skip


def test_a_relation_that_cannot_be_solved_is_still_shown() -> None:
    hard = sympy.sin(x) + x * sympy.exp(y)
    relation = relation_of(Formula("sin(x) + x*exp(y)", "", hard), 1.0)
    assert relation.text == "sin(x) + x*exp(y) = 1"
    assert set(relation.solved) == {"y"}


def test_no_relation_is_better_than_a_trivial_one(registry: Registry) -> None:
    """Points without any relation: the run must not come back with 1 = 1."""
    inputs = [{"name": "a", "range": [0, 1]}, {"name": "b", "range": [0, 1]}]
    task = loaded("paper/x0x1", registry, inputs=inputs, stop={"max_steps": 60})
    made = make_problem(task, registry)
    best = make_result(made, train(made)).outputs[0].best
    assert best is None or best.mse["train"] > 1e-6
