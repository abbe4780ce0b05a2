"""The proposer for formulas whose numbers nobody can guess."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Annotated, ClassVar

from annotated_types import Ge
from torch import Tensor

from occamkit import Expression, Milestone, Proposal, SearchBudget, SearchProblem
from occamkit.builtins.proposers.free_constants.rows import Rows, views
from occamkit.builtins.proposers.free_constants.settings import SETTINGS
from occamkit.builtins.proposers.free_constants.view_search import ViewSearch
from occamkit.fit import proportional, size_of
from occamkit.graph import product
from occamkit.kernel import Numbers
from occamkit.search import State

Items = Iterator[Proposal | Milestone | None]


@dataclass(frozen=True)
class FreeConstants:
    """Fits sums of products of functions with free constants inside; all small ones, then changes of the best.

    numbers: the most that a formula may have.
    """

    name: ClassVar[str] = "free-constants"
    share: ClassVar[float] = 2.0
    opening: ClassVar[tuple[float, float]] = (30.0, 60.0)
    numbers: Annotated[int, Ge(1)] = 14

    def propose(self, problem: SearchProblem, budget: SearchBudget) -> Items:
        """Yield formulas of ever shorter description for each output."""
        searches = self._searches(problem, budget)
        for one in searches:
            yield from one.first()
        yield from _rounds(searches, budget)

    def resume(self, problem: SearchProblem, budget: SearchBudget, state: State) -> Items:
        """Go on from a milestone."""
        searches = self._searches(problem, budget)
        for one, stood in zip(searches, state["outputs"], strict=True):
            one.restore(stood)
        return _rounds(searches, budget)

    def _searches(self, problem: SearchProblem, budget: SearchBudget) -> list[OutputSearch]:
        return [OutputSearch(problem, output, budget, self.numbers) for output in range(len(problem.outputs))]


def _rounds(searches: list[OutputSearch], budget: SearchBudget) -> Items:
    """Go round all outputs until nothing is left to do; a milestone now and then."""
    first, growth = SETTINGS.milestones
    due = max(first, growth * sum(one.fitted for one in searches))
    while any(not one.ended for one in searches):
        for one in searches:
            one.ended |= budget.solved(one.output)
            if not one.ended:
                yield from one.round()
            if budget.over():
                return
        fitted = sum(one.fitted for one in searches)
        if fitted < due:
            yield None
        else:
            due = growth * fitted
            yield Milestone(lambda: {"outputs": [one.state() for one in searches]})


class OutputSearch:
    """The search for one output: in each of its views, and for errors of each kind."""

    def __init__(self, problem: SearchProblem, output: int, budget: SearchBudget, numbers: int) -> None:
        self.output = output
        self._problem = problem
        self._views = tuple(views(problem, output))
        factors = proportional(problem.targets[output])
        self._errors: tuple[Numbers | None, ...] = (None,) if factors is None else (None, factors.numpy())
        # Bits are left to those that know logic.
        self.ended = _bits(problem.columns) and _bits(problem.targets[output])
        rows = () if self.ended else self._rows()
        self._searches = [ViewSearch(problem, one, budget.spend, numbers) for one in rows]
        self._rounds = 0

    @property
    def fitted(self) -> int:
        """How many formulas were fitted so far."""
        return sum(one.race.fitted for one in self._searches)

    def first(self) -> Iterator[Proposal]:
        """Yield what needs no search; the mean comes first, so that there is always an answer."""
        target = self._problem.targets[self.output]
        for level in {} if self.ended else {float(target.mean()): None, size_of(target) or 0.0: None}:
            if level:
                yield Proposal(product(level, []), self.output)
        yield from (Proposal(tree, self.output) for tree in (() if self.ended else self._fronts()))

    def round(self) -> Iterator[Proposal | None]:
        """Let those search who are due; yield proposals, and None between two batches."""
        for place, one in enumerate(self._due()):
            if place:
                yield None
            yield from (Proposal(tree, self.output) for tree in one.batch())
        self._rounds += 1
        self.ended = all(one.ended for one in self._searches)

    def _fronts(self) -> Iterator[Expression]:
        """Yield the product of powers that units leave, where they leave one."""
        target = self._problem.targets[self.output].numpy()
        found = (view.front_alone(target, errors) for view in self._views for errors in self._errors)
        yield from (one for one in found if one is not None)

    def _rows(self) -> Iterator[Rows]:
        """Yield the rows in every view, first for errors that are alike."""
        both = (*self._views, *(replace(view, inverted=True) for view in self._views))
        found = (Rows.of(self._problem, self.output, view, errors) for errors in self._errors for view in both)
        yield from (one for one in found if one is not None)

    def _due(self) -> list[ViewSearch]:
        """Return who takes a turn: at first the first; then it and who has the shortest description, at times all."""
        going = [one for one in self._searches if not one.ended]
        if self._rounds < SETTINGS.ahead or not going:
            return going[:1]
        if self._rounds % SETTINGS.behind == 0:
            return going
        leader = min(going, key=lambda one: one.described)
        return [leader] if leader is going[0] else [going[0], leader]

    def state(self) -> State:
        """Return where it stands, as plain values."""
        return {"rounds": self._rounds, "ended": self.ended, "views": [one.state() for one in self._searches]}

    def restore(self, state: State) -> None:
        """Go back to a state."""
        self._rounds, self.ended = state["rounds"], state["ended"]
        for one, stood in zip(self._searches, state["views"], strict=True):
            one.restore(stood)


def _bits(values: Tensor) -> bool:
    return bool(((values == 0) | (values == 1)).all())
