"""The proposer for formulas whose numbers nobody can guess."""

from __future__ import annotations

import math
import random
from collections.abc import Generator, Iterator
from dataclasses import dataclass, replace
from itertools import count, islice
from typing import Annotated, ClassVar

from annotated_types import Ge
from torch import Tensor

from occamkit import Expression, Milestone, Proposal, SearchBudget, SearchProblem
from occamkit.builtins.proposers.free_constants.changes import Changes, Memory
from occamkit.builtins.proposers.free_constants.functions import functions_of
from occamkit.builtins.proposers.free_constants.levels import Fitted
from occamkit.builtins.proposers.free_constants.plan import FormulaPlan
from occamkit.builtins.proposers.free_constants.prune import pruned
from occamkit.builtins.proposers.free_constants.race import Race
from occamkit.builtins.proposers.free_constants.rows import Rows, views
from occamkit.builtins.proposers.free_constants.settings import SETTINGS
from occamkit.builtins.proposers.free_constants.skeleton import Grammar, Sum, has_constants
from occamkit.builtins.proposers.free_constants.write import Writer
from occamkit.description import odd_numbers
from occamkit.fit import proportional, size_of
from occamkit.graph import product
from occamkit.kernel import Numbers, Offset

Items = Iterator[Proposal | Milestone | None]
Found = tuple["ViewSearch", Iterator[list[Expression]]]


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
        searches = [OutputSearch(problem, output, budget, self.numbers) for output in range(len(problem.outputs))]
        going = [(one, one.items()) for one in searches]
        while going:
            for one, items in list(going):
                if budget.over():
                    return
                if budget.solved(one.output) or not (yield from _turn(items)):
                    going.remove((one, items))


def _turn(items: Items) -> Generator[Proposal | Milestone | None, None, bool]:
    """Yield what comes until others may take a turn; return whether there is more."""
    for item in items:
        yield item
        if item is None:
            return True
    return False


class OutputSearch:
    """The search for one output: in each of its views, and for errors of each kind."""

    def __init__(self, problem: SearchProblem, output: int, budget: SearchBudget, numbers: int) -> None:
        self.output = output
        self._problem, self._budget, self._numbers = problem, budget, numbers
        self._views = tuple(views(problem, output))
        factors = proportional(problem.targets[output])
        self._errors: tuple[Numbers | None, ...] = (None,) if factors is None else (None, factors.numpy())
        self.searches: list[ViewSearch] = []

    def items(self) -> Items:
        """Yield proposals, and None after each batch; the mean comes first, so that there is always an answer.

        Bits are left to those that know logic.
        """
        if _bits(self._problem.columns) and _bits(self._problem.targets[self.output]):
            return
        target = self._problem.targets[self.output]
        for level in {float(target.mean()): None, size_of(target) or 0.0: None}:
            if level:
                yield Proposal(product(level, []), self.output)
        yield from (Proposal(tree, self.output) for tree in self._fronts())
        for rows in self._rows():
            self.searches.append(ViewSearch(self._problem, rows, self._budget, self._numbers))
        going = [(one, one.found()) for one in self.searches]
        for round_ in count():
            if not going:
                return
            for one, found in self._due(going, round_):
                trees = next(found, None)
                if trees is None:
                    going.remove((one, found))
                    continue
                yield from (Proposal(tree, self.output) for tree in trees)
                yield None

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

    @staticmethod
    def _due(going: list[Found], round_: int) -> list[Found]:
        """Return who takes a turn: at first the first; then it and who has the shortest description, at times all."""
        if round_ < SETTINGS.ahead:
            return going[:1]
        if round_ % SETTINGS.behind == 0:
            return list(going)
        leader = min(going, key=lambda pair: pair[0].described)
        return [leader] if leader is going[0] else [going[0], leader]


def _bits(values: Tensor) -> bool:
    return bool(((values == 0) | (values == 1)).all())


class ViewSearch:
    """The search for one output in one view, under one model of errors."""

    def __init__(self, problem: SearchProblem, rows: Rows, budget: SearchBudget, numbers: int) -> None:
        self._seed = problem.seed
        self.grammar = Grammar(functions_of(problem), [bool(one) for one in rows.signs], rows.view.plain)
        self.race = Race(self.grammar, rows, budget.spend, problem.seed, numbers)
        self.writer = Writer(self.grammar, rows)
        self._plan = FormulaPlan(self.grammar, problem.seed)
        self._shown: set[Sum] = set()
        self._pruned: set[Sum] = set()
        self._next = 0
        self._memories: dict[Fitted, Memory] = {}

    @property
    def described(self) -> float:
        """The length of the shortest description so far."""
        best = self.race.levels.best
        return math.inf if best is None else best.described

    def found(self) -> Iterator[list[Expression]]:
        """Yield what is new among the best after each batch, until long nothing better was found."""
        plan, changed, more, again = iter(self._plan), self._changed(), self._more(), self._again()
        going, batches = True, 0
        while True:
            batch = list(islice(plan, SETTINGS.batch)) if going else []
            going = bool(batch)
            self.race.run([(one, None) for one in batch])
            # Once there is something worth changing, most of the work goes to changes of it and additions to it.
            if not going or batches > SETTINGS.planned:
                self.race.run(list(islice(changed, SETTINGS.batch)))
            if not going or (batches > SETTINGS.alone and batches % SETTINGS.added == 0):
                self.race.run(list(islice(more, SETTINGS.batch)))
            if not going or (batches > SETTINGS.alone and batches % SETTINGS.repeated == 0):
                self.race.run(*next(again, ((), 0)))
            batches += 1
            yield list(self._told())
            if not going and self.race.fitted > max(SETTINGS.patience, SETTINGS.stale * self.race.improved):
                return

    def _more(self) -> Iterator[tuple[Sum, Numbers | None]]:
        """Yield the shortest formulas with something more, those that were not the shortest before first."""
        done: set[Sum] = set()
        while True:
            best = next((one for one in self.race.levels.ranked(SETTINGS.pruned) if one.formula not in done), None)
            if best is None:
                return
            done.add(best.formula)
            for larger in self._plan.more((Offset.ONE, best.formula[1])):
                formula = self.grammar.tidy(*larger)
                if formula is not None:
                    yield formula, self._memory(best).recall(formula)

    def _again(self) -> Iterator[tuple[list[tuple[Sum, Numbers | None]], int]]:
        """Yield small formulas with constants once more, and again: the race from a few starts may miss the best."""
        for attempt in count(1):
            found = 0
            small: Iterator[tuple[Sum, Numbers | None]]
            small = ((one, None) for one in self._plan.small() if has_constants(one))
            while batch := list(islice(small, SETTINGS.batch)):
                found += len(batch)
                yield batch, attempt
            if not found:
                return

    def _changed(self) -> Iterator[tuple[Sum, Numbers | None]]:
        changes, draw = Changes(self.grammar, self._seed), random.Random(self._seed)
        while True:
            kept = self.race.levels.all()
            if not kept:
                return
            for _ in range(SETTINGS.batch):
                parent, other = self._pick(kept, draw), self._pick(kept, draw)
                child = changes.child(parent.formula, other.formula)
                if child is not None and draw.random() < SETTINGS.twice:
                    child = changes.child(child, other.formula)
                if child is not None and not self.race.met(child):
                    yield child, self._memory(parent).recall(child, self._memory(other))

    def _memory(self, one: Fitted) -> Memory:
        if one not in self._memories:
            if len(self._memories) > SETTINGS.remembered:
                self._memories.clear()
            self._memories[one] = Memory(self.grammar).learn(one.formula, one.fit.constants)
        return self._memories[one]

    @staticmethod
    def _pick(kept: list[Fitted], draw: random.Random) -> Fitted:
        if draw.random() < 0.5:
            return min(draw.choices(kept, k=SETTINGS.rivals[0]), key=lambda one: one.described)
        return min(draw.choices(kept, k=SETTINGS.rivals[1]), key=lambda one: one.left)

    def _told(self) -> Iterator[Expression]:
        """Make the best formulas simpler, and yield what is new among them; seldom, unless one is exact."""
        best = self.race.levels.best
        if best is None:
            return
        exact = best.left < SETTINGS.exact and best.formula not in self._pruned
        if self.race.fitted < self._next and not exact:
            return
        self._next = int(self.race.fitted * SETTINGS.seldom)
        for one in self.race.levels.ranked(SETTINGS.pruned):
            if one.formula not in self._pruned:
                self._pruned.add(one.formula)
                self._pruned.add(pruned(self.race, one).formula)
        fresh = [one for one in self.race.levels.ranked(SETTINGS.proposed) if one.formula not in self._shown]
        self._shown.update(one.formula for one in fresh)
        trees = [tree for one in fresh if (tree := self.writer.tree(one)) is not None]
        # Of several exact ones the first ends the search: that with the fewest numbers that mean nothing.
        yield from sorted(trees, key=odd_numbers) if best.left < SETTINGS.exact else trees
