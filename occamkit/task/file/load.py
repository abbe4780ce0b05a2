"""Reads a task: file → document → spec, or every problem in it with its line."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import tomli_w

from occamkit.errors import TaskError, TaskProblem, nearest
from occamkit.packs.registry import Registry
from occamkit.protocols import Task, TaskFile
from occamkit.task.data.sequence import with_columns
from occamkit.task.file import checks, complaints
from occamkit.task.file.local import with_local_packs
from occamkit.task.file.locate import Lines, locate_json, locate_toml, nearest_line
from occamkit.task.file.model import model_for
from occamkit.task.prepared import PreparedTask
from occamkit.task.spec import TaskSpec

_PLACE = re.compile(r" \(at line (\d+), column \d+\)| \(at end of document\)|: line (\d+) column \d+ \(char \d+\)")


def load_task(task: str | Path, registry: Registry | None = None, overrides: Mapping[str, Any] | None = None) -> Task:
    """Load a task file, or the registered task of that name.

    overrides: values that replace those of the file, by dotted key, such as {"trainer.functions": 500}.
    Raises TaskError with all that is wrong.
    """
    registry = registry or Registry.load()
    path = Path(task)
    if path.suffix not in {".toml", ".json"} and not _is_file(path):
        if path.suffix and str(task) not in registry.names("tasks"):
            _read(path)  # looks like a file: says what is wrong with it
        entry = registry.find("tasks", str(task))
        if not isinstance(entry.value, TaskFile):
            return with_overrides(entry.value, registry, overrides or {})
        path = entry.value.path
    text = _read(path)
    document, lines = _parse(path, text)
    for key, value in (overrides or {}).items():
        _override(document, key, value)
    registry, refused = with_local_packs(document, registry, path.parent)
    if refused:
        raise _task_error(refused, _shown(path), lines)
    rows_of = _rows_of(document, registry, path)
    if rows_of is not None:
        _take_columns(document, rows_of, _shown(path))
    spec = check_document(document, registry, path.parent, file=_shown(path), lines=lines)
    return PreparedTask(spec, registry, path.parent, rows_of)


def with_overrides(task: Task, registry: Registry, overrides: Mapping[str, Any]) -> Task:
    """Return a task with some of its values replaced, checked again."""
    if not overrides:
        return task
    document = task.spec.model_dump(exclude_none=True)
    for key, value in overrides.items():
        _override(document, key, value)
    folder = task.folder if isinstance(task, PreparedTask) else Path()
    registry = task.registry if isinstance(task, PreparedTask) else registry
    spec = check_document(document, registry, folder, file=task.name)
    rows_of = task.rows_of if isinstance(task, PreparedTask) else task
    return PreparedTask(spec, registry, folder, rows_of)


def _take_columns(document: dict[str, Any], rows_of: Task, file: str) -> None:
    """Give a document the columns of the task whose rows it uses; it may not have others."""
    for key in ("inputs", "outputs"):
        theirs = [one.model_dump(exclude_none=True) for one in getattr(rows_of.spec, key)]
        if key in document and theirs and document[key] != theirs:
            raise TaskError(
                [TaskProblem(f"are those of the task {rows_of.name!r}; leave them out", key=key, file=file)]
            )
        document.setdefault(key, theirs)


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):  # a name that no file can have
        return False


def _rows_of(document: Mapping[str, Any], registry: Registry, path: Path) -> Task | None:
    """Return the registered task whose rows a document asks for; what is wrong with the name is said elsewhere."""
    data = document.get("data")
    source = data.get("source") if isinstance(data, dict) else None
    if not isinstance(source, str) or source not in registry.names("tasks"):
        return None
    entry = registry.find("tasks", source)
    if isinstance(entry.value, TaskFile) and entry.value.path.resolve() == path.resolve():
        raise TaskError([TaskProblem("names the task itself", key="data.source", file=_shown(path))])
    return load_task(source, registry)


def check_document(
    document: Mapping[str, Any], registry: Registry, folder: Path, file: str = "", lines: Lines | None = None
) -> TaskSpec:
    """Return the spec of a document with every default filled in, or raise TaskError with all that is wrong."""
    document = with_columns(document, folder)
    result = complaints.validate(model_for(registry), document)
    found = dict(checks.complaints(document, registry, folder))
    if isinstance(result, list):
        for path, message in result:
            # A misspelt name is complained of by both; the registry knows more about it.
            if not any(other[: len(path)] == path for other in found):
                found[path] = message
    if found:
        raise _task_error(found, file, lines)
    assert isinstance(result, TaskSpec)  # a list of complaints without any is no list
    spec = _with_default_plugins(result, registry)
    unmet = dict(PreparedTask(spec, registry, folder).preflight())
    if unmet:
        raise _task_error(unmet, file, lines)
    return spec


def dump_toml(spec: TaskSpec) -> str:
    """Write a spec as a task file."""
    return tomli_w.dumps(spec.model_dump(exclude_none=True))


def _task_error(found: Mapping[tuple[str | int, ...], str], file: str, lines: Lines | None) -> TaskError:
    problems = [
        TaskProblem(message, complaints.show_path(path), file, nearest_line(lines, path) if lines else None)
        for path, message in found.items()
    ]
    return TaskError(sorted(problems, key=lambda problem: problem.line or 0))


def _with_default_plugins(spec: TaskSpec, registry: Registry) -> TaskSpec:
    """A task that says nothing of regularizers or proposers gets the default ones for its kind and its units."""
    defaults = registry.defaults()
    missing: dict[str, Any] = {}
    if spec.regularizers is None:
        has_units = any(column.unit for column in (*spec.inputs, *spec.outputs))
        missing["regularizers"] = list(defaults["regularizers with units" if has_units else "regularizers"])
        if spec.implicit is not None:
            missing["regularizers"] += defaults["regularizers of relations"]
    if spec.proposers is None:
        plain = spec.implicit is None and spec.wrapper is None
        missing["proposers"] = defaults["proposers" if plain else "proposers of relations and programs"]
    if not missing:
        return spec
    document = {**spec.model_dump(exclude_none=True), **missing}
    filled = complaints.validate(type(spec), document)
    assert isinstance(filled, TaskSpec)
    return filled


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        match = nearest(path.stem, (other.stem for other in path.parent.glob("*.toml")))
        hint = f"; did you mean {match!r}?" if match else ""
        raise TaskError([TaskProblem(f"no such file{hint}", file=str(path))]) from None
    except OSError as error:
        raise TaskError([TaskProblem(f"cannot be read: {error.strerror}", file=str(path))]) from None
    except UnicodeDecodeError as error:
        raise TaskError([TaskProblem(f"is not UTF-8 text (byte {error.start})", file=str(path))]) from None


def _parse(path: Path, text: str) -> tuple[dict[str, Any], Lines]:
    as_json = path.suffix == ".json"
    try:
        document = json.loads(text) if as_json else tomllib.loads(text)
    except (tomllib.TOMLDecodeError, json.JSONDecodeError) as error:
        match = _PLACE.search(str(error))
        line = next((int(number) for number in match.groups() if number), None) if match else None
        if line is None:
            line = text.count("\n") + 1
        raise TaskError([TaskProblem(_PLACE.sub("", str(error)), file=_shown(path), line=line)]) from None
    if not isinstance(document, dict):
        raise TaskError([TaskProblem("must be a table of keys and values", file=_shown(path), line=1)])
    return document, (locate_json if as_json else locate_toml)(text)


def _shown(path: Path) -> str:
    """Write a path the short way when it lies below the current folder."""
    try:
        return str(path.resolve().relative_to(Path.cwd()))
    except ValueError:
        return str(path)


def _override(document: dict[str, Any], key: str, value: Any) -> None:
    *parents, last = key.split(".")
    here: Any = document
    for parent in parents:
        here = here.setdefault(parent, {})
        if not isinstance(here, dict):
            raise TaskError([TaskProblem(f"{parent!r} is not a table", key=key)])
    here[last] = value
