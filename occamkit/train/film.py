"""A film of the network: the probabilities of its edges at steps spread evenly over the run, however long it gets."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor

MOST_FRAMES = 64
MOST_BYTES = 4 << 20


@dataclass
class Film:
    """Keeps every so-many-th step; when there are too many frames, every second one goes.

    Which steps are kept depends on their number alone, so that a run that was interrupted has the same film.
    """

    stride: int = 1
    steps: list[int] = field(default_factory=list)
    starts: list[int] = field(default_factory=list)
    frames: list[Tensor] = field(default_factory=list)  # [A, S] each, in half precision

    def look(self, step: int, start: int, probabilities: Callable[[], Tensor]) -> None:
        """Look at the network after a step; it is asked for its probabilities [A, S] only if they are kept."""
        if step % self.stride and step != 1:
            return
        frame = probabilities().detach().to("cpu", torch.float16)
        self.steps.append(step)
        self.starts.append(start)
        self.frames.append(frame)
        while len(self.steps) > max(4, min(MOST_FRAMES, MOST_BYTES // (2 * frame.numel()))):
            self.stride *= 2
            kept = [place for place, step in enumerate(self.steps) if step % self.stride == 0 or step == 1]
            self.steps, self.starts, self.frames = (
                [self.steps[place] for place in kept],
                [self.starts[place] for place in kept],
                [self.frames[place] for place in kept],
            )

    def stored(self) -> dict[str, Any]:
        """Return the film as plain values."""
        lists = {key: list(getattr(self, key)) for key in ("steps", "starts", "frames")}
        return {"stride": self.stride, **lists}

    @classmethod
    def read(cls, stored: Mapping[str, Any]) -> Film:
        """Read what `stored` returned."""
        return cls(stored["stride"], *(list(stored[key]) for key in ("steps", "starts", "frames")))
