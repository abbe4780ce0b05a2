"""What stands around a searched function: products of powers and weighted sums."""

from __future__ import annotations

import json
from fractions import Fraction

import pytest
import sympy
import torch

from occamkit.graph import Apply, Expression, Leaf, Product, Sum, flattened
from tests.engine_primitives import SIN

x, y = Leaf("x"), Leaf("y")
SINE = Apply(SIN, (x,))
FORMS = [
    (Product(2.5, ((y, Fraction(-3, 2)), (SINE, Fraction(1)))), "2.5*y**(-3/2)*sin(x)", 4),
    (Sum(0.5, ((-1.0, SINE), (3.0, y))), "0.5 - sin(x) + 3*y", 4),
    (Sum(0.0, ((1.0, Product(1.0, ((x, 2.0),))),)), "x**2", 1),
]


@pytest.mark.parametrize(("tree", "text", "complexity"), FORMS)
def test_a_closed_form_is_what_it_says(tree: Expression, text: str, complexity: float) -> None:
    columns = {name: torch.rand(20, dtype=torch.float64) + 0.5 for name in "xy"}
    symbols = {name: sympy.Symbol(name, real=True) for name in "xy"}
    expected = sympy.sympify(text, locals=symbols)
    assert sympy.simplify(tree.sympy() - expected) == 0
    values = sympy.lambdify(list(symbols.values()), expected)(*(columns[name].numpy() for name in symbols))
    assert torch.allclose(tree.evaluate(columns), torch.as_tensor(values))
    assert tree.complexity == complexity


NESTED = [
    Sum(
        1.0,
        (
            (
                2.0,
                Sum(0.5, ((3.0, x), (-1.0, Product(2.0, ((y, Fraction(1, 2)),))))),
            ),
            (1.0, y),
        ),
    ),
    Product(2.0, ((Product(3.0, ((x, 2.0), (Sum(0.0, ((4.0, y),)), 1))), 1), (SINE, Fraction(-1)))),
    Sum(0.0, ((1.0, Product(1.0, ((SINE, 1),))),)),
]


@pytest.mark.parametrize("tree", NESTED)
def test_flattening_changes_no_value_and_saves_numbers(tree: Expression) -> None:
    columns = {name: torch.rand(20, dtype=torch.float64) + 0.5 for name in "xy"}
    flat = flattened(tree)
    torch.testing.assert_close(flat.evaluate(columns), tree.evaluate(columns))
    assert flat.constant_count < tree.constant_count
    assert flat.complexity <= tree.complexity
    assert flattened(flat) == flat


@pytest.mark.parametrize(("tree", "text", "complexity"), FORMS)
def test_a_closed_form_survives_json_and_takes_other_constants(tree: Expression, text: str, complexity: float) -> None:
    again = Expression.from_dict(json.loads(json.dumps(tree.to_dict())), {"sin": SIN})
    assert again == tree
    changed = tree.with_constants([1.25 + i for i in range(tree.constant_count)])
    assert changed.fitted == tuple(1.25 + i for i in range(tree.constant_count))
    assert changed.with_constants(tree.fitted) == tree
