"""What the run loop tells, in order, to all who look on; none of them can change anything.

The live view, the trace, the film and the run folder read this stream and nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from occamkit.archive import Candidate
from occamkit.search.proposal import Progress, State


@dataclass(frozen=True)
class Event:
    """Something that happened; seconds: since the run began, turn: in which turn, counted from 1."""

    seconds: float
    turn: int


@dataclass(frozen=True)
class TurnBegan(Event):
    """A proposer is dealt a turn."""

    proposer: str


@dataclass(frozen=True)
class Improved(Event):
    """A formula changed the front of an output; best: the best that there is now."""

    proposer: str
    output: int
    candidate: Candidate
    best: Candidate | None


@dataclass(frozen=True)
class Stepped(Event):
    """A proposer that works in steps has taken one."""

    proposer: str
    progress: Progress


@dataclass(frozen=True)
class Failed(Event):
    """A proposer failed, and the others go on without it."""

    proposer: str
    reason: str


@dataclass(frozen=True)
class Account:
    """What a proposer was dealt and what it brought.

    work: numbers that it computed, roughly. proposed: formulas that it proposed. improved: how many of them changed a
    front. ended: whether it has come to its own end.
    """

    turns: int = 0
    work: int = 0
    proposed: int = 0
    improved: int = 0
    ended: bool = False


@dataclass(frozen=True)
class TurnEnded(Event):
    """A turn is over; account: all that the proposer has had and brought so far. state: takes the state of the run."""

    proposer: str
    account: Account
    stop: str | None
    state: Callable[[], State]


@dataclass(frozen=True)
class Ended(Event):
    """The run is over, and why: "converged", "steps", "seconds" or "interrupted"; who got what, and what it brought."""

    stop: str
    accounts: Mapping[str, Account]


Observer = Callable[[Event], None]
