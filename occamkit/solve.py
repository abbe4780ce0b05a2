"""The one door to a search: a problem in, a result out, and a run folder if one is wanted.

`occamkit.run`, the commands and the estimator all come through here.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from occamkit.packs.registry import Registry
from occamkit.protocols import Task
from occamkit.report.write import write_report
from occamkit.result import Result
from occamkit.result.write import make_result
from occamkit.runs.folder import EVERY, FolderKeeper, RunFolder, claim, start
from occamkit.runs.live import follow
from occamkit.search import Observer, State, search
from occamkit.search.trace import trace_to
from occamkit.task.file.load import load_task, with_overrides
from occamkit.task.problem import Problem, make_problem


def run(
    task: str | Path | Task,
    seed: int = 0,
    device: str = "auto",
    *,
    registry: Registry | None = None,
    observe: Observer | None = None,
    out: str | Path | None = None,
    **overrides: Any,
) -> Result:
    """Search for the formulas of a task.

    task: a file, the name of a registered task, or a task.
    overrides: values in place of the file's, by dotted key with two underscores for the dot: trainer__functions=500.
    observe: called with every event of the run; see `occamkit.search`. out: a new folder that keeps the run, as
    `occamkit run --out` does.
    """
    registry = registry or Registry.load()
    changed = {key.replace("__", "."): value for key, value in overrides.items()}
    if isinstance(task, str | Path):
        loaded = load_task(task, registry, changed)
    else:
        loaded = with_overrides(task, registry, changed)
    problem = make_problem(loaded, registry, seed, device)
    folder = None
    if out is not None:
        folder = start(claim(Path(out)), problem, getattr(loaded, "folder", Path()))
    return run_problem(problem, folder, observers=() if observe is None else (observe,))


def run_problem(
    problem: Problem,
    folder: RunFolder | None = None,
    *,
    show: bool = False,
    every: float = EVERY,
    state: State | None = None,
    observers: Sequence[Observer] = (),
) -> Result:
    """Search, and write out what was found.

    folder: keeps trace, checkpoints, result and report. show: how it goes, on standard error or in a notebook.
    state: of a run that goes on.
    """
    with ExitStack() as stack:
        heard = list(observers)
        if folder is not None:
            # The trace before the checkpoint, so that no turn that is kept is missing in it.
            after = 0 if state is None else state["turns"]
            heard.append(stack.enter_context(trace_to(folder.path / "trace.jsonl", after)))
            heard.append(FolderKeeper.of(folder, problem, every, resumed=state is not None))
        if show:
            heard.append(stack.enter_context(follow(problem)))
        outcome = search(problem, heard, state)
    result = make_result(problem, outcome)
    if folder is not None:
        folder.write_result(result)
        write_report(folder, problem.registry, "html", problem=problem)
    return result
