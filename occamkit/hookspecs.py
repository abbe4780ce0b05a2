"""The hooks of a pack: functions that take nothing and return an iterable of values.

A pack is a module (or package) named by an entry point of the group `occamkit`. It implements any of these
with `@occamkit.hookimpl`, and may state the range of this interface it was written for as
`OCCAMKIT_API = ">=0.1,<1"`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pluggy

from occamkit.primitives import Quantity
from occamkit.protocols import Exporter, Fitness, Primitive, Proposer, Regularizer, Task, TaskFile, Wrapper

if TYPE_CHECKING:
    import click

PROJECT: Final = "occamkit"
"""The entry-point group, and the project name of the markers."""

API_VERSION: Final = "0.1"
"""The version of this interface, matched against a pack's OCCAMKIT_API."""


@dataclass(frozen=True)
class Renamed:
    """What a hook is called now, and the first version of the interface that no longer knows the old name."""

    now: str
    until: str


RENAMED: Final[Mapping[str, Renamed]] = {}
"""Hooks by their old names, which still work; `occamkit plugins list` says what to change."""

hookspec = pluggy.HookspecMarker(PROJECT)
hookimpl = pluggy.HookimplMarker(PROJECT)


@hookspec
def occamkit_primitives() -> Iterable[Primitive]:  # type: ignore[empty-body]
    """Return primitives, such as `Elementwise` values."""


@hookspec
def occamkit_constants() -> Iterable[Quantity]:  # type: ignore[empty-body]
    """Return numbers with a name and a unit, for `search.constants` of a task file."""


@hookspec
def occamkit_fitnesses() -> Iterable[type[Fitness]]:  # type: ignore[empty-body]
    """Return dataclasses whose fields are the options of `[fitness]` in a task file."""


@hookspec
def occamkit_regularizers() -> Iterable[type[Regularizer]]:  # type: ignore[empty-body]
    """Return dataclasses whose fields are the options of `[[regularizers]]`; `weight` is one of them."""


@hookspec
def occamkit_wrappers() -> Iterable[type[Wrapper]]:  # type: ignore[empty-body]
    """Return dataclasses whose fields are the options of `[wrapper]`."""


@hookspec
def occamkit_tasks() -> Iterable[Task | TaskFile | Path]:  # type: ignore[empty-body]
    """Return tasks, or the TOML files of tasks; a bare path is named `pack/file-name`."""


@hookspec
def occamkit_proposers() -> Iterable[type[Proposer]]:  # type: ignore[empty-body]
    """Return dataclasses whose fields are the options of `[[proposers]]`."""


@hookspec
def occamkit_exporters() -> Iterable[Exporter]:  # type: ignore[empty-body]
    """Return exporters, chosen by `occamkit export --to NAME`."""


@hookspec
def occamkit_commands() -> Iterable[click.Command]:  # type: ignore[empty-body]
    """Return commands that join the command line as `occamkit NAME`."""
