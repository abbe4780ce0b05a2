"""Fitting many formulas: a first look on few rows, and more rows and steps for those that may be kept."""

from __future__ import annotations

import zlib
from array import array
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from occamkit.builtins.proposers.free_constants.functions import Called
from occamkit.builtins.proposers.free_constants.levels import Fitted, Levels
from occamkit.builtins.proposers.free_constants.rows import Rows
from occamkit.builtins.proposers.free_constants.settings import SETTINGS
from occamkit.builtins.proposers.free_constants.skeleton import Grammar, Sum
from occamkit.kernel import Effort, Fit, Job, Numbers, Program, kernel

FIRST = Effort(starts=24, steps=16, least=1e-2)
WIDER = Effort(starts=0, steps=8, least=1e-3)
LAST = Effort(starts=0, steps=60, least=1e-3)
CHEAPER = 12
"""How many numbers the kernel computes in the time in which tensors give one; measured with `bench laws`."""
NEARLY = 1e-4
"""The part of the variance below which a formula is worth a thorough fit."""


@dataclass(frozen=True)
class Runner:
    """A formula on its way through the race."""

    formula: Sum
    program: Program
    cost: float
    given: Numbers | None = None
    fit: Fit | None = None


class Race:
    """Fits formulas of one output, each once, and keeps the best."""

    def __init__(self, grammar: Grammar, rows: Rows, spend: Callable[[int], None], seed: int) -> None:
        self.grammar, self.rows, self._spend, self._seed = grammar, rows, spend, seed
        whole = rows.tables[-1]
        mean_square = float(whole.target @ whole.target)
        self.levels = Levels(rows.count, whole.square / mean_square)
        self._met: set[Sum] = set()
        self._called = Called(grammar.functions)
        self._kernel = kernel()
        self.fitted = 0

    def _fit(self, table: int, runners: Sequence[Runner], effort: Effort, seeds: Sequence[int]) -> list[Fit]:
        jobs = [
            Job(one.program, one.given if one.fit is None else one.fit.constants, seed)
            for one, seed in zip(runners, seeds, strict=True)
        ]
        fits, work = self._kernel.fit(self.rows.tables[table], jobs, effort, self._called)
        self._spend(work // CHEAPER)
        self.fitted += len(jobs)
        return fits

    def fresh(self, formulas: Iterable[tuple[Sum, Numbers | None]]) -> list[Runner]:
        """Return formulas that were not met before, ready to run."""
        runners = []
        for formula, given in formulas:
            if formula not in self._met:
                self._met.add(formula)
                made = self.grammar.program(formula)
                if made is not None and made[0].constants + made[0].terms + 1 < self.rows.count:
                    runners.append(Runner(formula, *made, given))
        return runners

    def run(self, formulas: Iterable[tuple[Sum, Numbers | None]], again: bool = False) -> list[Fitted]:
        """Fit formulas, with constants to start from where they are given, and return those that were kept."""
        runners = self.fresh(formulas)
        if not runners:
            return []
        seeds = [self._seed_of(one) for one in runners]
        runners = self._passed(runners, self._fit(0, runners, FIRST, seeds), SETTINGS.passes[0])
        for table, effort, slack in ((1, WIDER, SETTINGS.passes[1]), (2, WIDER, 1.0)):
            if not runners:
                return []
            runners = self._passed(runners, self._fit(table, runners, effort, [0] * len(runners)), slack)
        near = [one for one in runners if one.fit is not None and one.fit.left < NEARLY]
        others = [one for one in runners if one not in near]
        if near:
            others += _with(near, self._fit(2, near, LAST, [0] * len(near)))
        return [kept for one in others if (kept := self.keep(one)) is not None]

    def refit(self, runners: Sequence[Runner], effort: Effort) -> list[Fitted]:
        """Fit on all rows from given constants, kept or not; return what was fitted."""
        fits = self._fit(2, runners, effort, [0] * len(runners))
        return [self.of(one) for one in _with(runners, fits) if one.fit is not None and one.fit.left < float("inf")]

    def _seed_of(self, runner: Runner) -> int:
        if not runner.program.constants:
            return 0
        # Not Python's own hash, which may differ from one process to the next.
        return zlib.crc32(array("i", runner.program.code).tobytes()) * 2 + 1 + (self._seed << 33)

    def _passed(self, runners: Sequence[Runner], fits: Sequence[Fit], slack: float) -> list[Runner]:
        passed = []
        for one in _with(runners, fits):
            assert one.fit is not None
            if one.fit.left < slack * self.levels.bar(Levels.level(one.program, one.cost)) and one.fit.left < 1.5:
                passed.append(one)
        return passed

    def of(self, runner: Runner) -> Fitted:
        assert runner.fit is not None
        told = self.levels.described(runner.fit.left, runner.program, runner.cost)
        return Fitted(runner.formula, runner.program, runner.cost, runner.fit, told)

    def keep(self, runner: Runner) -> Fitted | None:
        found = self.of(runner)
        return found if self.levels.add(found) else None


def _with(runners: Sequence[Runner], fits: Sequence[Fit]) -> list[Runner]:
    return [
        Runner(one.formula, one.program, one.cost, one.given, fit) for one, fit in zip(runners, fits, strict=True)
    ]
