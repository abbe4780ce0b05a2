"""One function as an immutable tree: to be read, written, stored, simplified and evaluated alone.

Column names may be anything: spaces, `lambda`, sympy's own `I`. They become sympy symbols directly and are
never parsed.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from itertools import islice
from typing import Any

import torch
from torch import Tensor

from occamkit.graph.numbers import to_the_last_bit
from occamkit.protocols import Primitive

LARGEST_EXACT = 10**6

Number = float | Tensor
"""A fitted constant, or one for each of many choices: [B, 1]."""


class Expression(ABC):
    """A tree over columns: `Leaf`, `Apply` for what was searched, `Product` and `Sum` for what was solved for."""

    @property
    def below(self) -> tuple[Expression, ...]:
        """The trees below this node, from left to right."""
        return ()

    @property
    def own_fitted(self) -> tuple[float, ...]:
        """The values of this node's own fitted constants; empty before they are fitted."""
        return ()

    @property
    def own_constants(self) -> int:
        """How many fitted constants this node has or will have."""
        return len(self.own_fitted)

    @property
    @abstractmethod
    def own_complexity(self) -> float:
        """What this node costs, without its arguments."""

    def rebuilt(self, arguments: Sequence[Expression], constants: Sequence[float]) -> Expression:
        """Return this node over other arguments, and with other constants if any are given."""
        return self

    @abstractmethod
    def written(self) -> str:
        """Return the tree as text, just as it was sampled."""

    @abstractmethod
    def compute(self, below: Sequence[Tensor], constants: Sequence[Number], columns: Mapping[str, Tensor]) -> Tensor:
        """Return the values of this node, given those of its arguments and its own constants."""

    def evaluate(self, columns: Mapping[str, Tensor], constants: Tensor | None = None) -> Tensor:
        """Return the values [n] on named columns [n] each, by calling the primitives.

        constants: other fitted constants [B, c] in place of the tree's own, in the order of `nodes`; then the values
        are [B, n], or [n] where none of them has a part in them.
        """
        if constants is None:
            return self._values(columns, iter(self.fitted))
        return self._values(columns, iter(constants.unsqueeze(2).unbind(1)))

    def _values(self, columns: Mapping[str, Tensor], constants: Iterator[Number]) -> Tensor:
        own = list(islice(constants, self.own_constants))
        if len(own) < self.own_constants:
            raise ValueError(f"the constants of {self.written()} have no values yet")
        return self.compute([one._values(columns, constants) for one in self.below], own, columns)

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """Return the tree as what JSON can hold."""

    @abstractmethod
    def _sympy(self, constants: Iterator[Any]) -> Any:
        """Return the tree in sympy; every constant, in the order of `nodes`, is the next of those given."""

    @cached_property
    def _hash(self) -> int:
        return hash(tuple(getattr(self, one.name) for one in fields(self)))  # type: ignore[arg-type]

    def __hash__(self) -> int:
        # Trees are keys everywhere in a search, and large ones are made of others: each is hashed once.
        return self._hash

    def __getstate__(self) -> dict[str, Any]:
        # Names hash differently in every process.
        return {key: value for key, value in self.__dict__.items() if key != "_hash"}

    @property
    def complexity(self) -> float:
        """The summed complexity of all primitives, every occurrence counted; a leaf costs nothing."""
        return sum((node.own_complexity for node in self.nodes()), 0.0)

    @property
    def constant_count(self) -> int:
        """How many fitted constants the tree holds, every occurrence counted."""
        return sum(node.own_constants for node in self.nodes())

    @property
    def fitted(self) -> tuple[float, ...]:
        """The values of all fitted constants, in the order of `nodes`; empty before they are fitted."""
        return tuple(value for node in self.nodes() for value in node.own_fitted)

    @property
    def inputs(self) -> tuple[str, ...]:
        """The names of the input columns that the tree uses, sorted."""
        return tuple(sorted({n.name for n in self.nodes() if isinstance(n, Leaf) and n.value is None}))

    def nodes(self) -> Iterator[Expression]:
        """Go through the tree: a node before its arguments, arguments from left to right."""
        yield self
        for argument in self.below:
            yield from argument.nodes()

    def with_constants(self, constants: Sequence[float]) -> Expression:
        """Return the same tree with these fitted constants, in the order of `nodes`."""
        if len(constants) != self.constant_count:
            raise ValueError(f"the tree has {self.constant_count} constants, got {len(constants)}")
        mine, rest = tuple(map(float, constants[: self.own_constants])), constants[self.own_constants :]
        below = []
        for argument in self.below:
            count = argument.constant_count
            below.append(argument.with_constants(rest[:count]))
            rest = rest[count:]
        return self.rebuilt(below, mine)

    def sympy(self, *, evaluate: bool = True, named: Container[int] = ()) -> Any:
        """Return the tree in sympy; with evaluate=False just as written, x + x and all.

        Constants without a value, and those whose places among all are in `named`, become real symbols c0, c1, …, in
        the order of `nodes`; a name that a column has is passed over.
        """
        import sympy

        taken = {node.name for node in self.nodes() if isinstance(node, Leaf)}
        free = (name for name in (f"c{i}" for i in range(10**9)) if name not in taken)
        constants: list[Any] = []
        for node in self.nodes():
            for value in node.own_fitted or [None] * node.own_constants:
                symbol = sympy.Symbol(next(free), real=True)
                plain = value is not None and len(constants) not in named
                constants.append(sympy_number(value) if value is not None and plain else symbol)
        with sympy.evaluate(evaluate):
            return self._sympy(iter(constants))

    def simplified(self) -> Any:
        """Return the tree as sympy simplifies it."""
        import sympy

        return sympy.simplify(self.sympy())

    def __str__(self) -> str:
        return self.written()

    @staticmethod
    def from_dict(stored: Mapping[str, Any], primitives: Mapping[str, Primitive]) -> Expression:
        """Read what `to_dict` returned; `primitives` by name."""
        if "given" in stored:
            from occamkit.graph.given import read_given

            return read_given(stored, primitives)
        if stored.keys() & {"factors", "powers", "terms"}:
            from occamkit.graph.closed import read_closed

            return read_closed(stored, primitives)
        if "primitive" not in stored:
            return Leaf(stored["name"], stored.get("value"))
        below = tuple(Expression.from_dict(argument, primitives) for argument in stored["arguments"])
        return Apply(primitives[stored["primitive"]], below, tuple(stored.get("constants", ())))


@dataclass(frozen=True)
class Leaf(Expression):
    """A column: an input, or a constant if it has a value."""

    name: str
    value: float | None = None

    __hash__ = Expression.__hash__

    @property
    def own_complexity(self) -> float:
        return 0.0

    def written(self) -> str:
        return self.name

    def compute(self, below: Sequence[Tensor], constants: Sequence[Number], columns: Mapping[str, Tensor]) -> Tensor:
        if self.value is None:
            return columns[self.name]
        return torch.full_like(next(iter(columns.values())), self.value)

    def to_dict(self) -> dict[str, Any]:
        return {"name": self.name} if self.value is None else {"name": self.name, "value": self.value}

    def _sympy(self, constants: Iterator[Any]) -> Any:
        import sympy

        return sympy.Symbol(self.name, real=True) if self.value is None else sympy_number(self.value)


@dataclass(frozen=True)
class Apply(Expression):
    """A primitive applied to arguments; `constants` are the fitted ones, or () before they are fitted."""

    primitive: Primitive
    arguments: tuple[Expression, ...]
    constants: tuple[float, ...] = ()

    __hash__ = Expression.__hash__

    def __post_init__(self) -> None:
        if len(self.arguments) != self.primitive.arity:
            raise ValueError(f"{self.primitive.name} takes {self.primitive.arity} arguments, got {len(self.arguments)}")
        if len(self.constants) not in (0, len(self.primitive.constants)):
            expected, given = len(self.primitive.constants), len(self.constants)
            raise ValueError(f"{self.primitive.name} has {expected} constants, got {given}")

    def written(self) -> str:
        values = ", ".join(
            f"{constant.name}={value!r}"
            for constant, value in zip(self.primitive.constants, self.constants, strict=False)
        )
        inside = ", ".join(argument.written() for argument in self.arguments)
        return f"{self.primitive.name}({inside}; {values})" if values else f"{self.primitive.name}({inside})"

    def compute(self, below: Sequence[Tensor], constants: Sequence[Number], columns: Mapping[str, Tensor]) -> Tensor:
        given = [one if isinstance(one, Tensor) else below[0].new_tensor(one) for one in constants]
        return self.primitive.call(*below, *given)

    def to_dict(self) -> dict[str, Any]:
        below = [argument.to_dict() for argument in self.arguments]
        stored: dict[str, Any] = {"primitive": self.primitive.name, "arguments": below}
        return {**stored, "constants": list(self.constants)} if self.constants else stored

    @property
    def below(self) -> tuple[Expression, ...]:
        return self.arguments

    @property
    def own_fitted(self) -> tuple[float, ...]:
        return self.constants

    @property
    def own_constants(self) -> int:
        return len(self.primitive.constants)

    @property
    def own_complexity(self) -> float:
        return self.primitive.complexity

    def rebuilt(self, arguments: Sequence[Expression], constants: Sequence[float]) -> Expression:
        return replace(self, arguments=tuple(arguments), constants=tuple(constants) or self.constants)

    def _sympy(self, constants: Iterator[Any]) -> Any:
        own = [next(constants) for _ in self.primitive.constants]
        return self.primitive.sympy(*(argument._sympy(constants) for argument in self.arguments), *own)


def sympy_number(value: float) -> Any:
    """Return a number in sympy: small whole numbers, simple fractions and these of π and e exactly, others as floats.

    A large whole number is a measured one; kept exact it would drag roots of itself through every simplification.
    """
    import sympy

    if float(value).is_integer():
        return sympy.Integer(int(value)) if abs(value) < LARGEST_EXACT else sympy.Float(value)
    units = ((1.0, sympy.Integer(1)), (math.pi, sympy.pi), (1 / math.pi, 1 / sympy.pi), (math.e, sympy.E))
    for unit, symbol in units:
        fraction = to_the_last_bit(value, unit)
        if fraction is not None:
            return sympy.Rational(fraction.numerator, fraction.denominator) * symbol
    return sympy.Float(value)
