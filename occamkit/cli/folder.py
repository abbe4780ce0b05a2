"""The run folder: claimed before a run, written once, never overwritten."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from occamkit.errors import UserError

if TYPE_CHECKING:
    from occamkit.result import Result
    from occamkit.task.spec import TaskSpec


def claim_folder(path: Path) -> Path:
    """Make a new folder for a run, or refuse before any time is spent."""
    if path.exists() and (not path.is_dir() or any(path.iterdir())):
        raise UserError(f"--out: {path} exists already and is not empty; results are never overwritten")
    path.mkdir(parents=True, exist_ok=True)
    return path


def write_result(folder: Path, spec: TaskSpec, result: Result) -> None:
    """Write the resolved task and the result, each whole or not at all."""
    from occamkit.task.load import dump_toml

    _write(folder / "task.toml", dump_toml(spec))
    _write(folder / "result.json", result.to_json())


def _write(path: Path, text: str) -> None:
    temporary = path.with_name(f".{path.name}.part")
    temporary.write_text(text, encoding="utf-8")
    os.replace(temporary, path)
