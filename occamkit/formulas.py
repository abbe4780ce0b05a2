"""From a tree over our columns to the formula that people read: simplified, over their own numbers."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import sympy
import torch
from sympy.printing.str import StrPrinter

from occamkit.errors import FormulaError
from occamkit.graph import Apply, Expression, Leaf
from occamkit.task.dataset import Scale
from occamkit.task.formula import parse
from occamkit.task.formula_folds import evaluate
from occamkit.task.problem import Problem

_PLAIN = re.compile(r"[^\W\d]\w*")
_WORDS = frozenset({"if", "else", "True", "False"})

MOST_OPERATIONS = 40
"""Larger expressions are left as sympy writes them: simplifying them can take longer than finding them."""

AGREEMENT = 1e-8
"""How far the formula shown may be from the tree it stands for, relative to its size."""


@dataclass(frozen=True)
class Formula:
    """A formula as text and as LaTeX."""

    text: str
    latex: str


class _Printer(StrPrinter):  # type: ignore[misc]
    """Writes sympy's own text, with names that are no plain words in backticks."""

    def _print_Symbol(self, expr: Any) -> str:  # noqa: N802 sympy's naming
        plain = _PLAIN.fullmatch(expr.name) and expr.name not in _WORDS
        return str(expr.name) if plain else f"`{expr.name}`"


def show(expression: Any) -> str:
    """Write a sympy expression so that it reads back as a formula."""
    return str(_Printer({"full_prec": False}).doprint(expression))


def formula_of(problem: Problem, tree: Expression, output: int) -> Formula:
    """Return the formula of a tree, over the user's numbers, simplified where that changes no value.

    sympy simplifies over domains of its own, and fails on some functions that pass through an infinity. What is shown
    is read back and compared with the tree on the training rows; the last resort is the tree as calls of primitives.
    """
    for candidate in _algebra(problem, tree, output):
        text = show(candidate)
        if _agrees(problem, tree, output, text):
            return Formula(text, sympy.latex(candidate))
    text = _as_calls(problem, tree, output)
    return Formula(text, rf"\mathtt{{{text}}}".replace("_", r"\_"))


def _algebra(problem: Problem, tree: Expression, output: int) -> Iterator[Any]:
    """Yield the tree in sympy, simplified and then plain, as far as sympy can follow it."""
    try:
        plain = _over_users_numbers(problem, tree.sympy(), output)
        if sympy.count_ops(plain) <= MOST_OPERATIONS:
            yield sympy.simplify(plain)
        yield plain
    except Exception:  # noqa: BLE001 sympy raises whatever its parts raise on infinities; the caller has another form
        return


def _over_users_numbers(problem: Problem, expression: Any, output: int) -> Any:
    """Put the conversion of each column into the expression; nothing changes where there is none."""
    dataset = problem.dataset
    converted = {}
    for variable, scale in zip(dataset.variables, dataset.scales, strict=False):
        if scale.factor != 1 or scale.shift != 0:
            symbol = sympy.Symbol(variable.name, real=True)
            converted[symbol] = (symbol - _number(scale.shift)) * _factor(scale)
    scale = dataset.output_scale(output)
    inside = expression.xreplace(converted) if converted else expression
    return inside / _factor(scale) + _number(scale.shift) if scale != Scale(scale.measure) else inside


def _factor(scale: Scale) -> Any:
    exact = scale.measure.factor
    if exact != 1 and max(exact.numerator, exact.denominator) <= 1000:
        return sympy.Rational(exact.numerator, exact.denominator)
    return _number(scale.factor)


def _number(value: float) -> Any:
    return sympy.Integer(int(value)) if value == int(value) and abs(value) < 1000 else sympy.Float(value)


def _as_calls(problem: Problem, tree: Expression, output: int) -> str:
    """Write the tree as calls of primitives, which the language of formulas reads."""
    scales = {one.name: scale for one, scale in zip(problem.dataset.variables, problem.dataset.scales, strict=False)}
    scale = problem.dataset.output_scale(output)
    text = _call(tree, scales)
    return text if scale == Scale(scale.measure) else f"{text}/{scale.factor!r} + {scale.shift!r}"


def _call(tree: Expression, scales: Mapping[str, Scale]) -> str:
    if isinstance(tree, Apply):
        arguments = [*(_call(argument, scales) for argument in tree.arguments), *map(repr, tree.constants)]
        return f"{tree.primitive.name}({', '.join(arguments)})"
    if not isinstance(tree, Leaf):
        raise TypeError(f"{type(tree).__name__} is neither Leaf nor Apply")
    if tree.value is not None:
        return repr(tree.value)
    scale, name = scales.get(tree.name, Scale()), f"`{tree.name}`"
    return name if scale == Scale(scale.measure) else f"(({name} - {scale.shift!r})*{scale.factor!r})"


def _agrees(problem: Problem, tree: Expression, output: int, text: str) -> bool:
    """Whether the text, read back, gives the tree's values on the training rows."""
    dataset = problem.dataset
    inputs, _ = dataset.part("train")
    ours = {one.name: column for one, column in zip(dataset.variables, inputs, strict=True)}
    theirs = {
        one.name: scale.declared(column)
        for one, scale, column in zip(dataset.variables, dataset.scales, inputs, strict=False)
    }
    try:
        shown = evaluate(parse(text, theirs, {}), theirs, {})
    except FormulaError:
        return False  # sympy wrote a function that the language of formulas does not have
    expected = dataset.output_scale(output).declared(tree.evaluate(ours).expand_as(shown))
    finite = expected[torch.isfinite(expected)].abs()
    size = float(finite.max()) if finite.numel() else 1.0
    return torch.allclose(shown.to(expected), expected, rtol=AGREEMENT, atol=AGREEMENT * size, equal_nan=True)
