"""The search in one view of the rows of an output, under one model of errors."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

from occamkit import Expression, SearchProblem
from occamkit.builtins.proposers.free_constants.functions import functions_of
from occamkit.builtins.proposers.free_constants.plan import FormulaPlan
from occamkit.builtins.proposers.free_constants.prune import pruned
from occamkit.builtins.proposers.free_constants.race import Race
from occamkit.builtins.proposers.free_constants.rows import Rows
from occamkit.builtins.proposers.free_constants.settings import SETTINGS
from occamkit.builtins.proposers.free_constants.skeleton import Grammar, Sum, stored
from occamkit.builtins.proposers.free_constants.sources import Added, Again, Changed, Planned, Source
from occamkit.builtins.proposers.free_constants.waves import Waves
from occamkit.builtins.proposers.free_constants.write import Writer
from occamkit.description import odd_numbers
from occamkit.search import State


class ViewSearch:
    """A batch of the plan, then changes of what was kept, additions to the best, and small formulas once more."""

    def __init__(self, problem: SearchProblem, rows: Rows, spend: Callable[[int], None], numbers: int) -> None:
        grammar = self.grammar = Grammar(functions_of(problem), [bool(one) for one in rows.signs], rows.view.plain)
        self.race = Race(grammar, rows, spend, problem.seed, numbers)
        self.writer = Writer(grammar, rows)
        self._waves = Waves(grammar, rows.tables[1])
        plan = FormulaPlan(grammar, problem.seed)
        self._plan, self._again = Planned(plan), Again(plan)
        self._added, self._changed = Added(grammar, plan, self.race), Changed(grammar, self.race, problem.seed)
        self._sources: tuple[Source, ...] = (self._plan, self._again, self._added, self._changed)
        self._shown: set[Sum] = set()
        self._pruned: set[Sum] = set()
        self._since = self._batches = 0
        self._last = math.inf
        self._planned_out = self.ended = False

    @property
    def described(self) -> float:
        """The length of the shortest description so far."""
        best = self.race.levels.best
        return math.inf if best is None else best.described

    def batch(self) -> list[Expression]:
        """Fit a batch, and return what is new among the best; it ends when long nothing better was found."""
        batch = self._plan.batch()
        self._planned_out = self._planned_out or not batch
        self.race.run(batch)
        self.race.run(self._waves.tuned(batch), attempt=1)
        # Once there is something worth changing, most of the work goes to changes of it and additions to it.
        alone = not self._planned_out and self._batches <= SETTINGS.alone
        if self._planned_out or self._batches > SETTINGS.planned:
            self.race.run(self._changed.batch())
        if not alone and (self._planned_out or self._batches % SETTINGS.added == 0):
            self.race.run(self._added.batch())
        if not alone and (self._planned_out or self._batches % SETTINGS.repeated == 0):
            again = self._again.batch()
            self.race.run(again, self._again.attempt)
        self._batches += 1
        long = max(SETTINGS.patience, SETTINGS.stale * self.race.improved)
        self.ended = self._planned_out and self.race.fitted > long
        return list(self._told())

    def _told(self) -> Iterator[Expression]:
        """Make the best formulas simpler, and yield what is new among them; seldom, unless one is exact."""
        best = self.race.levels.best
        if best is None:
            return
        exact = best.left < SETTINGS.exact and best.formula not in self._pruned
        better = best.described < self._last - SETTINGS.clearly
        due = self._since + min(self._since, SETTINGS.waits) if better else SETTINGS.seldom * self._since
        if self.race.fitted < due and not exact:
            return
        self._since = self.race.fitted
        for one in self.race.levels.ranked(SETTINGS.pruned):
            if one.formula not in self._pruned:
                self._pruned.add(one.formula)
                self._pruned.add(pruned(self.race, one).formula)
        self._last = self.described
        fresh = [one for one in self.race.levels.ranked(SETTINGS.proposed) if one.formula not in self._shown]
        self._shown.update(one.formula for one in fresh)
        trees = [tree for one in fresh if (tree := self.writer.tree(one)) is not None]
        # Of several exact ones the first ends the search: that with the fewest numbers that mean nothing.
        yield from sorted(trees, key=odd_numbers) if best.left < SETTINGS.exact else trees

    def state(self) -> State:
        """Return where it stands, as plain values."""
        sources = [one.state() for one in self._sources]
        done = [[stored(one) for one in some] for some in (self._shown, self._pruned)]
        counts = (self._since, self._last, self._batches, self._planned_out, self.ended)
        return {"race": self.race.state(), "sources": sources, "done": done, "counts": counts}

    def restore(self, state: State) -> None:
        """Go back to a state."""
        self.race.restore(state["race"])
        for one, stood in zip(self._sources, state["sources"], strict=True):
            one.restore(stood)
        self._shown, self._pruned = map(set, state["done"])
        self._since, self._last, self._batches, self._planned_out, self.ended = state["counts"]
