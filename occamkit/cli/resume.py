"""`occamkit resume`: go on with a run that was interrupted or killed."""

from __future__ import annotations

from pathlib import Path

import click

from occamkit.cli.folder import checkpoint_option
from occamkit.cli.output import json_option, pack_options


@click.command()
@click.argument("run", type=click.Path(path_type=Path))
@click.option("--quiet", is_flag=True, help="Show nothing but the result.")
@checkpoint_option
@pack_options
@json_option
def resume(run: Path, quiet: bool, checkpoint_every: float, block: tuple[str, ...], as_json: bool) -> None:
    """Go on with the run in folder RUN.

    A run that is bounded by steps, or converges, gives the very result of one that was never interrupted; one that is
    bounded by seconds has the seconds that were left. Of a run that is finished, the result is shown.
    """
    from occamkit.cli.folder import open_run
    from occamkit.cli.run import finish
    from occamkit.packs.registry import Registry
    from occamkit.solve import run_problem

    folder, registry = open_run(run), Registry.load(block=block)
    if folder.finished:
        click.echo(f"{run}: is finished", err=True)
        finish(folder.result(registry), run, quiet, as_json)
        return
    kept = folder.checkpoint()
    problem = folder.problem(registry, kept)
    result = run_problem(problem, folder, show=not quiet, every=checkpoint_every, state=kept["state"])
    finish(result, run, quiet, as_json)
