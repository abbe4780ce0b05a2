"""One function as an immutable tree: to be read, written, stored, simplified and evaluated alone.

Column names may be anything: spaces, `lambda`, sympy's own `I`. They become sympy symbols directly and are
never parsed.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor

from occamkit.protocols import Primitive

LARGEST_EXACT = 10**6


class Expression(ABC):
    """A tree of primitives over columns; see `Leaf` and `Apply`, its only kinds."""

    @abstractmethod
    def nodes(self) -> Iterator[Expression]:
        """Go through the tree: a node before its arguments, arguments from left to right."""

    @abstractmethod
    def written(self) -> str:
        """Return the tree as text, just as it was sampled."""

    @abstractmethod
    def evaluate(self, columns: Mapping[str, Tensor]) -> Tensor:
        """Return the values [n] on named columns [n] each, by calling the primitives."""

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """Return the tree as what JSON can hold."""

    @abstractmethod
    def with_constants(self, constants: Sequence[float]) -> Expression:
        """Return the same tree with these fitted constants, in the order of `nodes`."""

    @abstractmethod
    def _sympy(self, unfitted: Iterator[Any]) -> Any:
        """Return the tree in sympy; constants without a value take the next of the given symbols."""

    @property
    def complexity(self) -> float:
        """The summed complexity of all primitives, every occurrence counted; a leaf costs nothing."""
        return sum((node.primitive.complexity for node in self.nodes() if isinstance(node, Apply)), 0.0)

    @property
    def constant_count(self) -> int:
        """How many fitted constants the tree holds, every occurrence counted."""
        return sum(len(node.primitive.constants) for node in self.nodes() if isinstance(node, Apply))

    @property
    def fitted(self) -> tuple[float, ...]:
        """The values of all fitted constants, in the order of `nodes`; empty before they are fitted."""
        return tuple(value for node in self.nodes() if isinstance(node, Apply) for value in node.constants)

    @property
    def inputs(self) -> tuple[str, ...]:
        """The names of the input columns that the tree uses, sorted."""
        return tuple(sorted({n.name for n in self.nodes() if isinstance(n, Leaf) and n.value is None}))

    def sympy(self, *, evaluate: bool = True) -> Any:
        """Return the tree in sympy; with evaluate=False just as written, x + x and all.

        Constants without a value become real symbols c0, c1, …, in the order of `nodes`.
        """
        import sympy

        taken = {node.name for node in self.nodes() if isinstance(node, Leaf)}
        free = (name for name in (f"c{i}" for i in range(10**9)) if name not in taken)
        with sympy.evaluate(evaluate):
            return self._sympy(sympy.Symbol(name, real=True) for name in free)

    def simplified(self) -> Any:
        """Return the tree as sympy simplifies it."""
        import sympy

        return sympy.simplify(self.sympy())

    def __str__(self) -> str:
        return self.written()

    @staticmethod
    def from_dict(stored: Mapping[str, Any], primitives: Mapping[str, Primitive]) -> Expression:
        """Read what `to_dict` returned; `primitives` by name."""
        if "primitive" not in stored:
            return Leaf(stored["name"], stored.get("value"))
        below = tuple(Expression.from_dict(argument, primitives) for argument in stored["arguments"])
        return Apply(primitives[stored["primitive"]], below, tuple(stored.get("constants", ())))


@dataclass(frozen=True)
class Leaf(Expression):
    """A column: an input, or a constant if it has a value."""

    name: str
    value: float | None = None

    def nodes(self) -> Iterator[Expression]:
        yield self

    def written(self) -> str:
        return self.name

    def evaluate(self, columns: Mapping[str, Tensor]) -> Tensor:
        if self.value is None:
            return columns[self.name]
        like = next(iter(columns.values()))
        return torch.full_like(like, self.value)

    def to_dict(self) -> dict[str, Any]:
        return {"name": self.name} if self.value is None else {"name": self.name, "value": self.value}

    def with_constants(self, constants: Sequence[float]) -> Expression:
        if constants:
            raise ValueError(f"a column has no constants, got {len(constants)}")
        return self

    def _sympy(self, unfitted: Iterator[Any]) -> Any:
        import sympy

        return sympy.Symbol(self.name, real=True) if self.value is None else sympy_number(self.value)


@dataclass(frozen=True)
class Apply(Expression):
    """A primitive applied to arguments; `constants` are the fitted ones, or () before they are fitted."""

    primitive: Primitive
    arguments: tuple[Expression, ...]
    constants: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        if len(self.arguments) != self.primitive.arity:
            raise ValueError(f"{self.primitive.name} takes {self.primitive.arity} arguments, got {len(self.arguments)}")
        if len(self.constants) not in (0, len(self.primitive.constants)):
            expected, given = len(self.primitive.constants), len(self.constants)
            raise ValueError(f"{self.primitive.name} has {expected} constants, got {given}")

    def nodes(self) -> Iterator[Expression]:
        yield self
        for argument in self.arguments:
            yield from argument.nodes()

    def written(self) -> str:
        values = ", ".join(
            f"{constant.name}={value!r}"
            for constant, value in zip(self.primitive.constants, self.constants, strict=False)
        )
        inside = ", ".join(argument.written() for argument in self.arguments)
        return f"{self.primitive.name}({inside}; {values})" if values else f"{self.primitive.name}({inside})"

    def evaluate(self, columns: Mapping[str, Tensor]) -> Tensor:
        below = [argument.evaluate(columns) for argument in self.arguments]
        if len(self.constants) != len(self.primitive.constants):
            raise ValueError(f"the constants of {self.primitive.name} have no values yet")
        return self.primitive.call(*below, *(below[0].new_tensor(value) for value in self.constants))

    def to_dict(self) -> dict[str, Any]:
        below = [argument.to_dict() for argument in self.arguments]
        stored: dict[str, Any] = {"primitive": self.primitive.name, "arguments": below}
        return {**stored, "constants": list(self.constants)} if self.constants else stored

    def with_constants(self, constants: Sequence[float]) -> Expression:
        if len(constants) != self.constant_count:
            raise ValueError(f"the tree has {self.constant_count} constants, got {len(constants)}")
        own = len(self.primitive.constants)
        mine, rest = tuple(float(value) for value in constants[:own]), constants[own:]
        below = []
        for argument in self.arguments:
            count = argument.constant_count
            below.append(argument.with_constants(rest[:count]))
            rest = rest[count:]
        return replace(self, arguments=tuple(below), constants=mine)

    def _sympy(self, unfitted: Iterator[Any]) -> Any:
        values = [sympy_number(value) for value in self.constants]
        if not values:
            values = [next(unfitted) for _ in self.primitive.constants]
        return self.primitive.sympy(*(argument._sympy(unfitted) for argument in self.arguments), *values)


def sympy_number(value: float) -> Any:
    """Return a number in sympy: small whole numbers, π and e exactly, others as floats.

    A large whole number is a measured one; kept exact it would drag roots of itself through every simplification.
    """
    import sympy

    if value == math.pi:
        return sympy.pi
    if value == math.e:
        return sympy.E
    whole = float(value).is_integer() and abs(value) < LARGEST_EXACT
    return sympy.Integer(int(value)) if whole else sympy.Float(value)
