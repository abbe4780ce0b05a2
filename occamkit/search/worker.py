"""A proposer at work: what it was dealt, what it brought, and how it goes on after an interruption."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping
from dataclasses import replace
from itertools import islice
from typing import Any

from occamkit import traits
from occamkit.archive.foretold import told
from occamkit.errors import OccamkitError, PackError
from occamkit.protocols import Proposer
from occamkit.search.events import Account
from occamkit.search.proposal import Known, Milestone, Proposal, SearchBudget, State
from occamkit.task.search_problem import SearchProblem

REWARD = 1.5
"""By how much the share of a proposer grows that improves on the best, up to twice what it was."""
TURN = 2_500_000
"""Numbers that a turn computes, roughly: two hundredths of a second."""

Items = Iterator[Proposal | Milestone | None]


class Worker:
    """One proposer of a run.

    It goes on from its last milestone: what it yielded since then is asked for again, with what was known in each of
    those turns, and nothing of it is judged a second time.
    """

    def __init__(self, pack: str, proposer: Proposer, problem: SearchProblem, budget: SearchBudget) -> None:
        self.pack, self.name, self.budget = pack, proposer.name, budget
        self.share = self.worth = traits.share(proposer)
        self._opening, self._late = traits.opening(proposer), traits.late(proposer)
        self.account = Account()
        self.milestone: Milestone | None = None
        self.stepped = False
        self._proposer, self._problem, self._outputs = proposer, problem, range(len(problem.outputs))
        self._items: Items = iter(proposer.propose(problem, budget))
        self._from: State | None = None
        self._since: list[tuple[int, int]] = []  # turns since the last milestone, and the items of each

    @property
    def due(self) -> float:
        """Who has the least of this is next."""
        opening = min(self.account.work, self._opening[1] * TURN)
        return self._late * TURN + opening / self._opening[0] + (self.account.work - opening) / self.worth

    def reward(self) -> None:
        """Deal it more: it has improved on what there was."""
        self.worth = min(REWARD * self.worth, 2 * self.share)

    def turn(self, number: int, known: Known) -> Generator[Proposal | Milestone | None, None, None]:
        """Yield what it proposes until the turn is over, and whatever it says of itself; may be closed before."""
        self.budget.known = known
        before, ended = self.budget.spent, False
        self._since.append((number, 0))
        try:
            for item in self._safely():
                self._since[-1] = (number, self._since[-1][1] + 1)
                stepped = isinstance(item, Milestone) and item.progress is not None
                spent = self.budget.spent - before
                self.stepped |= stepped
                if isinstance(item, Milestone):
                    self.milestone, self._since = item, [(number, 0)]
                    # Whoever goes on beyond a milestone in the same turn may change what it would say of it.
                    self._from = None if stepped else item.state()
                yield item
                if not isinstance(item, Proposal) and (stepped or not spent or spent >= TURN):
                    return
            ended = True
        finally:
            spent = (self.budget.spent - before) or TURN
            account = replace(self.account, turns=self.account.turns + 1, work=self.account.work + spent)
            self.account = replace(account, ended=ended)

    def _safely(self) -> Items:
        """Yield all that comes; a proposer that fails is a fault of its pack."""
        while True:
            try:
                item = next(self._items)
            except StopIteration:
                return
            except OccamkitError:
                raise
            except Exception as error:
                reason = f"failed with {type(error).__name__}: {error}"
                raise PackError(self.pack, reason, member=f"proposer {self.name!r}") from error
            for one in item.proposals if isinstance(item, Milestone) else (item,):
                if one is None or (
                    isinstance(one, Proposal) and one.output in self._outputs and told(one.foretold, self._problem)
                ):
                    continue
                wanted = f"an occamkit.Proposal for one of {len(self._outputs)} outputs, foretold for all rows or none"
                reason = f"yielded {one!r}; yield {wanted}, or None"
                raise PackError(self.pack, reason, member=f"proposer {self.name!r}")
            yield item

    def state(self) -> dict[str, Any]:
        """Return where it stands, as plain values; only between two turns."""
        if self.milestone is not None and self._from is None:
            self._from = self.milestone.state()
        return {
            "from": None if self._from is None else dict(self._from),
            "since": [list(one) for one in self._since],
            "worth": self.worth,
            "spent": self.budget.spent,
            "account": vars(self.account),
            "stepped": self.stepped,
        }

    def restore(self, state: Mapping[str, Any], history: Mapping[int, Known]) -> None:
        """Go back to a state; history: what was known when each turn began."""
        self.worth, self.account, self.stepped = state["worth"], Account(**state["account"]), state["stepped"]
        go_on = traits.resume(self._proposer)
        self._from = state["from"]
        if self._from is not None and go_on is not None:
            self._items = iter(go_on(self._problem, self.budget, self._from))
        self._since = [(turn, items) for turn, items in state["since"]]
        for turn, items in self._since:
            self.budget.known = history[max(one for one in history if one <= turn)]
            for _ in islice(self._safely(), items):
                pass
        self.budget.spent = state["spent"]
