"""Proposers that look formulas up instead of guessing them: exact on rows without noise, and quick."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, TypeVar, cast

from annotated_types import Ge

from occamkit import Milestone, Proposal, SearchBudget, SearchProblem
from occamkit.builtins.proposers.exact.matching import (
    images,
    monomials,
    pairs,
    peeled_pairs,
    peels,
    singles,
    sums,
    triples,
)
from occamkit.builtins.proposers.exact.nearest import nearest
from occamkit.builtins.proposers.exact.settings import EXACT
from occamkit.builtins.proposers.exact.tables import Found, SearchStage, TableSlice, Workbench, stages
from occamkit.builtins.proposers.exact.view import OutputView

Items = Iterator[Proposal | Milestone | None]
Most = Annotated[int, Ge(1000)]
Returned = TypeVar("Returned")
MOST = EXACT.sizes[-1]
OPENING, SHARE = (3.0, 100.0), 0.5
"""Of the work: what is looked up is found in the first seconds or, most often, not at all."""


@dataclass(frozen=True)
class MonomialProposer:
    """Solves for a factor times powers of the inputs, alone or inside a primitive that declares its inverse."""

    name: ClassVar[str] = "monomial"

    def propose(self, problem: SearchProblem, budget: SearchBudget) -> Items:
        """Yield at most one formula for each output and invertible primitive."""
        bench = Workbench.of(problem)
        found = (_proposals(view, monomials(view, view.links())) for view in map(bench.view, _outputs(problem)))
        for items in found:
            yield from metered(bench, budget, items)


@dataclass(frozen=True)
class _Staged(ABC):
    """A proposer that goes through stages; `most` expressions are in memory, at some 800 bytes each."""

    share: ClassVar[float] = SHARE
    opening: ClassVar[tuple[float, float]] = OPENING
    most: Most = MOST

    def propose(self, problem: SearchProblem, budget: SearchBudget) -> Items:
        """Yield what matches, simplest ingredients and cheap combinations first."""
        return self.resume(problem, budget, {})

    def resume(self, problem: SearchProblem, budget: SearchBudget, state: Mapping[str, Any]) -> Items:
        """Go on with the stage that comes next."""
        bench, ahead = Workbench.of(problem), _Ahead.of(problem, self.most, state)
        return metered(bench, budget, _staged(bench, budget, self.most, ahead, self._matches))

    @abstractmethod
    def _matches(self, table: TableSlice, deep: bool) -> Iterator[Found]:
        """Yield what matches the rows of a table; deep: try also what takes long."""


@dataclass(frozen=True)
class Enumerate(_Staged):
    """Goes through all small expressions, each once, for one that gives the output.

    A factor, powers of the inputs, an offset and an invertible primitive around it are solved for.
    """

    name: ClassVar[str] = "enumerate"

    def _matches(self, table: TableSlice, deep: bool) -> Iterator[Found]:
        if not deep:
            yield singles(table, table.view.links())
            yield sums(table, images(table.view, 1, EXACT.powers[:1]), alone=True)
            if table.count >= min(EXACT.sizes[1], self.most) and not table.view.discrete:
                yield nearest(table, EXACT.more)  # rows without noise have most often been explained by then


@dataclass(frozen=True)
class Join(_Staged):
    """Finds formulas that two small expressions make together: products, sums, and what is left without a term."""

    name: ClassVar[str] = "join"

    def _matches(self, table: TableSlice, deep: bool) -> Iterator[Found]:
        return self._deep(table) if deep else self._quick(table)

    def _quick(self, table: TableSlice) -> Iterator[Found]:
        yield pairs(table, table.view.links())
        for powers in (EXACT.powers[:2], EXACT.powers[2:]):
            seen = images(table.view, EXACT.images, powers)
            yield sums(table, seen)
            yield peels(table, seen, 1, EXACT.peeled[0])

    def _deep(self, table: TableSlice) -> Iterator[Found]:
        odd, even = (images(table.view, EXACT.few, powers) for powers in (EXACT.powers[:2], EXACT.powers[2:]))
        first, many, most = EXACT.peeled
        yield peels(table, [*odd, *even], first, many if table.count < EXACT.sizes[2] else most)
        yield peeled_pairs(table, [*odd[:2], *even[:1]], EXACT.aside // 2)
        yield triples(table, table.view.links(), EXACT.aside)
        yield sums(table, odd[:2], EXACT.aside)


def metered(bench: Workbench, budget: SearchBudget, items: Iterable[Proposal | Milestone | None]) -> Items:
    """Yield items, with all that is computed on the way charged to a budget; several proposers share a workbench."""
    going = iter(items)
    while True:
        bench.spend = budget.spend  # type: ignore[method-assign]
        try:
            item = next(going)
        except StopIteration:
            return
        yield item


def _outputs(problem: SearchProblem) -> range:
    return range(len(problem.outputs))


@dataclass(frozen=True)
class _Ahead:
    """What is left to do: outputs in their order, how many stages of each are done, and the stages that come next."""

    queue: deque[int]
    done: dict[int, int]
    plans: dict[int, Iterator[SearchStage | None]]

    @classmethod
    def of(cls, problem: SearchProblem, most: int, state: Mapping[str, Any]) -> _Ahead:
        """Return where a state is, or the beginning.

        Tables of stages that are done are grown again, at nobody's cost: others may count on them.
        """
        bench = Workbench.of(problem)
        bench.spend = lambda numbers: None  # type: ignore[method-assign]
        done: dict[int, int] = dict(state.get("done", {}))
        queue = deque(state.get("queue", _outputs(problem)))
        plans = {output: stages(bench, bench.view(output)) for output in queue}
        for output, skipped in done.items():
            for _ in range(skipped if output in plans else 0):
                stage = _returned(_next(plans[output]))
                if stage is not None:
                    _returned(bench.table(stage).grow(min(stage.most, most)))
        return cls(queue, done, plans)


def _returned(steps: Generator[None, None, Returned]) -> Returned:
    """Return what a generator returns, at once."""
    while True:
        try:
            next(steps)
        except StopIteration as end:
            return cast("Returned", end.value)


def _staged(
    bench: Workbench,
    budget: SearchBudget,
    most: int,
    ahead: _Ahead,
    matches: Callable[[TableSlice, bool], Iterable[Found]],
) -> Items:
    """Go through the stages of all outputs in turn; a milestone after each."""
    queue, done, plans = ahead.queue, ahead.done, ahead.plans
    while queue:
        output = queue.popleft()
        if budget.solved(output):
            continue
        stage = yield from _next(plans[output])
        if stage is None:
            continue
        table = yield from bench.table(stage).grow(min(stage.most, most))
        for found in matches(table, stage.deep):
            for item in _proposals(stage.view, found):
                yield item
                if budget.over():
                    return
        queue.append(output)
        done[output] = done.get(output, 0) + 1
        here = {"queue": list(queue), "done": dict(done)}
        yield Milestone(lambda here=here: here)  # type: ignore[misc]


def _next(plan: Iterator[SearchStage | None]) -> Generator[None, None, SearchStage | None]:
    """Return the next stage of a plan, or None at its end; others may take a turn on the way."""
    for stage in plan:
        if stage is not None:
            return stage
        yield None
    return None


def _proposals(view: OutputView, found: Found) -> Iterator[Proposal | None]:
    for tree in found:
        yield None if tree is None else Proposal(view.whole(tree), view.output)
