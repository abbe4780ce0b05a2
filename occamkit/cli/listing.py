"""`occamkit list`: everything that the loaded packs provide."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

import click

from occamkit.cli.output import emit_json, emit_table, json_option, pack_options

if TYPE_CHECKING:
    from occamkit.packs.find import Entry

LISTED = ("primitives", "constants", "fitnesses", "regularizers", "wrappers", "tasks", "proposers", "exporters")


@click.command("list")
@click.argument("kind", type=click.Choice(LISTED))
@pack_options
@json_option
def list_command(kind: str, block: tuple[str, ...], as_json: bool) -> None:
    """List what is registered of a KIND."""
    from occamkit.packs.registry import Registry

    rows = [describe(entry) for entry in Registry.load(block=block).entries(kind)]
    if as_json:
        emit_json(rows)
    elif not rows:
        click.echo(f"no {kind} are registered", err=True)
    else:
        shown = [key for key in rows[0] if key not in {"qualified", "clusters"}]
        emit_table(shown, ([_cell(row[key]) for key in shown] for row in rows))


def describe(entry: Entry) -> dict[str, Any]:
    """Return what there is to know of one thing that a pack provides."""
    if entry.kind == "primitives":
        return _describe_primitive(entry)
    value = entry.value
    about = {"name": entry.name, "pack": entry.pack, "qualified": entry.qualified}
    if entry.kind == "constants":
        return {**about, "value": repr(value.value), "unit": value.unit, "about": value.about}
    if hasattr(value, "stage"):
        about["stage"] = value.stage.value
    if dataclasses.is_dataclass(value) and isinstance(value, type):
        about["options"] = {field.name: _default(field) for field in dataclasses.fields(value)}  # type: ignore[assignment]
    summary = getattr(value, "path", None) or (value.__doc__ or "").partition("\n")[0]
    return {**about, "about": str(summary)}


def _describe_primitive(entry: Entry) -> dict[str, Any]:
    from occamkit.packs.trial import written
    from occamkit.primitives import rule_name

    primitive = entry.value
    return {
        "name": entry.name,
        "symbol": primitive.symbol,
        "arity": primitive.arity,
        "group": entry.group,
        "pack": entry.pack,
        "qualified": entry.qualified,
        "units": rule_name(primitive.units),
        "sympy": str(written(primitive)),
        "commutative": primitive.commutative,
        "complexity": primitive.complexity,
        "constants": [constant.name for constant in primitive.constants],
        "clusters": [dataclasses.asdict(cluster) for cluster in primitive.clusters],
    }


def _default(field: dataclasses.Field[Any]) -> Any:
    if field.default is not dataclasses.MISSING:
        return field.default
    return field.default_factory() if field.default_factory is not dataclasses.MISSING else "required"


def _cell(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{key}={option}" for key, option in value.items())
    if isinstance(value, list):
        return ", ".join(map(str, value))
    if isinstance(value, bool):
        return "yes" if value else ""
    return f"{value:g}" if isinstance(value, float) else "" if value is None else str(value)
