"""`occamkit run`: search for the formulas of a task, showing how it goes."""

from __future__ import annotations

import tomllib
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from occamkit.cli.output import SEED, json_option, pack_options

if TYPE_CHECKING:
    from occamkit.result import Found, Result


REASONS = {"converged": "done", "steps": "out of steps", "seconds": "out of time", "interrupted": "interrupted"}


@click.command()
@click.argument("task")
@click.option("--seed", type=SEED, default=0, show_default=True, help="Seed of everything random.")
@click.option("--device", default="auto", show_default=True, help="auto, cpu, cuda or mps.")
@click.option("--set", "changes", multiple=True, metavar="KEY=VALUE", help="Replace a value, as trainer.functions=500.")
@click.option("--out", type=click.Path(path_type=Path), help="New folder for task.toml, trace.jsonl and result.json.")
@click.option("--quiet", is_flag=True, help="Show nothing but the result.")
@pack_options
@json_option
def run(
    task: str,
    seed: int,
    device: str,
    changes: tuple[str, ...],
    out: Path | None,
    quiet: bool,
    block: tuple[str, ...],
    as_json: bool,
) -> None:
    """Search for the formulas of TASK.

    Progress goes to standard error, the result to standard output. Ctrl-C ends the search with what it has found.
    """
    import torch

    from occamkit.cli.folder import claim_folder, write_result
    from occamkit.cli.progress import follow
    from occamkit.registry import Registry
    from occamkit.solve import make_result
    from occamkit.task.load import load_task
    from occamkit.task.problem import make_problem
    from occamkit.train.run import train
    from occamkit.train.trace import trace_to

    # Searches are many small operations: a second thread costs more in waiting than it brings.
    torch.set_num_threads(1)
    registry = Registry.load(block=block)
    loaded = load_task(task, registry, dict(map(read_change, changes)))
    folder = claim_folder(out) if out is not None else None
    problem = make_problem(loaded, registry, seed, device)
    tracing = trace_to(folder / "trace.jsonl") if folder is not None else nullcontext()
    with follow(problem, quiet) as observe, tracing as trace:
        outcome = train(problem, observe, trace)
    result = make_result(problem, outcome)
    if folder is not None:
        write_result(folder, loaded.spec, getattr(loaded, "folder", Path()), result)
    if as_json:
        click.echo(result.to_json())
    else:
        show_result(result, quiet)
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
        click.echo(_line(output.name, output.best))
    if not quiet:
        click.echo(
            f"{REASONS[result.stop]} after {result.seconds:.1f} s and {result.steps} steps: "
            f"{result.functions:,} functions drawn, {result.unique_functions:,} different ones evaluated",
            err=True,
        )


def _line(name: str, found: Found) -> str:
    unit = f"  [{found.unit}]" if found.unit else ""
    part = "valid" if "valid" in found.mse else "train"
    return f"{name} = {found.expression}{unit}    {part} R² {found.r2[part]:.6g}, complexity {found.complexity:g}"
