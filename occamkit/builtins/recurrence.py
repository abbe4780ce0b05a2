"""The recurrence wrapper: a sampled function applied to its own result (Methods, "Recurrence")."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Annotated, ClassVar

from annotated_types import Ge
from torch import Tensor


@dataclass(frozen=True)
class Recurrence:
    """Yields f(x), f(f(x)), … up to `depth` applications (the paper's D); each is a candidate of its own."""

    name: ClassVar[str] = "recurrence"
    depth: Annotated[int, Ge(1)] = 2

    def unroll(self, step: Callable[[Tensor], Tensor], start: Tensor) -> Iterator[Tensor]:
        """Apply `step` again and again, yielding every state after the start."""
        state = start
        for _ in range(self.depth):
            state = step(state)
            yield state


WRAPPERS = (Recurrence,)
