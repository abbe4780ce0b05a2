"""The paper's own tasks, seed by seed: how often the true function is found, and how long it takes."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from occamkit.errors import UserError, did_you_mean
from occamkit.protocols import Primitive
from occamkit.registry import Registry
from occamkit.result import Result
from occamkit.solve import make_result
from occamkit.task.checks import callable_primitives
from occamkit.task.formula import parse
from occamkit.task.formula_folds import evaluate
from occamkit.task.load import load_task
from occamkit.task.problem import make_problem
from occamkit.task.spec import FormulaData, TaskSpec
from occamkit.train.run import train
from occamkit_bench.clock import one_thread

PREFIX = "paper/"
PUBLISHED: dict[str, tuple[float, float]] = {
    "2x2-3x": (1.0, 5),
    "sin-3x-2": (0.8, 56),
    "sum-sin-nx": (0.7, 190),
    "rational": (0.9, 81),
    "x02-x15": (0.3, 305),
    "half-squares": (0.6, 83),
}
"""The paper's rate of success and mean seconds, by task."""

POINTS = 1_000
WIDER = 1.5
TOLERANCE = 1e-6
_SMALLEST = 1e-9
"""Relative errors are taken of at least this part of the truth's median size, so that its zeros do no harm."""

Ranges = Mapping[str, tuple[float, float]]
Report = Callable[[str], None]


@dataclass(frozen=True)
class Attempt:
    """One run: whether it found the truth, and what it cost."""

    seed: int
    success: bool
    expression: str
    seconds: float
    cpu_seconds: float


def chosen_tasks(wanted: Sequence[str], registry: Registry) -> list[str]:
    """Return the names of the paper's tasks, or those of them that are wanted, with or without `paper/`."""
    known = [name for name in registry.names("tasks") if name.startswith(PREFIX)]
    names = [name if name.startswith(PREFIX) else PREFIX + name for name in wanted]
    for name in names:
        if name not in known:
            raise UserError(f"--task: there is no task {name!r}{did_you_mean(name, known)}")
    return names or sorted(known)


def paper(tasks: Sequence[str], seeds: int, report: Report) -> list[dict[str, Any]]:
    """Run each task with seeds 0 … seeds - 1; one row for each task."""
    one_thread()
    registry = Registry.load()
    rows = []
    for task in chosen_tasks(tasks, registry):
        attempts = []
        for seed in range(seeds):
            attempts.append(attempt(task, seed, registry))
            last = attempts[-1]
            report(f"{task} seed {seed}: {'found' if last.success else 'missed'} in {last.seconds:.1f} s")
        rows.append(_row(task, attempts))
    return rows


def attempt(task: str, seed: int, registry: Registry) -> Attempt:
    """Run a task once and hold what it finds against the truth."""
    loaded = load_task(task, registry)
    started = time.process_time()
    problem = make_problem(loaded, registry, seed, "cpu")
    outcome = train(problem)
    spent = time.process_time() - started
    result = make_result(problem, outcome)
    success = is_truth(result, loaded.spec, callable_primitives(registry), seed)
    return Attempt(seed, success, _best(result), result.seconds, spent)


def is_truth(result: Result, spec: TaskSpec, primitives: Mapping[str, Primitive], seed: int = 0) -> bool:
    """Whether every output equals its target on fresh points inside the training ranges and outside them."""
    if not isinstance(spec.data, FormulaData) or spec.data.target is None:
        raise UserError(f"task {spec.name!r} has no target formula to hold a result against")
    target = spec.data.target
    ranges = {one.name: one.range for one in spec.inputs if one.range is not None}
    for output in result.outputs:
        truth = target if isinstance(target, str) else target[output.name]
        if output.best is None:
            return False
        for points in (inside(ranges, seed), outside(ranges, seed)):
            if not agree(output.best.expression, truth, points, primitives):
                return False
    return True


def inside(ranges: Ranges, seed: int) -> dict[str, Tensor]:
    """Draw fresh points from the ranges."""
    # Far from the seeds of the tasks, so that no training point comes again.
    generator = torch.Generator().manual_seed(1_000_003 + seed)
    return {name: _uniform(low, high, generator) for name, (low, high) in ranges.items()}


def outside(ranges: Ranges, seed: int) -> dict[str, Tensor]:
    """Draw points from ranges widened 1.5 times about their middles, and keep those outside the ranges themselves."""
    wider = {}
    for name, (low, high) in ranges.items():
        middle, half = (low + high) / 2, WIDER * (high - low) / 2
        wider[name] = (middle - half, middle + half)
    drawn = [inside(wider, seed + 1_000 * (1 + turn)) for turn in range(8)]  # a third of them at least is outside
    columns = {name: torch.cat([points[name] for points in drawn]) for name in ranges}
    beyond = torch.stack([(columns[name] < low) | (columns[name] > high) for name, (low, high) in ranges.items()])
    keep = torch.nonzero(beyond.any(0)).squeeze(1)[:POINTS]
    return {name: column.index_select(0, keep) for name, column in columns.items()}


def agree(found: str, truth: str, points: Mapping[str, Tensor], primitives: Mapping[str, Primitive]) -> bool:
    """Whether two formulas are equal wherever the second is defined."""
    names = list(points)
    expected = evaluate(parse(truth, names, primitives), points, primitives)
    given = evaluate(parse(found, names, primitives), points, primitives)
    defined = torch.isfinite(expected)
    expected, given = expected[defined], given[defined]
    size = expected.abs().clamp(min=_SMALLEST * float(expected.abs().median()))
    # Written so that an undefined value is no agreement.
    return bool(((given - expected).abs() <= TOLERANCE * size).all())


def _uniform(low: float, high: float, generator: torch.Generator) -> Tensor:
    return low + (high - low) * torch.rand(POINTS, dtype=torch.float64, generator=generator)


def _best(result: Result) -> str:
    return "; ".join(one.best.expression if one.best is not None else "nothing" for one in result.outputs)


def _row(task: str, attempts: Sequence[Attempt]) -> dict[str, Any]:
    rate, seconds = PUBLISHED.get(task.removeprefix(PREFIX), (None, None))
    return {
        "task": task,
        "seeds": len(attempts),
        "successes": sum(one.success for one in attempts),
        "mean_seconds": round(statistics.mean(one.seconds for one in attempts), 2),
        "max_seconds": round(max(one.seconds for one in attempts), 2),
        "mean_cpu_seconds": round(statistics.mean(one.cpu_seconds for one in attempts), 2),
        "paper_rate": rate,
        "paper_seconds": seconds,
        "missed": [{"seed": one.seed, "expression": one.expression} for one in attempts if not one.success],
    }
