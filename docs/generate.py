"""What the pages take from the code: the table of primitives, and docstrings in the form that Sphinx reads."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from occamkit import Registry
from occamkit.cli.listing import describe

_OPTION = re.compile(r"(?P<name>[a-z_]+): (?P<text>.*)")
_SPECIAL = re.compile(r"`(?P<code>[^`]+)`|\*")


def write_primitives(path: Path) -> None:
    """Write one table for each group of the built-in primitives."""
    entries = Registry.load(only=[]).entries("primitives")
    lines: list[str] = []
    for group, members in itertools.groupby(entries, key=lambda entry: entry.group):
        lines += [f"## {group}", "", *_table(map(describe, members)), ""]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(lines), encoding="utf-8")


def _table(rows: Iterable[dict[str, Any]]) -> Iterator[str]:
    yield "| Name | Arity | Unit rule | sympy form | Notes |"
    yield "|---|---|---|---|---|"
    for row in rows:
        cells = (f"`{row['name']}`", str(row["arity"]), f"`{row['units']}`", f"`{row['sympy']}`", _notes(row))
        yield f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"


def _notes(row: dict[str, Any]) -> str:
    notes = ["commutative"] if row["commutative"] else []
    notes += [f"fits `{name}`" for name in row["constants"]]
    notes += [f"complexity {row['complexity']:g}"] if row["complexity"] != 1 else []
    points = [f"{cluster['point']:g}" for cluster in row["clusters"] if cluster["of"] == "output"]
    notes += [f"clusters at {', '.join(points)}"] if points else []
    notes += ["clusters at its argument"] if len(points) < len(row["clusters"]) else []
    return "; ".join(notes)


def to_restructured_text(*event: Any) -> None:
    """Rewrite a plain docstring: options become a list, indented blocks literal, backticks code, asterisks text."""
    lines: list[str] = event[-1]
    lines[:] = list(_rewritten(lines))


def _rewritten(lines: Iterable[str]) -> Iterator[str]:
    blank, literal, in_list = True, False, False
    for line in lines:
        indented = line.startswith("    ")
        option = _OPTION.fullmatch(line)
        if not line.strip():
            literal, in_list = literal and not in_list, False
        elif indented and not in_list:
            if not literal:
                yield from ("", "::", "")
            literal = True
        elif option:
            yield from ("",) if not blank else ()
            line = f"- ``{option['name']}``: {_inline(option['text'])}"  # noqa: PLW2901
            literal, in_list = False, True
        else:
            line = f"  {_inline(line.strip())}" if in_list else _inline(line)  # noqa: PLW2901
            literal = False
        blank = not line.strip()
        yield line


def _inline(text: str) -> str:
    return _SPECIAL.sub(lambda match: f"``{match['code']}``" if match["code"] else r"\*", text)
