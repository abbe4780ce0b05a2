"""Where formulas come from: the plan, changes of the best, additions to them, and small formulas once more.

Each gives a batch at a time, and can say where it stands, so that a search can be taken up again.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import islice
from typing import Protocol

import numpy as np

from occamkit.builtins.proposers.free_constants.changes import Changes, Memory
from occamkit.builtins.proposers.free_constants.levels import Fitted
from occamkit.builtins.proposers.free_constants.plan import FormulaPlan
from occamkit.builtins.proposers.free_constants.race import Race, Starting
from occamkit.builtins.proposers.free_constants.settings import SETTINGS
from occamkit.builtins.proposers.free_constants.skeleton import Grammar, Sum, has_constants, stored
from occamkit.kernel import Offset
from occamkit.search import State

FIRST_ATTEMPT = 2
"""The first time is the plan's, the second that of sines whose frequencies the rows show."""


class Source(Protocol):
    """Gives formulas."""

    def batch(self) -> list[Starting]: ...

    def state(self) -> State: ...

    def restore(self, state: State) -> None: ...


class Planned:
    """The formulas of a plan in their order."""

    def __init__(self, plan: FormulaPlan) -> None:
        self._items, self._taken = iter(plan), 0

    def batch(self) -> list[Starting]:
        """Return the next formulas; none at the end."""
        made = list(islice(self._items, SETTINGS.batch))
        self._taken += len(made)
        return [(one, None) for one in made]

    def state(self) -> State:
        return {"taken": self._taken}

    def restore(self, state: State) -> None:
        self._taken = sum(1 for _ in islice(self._items, state["taken"]))


class Again:
    """Small formulas with constants once more, and again: the race from a few starts may miss the best."""

    def __init__(self, plan: FormulaPlan) -> None:
        self._plan, self.attempt, self._taken = plan, FIRST_ATTEMPT, 0
        self._items = self._small()

    def _small(self) -> Iterator[Sum]:
        return (one for one in self._plan.small() if has_constants(one))

    def batch(self) -> list[Starting]:
        """Return the next formulas; none where there are no small ones with constants."""
        made = list(islice(self._items, SETTINGS.batch))
        if not made and self._taken:
            self._items, self._taken, self.attempt = self._small(), 0, self.attempt + 1
            made = list(islice(self._items, SETTINGS.batch))
        self._taken += len(made)
        return [(one, None) for one in made]

    def state(self) -> State:
        return {"attempt": self.attempt, "taken": self._taken}

    def restore(self, state: State) -> None:
        self.attempt = state["attempt"]
        self._taken = sum(1 for _ in islice(self._items, state["taken"]))


class Added:
    """The shortest formulas with something more, those first that were not the shortest before."""

    def __init__(self, grammar: Grammar, plan: FormulaPlan, race: Race) -> None:
        self._grammar, self._plan, self._race = grammar, plan, race
        self._done: set[Sum] = set()
        self._from: tuple[Sum, list[float]] | None = None
        self._items: Iterator[Starting] = iter(())
        self._taken = 0

    def batch(self) -> list[Starting]:
        """Return the next formulas; fewer where all of the shortest have been added to."""
        made: list[Starting] = []
        while len(made) < SETTINGS.batch:
            some = list(islice(self._items, SETTINGS.batch - len(made)))
            self._taken += len(some)
            made += some
            if not some and not self._begin():
                break
        return made

    def _begin(self) -> bool:
        """Begin with the shortest formula that has not been added to, if there is one."""
        shortest = self._race.levels.ranked(SETTINGS.pruned)
        best = next((one for one in shortest if one.formula not in self._done), None)
        if best is not None:
            self._done.add(best.formula)
            self._take_up(best.formula, best.fit.constants.tolist())
        return best is not None

    def _take_up(self, formula: Sum, constants: list[float]) -> None:
        self._from, self._items, self._taken = (formula, constants), self._larger(formula, constants), 0

    def _larger(self, formula: Sum, constants: list[float]) -> Iterator[Starting]:
        memory = Memory(self._grammar).learn(formula, np.array(constants))
        for larger in self._plan.more((Offset.ONE, formula[1])):
            tidied = self._grammar.tidy(*larger)
            if tidied is not None:
                yield tidied, memory.recall(tidied)

    def state(self) -> State:
        begun = None if self._from is None else (stored(self._from[0]), self._from[1])
        return {"done": [stored(one) for one in self._done], "from": begun, "taken": self._taken}

    def restore(self, state: State) -> None:
        self._done = set(state["done"])
        if state["from"] is not None:
            self._take_up(*state["from"])
            self._taken = sum(1 for _ in islice(self._items, state["taken"]))


class Changed:
    """Changes of the formulas that were kept, of short and of near ones more often."""

    def __init__(self, grammar: Grammar, race: Race, seed: int) -> None:
        self._grammar, self._race = grammar, race
        self._draw = random.Random(seed)
        self._changes = Changes(grammar, self._draw)
        self._memories: dict[Fitted, Memory] = {}

    def batch(self) -> list[Starting]:
        """Return formulas that were not fitted before; few or none where hardly any are left."""
        made: list[Starting] = []
        kept = self._race.levels.all()
        for _ in range(SETTINGS.tries * SETTINGS.batch if kept else 0):
            parent, other = self._pick(kept), self._pick(kept)
            child = self._changes.child(parent.formula, other.formula)
            if child is not None and self._draw.random() < SETTINGS.twice:
                child = self._changes.child(child, other.formula)
            if child is not None and not self._race.met(child):
                made.append((child, self._memory(parent).recall(child, self._memory(other))))
                if len(made) == SETTINGS.batch:
                    break
        return made

    def _memory(self, one: Fitted) -> Memory:
        if one not in self._memories:
            if len(self._memories) > SETTINGS.remembered:
                self._memories.clear()
            self._memories[one] = Memory(self._grammar).learn(one.formula, one.fit.constants)
        return self._memories[one]

    def _pick(self, kept: list[Fitted]) -> Fitted:
        draw = self._draw
        if draw.random() < 0.5:
            return min(draw.choices(kept, k=SETTINGS.rivals[0]), key=lambda one: one.described)
        return min(draw.choices(kept, k=SETTINGS.rivals[1]), key=lambda one: one.left)

    def state(self) -> State:
        return {"random": self._draw.getstate()}

    def restore(self, state: State) -> None:
        self._draw.setstate(state["random"])
