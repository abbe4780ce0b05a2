"""What goes between a proposer and the loop: proposals and milestones one way, a budget and what is known the other."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from torch import Tensor

from occamkit.archive import Candidate
from occamkit.graph import Expression
from occamkit.train import StepRecord

State = Mapping[str, Any]
"""Plain values by name: tensors, numbers, texts, and lists and tables of these; loads with `weights_only`."""


@dataclass(frozen=True)
class Proposal:
    """A formula that somebody proposes for an output; it is judged like any other.

    log_q: how likely it was to be proposed, as a logarithm, if that is known. program, depth: for a task with a
    wrapper, the formulas of all outputs and how often they are applied. foretold: where all was made anew without each
    row, the squares by which it missed them, of rows for training and then of those held back; its numbers then stay.
    """

    tree: Expression
    output: int = 0
    log_q: float = -math.inf
    program: tuple[Expression, ...] = ()
    depth: int = 0
    foretold: tuple[float, ...] = ()


@dataclass(frozen=True)
class Progress:
    """What a proposer that works in steps has come to, for whoever looks on.

    record and probabilities: asked for only by those who want them, before the proposer goes on.
    """

    step: int
    start: int
    functions: int
    unique_functions: int
    restarts: int
    record: Callable[[], StepRecord]
    probabilities: Callable[[], Tensor]


@dataclass(frozen=True)
class Milestone:
    """Where a proposer stands, yielded in place of None: from here it can go on when a run is resumed.

    state: takes the state, which `resume` of the proposer reads; asked for before the proposer goes on, or not at all.
    proposals: all that came of a step at once. favourites: what it holds likeliest now, for each output, where it has a
    notion of that. progress: a step is over.
    """

    state: Callable[[], State]
    proposals: tuple[Proposal, ...] = ()
    favourites: Callable[[], Sequence[Proposal]] = tuple
    progress: Progress | None = None


@dataclass(frozen=True)
class Known:
    """What had been found when a turn began: the best of each output, if any, and whether more is to be looked for.

    solved: whether an exact formula is known that no simpler one is likely to stand behind. good: whether every output
    has a formula that is good enough.
    """

    best: tuple[Candidate | None, ...] = ()
    solved: tuple[bool, ...] = ()
    good: bool = False


@dataclass
class SearchBudget:
    """How long a proposer may go on, what it has spent, and what is known.

    It asks often whether the budget is over, and yields None at least a few times in a second. Turns are dealt by what
    was spent: `spend` counts the numbers that were computed, roughly. A proposer that never does so is taken to have
    spent a whole turn whenever it yields None.
    """

    deadline: float | None = None
    """On the clock of `time.monotonic`; None for no limit in seconds."""
    interrupted: Callable[[], bool] = field(default=lambda: False)
    known: Known = field(default_factory=Known)
    spent: int = 0

    @property
    def seconds_left(self) -> float:
        """Seconds until the deadline; infinite without one."""
        return math.inf if self.deadline is None else self.deadline - time.monotonic()

    def over(self) -> bool:
        """Whether it is time to stop."""
        return self.seconds_left <= 0 or self.interrupted()

    def solved(self, output: int) -> bool:
        """Whether nothing is left to look for in an output."""
        return output < len(self.known.solved) and self.known.solved[output]

    def spend(self, numbers: int) -> None:
        """Count numbers that were computed."""
        self.spent += int(numbers)
