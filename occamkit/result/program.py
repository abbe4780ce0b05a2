"""All outputs as one program in Python, for people to read: branches as `if`, what outputs share written once."""

from __future__ import annotations

import keyword
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import sympy
from sympy.printing.precedence import PRECEDENCE
from sympy.printing.pycode import PythonCodePrinter

from occamkit import traits
from occamkit.result.logic import show_logic
from occamkit.task.problem import Problem

INDENT = "    "
_BRANCH = sympy.Piecewise


@dataclass(frozen=True)
class Part:
    """One output of a program: its formula in sympy, as logic where it is logic, and as it was drawn."""

    algebra: Any
    logic: Any
    written: str


class _Printer(PythonCodePrinter):  # type: ignore[misc]
    """Writes Python over the names that columns have in the program."""

    def __init__(self, names: Mapping[str, str]) -> None:
        super().__init__({"fully_qualified_modules": False})
        self.names = names

    def _print_Symbol(self, expr: Any) -> str:  # noqa: N802 sympy's naming
        return str(self.names.get(expr.name, expr.name))

    def _print_Mul(self, expr: Any) -> str:  # noqa: N802
        share, rest = expr.as_coeff_Mul()
        if share.is_Rational and not share.is_Integer:
            top = self.parenthesize(sympy.Integer(share.p) * rest, PRECEDENCE["Mul"])
            return f"{top}/{share.q}"
        return str(super()._print_Mul(expr))

    def _print_Piecewise(self, expr: Any) -> str:  # noqa: N802
        *tests, (last, _) = expr.args
        text = "".join(f"{self._print(value)} if {self._print(test)} else " for value, test in tests)
        return f"({text}{self._print(last)})"

    def _print_Heaviside(self, expr: Any) -> str:  # noqa: N802
        at, middle = expr.args
        return str(self._print(sympy.Piecewise((middle, sympy.Eq(at, 0)), (1, at > 0), (0, True))))


def is_program(problem: Problem, parts: Sequence[Part]) -> bool:
    """Whether a program says more than a formula: several outputs, repetitions, branches or logic."""
    branches = any(part.logic is not None or (part.algebra is not None and part.algebra.has(_BRANCH)) for part in parts)
    return len(parts) > 1 or problem.wrapper is not None or branches


def program_text(problem: Problem, parts: Sequence[Part], depth: int | None) -> str:
    """Return a program of all outputs as Python; `depth` says which of the wrapper's states it is, if there is one."""
    inputs = [one.name for one in problem.dataset.variables]
    outputs = [one.name for one in problem.outputs]
    taken = {"step", "program"}
    names = {name: _identifier(name, taken) for name in inputs}
    results = [_identifier(f"next_{name}" if name in inputs else name, taken) for name in outputs]
    printer = _Printer(names)
    body = list(_statements(printer, parts, results, taken))
    arguments = ", ".join(names.values())
    if problem.wrapper is None or problem.feedback is None or depth is None:
        lines = [f"def program({arguments}):", *_indented([*body, f"return {', '.join(results)}"])]
        return "\n".join([*_imports(printer), *lines, ""])
    carried = [names[inputs[place]] for place in problem.feedback.carried]
    lines = [f"def step({arguments}):", *_indented([*body, f"return {', '.join([*results, *carried])}"])]
    readers = {row: names[inputs[place]] for place, row in enumerate(problem.feedback.rows) if row is not None}
    state = [readers[row] for row in range(len(readers))]
    lines += ["", "", *_repeated(problem, depth, arguments, state, len(outputs))]
    return "\n".join([*_imports(printer), *lines, ""])


def _repeated(problem: Problem, depth: int, arguments: str, state: Sequence[str], outputs: int) -> Iterator[str]:
    """Write how the wrapper applies the step, as far as the wrapper says so."""
    write = traits.python(problem.wrapper)
    if write is None:
        yield f"# {getattr(problem.wrapper, 'name', 'the wrapper')} applies the step; its state {depth} is the program"
        return
    yield f"def program({arguments}):"
    yield from _indented(str(write(depth, ", ".join(state), f"step({arguments})")).splitlines())
    yield f"{INDENT}return {', '.join(state[:outputs])}"


def _statements(printer: _Printer, parts: Sequence[Part], results: Sequence[str], taken: set[str]) -> Iterator[str]:
    """Yield the lines that compute all results, what they share first."""
    algebra = [part.algebra for part in parts if part.logic is None and part.algebra is not None]
    fresh = (sympy.Symbol(_identifier("shared", taken)) for _ in iter(int, 1))
    shared, reduced = sympy.cse(algebra, symbols=fresh, order="none") if len(algebra) > 1 else ([], algebra)
    for symbol, value in shared:
        yield from _assignment(printer, symbol.name, value)
    rest = iter(reduced)
    for part, result in zip(parts, results, strict=True):
        if part.logic is not None:
            yield f"{result} = {show_logic(part.logic, printer.names)}"
        elif part.algebra is not None:
            yield from _assignment(printer, result, next(rest))
        else:
            yield f"{result} = ...  # {part.written}"


def _assignment(printer: _Printer, name: str, value: Any) -> Iterator[str]:
    """Yield one assignment, or the branches of one."""
    if not isinstance(value, sympy.Piecewise) or value.args[-1][1] != sympy.true:
        yield f"{name} = {_without_brackets(printer.doprint(value))}"
        return
    word = "if"
    for inside, test in value.args[:-1]:
        yield f"{word} {_without_brackets(printer.doprint(test))}:"
        yield from _indented(_assignment(printer, name, inside))
        word = "elif"
    yield "else:"
    yield from _indented(_assignment(printer, name, value.args[-1][0]))


def _without_brackets(text: str) -> str:
    """Leave out a pair of brackets around everything."""
    depth = 0
    for place, sign in enumerate(text):
        depth += (sign == "(") - (sign == ")")
        if depth == 0 and place < len(text) - 1:
            return text
    return text[1:-1] if text.startswith("(") and text.endswith(")") and "," not in text else text


def _imports(printer: _Printer) -> Iterator[str]:
    for module, names in sorted(printer.module_imports.items()):
        yield f"from {module} import {', '.join(sorted(names))}"
        yield ""
        yield ""


def _indented(lines: Sequence[str] | Iterator[str]) -> Iterator[str]:
    return (INDENT + line for line in lines)


def _identifier(name: str, taken: set[str]) -> str:
    """Return a Python name like this one that is not taken yet, and take it."""
    plain = re.sub(r"\W", "_", name)
    if not plain.isidentifier() or keyword.iskeyword(plain):
        plain = f"_{plain}"
    found, turn = plain, 2
    while found in taken:
        found, turn = f"{plain}_{turn}", turn + 1
    taken.add(found)
    return found
