"""Fitting many formulas: a first look on few rows, and more rows and steps for those that may be kept."""

from __future__ import annotations

import zlib
from array import array
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import torch

from occamkit.builtins.proposers.free_constants.functions import Called
from occamkit.builtins.proposers.free_constants.levels import Fitted, Levels
from occamkit.builtins.proposers.free_constants.rows import Rows
from occamkit.builtins.proposers.free_constants.settings import SETTINGS
from occamkit.builtins.proposers.free_constants.skeleton import Grammar, Sum
from occamkit.kernel import Effort, Job, Numbers, Offset, Program, ProgramFit, kernel
from occamkit.search import State

FIRST = Effort(starts=24, steps=16, least=1e-2)
FIRST_OUTSIDE = Effort(starts=8, steps=8, least=1e-2)
WIDER = Effort(starts=0, steps=8, least=1e-3)
LAST = Effort(starts=0, steps=60, least=1e-3)
WORSE_THAN_NOTHING = 1.5
CHEAPER, EACH = 40, 9_000
"""How many numbers the kernel computes in the time in which tensors give one, and what a formula costs besides."""
CALLED = 4_000
"""What it costs to call a function that the kernel does not know."""
NEARLY = 1e-4
"""The part of the variance below which a formula is worth a thorough fit."""

Starting = tuple[Sum, Numbers | None]
"""A formula, with constants to start from where some are known."""


class Runner(NamedTuple):
    """A formula on its way through the race."""

    formula: Sum
    program: Program
    cost: float
    given: Numbers | None = None
    fit: ProgramFit | None = None
    looks: tuple[float, ...] = ()


class Race:
    """Fits formulas of one output, each once, and keeps the best."""

    def __init__(self, grammar: Grammar, rows: Rows, spend: Callable[[int], None], seed: int, numbers: int) -> None:
        self.grammar, self.rows, self._spend, self._seed = grammar, rows, spend, seed
        self.most_numbers = min(numbers, rows.count - 1)
        self.levels = Levels(rows.count, rows.tables[-1].square / rows.spread)
        self._met: set[int] = set()  # hashes: a million formulas would not fit
        self._called = Called(grammar.functions)
        self._kernel = kernel()
        self.fitted = self.improved = 0

    def _fit(self, table: int, runners: Sequence[Runner], effort: Effort, seeds: Sequence[int]) -> list[ProgramFit]:
        jobs = [
            Job(one.program, one.given if one.fit is None else one.fit.constants, seed)
            for one, seed in zip(runners, seeds, strict=True)
        ]
        fits, work = self._kernel.fit(self.rows.tables[table], jobs, effort, self._called)
        called = sum(one.program.outside for one in runners)
        self._spend(work // CHEAPER + EACH * len(jobs) + CALLED * called * (2 * effort.starts + effort.steps))
        self.fitted += len(jobs)
        return fits

    def _first(self, runners: Sequence[Runner], seeds: Sequence[int]) -> list[ProgramFit]:
        """Take a first look; functions that the kernel does not know take so long that fewer starts must do."""
        found: dict[int, ProgramFit] = {}
        for outside, effort in ((False, FIRST), (True, FIRST_OUTSIDE)):
            places = [place for place, one in enumerate(runners) if one.program.outside is outside]
            if places:
                fits = self._fit(0, [runners[place] for place in places], effort, [seeds[place] for place in places])
                found |= zip(places, fits, strict=True)
        return [found[place] for place in range(len(runners))]

    def met(self, formula: Sum) -> bool:
        """Whether a formula was fitted before."""
        return hash(formula) in self._met

    def fresh(self, formulas: Iterable[Starting], attempt: int = 0) -> list[Runner]:
        """Return formulas that were not met before, ready to run; on a later attempt, all of them."""
        runners = []
        for formula, given in formulas:
            if attempt or not self.met(formula):
                self._met.add(hash(formula))
                made = self.grammar.program(formula)
                if made is not None and made[0].numbers <= self.most_numbers:
                    runners.append(Runner(formula, *made, given))
        return runners

    def run(self, formulas: Iterable[Starting], attempt: int = 0) -> list[Fitted]:
        """Fit formulas, with constants to start from where they are given, and return those that were kept.

        attempt: how often they were fitted before, from other starts.
        """
        runners = self.fresh(formulas, attempt)
        if not runners:
            return []
        for look, effort in enumerate((FIRST, WIDER, WIDER)):
            if look == 0:
                fits = self._first(runners, [self._seed_of(one, attempt) for one in runners])
            else:
                fits = self._fit(look, runners, effort, [0] * len(runners))
            runners = self._passed(look, runners, fits)
            if not runners:
                return []
        near = [place for place, one in enumerate(runners) if one.looks[-1] < NEARLY]
        if near:
            fits = self._fit(-1, [runners[place] for place in near], LAST, [0] * len(near))
            for place, fit in zip(near, fits, strict=True):
                runners[place] = runners[place]._replace(fit=fit)
        found = [kept for one in runners if (kept := self.keep(one)) is not None]
        return found + self._without_offset(found)

    def _without_offset(self, found: Sequence[Fitted]) -> list[Fitted]:
        """Keep the same formulas without an offset, where the description is then shorter."""
        bare = self.fresh(((Offset.NONE, one.formula[1]), one.fit.constants) for one in found if one.formula[0])
        whole = {one.formula[1]: one.described for one in found}
        return [
            one
            for one in (self.refit(bare, WIDER) if bare else ())
            if one.described < whole[one.formula[1]] and self.levels.add(one)
        ]

    def refit(self, runners: Sequence[Runner], effort: Effort) -> list[Fitted]:
        """Fit on all rows from given constants, kept or not; return what was fitted."""
        fits = self._fit(-1, runners, effort, [0] * len(runners))
        made = (one._replace(fit=fit) for one, fit in zip(runners, fits, strict=True))
        return [self.of(one) for one in made if one.fit is not None and one.fit.left < float("inf")]

    def state(self) -> State:
        """Return what was fitted and kept, as plain values."""
        met = torch.tensor(list(self._met), dtype=torch.int64)
        return {"met": met, "fitted": self.fitted, "improved": self.improved, "levels": self.levels.state()}

    def restore(self, state: State) -> None:
        """Go back to a state."""
        self._met = set(state["met"].tolist())
        self.fitted, self.improved = state["fitted"], state["improved"]
        self.levels.restore(state["levels"], self.grammar)

    def _seed_of(self, runner: Runner, attempt: int) -> int:
        if not runner.program.constants:
            return 0
        # Not Python's own hash, which may differ from one process to the next.
        return zlib.crc32(array("i", runner.program.code).tobytes(), attempt) * 2 + 1 + (self._seed << 33)

    def _passed(self, look: int, runners: Sequence[Runner], fits: Sequence[ProgramFit]) -> list[Runner]:
        passed = []
        for one, fit in zip(runners, fits, strict=True):
            bar = self.levels.bar(Levels.level(one.program, one.cost), look)
            if fit.left < SETTINGS.passes[look] * bar and fit.left < WORSE_THAN_NOTHING:
                passed.append(one._replace(fit=fit, looks=(*one.looks, fit.left)))
        return passed

    def of(self, runner: Runner) -> Fitted:
        assert runner.fit is not None
        told = self.levels.described(runner.fit.left, runner.program, runner.cost)
        left = runner.fit.left
        looks = (*runner.looks[:-1], left) if runner.looks else (left,) * len(self.rows.tables)
        return Fitted(runner.formula, runner.program, runner.cost, runner.fit, told, looks)

    def keep(self, runner: Runner) -> Fitted | None:
        found, before = self.of(runner), self.levels.best
        kept = found if self.levels.add(found) else None
        if self.levels.best is not before:
            self.improved = self.fitted
        return kept
