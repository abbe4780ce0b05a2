"""Functions on bits, simplified as logic: from their truth table to the shortest of a few normal forms."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import sympy
import torch
from sympy.logic.boolalg import ANFform, POSform, SOPform

from occamkit.graph import Expression
from occamkit.task.data.dataset import Scale
from occamkit.task.problem import Problem

MOST_BITS = 10
"""Truth tables of more inputs are not made."""
MOST_BITS_COVERED = 5
"""Forms that cover the table by products are looked for up to this many inputs; beyond, that takes too long."""


def logic_of(problem: Problem, tree: Expression, output: int) -> Any:
    """Return a function as a Boolean sympy expression, or None if it is not one of bits alone.

    Its inputs must be bits in every row of the data, and it must give a bit for every combination of them.
    """
    dataset = problem.dataset
    columns = {one.name: place for place, one in enumerate(dataset.variables)}
    names = list(tree.inputs)
    places = [columns[name] for name in names]
    scales = [dataset.scales[place] for place in places] + [dataset.output_scale(output)]
    if not names or len(names) > MOST_BITS or any(scale != Scale() for scale in scales):
        return None
    if not _are_bits(dataset.inputs[places]):
        return None
    rows = list(itertools.product((0, 1), repeat=len(names)))
    table = torch.tensor(rows, dtype=torch.float64).T
    values = tree.evaluate(dict(zip(names, table, strict=True))).expand(len(rows))
    if not _are_bits(values):
        return None
    return _shortest(names, rows, values.to(torch.int64).tolist())


def _are_bits(values: torch.Tensor) -> bool:
    return bool(((values == 0) | (values == 1)).all())


def _shortest(names: Sequence[str], rows: Sequence[tuple[int, ...]], values: Sequence[int]) -> Any:
    truth = dict(zip(rows, values, strict=True))
    used = [place for place in range(len(names)) if _matters(truth, place)]
    small = {tuple(row[place] for place in used): value for row, value in truth.items()}
    symbols = [sympy.Symbol(names[place]) for place in used]
    if not used:
        return sympy.true if values[0] else sympy.false
    small_rows = list(itertools.product((0, 1), repeat=len(used)))
    forms = [ANFform(symbols, [small[row] for row in small_rows])]
    if len(used) <= MOST_BITS_COVERED:
        ones = [list(row) for row in small_rows if small[row]]
        forms = [SOPform(symbols, ones), POSform(symbols, ones), *forms, _complement(forms[0])]
    return min(forms, key=_length)


def _complement(form: Any) -> Any:
    """Write 1 ⊕ f as not f, which reads better."""
    rest = [term for term in form.args if term != sympy.true] if isinstance(form, sympy.Xor) else []
    return sympy.Not(sympy.Xor(*rest)) if rest and len(rest) < len(form.args) else form


def _matters(truth: Mapping[tuple[int, ...], int], place: int) -> bool:
    flip: Callable[[tuple[int, ...]], tuple[int, ...]] = lambda row: (*row[:place], 1 - row[place], *row[place + 1 :])  # noqa: E731
    return any(value != truth[flip(row)] for row, value in truth.items())


def _length(form: Any) -> float:
    """Count the operations of a form, a negation as half of one."""
    if isinstance(form, sympy.Not):
        return 0.5 + _length(form.args[0])
    return len(form.args) - 1 + sum(map(_length, form.args)) if form.args else 0


def show_logic(form: Any, names: Mapping[str, str] | None = None) -> str:
    """Write a Boolean expression as Python reads it; `names` are identifiers for symbols."""
    return _show(form, names or {}, 0)


_WORDS = {sympy.Or: (" or ", 1), sympy.And: (" and ", 2), sympy.Not: ("not ", 3), sympy.Xor: (" ^ ", 4)}


def _show(form: Any, names: Mapping[str, str], outside: int) -> str:
    if isinstance(form, sympy.Symbol):
        return names.get(form.name, form.name)
    if form in (sympy.true, sympy.false):
        return "1" if form == sympy.true else "0"
    word, level = _WORDS[form.func]
    inside = [_show(argument, names, level) for argument in sorted(form.args, key=sympy.default_sort_key)]
    text = word + inside[0] if isinstance(form, sympy.Not) else word.join(inside)
    return f"({text})" if level < outside or (level == outside and isinstance(form, sympy.Not)) else text
