"""Reads the text of a formula into a small tree, without ever running it.

The grammar is that of sympy's own text: numbers, names, `+ - * / ** ^`, comparisons, which `& | ~` join, `a if test
else b`, calls of the functions in `task.functions` and of registered primitives, and `Piecewise((value, test), …)`. A
name that is no plain word goes in backticks: `x y`. A name is an input first and a constant second, so columns may be
called `S`, `beta` or `lambda`. Two folds read the tree: `evaluate` (torch) and `to_sympy`, in formula_folds.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from occamkit.errors import FormulaError, did_you_mean
from occamkit.language.functions import CONSTANTS, FUNCTIONS
from occamkit.protocols import Primitive


@dataclass(frozen=True)
class Number:
    """A number, with the text it was written as."""

    text: str


@dataclass(frozen=True)
class Name:
    """An input column."""

    name: str


@dataclass(frozen=True)
class Call:
    """An operator or a function applied to arguments."""

    function: str
    arguments: tuple[Node, ...]


Node = Number | Name | Call

_TOKEN = re.compile(
    r"\s*(?:(?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)|(?P<name>[^\W\d]\w*(?::[^\W\d]\w*)?)|`(?P<quoted>[^`]+)`"
    r"|(?P<operator>\*\*|<=|>=|==|!=|[-+*/^<>(),&|~]))"
)
_LEVELS: Final = (("<", "<=", ">", ">=", "==", "!="), ("|",), ("&",), ("+", "-"), ("*", "/"))
_DEEPEST: Final = 100
_ALIASES: Final = {"^": "**", "Abs": "abs", "ln": "log"}


_LONGEST: Final = 500


def parse(text: str, names: Collection[str], primitives: Mapping[str, Primitive] | None = None) -> Node:
    """Read a formula over columns called `names`; `primitives` may be called by their names."""
    parser = _Parser(text, names, primitives or {})
    if len(parser.tokens) > _LONGEST:
        raise FormulaError(text, parser.tokens[_LONGEST][2], f"has more than {_LONGEST} words and signs")
    tree = parser.conditional()
    parser.finish()
    return tree


class _Parser:
    """Recursive descent over tokens: one method per level of precedence."""

    def __init__(self, text: str, names: Collection[str], primitives: Mapping[str, Primitive]) -> None:
        self.text = text
        self.names = set(names)
        self.primitives = primitives
        self.tokens = list(self._tokens())
        self.place = 0
        self.depth = 0

    def _tokens(self) -> Iterator[tuple[str, str, int]]:
        at = 0
        text = self.text.rstrip()
        while at < len(text):
            match = _TOKEN.match(text, at)
            if match is None or match.lastgroup is None:
                at += len(text[at:]) - len(text[at:].lstrip())
                raise FormulaError(self.text, at, f"cannot read {text[at]!r}")
            yield match.lastgroup, match.group(match.lastgroup), match.start(match.lastgroup)
            at = match.end()

    def _peek(self, *values: str) -> bool:
        return self.place < len(self.tokens) and self.tokens[self.place][1] in values and self._kind() != "quoted"

    def _kind(self) -> str:
        return str(self.tokens[self.place][0])

    def _position(self) -> int:
        return int(self.tokens[self.place][2]) if self.place < len(self.tokens) else len(self.text)

    def _next(self, expected: str) -> tuple[str, str]:
        if self.place >= len(self.tokens):
            raise FormulaError(self.text, len(self.text), f"ends where {expected} is expected")
        kind, value, _ = self.tokens[self.place]
        self.place += 1
        return kind, value

    def _expect(self, value: str) -> None:
        if not self._peek(value):
            raise FormulaError(self.text, self._position(), f"expected {value!r}")
        self.place += 1

    def finish(self) -> None:
        """Complain about anything left over."""
        if self.place < len(self.tokens):
            raise FormulaError(self.text, self._position(), f"unexpected {self.tokens[self.place][1]!r}")

    def conditional(self) -> Node:
        """value if test else other."""
        self.depth += 1
        if self.depth > _DEEPEST:
            raise FormulaError(self.text, self._position(), f"is nested more than {_DEEPEST} deep")
        value = self._binary(0)
        self.depth -= 1
        if not self._peek("if"):
            return value
        self.place += 1
        test = self._binary(0)
        self._expect("else")
        return Call("Piecewise", (value, test, self.conditional(), Number("1")))

    def _binary(self, lowest: int) -> Node:
        """Operators of this level and above; one call climbs all levels, so that nesting stays shallow."""
        left = self._unary()
        while (level := self._level()) is not None and level >= lowest:
            _, operator = self._next("an operator")
            left = Call(operator, (left, self._binary(level + 1)))
            if level == 0 and self._level() == 0:
                raise FormulaError(self.text, self._position(), "comparisons do not chain; nest two `if … else`")
        return left

    def _level(self) -> int | None:
        """Return how tightly the operator that comes next binds, if one comes."""
        return next((level for level, operators in enumerate(_LEVELS) if self._peek(*operators)), None)

    def _unary(self) -> Node:
        if self._peek("~"):
            self.place += 1
            return Call("~", (self._unary(),))
        signs = ""
        while self._peek("-", "+"):
            signs += self._next("a sign")[1]
        value = self._power()
        return Call("-x", (value,)) if signs.count("-") % 2 else value

    def _power(self) -> Node:
        base = self._atom()
        if self._peek("**", "^"):
            self.place += 1
            return Call("**", (base, self._unary()))
        return base

    def _atom(self) -> Node:
        position = self._position()
        kind, value = self._next("a number, a name or '('")
        if kind == "number":
            return Number(value)
        if kind == "quoted" or (kind == "name" and value in self.names and not self._peek("(")):
            return self._column(value, position)
        if kind == "name":
            return self._call(value, position) if self._peek("(") else self._constant(value, position)
        if value != "(":
            raise FormulaError(self.text, position, f"unexpected {value!r}")
        inner = self.conditional()
        self._expect(")")
        return inner

    def _column(self, name: str, position: int) -> Node:
        if name not in self.names:
            raise FormulaError(self.text, position, f"no input is called {name!r}{did_you_mean(name, self.names)}")
        return Name(name)

    def _constant(self, name: str, position: int) -> Node:
        if name in {"True", "False"}:
            return Number("1" if name == "True" else "0")
        if name in CONSTANTS:
            return Number(name)
        hint = did_you_mean(name, (*self.names, *CONSTANTS))
        raise FormulaError(self.text, position, f"unknown name {name!r}{hint}")

    def _call(self, name: str, position: int) -> Node:
        function = _ALIASES.get(name, name)
        self._expect("(")
        arguments: list[Node] = []
        while not self._peek(")"):
            arguments.extend(self._pair() if function == "Piecewise" else [self.conditional()])
            if not self._peek(")") and not self._peek(","):
                raise FormulaError(self.text, self._position(), "expected ',' or ')'")
            if self._peek(","):
                self.place += 1
        self._expect(")")
        self._require_arity(name, function, len(arguments), position)
        return Call(function, tuple(arguments))

    def _require_arity(self, name: str, function: str, given: int, position: int) -> None:
        if function in FUNCTIONS:
            arity = FUNCTIONS[function].arity
            most = FUNCTIONS[function].most
            if given < FUNCTIONS[function].least or (most is not None and given > most):
                raise FormulaError(self.text, position, f"{name} cannot take {given} arguments")
        elif function in self.primitives:
            arity = self.primitives[function].arity + len(self.primitives[function].constants)
        else:
            known = [*self.primitives, *(known for known in FUNCTIONS if known.isidentifier())]
            raise FormulaError(self.text, position, f"unknown function {name!r}{did_you_mean(name, known)}")
        if arity is not None and given != arity:
            message = f"{name} takes {arity} argument{'s' * (arity != 1)}, got {given}"
            raise FormulaError(self.text, position, message)

    def _pair(self) -> list[Node]:
        """(value, test) inside Piecewise."""
        self._expect("(")
        value = self.conditional()
        self._expect(",")
        test = self.conditional()
        self._expect(")")
        return [value, test]
