"""How results and errors are shown: tables for people, one JSON document for programs."""

from __future__ import annotations

import dataclasses
import json
import sys
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

import click

from occamkit.errors import OccamkitError, TaskError, TaskProblem, UserError

SEED = click.IntRange(0, 2**63 - 1)
"""What a seed may be."""

Command = TypeVar("Command", bound=Callable[..., Any])


def pack_options(command: Command) -> Command:
    """Add --block to a command that loads packs."""
    return click.option(
        "--block", multiple=True, metavar="NAME", help="Leave a pack out; may be given more than once."
    )(command)


def json_option(command: Command) -> Command:
    """Add --json to a command."""
    return click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")(command)


def emit_json(document: Any) -> None:
    """Print a document on standard output."""
    click.echo(json.dumps(document, indent=2, ensure_ascii=False, default=str))


def emit_table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Print aligned columns, as wide as the terminal allows."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in header:
        table.add_column(name, overflow="fold")
    for row in rows:
        table.add_row(*[Text(cell) for cell in row])
    # A pipe has no width of its own; a wide one keeps every row on a line of its own.
    Console(width=None if sys.stdout.isatty() else 200).print(table)


def problems_of(error: OccamkitError) -> list[dict[str, Any]]:
    """Return what an error says as JSON objects."""
    problems = error.problems if isinstance(error, TaskError) else [TaskProblem(str(error))]
    return [dataclasses.asdict(problem) for problem in problems]


def report_error(error: OccamkitError, as_json: bool) -> int:
    """Show an error and return the exit code it stands for."""
    if as_json:
        emit_json({"errors": problems_of(error)})
    else:
        click.echo(str(error), err=True)
    return 2 if isinstance(error, UserError) else 1
