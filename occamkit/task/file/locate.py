"""Finds the line of every key in a TOML or JSON text that is known to be valid.

Parsers give values without places; an error message needs the place. This walks the text once and records,
for each path such as ("regularizers", 1, "weight"), the line on which it begins.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

Path = tuple[str | int, ...]
Lines = dict[Path, int]

_KEY = re.compile(r"""\s*("(?:[^"\\]|\\.)*"|'[^']*'|[A-Za-z0-9_-]+)\s*""")
_SPACE = re.compile(r"(?:\s|#[^\n]*)*")
_STRING = re.compile(r'"""(?:[^\\]|\\.)*?"""|\'\'\'.*?\'\'\'|"(?:[^"\\]|\\.)*"|\'[^\']*\'', re.DOTALL)
_SCALAR = re.compile(r"[^\s,\]\}#]+(?: \d\d:\d\d[^\s,\]\}#]*)?")


def locate_toml(text: str) -> Lines:
    """Return the line of every path of a TOML text."""
    return _Walker(text).toml()


def locate_json(text: str) -> Lines:
    """Return the line of every path of a JSON text."""
    walker = _Walker(text)
    walker.value(())
    return walker.lines


def nearest_line(lines: Lines, path: Iterable[str | int]) -> int | None:
    """Return the line of a path, or of the closest thing around it that is in the file."""
    keys = tuple(path)
    while keys and keys not in lines:
        keys = keys[:-1]
    return lines.get(keys)


class _Walker:
    """A cursor over the text that records where each value begins."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.lines: Lines = {}

    def toml(self) -> Lines:
        table: Path = ()
        counts: dict[Path, int] = {}
        self._skip()
        while self.at < len(self.text):
            if self._take("[["):
                name = self._resolve(self._dotted(), counts)
                table = (*name, counts.get(name, -1) + 1)
                counts[name] = table[-1]  # type: ignore[assignment]
                self._record(table)
                self._take("]]")
            elif self._take("["):
                table = self._resolve(self._dotted(), counts)
                self._record(table)
                self._take("]")
            else:
                path = (*table, *self._dotted())
                self._record(path)
                self._take("=")
                self.value(path)
            self._skip()
        return self.lines

    def value(self, path: Path) -> None:
        """Read one value, recording it and all inside it."""
        self._skip()
        self._record(path)
        if self._take("["):
            self._items(path, "]")
        elif self._take("{"):
            self._items(path, "}")
        else:
            match = _STRING.match(self.text, self.at) or _SCALAR.match(self.text, self.at)
            self.at = match.end() if match else self.at + 1

    def _items(self, path: Path, close: str) -> None:
        index = 0
        while self.at < len(self.text):
            self._skip()
            if self._take(close):
                return
            if close == "]":
                self.value((*path, index))
                index += 1
            else:
                key = (*path, *self._dotted())
                self._record(key)
                self._take("=") or self._take(":")
                self.value(key)
            self._skip()
            self._take(",")

    def _dotted(self) -> Path:
        parts: list[str] = []
        while match := _KEY.match(self.text, self.at):
            parts.append(match.group(1).strip("\"'"))
            self.at = match.end()
            if not self._take("."):
                break
        if not parts:
            self.at += 1  # not reached on a valid text; moving on keeps the walk finite
        return tuple(parts)

    def _resolve(self, name: Path, counts: dict[Path, int]) -> Path:
        """Insert the current index wherever a header passes through an array of tables."""
        path: Path = ()
        for depth, key in enumerate(name, start=1):
            path = (*path, key)
            if depth < len(name) and path in counts:
                path = (*path, counts[path])
        return path

    def _record(self, path: Path) -> None:
        line = self.text.count("\n", 0, self.at) + 1
        for depth in range(1, len(path) + 1):
            self.lines.setdefault(path[:depth], line)

    def _take(self, token: str) -> bool:
        if self.text.startswith(token, self.at):
            self.at += len(token)
            return True
        return False

    def _skip(self) -> None:
        match = _SPACE.match(self.text, self.at)
        self.at = match.end() if match else self.at
