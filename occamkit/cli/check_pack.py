"""`occamkit plugins check`: the conformance kit on one pack, as a table."""

from __future__ import annotations

import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from occamkit.cli.output import emit_json, emit_table, json_option
from occamkit.errors import UserError

if TYPE_CHECKING:
    from occamkit.packs.find import FoundPack, Pack
    from occamkit.testing import Check


@dataclass(frozen=True)
class Finding:
    """What became of one check."""

    check: Check
    message: str

    @property
    def verdict(self) -> str:
        """Whether the promise holds, is broken, or is broken as expected."""
        if self.check.expected:
            return "expected" if self.message else "holds unexpectedly"
        return "broken" if self.message else "holds"

    @property
    def fine(self) -> bool:
        """Whether this is as it should be."""
        return self.verdict in {"holds", "expected"}


@click.command("check")
@click.argument("pack")
@click.option("--all", "show_all", is_flag=True, help="Show every promise, not only those that are broken.")
@json_option
def check_pack(pack: str, show_all: bool, as_json: bool) -> None:
    """Check that PACK keeps its promises.

    PACK is the name of an installed pack, or a folder with a pyproject.toml. Exit codes: 0 every promise holds, 1 one
    does not, 2 there is no such pack.
    """
    loaded, findings = _find_out(pack)
    notes = list(loaded.notes)
    good = all(one.fine for one in findings)
    if as_json:
        emit_json(
            {
                "pack": loaded.name,
                "version": loaded.version,
                "ok": good,
                "notes": notes,
                "checks": [_document(one) for one in findings],
            }
        )
    else:
        _show(loaded, findings, show_all)
    if not good:
        raise click.exceptions.Exit(1)


def _find_out(pack: str) -> tuple[Pack, list[Finding]]:
    """Return the pack and what became of its checks."""
    from occamkit.errors import PackError
    from occamkit.packs.find import Status, load_pack
    from occamkit.packs.registry import Registry
    from occamkit.testing import checks

    registry = Registry.load(strict=False)
    if _is_folder(pack):
        found = _in_folder(Path(pack))
        loaded = load_pack(found, taken=())
        if loaded.status is not Status.OK:
            raise PackError(loaded.name, f"{loaded.status}: {loaded.reason}")
        return loaded, [_ask(check) for check in checks(found, registry=registry)]
    findings = [_ask(check) for check in checks(pack, registry=registry)]
    return next(one for one in registry.packs if one.name == pack), findings


def _is_folder(pack: str) -> bool:
    return (Path(pack) / "pyproject.toml").is_file() or any(sign in pack for sign in ("/", "\\")) or pack == "."


def _in_folder(folder: Path) -> FoundPack:
    """Return the pack of a source folder, importable from now on."""
    import importlib

    from occamkit.hookspecs import PROJECT
    from occamkit.packs.find import FoundPack

    try:
        project = tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8")).get("project", {})
    except OSError as error:
        raise UserError(f"{folder}: pyproject.toml cannot be read: {error.strerror}") from None
    except tomllib.TOMLDecodeError as error:
        raise UserError(f"{folder / 'pyproject.toml'}: {error}") from None
    entries = project.get("entry-points", {}).get(PROJECT, {})
    if not entries:
        raise UserError(f"{folder / 'pyproject.toml'}: has no [project.entry-points.{PROJECT}], so it is no pack")
    for place in (folder / "src", folder):
        if place.is_dir():
            sys.path.insert(0, str(place.resolve()))
    if len(entries) > 1:
        raise UserError(f"{folder}: holds the packs {', '.join(entries)}; install it and check each by its name")
    [(name, module)] = entries.items()
    return FoundPack(name, str(project.get("version", "unknown")), str(folder), lambda: importlib.import_module(module))


def _ask(check: Check) -> Finding:
    try:
        check.run()
    except AssertionError as error:
        return Finding(check, str(error))
    return Finding(check, "")


def _document(finding: Finding) -> dict[str, Any]:
    check = finding.check
    return {
        "kind": check.kind,
        "part": check.subject,
        "promise": check.promise,
        "verdict": finding.verdict,
        "message": finding.message,
        "expected": check.expected,
    }


def _show(loaded: Pack, findings: list[Finding], show_all: bool) -> None:
    from occamkit.packs.find import KINDS

    parts: dict[tuple[str, str], list[Finding]] = {}
    for finding in findings:
        parts.setdefault((finding.check.kind, finding.check.subject), []).append(finding)
    rows = []
    for (kind, part), its in parts.items():
        kept = sum(one.verdict == "holds" for one in its)
        rows.append((KINDS[kind], part, f"{kept} of {len(its)}", ""))
        for one in its:
            if show_all or one.verdict != "holds":
                about = one.check.expected or one.message.partition(f"{one.check.promise}: ")[2] or one.message
                rows.append(("", "", one.verdict, f"{one.check.promise}: {about}" if about else one.check.promise))
    emit_table(("kind", "part", "holds", "promise"), rows)
    for note in loaded.notes:
        click.echo(f"note: {note}", err=True)
    fine = sum(one.fine for one in findings)
    click.echo(f"pack {loaded.name!r} {loaded.version}: {fine} of {len(findings)} promises are as they should be")
