"""Formulas as the last layer of a neural network: values, gradients, and constants that can be trained."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import torch
from torch import Tensor, nn

from occamkit import typeset
from occamkit.errors import UserError
from occamkit.export import Usable
from occamkit.language.folds import to_sympy
from occamkit.language.functions import CONSTANTS, FUNCTIONS
from occamkit.language.parse import Call, Name, Node, Number
from occamkit.packs.registry import Registry
from occamkit.result import Result
from occamkit.task.file.checks import callable_primitives


class OccamHead(nn.Module):
    """Takes features [..., u] to outputs [..., v], one formula for each output.

    formulas: over the names in `inputs`, such as "2.5*a*sin(b)". inputs: what the features are called, in order. The
    decimal numbers of the formulas are the module's parameters; whole numbers stay what they are.
    """

    def __init__(self, formulas: Sequence[str], inputs: Sequence[str], registry: Registry | None = None) -> None:
        super().__init__()
        registry = registry or Registry.load()
        self.inputs = tuple(inputs)
        self._primitives = callable_primitives(registry)
        self._trees = [Usable.read(text, self.inputs, registry).tree for text in formulas]
        values = [float(text) for tree in self._trees for text in _decimals(tree)]
        self.constants = nn.Parameter(torch.tensor(values, dtype=torch.get_default_dtype()))

    @classmethod
    def of(cls, result: Result, inputs: Sequence[str], registry: Registry | None = None) -> OccamHead:
        """Make a head of the best formulas of a result; `inputs` are the task's columns, in order."""
        found = [output.best for output in result.outputs]
        missing = [output.name for output in result.outputs if output.best is None]
        if missing:
            raise UserError(f"no formula was found for {missing[0]!r}")
        return cls([best.expression for best in found if best is not None], inputs, registry)

    def forward(self, features: Tensor) -> Tensor:
        """Return the formulas' values [..., v] on features [..., u]."""
        if features.shape[-1] != len(self.inputs):
            raise ValueError(f"features must be [..., {len(self.inputs)}], got {list(features.shape)}")
        columns = dict(zip(self.inputs, features.unbind(-1), strict=True))
        constants = iter(self.constants.unbind())
        like = torch.zeros_like(features[..., 0])
        return torch.stack([self._value(tree, columns, constants, like) for tree in self._trees], dim=-1)

    def _value(self, tree: Node, columns: dict[str, Tensor], constants: Iterator[Tensor], like: Tensor) -> Tensor:
        if isinstance(tree, Name):
            return columns[tree.name]
        if isinstance(tree, Number):
            if _is_decimal(tree):
                return like + next(constants)
            return like + (CONSTANTS[tree.text] if tree.text in CONSTANTS else float(tree.text))
        arguments = [self._value(argument, columns, constants, like) for argument in tree.arguments]
        known = tree.function in FUNCTIONS
        call = FUNCTIONS[tree.function].torch if known else self._primitives[tree.function].call
        found: Tensor = call(*arguments)
        return found

    def expressions(self) -> list[str]:
        """Return the formulas with their constants as they are now."""
        values = iter(self.constants.tolist())
        return [typeset.text(to_sympy(_with(tree, values), self._primitives)) for tree in self._trees]

    def extra_repr(self) -> str:
        return "; ".join(self.expressions())


def _is_decimal(number: Number) -> bool:
    return number.text not in CONSTANTS and not number.text.isdigit()


def _decimals(tree: Node) -> list[str]:
    if isinstance(tree, Number):
        return [tree.text] if _is_decimal(tree) else []
    return [text for argument in tree.arguments for text in _decimals(argument)] if isinstance(tree, Call) else []


def _with(tree: Node, values: Iterator[float]) -> Node:
    """Return a tree with other decimal numbers, in the order in which they stand."""
    if isinstance(tree, Number):
        return _signed(next(values)) if _is_decimal(tree) else tree
    return Call(tree.function, tuple(_with(one, values) for one in tree.arguments)) if isinstance(tree, Call) else tree


def _signed(value: float) -> Node:
    """Return a number as the grammar has it: without a sign of its own."""
    return Number(repr(value)) if value >= 0 else Call("-x", (Number(repr(-value)),))
