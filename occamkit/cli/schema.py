"""`occamkit schema`: the JSON schema of the task file, with what the loaded packs add."""

from __future__ import annotations

import click

from occamkit.cli.output import emit_json, pack_options


@click.command()
@pack_options
@click.option("--json", "as_json", is_flag=True, help="Accepted for symmetry: the schema is JSON anyway.")
def schema(block: tuple[str, ...], as_json: bool) -> None:
    """Print the JSON schema of a task file.

    Editors check TOML with it as you type: save it and put `#:schema ./occamkit.schema.json` in the first line of a
    task file.
    """
    from occamkit.packs.registry import Registry
    from occamkit.task.file.model import model_for

    document = model_for(Registry.load(block=block)).model_json_schema()
    emit_json(
        {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "$id": "occamkit.schema.json",
            **document,
            "title": "occamkit task",
        }
    )
