"""When the network has converged, and when fresh starts no longer help."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from torch import Tensor

from occamkit.archive import Candidate


@dataclass
class Convergence:
    """Whether the best functions of each output have all had the same score for so many steps in a row.

    This is the paper's rule: such functions are one and the same, however they are written.
    """

    patience: int
    _same: int = 0
    _last: tuple[float, ...] = ()

    def settled(self, top: Tensor) -> bool:
        """Look at the scores [v, λ] that a step learnt from; reads them back from the device."""
        best, worst = top.amax(1).tolist(), top.amin(1).tolist()
        alike = best == worst
        self._same = self._same + 1 if alike and (not self._last or tuple(best) == self._last) else int(alike)
        self._last = tuple(best) if alike else ()
        return self._same >= self.patience


@dataclass
class Restarts:
    """Counts fresh starts, and how many in a row have ended without anything better than before."""

    patience: int
    count: int = 0
    _fruitless: int = 0
    _best: tuple[tuple[float, ...], ...] = ()

    def fruitless(self, best: Sequence[Candidate | None]) -> bool:
        """Note that a run has converged; whether the last few of them have all been in vain."""
        errors = tuple(candidate.choice if candidate else (float("inf"),) for candidate in best)
        better = not self._best or any(new < old for new, old in zip(errors, self._best, strict=True))
        self._fruitless = 0 if better else self._fruitless + 1
        self._best = errors
        self.count += 1
        return self._fruitless >= self.patience
