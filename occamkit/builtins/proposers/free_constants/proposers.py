"""The proposer for formulas whose numbers nobody can guess."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Annotated, ClassVar

from annotated_types import Ge

from occamkit import Milestone, Proposal, SearchBudget, SearchProblem
from occamkit.builtins.proposers.free_constants.changes import Changes, Memory
from occamkit.builtins.proposers.free_constants.functions import functions_of
from occamkit.builtins.proposers.free_constants.levels import Fitted
from occamkit.builtins.proposers.free_constants.plan import Plan
from occamkit.builtins.proposers.free_constants.prune import pruned
from occamkit.builtins.proposers.free_constants.race import Race
from occamkit.builtins.proposers.free_constants.rows import Rows
from occamkit.builtins.proposers.free_constants.settings import SETTINGS
from occamkit.builtins.proposers.free_constants.skeleton import Grammar, Sum
from occamkit.builtins.proposers.free_constants.write import Writer
from occamkit.kernel import Numbers
from occamkit.units import DIMENSIONLESS

Items = Iterator[Proposal | Milestone | None]


@dataclass(frozen=True)
class FreeConstants:
    """Fits sums of products of functions with free constants inside; all small ones, then changes of the best.

    numbers: the most that a formula may have.
    """

    name: ClassVar[str] = "free-constants"
    share: ClassVar[float] = 4.0
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


def _turn(items: Items) -> Iterator[Proposal | Milestone | None]:
    """Yield what comes until others may take a turn; return whether there is more."""
    for item in items:
        yield item
        if item is None:
            return True
    return False


class OutputSearch:
    """The search for one output."""

    def __init__(self, problem: SearchProblem, output: int, budget: SearchBudget, numbers: int) -> None:
        self.output = output
        self._problem, self._budget, self._numbers = problem, budget, numbers
        self._shown: set[Sum] = set()
        self._pruned: set[Sum] = set()
        self._next = 0
        self._memories: dict[Fitted, Memory] = {}

    def items(self) -> Items:
        """Yield proposals, and None after each batch."""
        rows = Rows.of(self._problem, self.output)
        if rows is None:
            return
        plain = [one.unit == DIMENSIONLESS for one in rows.variables]
        self.grammar = Grammar(functions_of(self._problem), [bool(one) for one in rows.signs], plain)
        self.race = Race(self.grammar, rows, self._budget.spend, self._problem.seed)
        self._writer = Writer(self.grammar, rows)
        plan = iter(Plan(self.grammar, self._problem.seed))
        going, batches = True, 0
        changed = self._changed()
        while True:
            batch = list(islice(plan, SETTINGS.batch)) if going else []
            going = bool(batch)
            # Once the later part of the plan is reached, half of the work goes to changes of what was found.
            self.race.run([(one, None) for one in batch])
            if not going or batches > 20:
                self.race.run(list(islice(changed, SETTINGS.batch)))
            batches += 1
            yield from self._told()
            yield None

    def _changed(self) -> Iterator[tuple[Sum, Numbers | None]]:
        changes, draw = Changes(self.grammar, self._problem.seed), random.Random(self._problem.seed)
        while True:
            kept = self.race.levels.all()
            if not kept:
                return
            for _ in range(SETTINGS.batch):
                parent, other = self._pick(kept, draw), self._pick(kept, draw)
                child = changes.child(parent.formula, other.formula)
                if child is not None and draw.random() < 0.2:
                    child = changes.child(child, other.formula)
                made = None if child is None else self.grammar.program(child)
                if child is not None and made is not None and made[0].numbers <= self._numbers:
                    yield child, self._memory(parent).recall(child, self._memory(other))

    def _memory(self, one: Fitted) -> Memory:
        if one not in self._memories:
            if len(self._memories) > 5_000:
                self._memories.clear()
            self._memories[one] = Memory(self.grammar).learn(one.formula, one.fit.constants)
        return self._memories[one]

    @staticmethod
    def _pick(kept: list[Fitted], draw: random.Random) -> Fitted:
        if draw.random() < 0.5:
            return min(draw.choices(kept, k=7), key=lambda one: one.described)
        return min(draw.choices(kept, k=4), key=lambda one: one.left)

    def _told(self) -> Iterator[Proposal]:
        """Make the best formulas simpler, and propose what is new among them; seldom, unless one is exact."""
        best = self.race.levels.best
        if best is None or best.formula in self._pruned:
            return
        if self.race.fitted < self._next and best.left > SETTINGS.exact:
            return
        self._next = int(self.race.fitted * SETTINGS.seldom)
        for one in self.race.levels.ranked(SETTINGS.pruned):
            if one.formula not in self._pruned:
                self._pruned.add(one.formula)
                found = pruned(self.race, one)
                self._pruned.add(found.formula)
        for one in self.race.levels.ranked(SETTINGS.proposed):
            if one.formula not in self._shown:
                self._shown.add(one.formula)
                tree = self._writer.tree(one)
                if tree is not None:
                    yield Proposal(tree, self.output)
