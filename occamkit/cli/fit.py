"""`occamkit fit`: from a CSV file to a formula, with nothing else to say."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from occamkit.cli.folder import checkpoint_option
from occamkit.cli.output import SEED, json_option, pack_options


@click.command()
@click.argument("data", type=click.Path(path_type=Path))
@click.option("--target", required=True, metavar="COLUMN", help="The column to find a formula for.")
@click.option("--inputs", metavar="A,B", help="The columns it may read; absent, all that hold numbers.")
@click.option("--unit", "units", multiple=True, metavar="COLUMN=UNIT", help="Unit of a column, such as v=m/s.")
@click.option("--primitives", metavar="A,B", help="Names and groups of what formulas are made of.")
@click.option("--proposers", metavar="A,B", help="Names of those that search; absent, all that are of use.")
@click.option("--start", multiple=True, metavar="FORMULA", help="A formula of your own that the search starts from.")
@click.option(
    "--missing", type=click.Choice(["error", "drop"]), default="error", show_default=True, help="Rows with gaps."
)
@click.option(
    "--split", metavar="valid=A,test=B", help="Parts of the rows that choose and that test, as valid=0.2,test=0."
)
@click.option("--seconds", type=click.FloatRange(min=0, min_open=True), default=60.0, show_default=True)
@click.option("--steps", type=click.IntRange(min=1), help="Steps in all, in place of seconds.")
@click.option("--seed", type=SEED, default=0, show_default=True, help="Seed of everything random.")
@click.option("--device", default="auto", show_default=True, help="auto, cpu, cuda or mps.")
@click.option("--out", type=click.Path(path_type=Path), help="New folder for the run.")
@click.option("--quiet", is_flag=True, help="Show nothing but the result.")
@checkpoint_option
@pack_options
@json_option
def fit(
    data: Path,
    target: str,
    inputs: str | None,
    units: tuple[str, ...],
    primitives: str | None,
    proposers: str | None,
    start: tuple[str, ...],
    missing: str,
    split: str | None,
    seconds: float,
    steps: int | None,
    seed: int,
    device: str,
    out: Path | None,
    quiet: bool,
    checkpoint_every: float,
    block: tuple[str, ...],
    as_json: bool,
) -> None:
    """Find a formula for a column of the CSV file DATA.

    Rows are held out to choose between formulas and to report how good they are. The search ends early when a formula
    is exact. What is decided on the way, such as leaving out columns of text, is said on standard error, and stands in
    the task.toml of the run folder.
    """
    from occamkit.cli.run import finish
    from occamkit.packs.registry import Registry
    from occamkit.runs.folder import claim
    from occamkit.runs.folder import start as start_run
    from occamkit.runs.quick import Wishes, plan_file
    from occamkit.solve import run_problem
    from occamkit.task.problem import make_problem

    registry = Registry.load(block=block)
    wishes = Wishes(
        primitives=_listed(primitives),
        proposers=_listed(proposers),
        units=dict(_unit(one) for one in units),
        start=start,
        stop={"max_steps": steps} if steps is not None else {"seconds": seconds},
    )
    plan = plan_file(data, target, registry, wishes, _listed(inputs), missing, seed, _shares(split))
    if not quiet:
        for note in plan.notes:
            click.echo(note, err=True)
    claimed = claim(out) if out is not None else None
    problem = make_problem(plan.task, registry, seed, device)
    folder = start_run(claimed, problem, data.parent) if claimed is not None else None
    finish(run_problem(problem, folder, show=not quiet, every=checkpoint_every), out, quiet, as_json)


def _listed(text: str | None) -> list[str] | None:
    return None if text is None else [one.strip() for one in text.split(",") if one.strip()]


def _unit(text: str) -> tuple[str, Any]:
    from occamkit.errors import UserError

    column, equals, unit = text.rpartition("=")
    if not equals:
        raise UserError(f"--unit takes COLUMN=UNIT, such as --unit v=m/s, got {text!r}")
    return column, unit


def _shares(text: str | None) -> tuple[float, float] | None:
    """Read the parts of the rows that validate and that test; what is not said is nothing."""
    from occamkit.errors import UserError, did_you_mean

    if text is None:
        return None
    shares = {"valid": 0.0, "test": 0.0}
    for one in text.split(","):
        name, _, share = (part.strip() for part in one.partition("="))
        if name not in shares:
            raise UserError(f"--split: no part {name!r}{did_you_mean(name, shares)}; write valid=0.2,test=0")
        try:
            shares[name] = float(share)
        except ValueError:
            raise UserError(f"--split: {name} must be a number from 0 to below 1, got {share!r}") from None
        if not 0 <= shares[name] < 1:
            raise UserError(f"--split: {name} must be a number from 0 to below 1, got {share}")
    if sum(shares.values()) >= 1:
        raise UserError(f"--split: valid and test leave no rows to train on, got {text!r}")
    return shares["valid"], shares["test"]
