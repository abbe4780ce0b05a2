"""Finds packs and loads them one by one, each with a status of its own.

One broken pack never hides another, and never stops a run that does not need it: pluggy's own loader would
do both, so each pack is imported, checked and asked here, separately.
"""

from __future__ import annotations

import importlib
import inspect
import time
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from importlib.metadata import EntryPoint, entry_points
from itertools import chain
from pathlib import Path
from types import ModuleType
from typing import Any, Final

import pluggy
from packaging.specifiers import InvalidSpecifier, SpecifierSet

from occamkit import hookspecs, traits
from occamkit._version import __version__
from occamkit.errors import PackError, nearest
from occamkit.packs.limits import TooSlowError, within
from occamkit.packs.shapes import require_shape
from occamkit.packs.trial import require_primitive
from occamkit.protocols import TaskFile

BUILTIN: Final = "occamkit"
"""The name of the pack that comes with the toolkit."""

KINDS: Final = {
    "primitives": "primitive",
    "constants": "constant",
    "fitnesses": "fitness",
    "regularizers": "regularizer",
    "wrappers": "wrapper",
    "tasks": "task",
    "proposers": "proposer",
    "exporters": "exporter",
    "commands": "command",
}
"""What packs provide, in the plural and the singular; the hook of each is `occamkit_` and the plural."""

LONGEST_LOAD = 60.0
"""Seconds after which a pack that is still loading is given up."""

SLOW_LOAD = 10.0
"""Seconds after which a pack that has loaded is said to be slow."""


class Status(StrEnum):
    """What became of a pack."""

    OK = "ok"
    DISABLED = "disabled"
    BROKEN = "broken"
    INCOMPATIBLE = "incompatible"
    CONFLICT = "conflict"


@dataclass(frozen=True)
class Entry:
    """One thing that a pack provides."""

    kind: str
    name: str
    pack: str
    value: Any = field(repr=False)

    @property
    def qualified(self) -> str:
        """The name that always works, `pack:name`."""
        return f"{self.pack}:{self.name}"

    @property
    def group(self) -> str | None:
        """The group of a primitive that names one."""
        return traits.group(self.value)


@dataclass(frozen=True)
class Pack:
    """A pack and what became of it."""

    name: str
    version: str
    status: Status
    reason: str = ""
    entries: tuple[Entry, ...] = ()
    defaults: Mapping[str, Any] = field(default_factory=dict, repr=False)
    notes: tuple[str, ...] = ()
    """What its author should change though it works."""
    expected_failures: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Promises that it breaks on purpose, by the id of the check, with reasons."""


@dataclass(frozen=True)
class FoundPack:
    """A pack that is installed but not yet loaded."""

    name: str
    version: str
    source: str
    load: Any


def find_packs() -> Iterator[FoundPack]:
    """Yield the built-in pack, then every entry point of the group, by name."""
    yield FoundPack(BUILTIN, __version__, BUILTIN, lambda: importlib.import_module("occamkit.builtins"))
    for entry in sorted(entry_points(group=hookspecs.PROJECT), key=lambda entry: (entry.name, entry.value)):
        yield FoundPack(entry.name, _version(entry), _source(entry), entry.load)


def _version(entry: EntryPoint) -> str:
    # A distribution made by hand may have an entry point and no metadata; what then happens depends on the Python.
    try:
        return (entry.dist.version if entry.dist is not None else None) or "unknown"
    except (AttributeError, KeyError, TypeError, FileNotFoundError):
        return "unknown"


def _source(entry: EntryPoint) -> str:
    try:
        return (entry.dist.name if entry.dist is not None else None) or entry.value
    except (AttributeError, KeyError, TypeError, FileNotFoundError):
        return entry.value


def load_pack(found: FoundPack, taken: Collection[str], disabled: str = "") -> Pack:
    """Load one pack; `taken` are the pack names already loaded, `disabled` says why it is not wanted."""

    def failed(status: Status, reason: str) -> Pack:
        return Pack(found.name, found.version, status, reason)

    if disabled:
        return failed(Status.DISABLED, disabled)
    if found.name in taken:
        return failed(
            Status.CONFLICT,
            f"another pack is called {found.name!r} already; uninstall one (this is {found.source})",
        )
    begun = time.monotonic()
    try:
        pack = within(LONGEST_LOAD, lambda: _load(found))
    except TooSlowError as error:
        return failed(Status.BROKEN, f"loading {error}; import and compute less when the module or a hook is called")
    spent = time.monotonic() - begun
    if spent > SLOW_LOAD:
        slow = f"took {spent:.1f} s to load; import and compute less when the module or a hook is called"
        pack = replace(pack, notes=(*pack.notes, slow))
    return pack


def _load(found: FoundPack) -> Pack:
    try:
        module = found.load()
    except (Exception, SystemExit) as error:  # noqa: BLE001 an import may raise anything; it is reported by name
        reason = f"cannot be imported: {_describe(error)}; mend or uninstall {found.source}"
        return Pack(found.name, found.version, Status.BROKEN, reason)
    notes: list[str] = []
    try:
        if reason := _incompatible(module):
            return Pack(found.name, found.version, Status.INCOMPATIBLE, reason)
        entries = tuple(_collect(found.name, module, notes))
    except PackError as error:
        reason = ": ".join(part for part in (error.member, error.reason) if part)
        return Pack(found.name, found.version, Status.BROKEN, reason)
    return Pack(
        found.name,
        found.version,
        Status.OK,
        entries=entries,
        defaults=getattr(module, "OCCAMKIT_DEFAULTS", {}),
        notes=tuple(notes),
        expected_failures=getattr(module, "OCCAMKIT_EXPECTED_FAILURES", {}),
    )


def _describe(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}"


def _incompatible(module: Any) -> str:
    wanted = getattr(module, "OCCAMKIT_API", "")
    try:
        fits = hookspecs.API_VERSION in SpecifierSet(wanted, prereleases=True)
    except (InvalidSpecifier, TypeError, AttributeError):
        return f"OCCAMKIT_API = {wanted!r} is not a version range such as '>=0.1,<1'"
    return "" if fits else f"asks for occamkit API {wanted}, this is {hookspecs.API_VERSION}"


def _collect(pack: str, module: ModuleType, notes: list[str]) -> Iterator[Entry]:
    """Call the pack's hooks in turn and yield what they provide, checked; `notes` gets what should be changed."""
    manager = pluggy.PluginManager(hookspecs.PROJECT)
    manager.add_hookspecs(hookspecs)
    renamed = {name: new for name, new in hookspecs.RENAMED.items() if hasattr(module, name)}
    for name, new in renamed.items():
        manager.add_hookspecs(type(name, (), {name: hookspecs.hookspec(lambda: None)}))
        notes.append(f"hook {name!r} is now {new.now!r}; rename it before version {new.until} of the interface")
    _require_marked_hooks(pack, module)
    try:
        manager.register(module, name=pack)
        manager.check_pending()
    except pluggy.PluginValidationError as error:
        raise PackError(pack, _explain(error)) from error
    seen: set[tuple[str, str]] = set()
    for kind, singular in KINDS.items():
        hook = f"{hookspecs.PROJECT}_{kind}"
        names = [hook, *(name for name, new in renamed.items() if new.now == hook)]
        for implementation in chain.from_iterable(getattr(manager.hook, name).get_hookimpls() for name in names):
            for value in _call_hook(pack, implementation.function.__name__, implementation.function):
                entry = _entry(pack, kind, value, notes)
                if (kind, entry.name) in seen:
                    raise PackError(pack, f"provides {singular} {entry.name!r} twice", member=hook)
                seen.add((kind, entry.name))
                yield entry


def _hook_names() -> list[str]:
    return [f"{hookspecs.PROJECT}_{kind}" for kind in KINDS]


def _require_marked_hooks(pack: str, module: ModuleType) -> None:
    """A function called like a hook but not marked as one would be passed over in silence."""
    for name, function in inspect.getmembers(module, inspect.isfunction):
        if name.startswith(f"{hookspecs.PROJECT}_") and not hasattr(function, f"{hookspecs.PROJECT}_impl"):
            raise PackError(pack, "is not marked with @occamkit.hookimpl", member=name)


def _explain(error: pluggy.PluginValidationError) -> str:
    text = str(error)
    unknown = next((word.strip("'") for word in text.split() if word.startswith(f"'{hookspecs.PROJECT}_")), "")
    match = nearest(unknown, _hook_names()) if unknown and unknown not in _hook_names() else None
    if match:
        return f"unknown hook {unknown!r}; did you mean {match!r}?"
    return text.replace("\n", " ")


def _call_hook(pack: str, hook: str, function: Any) -> list[Any]:
    try:
        values = function()
        listed = list(values) if isinstance(values, Iterable) and not isinstance(values, str | bytes) else None
    except Exception as error:
        raise PackError(
            pack, f"{_describe(error)}; a hook takes nothing, never raises and returns an iterable", member=hook
        ) from error
    if listed is None:
        raise PackError(pack, f"must return an iterable, got {type(values).__name__}", member=hook)
    return listed


def _entry(pack: str, kind: str, value: Any, notes: list[str]) -> Entry:
    if kind == "tasks" and isinstance(value, Path):
        value = TaskFile(f"{pack}/{value.stem}", value)
    if kind == "primitives":
        notes.extend(require_primitive(pack, value))
    else:
        require_shape(pack, kind, value)
    name = getattr(value, "name", None)
    if not isinstance(name, str) or not name:
        raise PackError(pack, f"{value!r} has no name", member=f"{hookspecs.PROJECT}_{kind}")
    return Entry(kind, name, pack, value)
