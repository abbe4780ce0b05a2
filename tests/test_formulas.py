"""The formula that people read: over their own numbers, as short as it can be, and with the values of the tree."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
import torch

from occamkit import Registry
from occamkit.graph import Apply, Expression, Leaf, Product
from occamkit.language.folds import evaluate
from occamkit.language.parse import parse
from occamkit.result.formulas import formula_of
from occamkit.result.write import make_result
from occamkit.task.file.load import check_document
from occamkit.task.prepared import PreparedTask
from occamkit.task.problem import Problem, make_problem
from tests.problems import problem, train

x, y = Leaf("x"), Leaf("y")


def over_two(registry: Registry, x: list[float], y: list[float]) -> Problem:
    inputs = [{"name": "x", "range": x}, {"name": "y", "range": y}]
    return problem(registry, {"z": "x + y"}, inputs=inputs)


def test_formulas_of_standardised_data_are_over_the_users_numbers(registry: Registry, tmp_path: Path) -> None:
    rows = "\n".join(f"{x},{3 * x + 100}" for x in range(1, 30))
    (tmp_path / "line.csv").write_text(f"x,y\n{rows}\n")
    document = {
        "occamkit": 1, "name": "line", "data": {"source": "csv", "file": "line.csv", "standardise": True},
        "inputs": [{"name": "x"}], "outputs": [{"name": "y"}], "stop": {"max_steps": 5},
    }  # fmt: skip
    spec = check_document(document, registry, tmp_path)
    task = make_problem(PreparedTask(spec, registry, tmp_path), registry, 0, "cpu")
    best = make_result(task, train(task)).outputs[0].best
    assert best is not None
    columns = {"x": torch.tensor([2.0, 10.0], dtype=torch.float64)}
    shown = evaluate(parse(best.expression, columns, {}), columns, {})
    torch.testing.assert_close(shown, torch.tensor([106.0, 130.0], dtype=torch.float64))
    assert best.mse["test"] < 1e-20


@pytest.mark.parametrize("name", ["max", "leq", "tanh", "exp"])
def test_functions_that_pass_through_an_infinity_are_shown_truly(registry: Registry, name: str) -> None:
    task = problem(registry, "x", search={"primitives": ["max", "log", "sub", "exp", "leq", "tanh", "inv"]})
    find = {one: registry.find("primitives", one).value for one in ("max", "log", "sub", "exp", "leq", "tanh", "inv")}
    nothing = Apply(find["sub"], (x, x))
    lowest = Apply(find["log"], (nothing,))
    tree = {
        "max": Apply(find["max"], (lowest, x)),
        "leq": Apply(find["leq"], (lowest, x, x, Leaf("1", 1.0))),
        "tanh": Apply(find["tanh"], (Apply(find["inv"], (nothing,)),)),
        "exp": Apply(find["exp"], (lowest,)),
    }[name]
    text = formula_of(task, tree, 0).text
    columns = {"x": torch.linspace(1, 3, 5, dtype=torch.float64)}
    primitives = {one: find[one] for one in find}
    torch.testing.assert_close(evaluate(parse(text, columns, primitives), columns, primitives), tree.evaluate(columns))


def test_units_are_shown_as_declared_and_the_formula_reads_back(registry: Registry) -> None:
    task = problem(
        registry,
        "`x y`*2",
        data={"target": "`x y`*2"},
        inputs=[{"name": "x y", "range": [1, 10], "unit": "km"}],
        outputs=[{"name": "y", "unit": "cm"}],
        search={"primitives": ["mul", "add"], "constants": ["3 m"], "depth": 2},
    )
    add = registry.find("primitives", "add").value
    tree = Apply(add, (Leaf("x y"), Leaf("3 m", 3.0)))
    formula = formula_of(task, tree, 0)
    assert formula.text == "100000*`x y` + 300"
    columns = {"x y": torch.tensor([1.0, 2.0], dtype=torch.float64)}
    assert evaluate(parse(formula.text, columns, {}), columns, {}).tolist() == [100_300.0, 200_300.0]


def test_simplifying_never_changes_values(registry: Registry) -> None:
    task = problem(registry, "sqrt(x*x)", search={"primitives": ["mul", "sqrt", "div"], "constants": [1]})
    mul, sqrt, div = (registry.find("primitives", name).value for name in ("mul", "sqrt", "div"))
    assert formula_of(task, Apply(sqrt, (Apply(mul, (x, x)),)), 0).text == "Abs(x)"
    assert formula_of(task, Apply(div, (Apply(mul, (x, x)), x)), 0).text == "x"


def test_signs_that_the_data_settle_shorten_a_formula(registry: Registry) -> None:
    div, sqrt = (registry.find("primitives", name).value for name in ("div", "sqrt"))
    one = Leaf("1", 1.0)
    tree = Apply(div, (x, Apply(sqrt, (Apply(div, (one, x)),))))
    assert formula_of(over_two(registry, [1, 5], [1, 5]), tree, 0).text == "x**(3/2)"
    quotient = Apply(div, tuple(Apply(sqrt, (Apply(div, (one, leaf)),)) for leaf in (x, y)))
    assert formula_of(over_two(registry, [1, 5], [1, 5]), quotient, 0).text == "sqrt(y)/sqrt(x)"
    assert formula_of(over_two(registry, [1, 5], [1, 5]), Apply(sqrt, (Apply(div, (x, y)),)), 0).text == "sqrt(x/y)"


def test_a_sign_that_counts_beyond_the_data_stays(registry: Registry) -> None:
    mul, sqrt = (registry.find("primitives", name).value for name in ("mul", "sqrt"))
    size = Apply(sqrt, (Apply(mul, (x, x)),))
    for low in (-5, 1):  # as a prediction for x = -2 would be 2 in both
        task = over_two(registry, [low, 5], [1, 5])
        assert formula_of(task, Apply(mul, (size, y)), 0).text == "y*Abs(x)"


def test_a_number_inside_an_exponential_joins_the_factor_before_it(registry: Registry) -> None:
    sub, exp = (registry.find("primitives", name).value for name in ("sub", "exp"))
    task = over_two(registry, [1, 5], [1, 5])

    def scaled(factor: float) -> Expression:
        return Product(factor, ((Apply(exp, (Apply(sub, (Leaf("2", 2.0), x)),)), 1),))

    assert formula_of(task, scaled(3 * math.exp(-2)), 0).text == "3*exp(-x)"
    assert formula_of(task, scaled(1.0), 0).text == "exp(2 - x)"


def test_the_last_digits_of_a_double_are_not_shown(registry: Registry) -> None:
    task = over_two(registry, [1, 5], [1, 5])
    assert formula_of(task, Product(math.nextafter(1.0, 2.0), ((x, 1),)), 0).text == "x"
    assert formula_of(task, Product(0.1 + 0.2, ((x, 1),)), 0).text == "0.3*x"
