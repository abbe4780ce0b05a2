"""The registry: everything that the loaded packs provide, under names that never lie.

`pack:name` always works; a short name works while only one pack provides it; a clash is an error at use that
names the owners. A registry is a frozen value made by `Registry.load()`; there is no global one.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from occamkit.errors import AmbiguousNameError, PackError, UnknownNameError, UserError
from occamkit.packs.find import BUILTIN, KINDS, Entry, FoundPack, Pack, Status, find_packs, load_pack


@dataclass(frozen=True)
class Registry:
    """What is loaded, and what became of every pack."""

    packs: tuple[Pack, ...]

    @classmethod
    def load(cls, block: Iterable[str] = (), only: Iterable[str] | None = None, strict: bool | None = None) -> Registry:
        """Load the built-ins and the installed packs.

        block: packs to leave out, by name.
        only: the packs to load besides the built-ins; None reads OCCAMKIT_PACKS ("none" or "a,b"; unset: all).
        strict: raise PackError when a pack is not ok; None reads OCCAMKIT_STRICT_PLUGINS.
        """
        blocked = set(block)
        if only is None:
            only = _names_in_environment("OCCAMKIT_PACKS")
        wanted = None if only is None else {*only, BUILTIN}
        if strict is None:
            strict = os.environ.get("OCCAMKIT_STRICT_PLUGINS", "") not in {"", "0"}
        if BUILTIN in blocked:
            raise UserError("--block: the built-in pack cannot be left out; a task names the primitives it wants")
        found = list(find_packs())
        _require_known(blocked | (wanted or set()), found)
        packs: list[Pack] = []
        for one in found:
            reason = "blocked by --block" if one.name in blocked else ""
            if wanted is not None and one.name not in wanted:
                reason = "not among OCCAMKIT_PACKS"
            packs.append(load_pack(one, {pack.name for pack in packs if pack.status is not Status.DISABLED}, reason))
        packs = _mark_clashes(packs)
        if strict:
            for pack in packs:
                if pack.status not in {Status.OK, Status.DISABLED}:
                    raise PackError(pack.name, f"{pack.status}: {pack.reason} (strict mode)")
        return cls(tuple(packs))

    def with_pack(self, found: FoundPack) -> Registry:
        """Return a registry that has this pack besides; PackError says why it cannot be used."""
        pack = load_pack(found, {pack.name for pack in self.packs})
        if not pack.entries:
            raise PackError(pack.name, f"{pack.status}: {pack.reason or 'it provides nothing; no hook is marked'}")
        return Registry((*self.packs, _mark_clashes([*self.packs, pack])[-1]))

    def entries(self, kind: str) -> tuple[Entry, ...]:
        """Return all that is provided of a kind, such as "primitives"."""
        return tuple(entry for pack in self.packs for entry in pack.entries if entry.kind == kind)

    def names(self, kind: str) -> tuple[str, ...]:
        """Return every name that `find` accepts for this kind: short ones where they are unambiguous, and full ones."""
        owners: dict[str, int] = defaultdict(int)
        for entry in self.entries(kind):
            owners[entry.name] += 1
        short = [name for name, count in owners.items() if count == 1]
        return (*short, *(entry.qualified for entry in self.entries(kind)))

    def find(self, kind: str, name: str) -> Entry:
        """Return what `name` stands for; the error says who else it might be, or why its pack is missing."""
        matches = [entry for entry in self.entries(kind) if name in {entry.name, entry.qualified}]
        if len(matches) == 1:
            return matches[0]
        if matches:
            raise AmbiguousNameError(KINDS[kind], name, [entry.pack for entry in matches])
        raise UnknownNameError(KINDS[kind], name, self.names(kind), self._why_missing(name))

    def groups(self) -> Mapping[str, tuple[Entry, ...]]:
        """Return the primitives of each group; as with names, `pack:group` always works."""
        members: dict[str, list[Entry]] = defaultdict(list)
        for entry in self.entries("primitives"):
            if entry.group is not None:
                members[f"{entry.pack}:{entry.group}"].append(entry)
        short: dict[str, list[str]] = defaultdict(list)
        for qualified in members:
            short[qualified.partition(":")[2]].append(qualified)
        for name, owners in short.items():
            if len(owners) == 1:
                members[name] = members[owners[0]]
        return {name: tuple(entries) for name, entries in members.items()}

    def primitives(self, name: str) -> tuple[Entry, ...]:
        """Return the primitive called `name`, or all of the group called so."""
        groups = self.groups()
        if name in groups:
            return groups[name]
        try:
            return (self.find("primitives", name),)
        except UnknownNameError:
            owners = [group.partition(":")[0] for group in groups if group.partition(":")[2] == name]
            if owners:
                raise AmbiguousNameError("group", name, owners) from None
            allowed = (*self.names("primitives"), *groups)
            raise UnknownNameError("primitive", name, allowed, self._why_missing(name)) from None

    def defaults(self) -> Mapping[str, Any]:
        """Return what a task gets when it does not say, as declared by the built-in pack."""
        return next(pack.defaults for pack in self.packs if pack.name == BUILTIN)

    def versions(self) -> dict[str, str]:
        """Return the version of every pack that provides anything."""
        return {pack.name: pack.version for pack in self.packs if pack.entries}

    def _why_missing(self, name: str) -> str:
        """Say which packs might have provided the name but were not loaded."""
        owner, _, _ = name.rpartition(":")
        missing = [pack for pack in self.packs if not pack.entries and pack.status is not Status.OK]
        if owner:
            for pack in missing:
                if pack.name == owner:
                    return f"; pack {owner!r} is {pack.status}: {pack.reason}"
            if owner not in {pack.name for pack in self.packs}:
                return f"; no pack {owner!r} is installed"
            return ""
        notes = [f"{pack.name!r} is {pack.status} ({pack.reason})" for pack in missing]
        return f"; it may belong to a pack that is not loaded: {', '.join(notes)}" if notes else ""


def _names_in_environment(variable: str) -> list[str] | None:
    text = os.environ.get(variable, "").strip()
    if not text:
        return None
    return [] if text == "none" else [name.strip() for name in text.split(",") if name.strip()]


def _require_known(asked: set[str], found: list[FoundPack]) -> None:
    installed = {one.name for one in found}
    for name in sorted(asked - installed):
        raise UnknownNameError("pack", name, installed, note=" (in OCCAMKIT_PACKS or --block)")


def _mark_clashes(packs: list[Pack]) -> list[Pack]:
    """Mark packs whose names an earlier pack has too; their entries stay, under their full names."""
    owner: dict[tuple[str, str], str] = {}
    marked = []
    for pack in packs:
        clashes = [entry for entry in pack.entries if (entry.kind, entry.name) in owner]
        for entry in pack.entries:
            owner.setdefault((entry.kind, entry.name), pack.name)
        if clashes:
            parts = [
                f"{KINDS[entry.kind]} {entry.name!r} is also provided by {owner[entry.kind, entry.name]!r}, "
                f"write {entry.qualified!r}"
                for entry in clashes
            ]
            pack = replace(pack, status=Status.CONFLICT, reason="; ".join(parts))  # noqa: PLW2901
        marked.append(pack)
    return marked
