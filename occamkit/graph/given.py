"""A formula that a person wrote, as a kind of `Expression`: it is judged on the same rows as what was found."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from torch import Tensor

from occamkit.graph.expression import Expression
from occamkit.language.folds import evaluate, to_sympy
from occamkit.language.parse import Call, Name, Node, Number, parse
from occamkit.protocols import Primitive

Conversion = tuple[float, float]
"""Factor and shift: ours = (theirs - shift) · factor."""


@dataclass(frozen=True)
class Given(Expression):
    """A formula over the user's own numbers; columns and values are ours, in base units.

    inputs: every column with its conversion. output: the conversion of what it gives. primitives: those it may call.
    """

    text: str
    columns: tuple[tuple[str, Conversion], ...]
    output: Conversion = (1.0, 0.0)
    primitives: tuple[tuple[str, Primitive], ...] = ()

    __hash__ = Expression.__hash__

    @property
    def tree(self) -> Node:
        """The formula, read."""
        return parse(self.text, [name for name, _ in self.columns], dict(self.primitives))

    @property
    def own_complexity(self) -> float:
        return float(operations_in(self.tree))

    @property
    def inputs(self) -> tuple[str, ...]:
        return tuple(sorted(names_in(self.tree)))

    def written(self) -> str:
        return self.text

    def compute(self, below: Sequence[Tensor], constants: Sequence[Any], columns: Mapping[str, Tensor]) -> Tensor:
        theirs = {name: columns[name] / factor + shift for name, (factor, shift) in self.columns if name in columns}
        factor, shift = self.output
        return (evaluate(self.tree, theirs, dict(self.primitives)) - shift) * factor

    def to_dict(self) -> dict[str, Any]:
        called = sorted(self._called(self.tree))
        return {"given": self.text, "columns": self.columns, "output": self.output, "calls": called}

    def _called(self, tree: Node) -> set[str]:
        known = dict(self.primitives)
        if not isinstance(tree, Call):
            return set()
        return {tree.function} & known.keys() | set().union(*map(self._called, tree.arguments))

    def _sympy(self, unfitted: Iterator[Any]) -> Any:
        import sympy

        converted = {}
        for name, (factor, shift) in self.columns:
            symbol = sympy.Symbol(name, real=True)
            if (factor, shift) != (1.0, 0.0):
                converted[symbol] = symbol / factor + shift
        factor, shift = self.output
        plain = to_sympy(self.tree, dict(self.primitives)).xreplace(converted)
        return plain if self.output == (1.0, 0.0) else (plain - shift) * factor


def read_given(stored: Mapping[str, Any], primitives: Mapping[str, Primitive]) -> Given:
    """Read what `to_dict` of a given formula returned."""
    columns = tuple((name, (factor, shift)) for name, (factor, shift) in stored["columns"])
    factor, shift = stored["output"]
    return Given(stored["given"], columns, (factor, shift), tuple((name, primitives[name]) for name in stored["calls"]))


def names_in(tree: Node) -> set[str]:
    """Return the columns that a formula uses."""
    if isinstance(tree, Name):
        return {tree.name}
    return set().union(*map(names_in, tree.arguments)) if isinstance(tree, Call) else set()


def operations_in(tree: Node) -> int:
    """Return how many operators and functions a formula has; a number's own sign is none."""
    if not isinstance(tree, Call):
        return 0
    sign = tree.function == "-x" and isinstance(tree.arguments[0], Number)
    return sum(map(operations_in, tree.arguments), int(not sign))
