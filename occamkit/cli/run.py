"""`occamkit run`: search for the formulas of a task, showing how it goes."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from occamkit.cli.folder import checkpoint_option
from occamkit.cli.output import SEED, json_option, pack_options

if TYPE_CHECKING:
    from occamkit.result import Disagreement, Found, Result


MOST_ROWS = 5
"""Rows that disagree are shown up to this many."""

PARTS = {"train": "training", "valid": "validation", "test": "testing"}
REASONS = {"converged": "done", "steps": "out of steps", "seconds": "out of time", "interrupted": "interrupted"}


@click.command()
@click.argument("task")
@click.option("--seed", type=SEED, default=0, show_default=True, help="Seed of everything random.")
@click.option("--device", default="auto", show_default=True, help="auto, cpu, cuda or mps.")
@click.option("--set", "changes", multiple=True, metavar="KEY=VALUE", help="Replace a value, as trainer.functions=500.")
@click.option("--out", type=click.Path(path_type=Path), help="New folder for the run.")
@click.option("--quiet", is_flag=True, help="Show nothing but the result.")
@checkpoint_option
@pack_options
@json_option
def run(
    task: str,
    seed: int,
    device: str,
    changes: tuple[str, ...],
    out: Path | None,
    quiet: bool,
    checkpoint_every: float,
    block: tuple[str, ...],
    as_json: bool,
) -> None:
    """Search for the formulas of TASK.

    Progress goes to standard error, the result to standard output. Ctrl-C ends the search with what it has found;
    with --out, `occamkit resume` goes on with it.
    """
    from occamkit.packs.registry import Registry
    from occamkit.runs.folder import claim, start
    from occamkit.solve import run_problem
    from occamkit.task.file.load import load_task
    from occamkit.task.problem import make_problem

    registry = Registry.load(block=block)
    loaded = load_task(task, registry, dict(map(read_change, changes)))
    claimed = claim(out) if out is not None else None
    problem = make_problem(loaded, registry, seed, device)
    folder = start(claimed, problem, getattr(loaded, "folder", Path())) if claimed is not None else None
    result = run_problem(problem, folder, show=not quiet, every=checkpoint_every)
    finish(result, out, quiet, as_json)


def finish(result: Result, folder: Path | None, quiet: bool, as_json: bool) -> None:
    """Print a result, say how an interrupted run goes on, and exit with 1 when nothing was found."""
    if as_json:
        click.echo(result.to_json())
    else:
        show_result(result, quiet)
    if result.stop == "interrupted" and folder is not None:
        click.echo(f"go on with: occamkit resume {folder}", err=True)
    if any(output.best is None for output in result.outputs):
        raise click.exceptions.Exit(1)


def read_change(text: str) -> tuple[str, Any]:
    """Read KEY=VALUE; the value is TOML, and a bare word is a text."""
    from occamkit.errors import UserError

    key, equals, value = text.partition("=")
    if not equals:
        raise UserError(f"--set takes KEY=VALUE, such as --set trainer.functions=500, got {text!r}")
    try:
        return key, tomllib.loads(f"value = {value}")["value"]
    except tomllib.TOMLDecodeError:
        return key, value


def show_result(result: Result, quiet: bool) -> None:
    """Print the formulas, one line each, with how good they are; and how the run went, on standard error."""
    for output in result.outputs:
        if output.best is None:
            click.echo(f"{output.name}: no function that is defined on the training rows was found")
            continue
        if not output.best.inputs and output.best.relation is None and max(output.best.r2.values()) < 1:
            click.echo(f"{output.name}: no formula found; no column tells it better than a constant does:")
        for line in _lines(output.name, output.best):
            click.echo(line)
        for one in output.ties:
            click.echo(f"  as good, or nearly: {output.name} = {one.expression}    {_goodness(one)}")
        for row in output.disagrees[:MOST_ROWS]:
            given = _given(row)
            got = "undefined" if row.got is None else f"{row.got:g}"
            click.echo(f"  row {row.row} disagrees: {given}: the data say {row.expected:g}, the formula gives {got}")
        if len(output.disagrees) > MOST_ROWS:
            click.echo(f"  and {len(output.disagrees) - MOST_ROWS} more rows disagree; --json shows them")
        if output.doubt is not None:
            row, instead = output.doubt.row, output.doubt.instead
            formula = instead.logic or instead.expression
            click.echo(
                f"  or, with one exception: {output.name} = {formula}, which row {row.row} ({_given(row)}) contradicts"
            )
    if result.program is not None:
        click.echo(f"\n{result.program.rstrip()}")
    if not quiet:
        click.echo(
            f"{REASONS[result.stop]} after {result.seconds:.1f} s and {result.steps} steps: "
            f"{result.functions:,} functions drawn, {result.unique_functions:,} different ones evaluated",
            err=True,
        )


def _given(row: Disagreement) -> str:
    return ", ".join(f"{name} = {value:g}" for name, value in row.inputs.items())


def _part(found: Found) -> str:
    return "valid" if "valid" in found.mse else "train"


def _goodness(found: Found) -> str:
    part = _part(found)
    return f"{part} R² {found.r2[part]:.6g}, complexity {found.complexity:g}"


def _lines(name: str, found: Found) -> Iterator[str]:
    unit = f"  [{found.unit}]" if found.unit else ""
    part = _part(found)
    if found.relation is not None:
        error = found.mse[part] ** 0.5
        yield f"{found.relation}    {part} error {error:.3g}, complexity {found.complexity:g}"
        for variable, solutions in found.solved.items():
            yield f"  {variable} = {' or '.join(solutions)}"
    else:
        formula = found.logic or found.expression
        repeated = f", applied {found.recurrence} times" if (found.recurrence or 1) > 1 else ""
        yield f"{name} = {formula}{unit}{repeated}    {_goodness(found)}"
    if found.errors:
        values = (
            f"{name} = {found.constants[name]:.6g} ± {error:.2g} {found.units.get(name, '')}".rstrip()
            for name, error in found.errors.items()
        )
        yield f"  as {found.form} with {', '.join(values)}"
    if found.refitted:
        yield f"  numbers are fitted to all training and validation rows; {part} R² is that before, with rows held back"
    for where, rows in found.undefined.items():
        yield f"  undefined on {rows} of the rows for {PARTS[where]}"
