"""`occamkit report`: a run for people to look at."""

from __future__ import annotations

from pathlib import Path

import click

from occamkit.cli.output import pack_options


@click.command()
@click.argument("run", type=click.Path(path_type=Path))
@click.option("--format", "kind", type=click.Choice(["html", "png", "md"]), default="html", show_default=True)
@click.option("--out", type=click.Path(path_type=Path), help="The file to write; absent, report.* in RUN.")
@click.option("--animate", type=click.Path(path_type=Path), metavar="FILE.gif", help="Write the network converging.")
@pack_options
def report(run: Path, kind: str, out: Path | None, animate: Path | None, block: tuple[str, ...]) -> None:
    """Write a report of the run in folder RUN, or, with --animate, a film of its network.

    The page is one file that needs nothing else. Pictures and films need the extra occamkit[report].
    """
    from occamkit.cli.folder import open_run
    from occamkit.packs.registry import Registry
    from occamkit.report.write import write_report

    path = write_report(open_run(run), Registry.load(block=block), "gif" if animate else kind, animate or out)
    click.echo(str(path))
