"""Primitives of four and nine arguments, from the paper's pattern-recognition set.

They are a group of their own: nine more arguments in a network are only wanted when asked for.
"""

from __future__ import annotations

import functools

import sympy
import torch
from torch import Tensor

from occamkit import Elementwise, units


def _sum(*args: Tensor) -> Tensor:
    # Sorted first: rounding may not depend on the order of the arguments, which is the core's to choose.
    alike: list[Tensor] = torch.broadcast_tensors(*args)  # type: ignore[no-untyped-call]
    ordered: Tensor = torch.stack(alike).sort(0).values
    return functools.reduce(torch.add, ordered.unbind())


def _max(*args: Tensor) -> Tensor:
    return functools.reduce(torch.maximum, args)


def _min(*args: Tensor) -> Tensor:
    return functools.reduce(torch.minimum, args)


PRIMITIVES = tuple(
    Elementwise(
        f"{name}{arity}",
        arity,
        call,
        expression,
        units.same,
        commutative=True,
        complexity=float(arity - 1),
        symbol=f"{symbol}{arity}",
        group="wide",
    )
    for name, call, expression, symbol in (
        ("add", _sum, sympy.Add, "+"),
        ("max", _max, sympy.Max, "max"),
        ("min", _min, sympy.Min, "min"),
    )
    for arity in (4, 9)
)
