"""What was fitted and kept: the best few formulas of each length, and their order by description."""

from __future__ import annotations

import math
from bisect import insort
from dataclasses import dataclass

import numpy as np

from occamkit.builtins.proposers.free_constants.settings import SETTINGS
from occamkit.builtins.proposers.free_constants.skeleton import Grammar, Sum, stored
from occamkit.description import length
from occamkit.kernel import Program, ProgramFit
from occamkit.search import State


@dataclass(frozen=True, eq=False)
class Fitted:
    """A formula with its numbers. looks: what was left of the rows of each look; the last are all rows."""

    formula: Sum
    program: Program
    cost: float
    fit: ProgramFit
    described: float
    looks: tuple[float, ...]

    @property
    def left(self) -> float:
        return self.fit.left

    def state(self) -> State:
        """Return it as plain values."""
        fit = (self.fit.constants.tolist(), self.fit.weights.tolist(), self.fit.left)
        return {"formula": stored(self.formula), "fit": fit, "described": self.described, "looks": self.looks}

    @classmethod
    def read(cls, state: State, grammar: Grammar) -> Fitted:
        """Return what a state says."""
        made = grammar.program(state["formula"])
        assert made is not None
        constants, weights, left = state["fit"]
        fit = ProgramFit(np.array(constants), np.array(weights), left)
        return cls(state["formula"], *made, fit, state["described"], state["looks"])


class Levels:
    """The best formulas of each level, which is their cost and their numbers together."""

    def __init__(self, rows: int, level_square: float) -> None:
        self.rows = rows
        self._scale = level_square
        self.levels: dict[int, list[Fitted]] = {}
        self.best: Fitted | None = None

    @staticmethod
    def level(program: Program, cost: float) -> int:
        return round(cost) + numbers(program)

    def bar(self, level: int, look: int) -> float:
        """Return what formulas on a level leave of the rows of a look, at most; infinite while there is room."""
        kept = self.levels.get(level, ())
        return max(one.looks[look] for one in kept) if len(kept) >= SETTINGS.kept else math.inf

    def described(self, left: float, program: Program, cost: float) -> float:
        """Return the length of the description of what is left with a program."""
        return length(max(left, 0.0) * self._scale, self.rows, cost, numbers(program))

    def add(self, found: Fitted) -> bool:
        """Keep a formula if it is among the best of its level; return whether it is."""
        level = self.level(found.program, found.cost)
        kept = self.levels.setdefault(level, [])
        if any(one.formula == found.formula for one in kept):
            same = next(one for one in kept if one.formula == found.formula)
            if same.left <= found.left:
                return False
            kept.remove(same)
        elif len(kept) >= SETTINGS.kept and kept[-1].left <= found.left:
            return False
        insort(kept, found, key=lambda one: one.left)
        del kept[SETTINGS.kept :]
        if self.best is None or found.described < self.best.described:
            self.best = found
        return True

    def state(self) -> State:
        """Return all that is kept, as plain values."""
        best = None if self.best is None else self.best.state()
        return {"levels": [(level, [one.state() for one in kept]) for level, kept in self.levels.items()], "best": best}

    def restore(self, state: State, grammar: Grammar) -> None:
        """Go back to a state."""
        self.levels = {level: [Fitted.read(one, grammar) for one in kept] for level, kept in state["levels"]}
        self.best = None if state["best"] is None else Fitted.read(state["best"], grammar)

    def all(self) -> list[Fitted]:
        return [one for kept in self.levels.values() for one in kept]

    def ranked(self, most: int) -> list[Fitted]:
        """Return the formulas of the shortest descriptions; of several forms of one function, the first.

        Of exact ones all are returned: what is left of the rows does not tell one from another.
        """
        found: dict[tuple[int, object], Fitted] = {}
        for one in sorted(self.all(), key=lambda one: one.described):
            left: object = f"{one.left:.6g}" if one.left > SETTINGS.exact else one.formula
            found.setdefault((numbers(one.program), left), one)
            if len(found) == most:
                break
        return list(found.values())


def numbers(program: Program) -> int:
    """Return how many numbers a program has, weights included."""
    return program.constants + program.terms + program.offset
