"""Everything occamkit raises on purpose, as one tree.

    OccamkitError
    ├── UserError                what the user gave is wrong: the command line exits with 2
    │   ├── TaskError            a task file, with every problem in it
    │   ├── DataError            rows and columns
    │   ├── FormulaError         the text of a formula
    │   ├── UnitError            the text of a unit
    │   ├── UnknownNameError     a name that no pack provides
    │   └── AmbiguousNameError   a name that several packs provide
    └── PackError                a pack is broken: who, which member, and what to do

Errors carry what they say as fields, so that a program can read them too.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass


def nearest(name: str, allowed: Iterable[str]) -> str | None:
    """Return the allowed name most like `name`, or None when none is close."""
    by_lower = {option.lower(): option for option in allowed}
    matches = difflib.get_close_matches(name.lower(), by_lower, n=1, cutoff=0.6)
    return by_lower[matches[0]] if matches else None


def did_you_mean(name: str, allowed: Iterable[str]) -> str:
    """Return '; did you mean …?' for the end of a message, or the whole choice when it is short."""
    options = list(allowed)
    match = nearest(name, options)
    if match is not None:
        return f"; did you mean {match!r}?"
    if 0 < len(options) <= 8:
        return f"; allowed: {', '.join(map(repr, sorted(options)))}"
    return ""


@dataclass(frozen=True)
class TaskProblem:
    """One thing that is wrong in a file: where, under which key, and what."""

    message: str
    key: str = ""
    file: str = ""
    line: int | None = None

    def __str__(self) -> str:
        place = self.file if self.line is None else f"{self.file}:{self.line}"
        return ": ".join(part for part in (place, self.key, self.message) if part)


class OccamkitError(Exception):
    """The root of every error that occamkit raises on purpose."""


class UserError(OccamkitError):
    """What the user gave is wrong; the message says what is allowed."""


class TaskError(UserError):
    """A task is wrong; `problems` holds all that was found, in the order of the file."""

    def __init__(self, problems: Sequence[TaskProblem]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(map(str, self.problems)))


class DataError(UserError):
    """Rows or columns cannot be used; `rows` are line numbers of the file, the header being line 1."""

    def __init__(self, message: str, *, column: str | None = None, rows: Sequence[int] = ()) -> None:
        self.column = column
        self.rows = tuple(rows)
        super().__init__(message)


class FormulaError(UserError):
    """The text of a formula cannot be read; `position` counts characters from 0."""

    def __init__(self, text: str, position: int, message: str) -> None:
        self.text = text
        self.position = position
        super().__init__(f"{message} (at character {position + 1} of {text!r})")


class UnitError(UserError):
    """The text of a unit cannot be used."""


class UnknownNameError(UserError):
    """No loaded pack provides this name."""

    def __init__(self, kind: str, name: str, allowed: Iterable[str], note: str = "") -> None:
        self.kind = kind
        self.name = name
        self.allowed = tuple(allowed)
        self.nearest = nearest(name, self.allowed)
        hint = did_you_mean(name, self.allowed)
        # A full name says whose it is; of a short one, a near match is likelier than a pack that is not loaded.
        says = note or hint if ":" in name else hint or note
        super().__init__(f"unknown {kind} {name!r}{says}")


class AmbiguousNameError(UserError):
    """Several packs provide this name."""

    def __init__(self, kind: str, name: str, owners: Sequence[str]) -> None:
        self.kind = kind
        self.name = name
        self.owners = tuple(owners)
        choices = " or ".join(f"'{owner}:{name}'" for owner in self.owners)
        owned = " and ".join(map(repr, self.owners))
        super().__init__(f"{kind} {name!r} is provided by {owned}; write {choices}")


class PackError(OccamkitError):
    """A pack does not do what it claims."""

    def __init__(self, pack: str, message: str, *, member: str | None = None) -> None:
        self.pack = pack
        self.member = member
        self.reason = message
        super().__init__(": ".join(part for part in (f"pack {pack!r}", member, message) if part))
