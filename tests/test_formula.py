"""Formulas: what they mean, that sympy's own text is understood, and that nothing is ever run."""

from __future__ import annotations

import math

import pytest
import sympy
import torch
from hypothesis import given
from hypothesis import strategies as st

from occamkit import Registry
from occamkit.errors import FormulaError
from occamkit.language.folds import evaluate, to_sympy
from occamkit.language.parse import parse
from occamkit.protocols import Primitive
from occamkit.task.file.checks import callable_primitives

X = torch.linspace(-2, 2, 9, dtype=torch.float64)
COLUMNS = {"x": X, "y": X.square() + 0.5, "S": 2 * X, "lambda": X + 1, "x y": X - 1, "β": X, "I": X}


@pytest.fixture(scope="module")
def primitives(registry: Registry) -> dict[str, Primitive]:
    return callable_primitives(registry)


def value(text: str, primitives: dict[str, Primitive]) -> torch.Tensor:
    return evaluate(parse(text, COLUMNS, primitives), COLUMNS, primitives)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("9.81*x**2/2", 9.81 * X**2 / 2),
        ("-x**2", -(X**2)),
        ("2**-x", 2.0**-X),
        ("2^3^0.5", torch.full_like(X, 2 ** (3**0.5))),
        ("1e3*x + .5", 1e3 * X + 0.5),
        ("x - y - 1", X - COLUMNS["y"] - 1),
        ("x / y * 2", X / COLUMNS["y"] * 2),
        ("3*x if x > 0 else x", torch.where(X > 0, 3 * X, X)),
        ("1 if x < -1 else 2 if x < 1 else 3", torch.where(X < -1, 1.0, torch.where(X < 1, 2.0, 3.0)).double()),
        ("Piecewise((x, x < 0), (x**2, True))", torch.where(X < 0, X, X**2)),
        ("leq(x, 0, x, 3*x)", torch.where(X <= 0, X, 3 * X)),
        ("Max(x, y, 1)", torch.maximum(COLUMNS["y"], X).clamp(min=1)),
        ("sin(pi*x) + E", torch.sin(math.pi * X) + math.e),
        ("S*lambda + `x y` + β - I", 2 * X * (X + 1) + X - 1),
        ("Abs(x)", X.abs()),
        ("occamkit:add(x, occamkit:mul(x, 2))", 3 * X),
        ("pow_c(y, 2.5)", COLUMNS["y"] ** 2.5),
        ("Heaviside(x, 0)", (X > 0).double()),
        ("Heaviside(x)", torch.where(X == 0, 0.5, (X > 0).double())),
        ("(x > 1) + (x > 0) - (x < -1)", (X > 1).double() + (X > 0).double() - (X < -1).double()),
        ("--x + - + -x", 2 * X),
    ],
)
def test_values(text: str, expected: torch.Tensor, primitives: dict[str, Primitive]) -> None:
    torch.testing.assert_close(value(text, primitives), expected)


@pytest.mark.parametrize(
    ("text", "words", "position"),
    [
        ("sinn(x)", "unknown function 'sinn'; did you mean 'sin'?", 0),
        ("sin(x, x)", "sin takes 1 argument, got 2", 0),
        ("leq(x, 1)", "leq takes 4 arguments, got 2", 0),
        ("x +", "ends where", 3),
        ("x $ 2", "cannot read '\\$'", 2),
        ("2 x", "unexpected 'x'", 2),
        ("lamda * 2", "did you mean 'lambda'", 0),
        ("`x  y`", "no input is called", 1),
        ("(x", "expected '\\)'", 2),
        ("__import__('os')", "cannot read", 11),
        ("x.real", "cannot read '.'", 1),
        ("", "ends where", 0),
        ("Max()", "Max cannot take 0 arguments", 0),
        ("Piecewise(x)", "expected '\\('", 10),
        ("0 < x < 1", "comparisons do not chain", 6),
        ("sin(x", "expected ',' or '\\)'", 5),
        ("(" * 150 + "x" + ")" * 150, "nested", None),
        ("+".join(["x"] * 3000), "more than 500 words", None),
        ("Heaviside(x, 1, 2)", "cannot take 3 arguments", 0),
    ],
)
def test_errors_point_at_the_place(
    text: str, words: str, position: int | None, primitives: dict[str, Primitive]
) -> None:
    with pytest.raises(FormulaError, match=words) as error:
        parse(text, COLUMNS, primitives)
    assert position is None or error.value.position == position


def test_towers_of_powers_are_harmless(primitives: dict[str, Primitive]) -> None:
    tree = parse("9**9**9**9", ["x"], primitives)
    assert math.isinf(evaluate(tree, {"x": X}, primitives)[0])
    assert to_sympy(parse("7**5000", ["x"], primitives), primitives) is not None


def trees() -> st.SearchStrategy[sympy.Expr]:
    x, y = sympy.Symbol("x", real=True), sympy.Symbol("y", real=True)
    leaves = st.sampled_from([x, y, sympy.pi, sympy.Integer(2), sympy.Rational(1, 3), sympy.Float(0.7)])
    unary = st.sampled_from([sympy.sin, sympy.exp, sympy.Abs, sympy.tanh, sympy.cos])
    binary = st.sampled_from([sympy.Add, sympy.Mul, sympy.Max, lambda a, b: a - b, lambda a, b: a / (b**2 + 1)])
    return st.recursive(
        leaves,
        lambda inner: (
            st.builds(lambda f, a: f(a), unary, inner) | st.builds(lambda f, a, b: f(a, b), binary, inner, inner)
        ),
        max_leaves=6,
    )


@given(trees())
def test_the_text_of_any_sympy_expression_parses_back(registry: Registry, expression: sympy.Expr) -> None:
    primitives = callable_primitives(registry)
    columns = {"x": X, "y": COLUMNS["y"]}
    tree = parse(str(expression), columns, primitives)
    again = to_sympy(tree, primitives)
    for point in (0.3, -1.7):
        at = {sympy.Symbol("x", real=True): point, sympy.Symbol("y", real=True): 1.25}
        assert complex(again.subs(at).evalf()) == pytest.approx(complex(expression.subs(at).evalf()), rel=1e-9)
