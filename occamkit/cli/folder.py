"""The run folder: claimed before a run, written once, never overwritten."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from occamkit.errors import UserError
from occamkit.task.spec import CsvData, TaskSpec

if TYPE_CHECKING:
    from occamkit.result import Result


def claim_folder(path: Path) -> Path:
    """Make a new folder for a run, or refuse before any time is spent."""
    if path.is_file():
        raise UserError(f"--out: {path} is a file; name a new folder")
    if path.is_dir() and any(path.iterdir()):
        raise UserError(f"--out: {path} exists already and is not empty; results are never overwritten")
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(f"--out: {path} cannot be made: {error.strerror}") from None
    return path


def write_result(folder: Path, spec: TaskSpec, base: Path, result: Result) -> None:
    """Write the resolved task and the result, each whole or not at all; paths in the task are relative to `base`."""
    from occamkit.task.load import dump_toml

    _write(folder / "task.toml", dump_toml(_found_anywhere(spec, base)))
    _write(folder / "result.json", result.to_json())


def _found_anywhere(spec: TaskSpec, base: Path) -> TaskSpec:
    """Name the data file by its whole path, since the folder is another one."""
    if not isinstance(spec.data, CsvData):
        return spec
    file = str((base / spec.data.file).resolve())
    return spec.model_copy(update={"data": spec.data.model_copy(update={"file": file})})


def _write(path: Path, text: str) -> None:
    temporary = path.with_name(f".{path.name}.part")
    temporary.write_text(text, encoding="utf-8")
    os.replace(temporary, path)
