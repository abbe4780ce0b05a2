"""A relation between inputs as people read it: f = value, and solved for one of them where algebra can."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import sympy

from occamkit import typeset
from occamkit.result.formulas import Formula

MOST_OPERATIONS = 12
"""Larger relations are not solved: sympy may search for minutes."""


@dataclass(frozen=True)
class Relation:
    """The relation as text, and the solutions for each input that sympy could solve it for."""

    text: str
    solved: dict[str, tuple[str, ...]] = field(default_factory=dict)


def relation_of(formula: Formula, value: float) -> Relation:
    """Write f = value, and solve it."""
    text = f"{formula.text} = {value:g}"
    if formula.algebra is None or sympy.count_ops(formula.algebra) > MOST_OPERATIONS:
        return Relation(text)
    equation = formula.algebra - sympy.nsimplify(value)
    solved = {}
    for symbol in sorted(equation.free_symbols, key=str):
        solutions = _solutions(equation, symbol)
        if solutions:
            solved[symbol.name] = tuple(map(typeset.text, solutions))
    return Relation(text, solved)


def _solutions(equation: Any, symbol: Any) -> list[Any]:
    try:
        found = sympy.solve(equation, symbol)
    except NotImplementedError:
        return []  # sympy has no method for this one
    return [one for one in found if not one.has(symbol)]
