"""Penalties that count: activation functions and constants in the formula as written.

Counts are per occurrence in the written tree (Methods, "Regularization": the terms that promote simplicity).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from occamkit import Output, Primitive, Stage, Variable, Verdict


@dataclass(frozen=True)
class Activations:
    """Counts the primitives that an expression uses."""

    name: ClassVar[str] = "activations"
    stage: ClassVar[Stage] = Stage.STRUCTURE
    weight: float = 0.1

    def leaf(self, variable: Variable) -> int:
        """A leaf is no activation."""
        return 0

    def combine(self, primitive: Primitive, args: Sequence[int]) -> int:
        """One more than in the arguments together."""
        return 1 + sum(args)

    def verdict(self, root: int, output: Output) -> Verdict:
        """The count is the penalty."""
        return Verdict(penalty=float(root))


@dataclass(frozen=True)
class ConstantCount:
    """Counts the constants that an expression uses, given ones and fitted ones alike."""

    name: ClassVar[str] = "constants"
    stage: ClassVar[Stage] = Stage.STRUCTURE
    weight: float = 0.15

    def leaf(self, variable: Variable) -> int:
        """A constant column counts, an input does not."""
        return 0 if variable.value is None else 1

    def combine(self, primitive: Primitive, args: Sequence[int]) -> int:
        """The primitive's own constants and those of its arguments."""
        return len(primitive.constants) + sum(args)

    def verdict(self, root: int, output: Output) -> Verdict:
        """The count is the penalty."""
        return Verdict(penalty=float(root))


REGULARIZERS = (Activations, ConstantCount)
