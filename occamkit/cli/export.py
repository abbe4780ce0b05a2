"""`occamkit export`: a formula that was found, in another language."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from occamkit.cli.output import emit_json, json_option, pack_options


def formula_options(command: Any) -> Any:
    """Add the options that choose one formula of a run."""
    for option in (
        click.option("--output", metavar="NAME", help="Which output; needed when there are several."),
        click.option(
            "--formula",
            default="best",
            show_default=True,
            metavar="WHICH",
            help="best, likeliest, or a place on the front, 0 being the simplest.",
        ),
    ):
        command = option(command)
    return command


@click.command()
@click.argument("run", type=click.Path(path_type=Path))
@click.option("--to", "language", required=True, metavar="NAME", help="An exporter; `occamkit list exporters`.")
@formula_options
@pack_options
@json_option
def export(run: Path, language: str, output: str | None, formula: str, block: tuple[str, ...], as_json: bool) -> None:
    """Write a formula of the run in folder RUN in another language.

    It is a function of the columns that the formula uses, in the order of the task, in the units that were declared.
    """
    from occamkit.cli.folder import columns_of, open_run
    from occamkit.export import Usable, choose
    from occamkit.packs.registry import Registry

    folder, registry = open_run(run), Registry.load(block=block)
    found = choose(folder.result(registry), output, formula)
    usable = Usable.read(found.expression, columns_of(folder, registry), registry)
    text = usable.export(language)
    if as_json:
        emit_json({"to": language, "expression": found.expression, "inputs": list(usable.inputs), "text": text})
    else:
        click.echo(text, nl=not text.endswith("\n"))
