"""Writes a report beside the run that it is about, or where one asks for it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from occamkit.errors import UserError
from occamkit.files import write_whole
from occamkit.packs.registry import Registry
from occamkit.report.content import Content, gather
from occamkit.runs.folder import RunFolder
from occamkit.task.problem import Problem


def write_report(
    folder: RunFolder, registry: Registry, kind: str, out: Path | None = None, problem: Problem | None = None
) -> Path:
    """Write a report of a kind, html, png, md or gif; a report of the same run may be replaced.

    problem: what was searched, if it is at hand.
    """
    from occamkit.report import film, page, picture, text

    writers: dict[str, Callable[[Content], str | bytes]] = {
        "html": page.page,
        "md": text.markdown,
        "png": picture.png,
        "gif": film.gif,
    }
    path = out or folder.path / f"report.{kind}"
    if not path.parent.is_dir():
        raise UserError(f"{path}: there is no folder {path.parent}")
    write_whole(path, writers[kind](gather(folder, registry, problem)))
    return path
