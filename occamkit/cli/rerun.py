"""`occamkit rerun`: does a run folder still give the result that it holds?"""

from __future__ import annotations

import contextlib
import io
import json
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import click

from occamkit.cli.folder import CHECKPOINT_EVERY
from occamkit.cli.output import emit_json, json_option
from occamkit.cli.run import run
from occamkit.errors import UserError

UNLIKE = {"seconds", "occamkit", "packs"}
"""What may differ between two runs that are the same; versions have been compared before."""


@click.command()
@click.argument("folder", metavar="RUN", type=click.Path(path_type=Path))
@click.option("--out", type=click.Path(path_type=Path), help="New folder; absent, RUN with -rerun at its end.")
@click.option("--anyway", is_flag=True, help="Run even if occamkit or a pack is not the recorded version.")
@click.option("--quiet", is_flag=True, help="Show nothing but whether the result is the same.")
@json_option
@click.pass_context
def rerun(ctx: click.Context, folder: Path, out: Path | None, anyway: bool, quiet: bool, as_json: bool) -> None:
    """Run the task of a run folder again, with its seed, and compare.

    RUN is a folder that `occamkit run --out` wrote. The result must be the same bit for bit, all but the seconds.
    Exit codes: 0 it is, 1 it is not, 2 the versions differ or the folder is no run.
    """
    before = _recorded(folder)
    changed = list(_changes(before, folder / "task.toml"))
    if changed and not anyway:
        raise UserError(
            f"{folder}: {'; '.join(changed)}. Install what was recorded, or run with --anyway to see whether it matters"
        )
    new = out or _free(folder)
    with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(click.exceptions.Exit):
        ctx.invoke(
            run, task=str(folder / "task.toml"), seed=before["seed"], device=before["device"], changes=(), out=new,
            quiet=quiet or as_json, checkpoint_every=CHECKPOINT_EVERY, block=(), as_json=False,
        )  # fmt: skip
    different = sorted(_differences(before, _recorded(new)))
    if as_json:
        emit_json({"same": not different, "different": different, "changed": changed, "folder": str(new)})
    else:
        for line in changed:
            click.echo(line, err=True)
        click.echo(f"the same result, bit for bit: {new}" if not different else _told(different, before, new))
    if different:
        raise click.exceptions.Exit(1)


def _recorded(folder: Path) -> dict[str, Any]:
    try:
        document: dict[str, Any] = json.loads((folder / "result.json").read_text(encoding="utf-8"))
    except (OSError, json.JSONDecodeError, UnicodeDecodeError):
        raise UserError(
            f"{folder}: holds no result.json of a finished run; name a folder of `occamkit run --out`"
        ) from None
    missing = {"occamkit", "packs", "seed", "device", "outputs"} - set(document)
    if missing:
        raise UserError(f"{folder}: result.json lacks {', '.join(sorted(missing))}; it is not from occamkit run")
    return document


def _changes(before: Mapping[str, Any], task: Path) -> Iterator[str]:
    """Yield what is installed in another version than recorded; a task's own packs are found by their content."""
    from occamkit._version import __version__
    from occamkit.packs.registry import Registry
    from occamkit.task.file.local import KEY, with_local_packs

    if before["occamkit"] != __version__:
        yield f"occamkit was {before['occamkit']} and is {__version__}"
    try:
        document = tomllib.loads(task.read_text(encoding="utf-8"))
    except (OSError, tomllib.TOMLDecodeError) as error:
        raise UserError(f"{task}: cannot be read: {error}") from None
    registry, refused = with_local_packs(document, Registry.load(), task.parent)
    for path, message in refused.items():
        raise UserError(f"{task}: {KEY}[{path[1]}]: {message}")
    now = registry.versions()
    for name, version in before["packs"].items():
        if name not in now:
            yield f"pack {name!r} was {version} and is not loaded now"
        elif now[name] != version and name != "occamkit":
            yield f"pack {name!r} was {version} and is {now[name]}"


def _free(folder: Path) -> Path:
    """Return a sibling that does not exist yet."""
    number = 1
    while True:
        path = folder.with_name(f"{folder.resolve().name}-rerun{'' if number == 1 else f'-{number}'}")
        if not path.exists():
            return path
        number += 1


def _differences(before: Any, after: Any, key: str = "") -> Iterator[str]:
    """Yield the keys under which two documents differ."""
    if isinstance(before, dict) and isinstance(after, dict):
        for name in sorted({*before, *after}):
            if key or name not in UNLIKE:
                yield from _differences(before.get(name), after.get(name), f"{key}.{name}" if key else name)
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for place, (one, other) in enumerate(zip(before, after, strict=True)):
            yield from _differences(one, other, f"{key}[{place}]")
    elif before != after:
        yield key


def _told(different: list[str], before: Mapping[str, Any], new: Path) -> str:
    shown = ", ".join(different[:5]) + (f" and {len(different) - 5} more" if len(different) > 5 else "")
    timed = before.get("stop") in {"seconds", "interrupted"}
    why = "; the run was ended by the clock, and only runs bounded by steps or convergence repeat" if timed else ""
    return f"another result: {shown} differ in {new}{why}"
