"""From a tree in base units to the formula that people read: simplified, over their columns, in their units."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import sympy
import torch
from sympy.printing.str import StrPrinter

from occamkit.errors import FormulaError
from occamkit.graph import Expression
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
    """Return the formula of a tree, in the declared units, simplified where that changes no number.

    sympy simplifies over domains of its own; what it returns is compared with the tree on the training rows, and
    dropped for a plainer form when they differ.
    """
    plain = _in_declared_units(problem, tree.sympy(), output)
    for candidate in (_simplify(plain), plain):
        text = show(candidate)
        if _agrees(problem, tree, output, text):
            return Formula(text, sympy.latex(candidate))
    return Formula(show(plain), sympy.latex(plain))


def _simplify(expression: Any) -> Any:
    return sympy.simplify(expression) if sympy.count_ops(expression) <= MOST_OPERATIONS else expression


def _in_declared_units(problem: Problem, expression: Any, output: int) -> Any:
    """Put the conversion of each column into the expression; nothing changes when all units are base units."""
    measures = problem.dataset.measures
    factors = {}
    for variable, measure in zip(problem.dataset.variables, measures, strict=False):
        if measure.factor != 1:
            symbol = sympy.Symbol(variable.name, real=True)
            factors[symbol] = symbol * _number(measure.factor)
    place = len(problem.dataset.variables) + output
    if place < len(measures) and measures[place].factor != 1:
        return expression.xreplace(factors) / _number(measures[place].factor)
    return expression.xreplace(factors) if factors else expression


def _number(factor: Fraction) -> Any:
    simple = max(factor.numerator, factor.denominator) <= 1000
    return sympy.Rational(factor.numerator, factor.denominator) if simple else sympy.Float(float(factor))


def _agrees(problem: Problem, tree: Expression, output: int, text: str) -> bool:
    """Whether the text, read back, gives the tree's values on the training rows in declared units."""
    columns = problem.exact_columns("train")
    named = dict(zip((variable.name for variable in problem.variables), columns, strict=True))
    measures = [float(measure.factor) for measure in problem.dataset.measures]
    inputs = len(problem.dataset.variables)
    declared = {
        variable.name: columns[place] / (measures[place] if place < len(measures) else 1.0)
        for place, variable in enumerate(problem.dataset.variables)
    }
    try:
        shown = evaluate(parse(text, declared, {}), declared, {})
    except FormulaError:
        return False  # sympy wrote a function that the language of formulas does not have
    scale = measures[inputs + output] if inputs + output < len(measures) else 1.0
    expected = tree.evaluate(named).expand_as(shown) / scale
    size = expected[torch.isfinite(expected)].abs().max() if torch.isfinite(expected).any() else torch.ones(())
    return torch.allclose(shown.to(expected), expected, rtol=AGREEMENT, atol=AGREEMENT * float(size), equal_nan=True)
