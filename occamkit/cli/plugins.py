"""`occamkit plugins`: what is installed and what became of it, whether it keeps its promises, and a new one."""

from __future__ import annotations

from typing import Any

import click

from occamkit.cli.check_pack import check_pack
from occamkit.cli.new_pack import new
from occamkit.cli.output import emit_json, emit_table, json_option, pack_options


@click.group()
def plugins() -> None:
    """See the packs that are installed, check one, make one."""


plugins.add_command(check_pack)
plugins.add_command(new)


@plugins.command("list")
@pack_options
@json_option
def list_packs(block: tuple[str, ...], as_json: bool) -> None:
    """List every pack with its version, its status, and what it provides."""
    from occamkit.packs.find import KINDS
    from occamkit.packs.registry import Registry

    own = getattr(click.get_current_context().find_root().command, "commands", {})
    rows: list[dict[str, Any]] = []
    for pack in Registry.load(block=block).packs:
        provides = {kind: [entry.name for entry in pack.entries if entry.kind == kind] for kind in KINDS}
        hidden = [name for name in provides["commands"] if name in own]
        notes = [*pack.notes, *(f"command {name!r} is occamkit's own already; rename it" for name in hidden)]
        rows.append(
            {
                "name": pack.name,
                "version": pack.version,
                "status": str(pack.status),
                "reason": pack.reason,
                "notes": notes,
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
        remarks = "; ".join(filter(None, (row["reason"], *row["notes"])))
        table.append((row["name"], row["version"], row["status"], counts or "nothing", remarks))
    emit_table(("pack", "version", "status", "provides", "why not ok"), table)
