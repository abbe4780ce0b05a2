"""`occamkit run`: search for the formulas of a task, showing how it goes."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

import click

from occamkit.cli.output import json_option, pack_options

if TYPE_CHECKING:
    from occamkit.result import Found, Result


@click.command()
@click.argument("task")
@click.option("--seed", default=0, show_default=True, help="Seed of everything random.")
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
    from occamkit.errors import UserError
    from occamkit.registry import Registry
    from occamkit.solve import make_result, parse_overrides
    from occamkit.task.load import load_task
    from occamkit.task.problem import make_problem
    from occamkit.train.run import train
    from occamkit.train.trace import trace_to

    # Searches are many small operations: a second thread costs more in waiting than it brings.
    torch.set_num_threads(1)
    pairs = dict(change.partition("=")[::2] for change in changes)
    if any("=" not in change for change in changes):
        raise UserError("--set takes KEY=VALUE, such as --set trainer.functions=500")
    registry = Registry.load(block=block)
    overrides = {key.replace("__", "."): value for key, value in parse_overrides(pairs).items()}
    loaded = load_task(task, registry, overrides)
    folder = claim_folder(out) if out is not None else None
    problem = make_problem(loaded, registry, seed, device)
    tracing = trace_to(folder / "trace.jsonl") if folder is not None else nullcontext()
    with follow(problem, quiet) as observe, tracing as trace:
        outcome = train(problem, observe, trace)
    result = make_result(problem, outcome)
    if folder is not None:
        write_result(folder, loaded.spec, result)
    if as_json:
        click.echo(result.to_json())
    else:
        show_result(result, quiet)
    if any(output.best is None for output in result.outputs):
        raise click.exceptions.Exit(1)


def show_result(result: Result, quiet: bool) -> None:
    """Print the formulas, one line each, with how good they are; and how the run went, on standard error."""
    for output in result.outputs:
        if output.best is None:
            click.echo(f"{output.name}: no function that is defined on the training rows was found")
            continue
        click.echo(_line(output.name, output.best))
    if not quiet:
        click.echo(
            f"{result.stop} after {result.seconds:.1f} s, {result.steps} steps, {result.functions} functions "
            f"({result.unique_functions} evaluated)",
            err=True,
        )


def _line(name: str, found: Found) -> str:
    unit = f"  [{found.unit}]" if found.unit else ""
    part = "valid" if "valid" in found.mse else "train"
    return f"{name} = {found.expression}{unit}    {part} R² {found.r2[part]:.6g}, complexity {found.complexity:g}"
