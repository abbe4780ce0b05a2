"""`occamkit.run`: a task in, a result out."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from occamkit._version import __version__
from occamkit.formulas import formula_of
from occamkit.graph import Expression
from occamkit.protocols import Task
from occamkit.registry import Registry
from occamkit.result import Found, OutputResult, Result
from occamkit.task.load import load_task, with_overrides
from occamkit.task.problem import Problem, make_problem
from occamkit.train.front import Candidate
from occamkit.train.run import Observer, Outcome, train

MOST_SHOWN = 20
"""How many functions of a front are written out."""


def run(
    task: str | Path | Task,
    seed: int = 0,
    device: str = "auto",
    *,
    registry: Registry | None = None,
    observe: Observer | None = None,
    **overrides: Any,
) -> Result:
    """Search for the formulas of a task.

    task: a file, the name of a registered task, or a task.
    overrides: values in place of the file's, by dotted key with two underscores for the dot: trainer__functions=500.
    observe: called after each step with what the run has come to.
    """
    registry = registry or Registry.load()
    changed = {key.replace("__", "."): value for key, value in overrides.items()}
    if isinstance(task, str | Path):
        loaded = load_task(task, registry, changed)
    else:
        loaded = with_overrides(task, registry, changed)
    problem = make_problem(loaded, registry, seed, device)
    return make_result(problem, train(problem, observe))


def make_result(problem: Problem, outcome: Outcome) -> Result:
    """Write out what a run found."""
    outputs = []
    for place, output in enumerate(problem.outputs):
        shown: dict[Expression, Found] = {}
        front = outcome.fronts[place][-MOST_SHOWN:]
        best, likeliest = outcome.best[place], outcome.likeliest[place]
        outputs.append(
            OutputResult(
                name=output.name,
                best=_found(problem, best, place, shown) if best is not None else None,
                likeliest=_found(problem, likeliest, place, shown),
                front=tuple(_found(problem, candidate, place, shown) for candidate in front),
            )
        )
    return Result(
        occamkit=__version__,
        task=problem.name,
        seed=problem.seed,
        device=str(problem.device),
        stop=outcome.stop,
        seconds=round(outcome.seconds, 3),
        steps=outcome.steps,
        functions=outcome.functions,
        unique_functions=outcome.unique_functions,
        packs=problem.registry.versions(),
        outputs=tuple(outputs),
    )


def _found(problem: Problem, candidate: Candidate, output: int, shown: dict[Expression, Found]) -> Found:
    """Write one candidate out; each tree is simplified once."""
    tree = candidate.tree
    if tree not in shown:
        formula = formula_of(problem, tree, output)
        shown[tree] = Found(
            expression=formula.text,
            written=tree.written(),
            latex=formula.latex,
            proposer="network",
            constants={f"c{place}": value for place, value in enumerate(candidate.tree.fitted)},
            unit=problem.dataset.output_scale(output).measure.text,
            recurrence=None,
            fitness=candidate.fitness,
            score=candidate.score,
            mse=dict(candidate.figures.mse),
            r2=dict(candidate.figures.r2),
            complexity=candidate.complexity,
            log_q=candidate.log_q if math.isfinite(candidate.log_q) else None,
        )
    return shown[tree]
