"""The run folder as commands see it: `--out` claims one, `RUN` names one."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from occamkit.registry import Registry
    from occamkit.result import Result
    from occamkit.runs import RunFolder
    from occamkit.task.problem import Problem
    from occamkit.train.checkpoint import State


CHECKPOINT_EVERY = 10.0
"""Seconds between checkpoints, unless the user says otherwise."""


def checkpoint_option(command: Any) -> Any:
    """Add --checkpoint-every to a command that searches."""
    return click.option(
        "--checkpoint-every",
        type=click.FloatRange(min=0),
        default=CHECKPOINT_EVERY,
        show_default=True,
        metavar="SECONDS",
        help="How often the state of the run is kept in its folder.",
    )(command)


def search(
    problem: Problem,
    folder: RunFolder | None,
    quiet: bool,
    every: float,
    state: State | None = None,
) -> Result:
    """Search, showing how it goes; with a folder, keep trace, checkpoints, result and report in it."""
    import torch

    from occamkit.live import follow
    from occamkit.report.write import write_report
    from occamkit.runs import CheckpointKeeper
    from occamkit.search.portfolio import search as search_portfolio
    from occamkit.search.portfolio import worth_restoring
    from occamkit.solve import make_result
    from occamkit.train.trace import trace_to

    # Searches are many small operations: a second thread costs more in waiting than it brings.
    torch.set_num_threads(1)
    state = worth_restoring(problem, state)
    keep = CheckpointKeeper(folder.path, problem, every) if folder is not None else None
    done = state["steps"] if state is not None else 0
    tracing = trace_to(folder.path / "trace.jsonl", done) if folder is not None else nullcontext()
    with follow(problem, quiet) as observe, tracing as trace:
        outcome = search_portfolio(problem, observe, trace, keep, state)
    result = make_result(problem, outcome)
    if folder is not None:
        folder.write_result(result)
        write_report(folder, problem.registry, "html", problem=problem)
    return result


def open_run(path: Path) -> RunFolder:
    """Return the run in a folder."""
    from occamkit.runs import RunFolder

    return RunFolder.open(path)


def columns_of(folder: RunFolder, registry: Registry) -> list[str]:
    """Return the names of a run's input columns, in the order of its task."""
    task = folder.task(registry)
    if task.spec.inputs:
        return [one.name for one in task.spec.inputs]
    return [one.name for one in task.data(0).variables]
