"""The functions that may stand in a formula: primitives of one argument, as the kernel knows them.

What a primitive is, is tried on a few points, so that a pack's exponential is as good as ours. Powers, roots and
factors are left out: sums and products have them anyway.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch

from occamkit import Primitive, SearchProblem, traits
from occamkit.description import function_cost
from occamkit.kernel import Numbers, Offset, Op

POINTS = torch.tensor([0.37, 0.81, 1.3, 1.9, 2.6], dtype=torch.float64)
STEP = 6e-6
"""The step of a central difference: the cube root of the rounding of a double."""
KNOWN = ((Op.EXP, torch.exp), (Op.LOG, torch.log), (Op.SIN, torch.sin), (Op.COS, torch.cos), (Op.TANH, torch.tanh))


@dataclass(frozen=True)
class UnaryFunction:
    """A function of a sum.

    op: what the kernel calls it. rate: what its argument is divided by when it is written, for other bases than e.
    offsets: what the sum may begin with, the usual first. cost: what it costs to write down.
    """

    op: Op
    primitive: Primitive
    offsets: tuple[Offset, ...]
    rate: float = 1.0

    @cached_property
    def cost(self) -> float:
        """What it costs to write down."""
        return function_cost(self.primitive)


def functions_of(problem: SearchProblem) -> tuple[UnaryFunction, ...]:
    """Return the functions of a problem, one of each kind; those that the kernel knows come first."""
    found: dict[object, UnaryFunction] = {}
    for primitive in problem.distinct_primitives:
        if primitive.arity == 1 and not primitive.constants and traits.truth(primitive) is None:
            function = _function(primitive)
            if function is not None:
                found.setdefault(primitive.name if function.op is Op.OUTSIDE else function.op, function)
    return tuple(sorted(found.values(), key=lambda one: one.op))


def _function(primitive: Primitive) -> UnaryFunction | None:
    try:
        values = primitive.call(POINTS)
    except Exception:  # noqa: BLE001 a pack's primitive raises what it likes; then it has no part in this
        return None
    for op, known in KNOWN:
        if torch.allclose(values, known(POINTS), rtol=1e-10, atol=1e-12):
            return UnaryFunction(op, primitive, OFFSETS[op])
    rate = traits.exponential(primitive)
    if rate is not None:
        return UnaryFunction(Op.EXP, primitive, OFFSETS[Op.EXP], rate)
    if not bool(torch.isfinite(values).any()) or _power(values):
        return None
    return UnaryFunction(Op.OUTSIDE, primitive, OFFSETS[Op.OUTSIDE])


def _power(values: torch.Tensor) -> bool:
    """Whether values at the points are a power times a factor, or a straight line."""
    logs, at = values.abs().log(), POINTS.log()
    slopes = torch.cat([logs.diff() / at.diff(), (values.diff() / POINTS.diff()) + 1e3])
    straight = (slopes[:4].std() < 1e-9) | (slopes[4:].std() < 1e-9)
    return bool(torch.isfinite(slopes).all()) and bool(straight)


OFFSETS = {
    Op.EXP: (Offset.NONE,),
    Op.LOG: (Offset.ONE, Offset.NONE),
    Op.SIN: (Offset.FREE, Offset.NONE),
    Op.COS: (Offset.NONE,),
    Op.TANH: (Offset.FREE, Offset.NONE),
    Op.OUTSIDE: (Offset.FREE, Offset.NONE),
}
"""An offset inside an exponential is a factor in front of it, and one inside a logarithm scales what is with it."""


class Called:
    """Values and slopes of functions that the kernel does not know, by calling their primitives."""

    def __init__(self, functions: Sequence[UnaryFunction]) -> None:
        self._functions = tuple(functions)

    def __call__(self, which: int, x: Numbers) -> tuple[Numbers, Numbers]:
        """Return values and slopes [n]; NaN where a primitive fails. One call for both is quicker than a gradient."""
        step = STEP * np.maximum(1.0, np.abs(x))
        with np.errstate(invalid="ignore"):  # what is infinite has no neighbours
            near = np.stack([x, x + step, x - step])
        try:
            values = self._functions[which].primitive.call(torch.from_numpy(near))
        except Exception:  # noqa: BLE001 without values there is nothing to fit
            return np.full_like(x, np.nan), np.full_like(x, np.nan)
        here, above, below = values.detach().numpy()
        return here, (above - below) / (2 * step)
