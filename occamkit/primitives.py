"""The values that describe a primitive: what it computes, how it is written, what it does to units.

`Elementwise` is the one class that built-ins and packs use; everything about a primitive is in this one
frozen value, so it can be checked when it is registered and pickled to another process.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from torch import Tensor

from occamkit.units import FREE, Rule, Unit, UnitRule

NAME = re.compile(r"[a-z][a-z0-9_]*")


@dataclass(frozen=True)
class Constant:
    """A number inside a primitive that is fitted to the data, such as the c of x^c.

    init: where starting values are drawn, uniformly.
    trivial: open intervals in which the primitive does next to nothing (the paper's phi, second procedure).
    unit: the constant's unit; FREE takes whatever unit makes the expression consistent.
    """

    name: str
    init: tuple[float, float] = (-1.0, 1.0)
    trivial: tuple[tuple[float, float], ...] = ()
    unit: Unit = FREE

    def __post_init__(self) -> None:
        for low, high in (self.init, *self.trivial):
            if not (math.isfinite(low) and math.isfinite(high) and low <= high):
                raise ValueError(f"constant {self.name!r}: ({low}, {high}) is not an interval with low <= high")


@dataclass(frozen=True)
class Quantity:
    """A number with a name and a unit that a task may list in `search.constants`, such as the speed of light.

    value: in `unit`, a text as in a task file; empty for a plain number.
    about: one line for lists: what it is, and where the number comes from.
    """

    name: str
    value: float
    unit: str = ""
    about: str = ""


@dataclass(frozen=True)
class Cluster:
    """A value around which outputs huddle artificially, such as cos(x) near 1 (the paper's psi table).

    With d the distance of the mean output to `point` (of="output"), or the mean distance of the output to
    the argument (of="residual"), the penalty is min(cap, scale / d) when d < tolerance, else none.
    """

    point: float
    tolerance: float
    scale: float = 0.1
    cap: float = 5.0
    of: Literal["output", "residual"] = "output"


@dataclass(frozen=True)
class Elementwise:
    """A primitive function on tensors.

    name: lower case letters, digits and underscores.
    arity: the number of arguments, 1 or more.
    call: call(*arguments, *constants) on tensors of any device and dtype, elementwise and broadcasting;
        NaN or an infinity where it is undefined; never raises, never writes to its arguments.
    sympy: the same as a sympy expression.
    units: the unit rule, of (*arguments, *constants).
    commutative: whether the order of the arguments is without meaning.
    constants: what is fitted; most primitives have none.
    clusters: where outputs huddle artificially.
    complexity: what one use costs in the complexity of an expression.
    symbol: a short sign for drawings.
    inverse: inverse(output, *other arguments, *constants) solves for the first argument.
    group: the name under which a task can ask for this primitive along with its kin.
    exponential: the natural logarithm of the base of an exponential, which turns sums into products, as b^x does.
    truth: what the primitive gives for bits, 00, 01, 10, 11 and so on, if that is always a bit.
    Searches use the last two where they are declared, and try the primitive where they are not.
    """

    name: str
    arity: int
    call: Callable[..., Tensor]
    sympy: Callable[..., Any]
    units: UnitRule
    commutative: bool = False
    constants: tuple[Constant, ...] = ()
    clusters: tuple[Cluster, ...] = ()
    complexity: float = 1.0
    symbol: str | None = None
    inverse: Callable[..., Tensor] | None = None
    group: str | None = None
    exponential: float | None = None
    truth: tuple[int, ...] | None = None

    def __post_init__(self) -> None:
        if not NAME.fullmatch(self.name):
            raise ValueError(f"primitive name {self.name!r} must match {NAME.pattern}")
        if self.arity < 1:
            raise ValueError(f"primitive {self.name!r}: arity must be >= 1, got {self.arity}")
        if not self.complexity > 0:
            raise ValueError(f"primitive {self.name!r}: complexity must be > 0, got {self.complexity}")


def rule_name(rule: UnitRule) -> str:
    """Return how a unit rule is called in lists and reports."""
    return rule.name if isinstance(rule, Rule) else getattr(rule, "__name__", type(rule).__name__)
