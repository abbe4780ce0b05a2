"""The two readings of a formula's tree: numbers and algebra."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import sympy
import torch
from torch import Tensor

from occamkit.language.functions import CONSTANTS, FUNCTIONS, as_number
from occamkit.language.parse import Name, Node, Number
from occamkit.protocols import Primitive


def evaluate(tree: Node, columns: Mapping[str, Tensor], primitives: Mapping[str, Primitive]) -> Tensor:
    """Compute a formula on columns [n], in their dtype; NaN or an infinity where it is undefined."""
    like = next(iter(columns.values()))
    if isinstance(tree, Number):
        value = CONSTANTS[tree.text] if tree.text in CONSTANTS else float(tree.text)
        return torch.full_like(like, value)
    if isinstance(tree, Name):
        return columns[tree.name]
    arguments = [evaluate(argument, columns, primitives) for argument in tree.arguments]
    call = FUNCTIONS[tree.function].torch if tree.function in FUNCTIONS else primitives[tree.function].call
    return call(*arguments)


def to_sympy(tree: Node, primitives: Mapping[str, Primitive]) -> Any:
    """Return a formula as a sympy expression over real symbols called like the columns."""
    if isinstance(tree, Number):
        return _number(tree.text)
    if isinstance(tree, Name):
        return sympy.Symbol(tree.name, real=True)
    arguments = [to_sympy(argument, primitives) for argument in tree.arguments]
    if tree.function not in ("Piecewise", "&", "|", "~"):
        arguments = list(map(as_number, arguments))
    if tree.function in FUNCTIONS:
        return FUNCTIONS[tree.function].sympy(*arguments)
    return primitives[tree.function].sympy(*arguments)


def _number(text: str) -> Any:
    if text in CONSTANTS:
        return sympy.pi if text == "pi" else sympy.E
    return sympy.Integer(text) if text.isdigit() else sympy.Float(text)
