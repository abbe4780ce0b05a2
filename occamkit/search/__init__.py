"""The search: proposers take turns in one loop, whoever they are and wherever they come from.

    loop       the run loop: who is next, what becomes of a proposal, when it is over
    proposal   what goes between a proposer and the loop
    worker     a proposer at work: what it was dealt, and how it goes on after an interruption
    events     what the loop tells to all who look on
    conclude   what a run has come to: the same for a live, a killed and a resumed one
    simple     the mean and the best line, where nothing was found
    trace      the events of a run as lines of a file
    process    what a run has to itself: Ctrl-C between turns, one thread

This room knows no primitive and no proposer by name.
"""

from occamkit.search.conclude import Outcome, conclude_state
from occamkit.search.events import (
    Account,
    Ended,
    Event,
    Failed,
    Improved,
    Observer,
    Stepped,
    TurnBegan,
    TurnEnded,
)
from occamkit.search.loop import Run, search
from occamkit.search.proposal import Known, Milestone, Progress, Proposal, SearchBudget, State

__all__ = [
    "Account",
    "Ended",
    "Event",
    "Failed",
    "Improved",
    "Known",
    "Milestone",
    "Observer",
    "Outcome",
    "Progress",
    "Proposal",
    "Run",
    "SearchBudget",
    "State",
    "Stepped",
    "TurnBegan",
    "TurnEnded",
    "conclude_state",
    "search",
]
