"""A wrapper that takes the function searched for as a rate of change, and follows it in time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Annotated, ClassVar

from annotated_types import Ge, Gt
from torch import Tensor


@dataclass(frozen=True)
class Euler:
    """Yields x + dt·f(x), again and again: the state after 1, 2, … `steps` steps of Euler's method.

    dt: the length of a step, in the data's base unit of time.
    """

    name: ClassVar[str] = "euler"
    dt: Annotated[float, Gt(0)] = 0.1
    steps: Annotated[int, Ge(1)] = 1

    def unroll(self, step: Callable[[Tensor], Tensor], start: Tensor) -> Iterator[Tensor]:
        """Follow the rate `step` from `start`."""
        state = start
        for _ in range(self.steps):
            state = state + self.dt * step(state)
            yield state
