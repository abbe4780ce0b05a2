"""The run folder as commands see it: `--out` claims one, `RUN` names one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from occamkit.packs.registry import Registry
    from occamkit.runs.folder import RunFolder


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


def open_run(path: Path) -> RunFolder:
    """Return the run in a folder."""
    from occamkit.runs.folder import RunFolder

    return RunFolder.open(path)


def columns_of(folder: RunFolder, registry: Registry) -> list[str]:
    """Return the names of a run's input columns, in the order of its task."""
    task = folder.task(registry)
    if task.spec.inputs:
        return [one.name for one in task.spec.inputs]
    return [one.name for one in task.data(0).variables]
