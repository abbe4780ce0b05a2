"""`occamkit plugins`: what is installed, and what became of it."""

from __future__ import annotations

from typing import Any

import click

from occamkit.cli.output import emit_json, emit_table, json_option, pack_options


@click.group()
def plugins() -> None:
    """See the packs that are installed."""


@plugins.command("list")
@pack_options
@json_option
def list_packs(block: tuple[str, ...], as_json: bool) -> None:
    """List every pack with its version, its status, and what it provides."""
    from occamkit.packs import KINDS
    from occamkit.registry import Registry

    rows: list[dict[str, Any]] = []
    for pack in Registry.load(block=block).packs:
        provides = {kind: [entry.name for entry in pack.entries if entry.kind == kind] for kind in KINDS}
        rows.append(
            {
                "name": pack.name,
                "version": pack.version,
                "status": str(pack.status),
                "reason": pack.reason,
                "provides": {kind: names for kind, names in provides.items() if names},
            }
        )
    if as_json:
        emit_json(rows)
        return
    table = []
    for row in rows:
        counts = ", ".join(
            f"{len(names)} {kind if len(names) > 1 else KINDS[kind]}" for kind, names in row["provides"].items()
        )
        table.append((row["name"], row["version"], row["status"], counts or "nothing", row["reason"]))
    emit_table(("pack", "version", "status", "provides", "why not ok"), table)
