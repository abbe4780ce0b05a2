"""Packs that a task file names itself, by path: one Python file each, loaded for that task alone."""

from __future__ import annotations

import hashlib
import importlib.util
import sys
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

from occamkit.errors import PackError
from occamkit.packs.find import FoundPack
from occamkit.packs.registry import Registry
from occamkit.task.file.complaints import Complaint

KEY = "plugins"
"""The key of the task file."""


def with_local_packs(
    document: Mapping[str, Any], registry: Registry, folder: Path
) -> tuple[Registry, dict[tuple[str | int, ...], str]]:
    """Return the registry with the packs that a document names, and complaints of those that cannot be used.

    What has the wrong shape is passed over: it is complained of elsewhere.
    """
    items = document.get(KEY)
    complaints: dict[tuple[str | int, ...], str] = {}
    for place, item in enumerate(items if isinstance(items, list) else []):
        if not isinstance(item, str):
            continue
        try:
            registry = registry.with_pack(_found(item, folder))
        except (PackError, _RefusedError) as error:
            complaint: Complaint = ((KEY, place), str(error))
            complaints.update([complaint])
    return registry, complaints


class _RefusedError(Exception):
    """What is written cannot be the path of a pack."""


def _found(item: str, folder: Path) -> FoundPack:
    path = Path(item)
    if not (item.startswith(("./", "../")) or path.is_absolute()) or path.suffix != ".py":
        raise _RefusedError(f"must be the path of a Python file, such as './{path.stem or 'my_primitives'}.py'")
    if not path.stem.isidentifier():
        raise _RefusedError(f"{path.name!r} cannot name a pack; use letters, digits and underscores")
    path = (folder / path).resolve()
    try:
        content = path.read_bytes()
    except OSError as error:
        raise _RefusedError(f"{item!r} cannot be read: {error.strerror}") from None
    digest = hashlib.sha256(content).hexdigest()
    return FoundPack(path.stem, f"sha256:{digest[:16]}", str(path), lambda: _import(path, digest))


def _import(path: Path, digest: str) -> ModuleType:
    """Import a file under a name that tells its place and content, so that a changed file is another module."""
    place = hashlib.sha256(str(path).encode()).hexdigest()
    name = f"occamkit_local_{path.stem}_{place[:8]}_{digest[:16]}"
    if name in sys.modules:
        return sys.modules[name]
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None  # a path that ends in .py has a loader
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module
