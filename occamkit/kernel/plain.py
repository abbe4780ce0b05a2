"""The kernel in numpy, step by step the same as the one in C: for machines without it, and to hold it against."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from occamkit.kernel.program import Effort, Job, Numbers, Offset, Op, Outside, Program, ProgramFit, RowTable
from occamkit.kernel.starts import Random, draw_sum

LEAST = 1e-300
INDEPENDENT, CANCELS, NOTHING, MOST_DAMPING = 1e-18, 0.25, 1e-32, 1e9


class UndefinedError(Exception):
    """A formula has no value on some row."""


@dataclass
class Evaluation:
    """One evaluation: terms [t, n], slopes of each constant, and which term it is in."""

    terms: list[Numbers] = field(default_factory=list)
    slopes: list[Numbers] = field(default_factory=list)
    term_of: list[int] = field(default_factory=list)


@dataclass(frozen=True)
class Projection:
    """What weights leave of the target: orthonormal columns, what is left, and the weights, the offset's first."""

    basis: list[Numbers]
    left: Numbers
    weights: list[float]
    square: float


class Plain:
    """Fits programs one by one."""

    name = "plain"

    def fit(
        self, table: RowTable, jobs: Sequence[Job], effort: Effort, outside: Outside
    ) -> tuple[list[ProgramFit], int]:
        """Fit each job; also return how many numbers were computed, roughly."""
        with np.errstate(all="ignore"):
            machine = Machine(table, outside)
            return [machine.fit_one(job, effort) for job in jobs], machine.work


class Machine:
    """Runs programs on the columns of a table."""

    def __init__(self, table: RowTable, outside: Outside) -> None:
        self._table, self._outside = table, outside
        self.work = 0

    def fit_one(self, job: Job, effort: Effort) -> ProgramFit:
        """Improve what is given, and the best two of what is drawn."""
        program, count = job.program, job.program.constants
        given = [math.nan] * count if job.given is None else [float(one) for one in job.given]
        unknown = sum(map(math.isnan, given))
        tried: list[tuple[float, list[float]]] = []
        if not unknown:
            tried.append(self._improved(program, given, effort))
        random = Random(job.seed)
        starts: list[tuple[float, list[float]]] = []
        for _ in range(min(6 + 6 * unknown, effort.starts) if job.seed and unknown else 0):
            drawn = list(given)
            starts.append((self._square(program, drawn, random), drawn))
        best = sorted((one for one in starts if one[0] < math.inf), key=lambda one: one[0])[:2]
        tried += [self._improved(program, start, effort) for _, start in best]
        square, constants = min(tried, key=lambda one: one[0], default=(math.inf, given))
        if not square < math.inf:
            return ProgramFit(np.array(given), np.zeros(program.terms + 1), math.inf)
        projected = self._projected(program, self._run(program, constants, False))
        return ProgramFit(np.array(constants), np.array(projected.weights), projected.square / self._table.square)

    def _square(self, program: Program, constants: list[float], random: Random | None = None) -> float:
        try:
            return self._projected(program, self._run(program, constants, False, random)).square
        except UndefinedError:
            return math.inf

    def _improved(self, program: Program, start: list[float], effort: Effort) -> tuple[float, list[float]]:
        """Take steps of Levenberg and Marquardt's method."""
        if not program.constants:
            return self._square(program, start), start
        try:
            square, matrix, toward = self._normal(program, start)
        except UndefinedError:
            return math.inf, start
        constants, damping, stalled = list(start), 1e-2, 0
        for _ in range(effort.steps):
            if damping >= MOST_DAMPING or square <= NOTHING * self._table.square:
                break
            try:
                move = _solved(matrix, toward, damping)
                moved = [one + step for one, step in zip(constants, move, strict=True)]
                tried = self._normal(program, moved)
            except (UndefinedError, np.linalg.LinAlgError):
                damping *= 8
                continue
            if not tried[0] < square:
                damping *= 8
                continue
            stalled = stalled + 1 if square - tried[0] < effort.least * square else 0
            (square, matrix, toward), constants = tried, moved
            damping = max(damping * 0.15, 1e-12)
            if stalled > 1:
                break
        return square, constants

    def _normal(self, program: Program, constants: list[float]) -> tuple[float, Numbers, Numbers]:
        """Return the square that is left and the normal equations; slopes are free of what weights could take up."""
        run = self._run(program, constants, True)
        projected = self._projected(program, run)
        rows = []
        for slope, term in zip(run.slopes, run.term_of, strict=True):
            row = projected.weights[term + 1] * slope * self._table.weights
            for one in projected.basis:
                row = row - (one @ row) * one
            rows.append(row)
        jacobian = np.stack(rows)
        matrix, toward = jacobian @ jacobian.T, jacobian @ projected.left
        if not np.isfinite(matrix.diagonal()).all():
            raise UndefinedError
        self.work += jacobian.shape[1] * program.constants * (program.constants + program.terms)
        return projected.square, matrix, toward

    def _projected(self, program: Program, run: Evaluation) -> Projection:
        table = self._table
        left, basis = table.target.copy(), list[Numbers]()
        columns = [table.weights] * program.offset + [term * table.weights for term in run.terms]
        mixed, read, live = np.zeros((len(columns), len(columns))), np.zeros(len(columns)), list[bool]()
        for j, column in enumerate(columns):
            q = column
            before = after = reached = float(q @ q)
            if not before < 1e200:
                raise UndefinedError
            for again in range(2):
                if again and not after < CANCELS * reached:
                    break
                reached = after
                for place, one in enumerate(basis):
                    if live[place]:
                        part = float(one @ q)
                        mixed[place, j] += part
                        q = q - part * one
                after = float(q @ q)
            live.append(after > INDEPENDENT * before and after > 0)
            if live[-1]:
                mixed[j, j] = math.sqrt(after)
                q = q / mixed[j, j]
                read[j] = q @ left
                left = left - read[j] * q
            basis.append(q if live[-1] else np.zeros_like(q))
        weights = [0.0] * len(columns)
        for j in reversed(range(len(columns))):
            if live[j]:
                rest = sum(mixed[j, k] * weights[k] for k in range(j + 1, len(columns)))
                weights[j] = float((read[j] - rest) / mixed[j, j])
        square = float(left @ left)
        if not square < math.inf:
            raise UndefinedError
        self.work += left.shape[0] * (program.terms + 1) * (program.terms + 3)
        return Projection(basis, left, weights if program.offset else [0.0, *weights], square)

    def _run(self, program: Program, constants: list[float], slopes: bool, random: Random | None = None) -> Evaluation:
        """Evaluation a program; constants that are NaN are drawn on the way, where there is something to draw from."""
        run, stack, used = Evaluation(), list[tuple[Numbers, int]](), 0
        code = list(zip(program.code[::2], program.code[1::2], strict=True))
        for place, (op, argument) in enumerate(code):
            if random is not None and op in (Op.LOAD_POWER, Op.RAISE_FREE) and math.isnan(constants[used]):
                constants[used] = random.sign() * random.between(0.3, 4)
            if op == Op.LOAD:
                stack.append((self._table.columns[argument], used))
            elif op == Op.LOAD_POWER:
                logs = self._table.columns[argument]
                values = np.exp(constants[used] * logs)
                run.slopes.append(values * logs)
                stack.append((values, used))
                used += 1
            elif op == Op.MULTIPLY:
                (right, second), (left, first) = stack.pop(), stack.pop()
                _chain(run, first, second, right)
                _chain(run, second, used, left)
                stack.append((left * right, first))
            elif op == Op.SUM:
                used = self._sum(run, stack, argument, code[place + 1], constants, used, random)
            elif op == Op.TERM:
                values, first = stack.pop()
                run.term_of += [len(run.terms)] * (used - first)
                run.terms.append(values)
            else:
                values, first = stack.pop()
                power = constants[used] if op == Op.RAISE_FREE else argument / 4
                values, slope, logs = self._applied(Op(op), argument, values, power)
                _chain(run, first, used, slope)
                if op == Op.RAISE_FREE:
                    run.slopes.append(values * logs)
                    used += 1
                stack.append((values, first))
        self.work += len(code) * self._table.columns.shape[1] * (1 + program.constants if slopes else 1)
        return run

    def _sum(
        self,
        run: Evaluation,
        stack: list[tuple[Numbers, int]],
        argument: int,
        following: tuple[int, int],
        constants: list[float],
        used: int,
        random: Random | None,
    ) -> int:
        count, first_is_one, offset = argument & 255, argument >> 8 & 1, Offset(argument >> 9)
        below, stack[-count:] = stack[-count:], []
        if random is not None:
            drawn = draw_sum(random, [values for values, _ in below], bool(first_is_one), offset, following)
            for place, value in enumerate(drawn, used):
                constants[place] = value if math.isnan(constants[place]) else constants[place]
        weights = [1.0] * first_is_one + constants[used : used + count - first_is_one]
        level = {Offset.NONE: 0.0, Offset.ONE: 1.0}.get(offset)
        values = np.full_like(self._table.ones, constants[used + count - first_is_one] if level is None else level)
        ends = [first for _, first in below[1:]] + [used]
        for weight, (term, first), end in zip(weights, below, ends, strict=True):
            values = values + weight * term
            _chain(run, first, end, weight)
        run.slopes += [term for term, _ in below[first_is_one:]]
        run.slopes += [self._table.ones] if offset == Offset.FREE else []
        stack.append((values, below[0][1]))
        return used + count - first_is_one + (offset == Offset.FREE)

    def _applied(  # noqa: PLR0911 one for each kind of function
        self, op: Op, argument: int, x: Numbers, power: float
    ) -> tuple[Numbers, Numbers, Numbers]:
        """Return values and slopes of a function, and the logarithm of its argument where it is a fitted power."""
        if op is Op.EXP:
            values = np.exp(np.clip(x, -708.0, 709.0))
            return values, values, x
        if op in (Op.SIN, Op.COS):
            x = np.where(np.abs(x) > 1e6, np.nan, x)
            return (np.sin(x), np.cos(x), x) if op is Op.SIN else (np.cos(x), -np.sin(x), x)
        if op is Op.TANH:
            values = np.tanh(x)
            return values, 1 - values * values, x
        if op is Op.OUTSIDE:
            return *self._outside(argument, x), x
        whole = op is Op.RAISE and argument % 4 == 0
        if not (whole and argument > 0) and not ((x > LEAST).all() or (x < -LEAST).all()):
            raise UndefinedError
        if op is Op.LOG:
            return np.log(np.abs(x)), 1 / x, x
        if whole:
            values = x ** float(power)
            return values, power * (x ** float(power - 1)), x
        logs = np.log(np.abs(x))
        values = np.exp(np.clip(power * logs, -708.0, 709.0))
        return values, power * values / x, logs


def _chain(run: Evaluation, first: int, end: int, factor: Numbers | float) -> None:
    for place in range(first, end):
        run.slopes[place] = run.slopes[place] * factor


def _solved(matrix: Numbers, toward: Numbers, damping: float) -> Numbers:
    damped = matrix + damping * np.diag(matrix.diagonal())
    lower = np.linalg.cholesky(damped)
    return np.linalg.solve(lower.T, np.linalg.solve(lower, toward))
