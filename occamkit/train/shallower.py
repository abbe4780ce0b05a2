"""Programs that repeat their step less often, looked for once one is exact."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from occamkit.archive import Candidate
from occamkit.train.trainer import Trainer

FEWEST_STEPS = 30
"""Steps that are spent at the least on finding an exact program that repeats its step less often."""


class Shallower:
    """Looks for a program that repeats its step less often, once one is exact.

    On a limited range a step applied four times may do what another does in two; the fewer repetitions are the better
    explanation, and the better guess beyond the range. As many steps again as were needed before, from a fresh start.
    """

    def __init__(self, trainer: Trainer) -> None:
        self.trainer = trainer
        self._depth: int | None = None
        self._until = 0

    def begins(self, best: Candidate) -> bool:
        """Note an exact program; whether the network has begun again, to look for one that is shallower."""
        depth = best.recurrence or 1
        if depth == 1 or (self._depth is not None and depth >= self._depth):
            return False
        self._depth = depth
        self._until = self.trainer.steps + max(FEWEST_STEPS, self.trainer.steps)
        self.trainer.judge.limit_depth(depth - 1)
        self.trainer.restart(again=True)
        return True

    @property
    def over(self) -> bool:
        """Whether there is nothing shallower, or it was looked for long enough."""
        return self._depth is None or self.trainer.steps >= self._until

    def stored(self) -> dict[str, Any]:
        """Return how far the search for shallower programs has come, as plain values."""
        return {"depth": self._depth, "until": self._until}

    def restore(self, stored: Mapping[str, Any]) -> None:
        """Go on from what `stored` says."""
        self._depth, self._until = stored["depth"], stored["until"]
        if self._depth is not None:
            self.trainer.judge.limit_depth(self._depth - 1)
