"""The paper's own tasks, seed by seed: how often the true function is found, and how long it takes."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from occamkit.errors import UserError, did_you_mean
from occamkit.packs.registry import Registry
from occamkit.protocols import Primitive, Task
from occamkit.result import Result
from occamkit.result.write import make_result
from occamkit.search import search
from occamkit.task.file.checks import callable_primitives
from occamkit.task.file.load import load_task
from occamkit.task.problem import Problem, make_problem
from occamkit.task.spec import Choice, FormulaData
from occamkit_bench.clock import one_thread
from occamkit_bench.relations import APPROXIMATIONS, is_close, is_relation
from occamkit_bench.truth import depth, is_truth, points

PREFIX = "paper/"
NETWORK = "occamkit:network"
PUBLISHED: dict[str, tuple[float, float]] = {
    "2x2-3x": (1.0, 5),
    "sin-3x-2": (0.8, 56),
    "sum-sin-nx": (0.7, 190),
    "rational": (0.9, 81),
    "x02-x15": (0.3, 305),
    "half-squares": (0.6, 83),
    "power-law": (1.0, 553),
    "cosine-identity": (0.8, 410),
    "x0x1": (1.0, 294),
    "x0-over-x1": (0.9, 232),
    "circle": (1.0, 153),
    "x0-over-cos": (1.0, 131),
    "momentum": (1.0, 270),
    "three-x-or-x": (0.7, 26),
    "square-or-neg": (1.0, 10),
    "x-or-sin": (1.0, 236),
    "sort3": (0.7, 81),
    "lfsr4": (1.0, 14),
    "two-branch": (0.3, 157),
    "recursion-4": (1.0, 64),
    "recursion-2": (1.0, 64),
}
"""The paper's rate of success and mean seconds, by task."""

Report = Callable[[str], None]


@dataclass(frozen=True)
class Attempt:
    """One run: whether it found the truth, and what it cost."""

    seed: int
    success: bool
    expression: str
    depth: int
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
            attempts.append(attempt(load_task(task, registry), seed, registry))
            last = attempts[-1]
            report(f"{task} seed {seed}: {'found' if last.success else 'missed'} in {last.seconds:.1f} s")
        rows.append(row(task, attempts))
    return rows


def alone(problem: Problem) -> Problem:
    """Return a problem that the network searches alone, as the paper's does."""
    return replace(problem, spec=problem.spec.model_copy(update={"proposers": [Choice(name=NETWORK)]}))


def attempt(task: Task, seed: int, registry: Registry, everyone: bool = False) -> Attempt:
    """Run a task once and hold what it finds against the truth; the network searches alone, unless everyone does."""
    started = time.process_time()
    problem = make_problem(task, registry, seed, "cpu")
    outcome = search(problem if everyone else alone(problem))
    spent = time.process_time() - started
    result = make_result(problem, outcome)
    success = _succeeded(result, task, callable_primitives(registry), seed)
    return Attempt(seed, success, _best(result), depth(result), result.seconds, spent)


def _succeeded(result: Result, task: Task, primitives: Mapping[str, Primitive], seed: int) -> bool:
    """Whether a result is what the task is after: a relation, an approximation, or the target itself."""
    name, spec = task.name.removeprefix(PREFIX), task.spec
    if spec.implicit is not None:
        return is_relation(result, task, name, primitives, seed)
    if name in APPROXIMATIONS and isinstance(spec.data, FormulaData) and isinstance(spec.data.target, str):
        return is_close(result, name, spec.data.target, points(spec, seed)[0], primitives)
    return is_truth(result, spec, primitives, seed)


def _best(result: Result) -> str:
    return "; ".join(one.best.expression if one.best is not None else "nothing" for one in result.outputs)


def row(task: str, attempts: Sequence[Attempt]) -> dict[str, Any]:
    """Return what several attempts at a task come to."""
    rate, seconds = PUBLISHED.get(task.removeprefix(PREFIX), (None, None))
    return {
        "task": task,
        "seeds": len(attempts),
        "successes": sum(one.success for one in attempts),
        "mean_seconds": round(statistics.mean(one.seconds for one in attempts), 2),
        "max_seconds": round(max(one.seconds for one in attempts), 2),
        "mean_cpu_seconds": round(statistics.mean(one.cpu_seconds for one in attempts), 2),
        "depths": sorted({one.depth for one in attempts}),
        "paper_rate": rate,
        "paper_seconds": seconds,
        "missed": [{"seed": one.seed, "expression": one.expression} for one in attempts if not one.success],
    }
