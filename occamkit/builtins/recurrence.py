"""The recurrence wrapper: a sampled function applied to its own result (Methods, "Recurrence")."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Annotated, ClassVar

from annotated_types import Ge
from torch import Tensor


@dataclass(frozen=True)
class Recurrence:
    """Yields f(x), f(f(x)), … up to `depth` applications (the paper's D); each is a candidate of its own.

    feedback: the output, or other input, that each input takes its next value from; absent, by equal names.
    """

    name: ClassVar[str] = "recurrence"
    depth: Annotated[int, Ge(1)] = 2
    feedback: dict[str, str] = field(default_factory=dict)

    def unroll(self, step: Callable[[Tensor], Tensor], start: Tensor) -> Iterator[Tensor]:
        """Apply `step` again and again, yielding every state after the start."""
        state = start
        for _ in range(self.depth):
            state = step(state)
            yield state

    def python(self, depth: int, state: str, step: str) -> str:
        """Write the repetition in Python, for programs that people read."""
        return f"for _ in range({depth}):\n    {state} = {step}"


WRAPPERS = (Recurrence,)
