"""Turns a series into rows: the values before, and the value that follows them.

The file is a table with a header, one series in each column and time going down, or nothing but the numbers of one
series, which is then called `x`. The value of `x` one step before is the input `x_1`, two steps before `x_2`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from occamkit.errors import DataError
from occamkit.task.data import csv

NAMELESS = "x"
"""What the series of a file without a header is called."""

_SEPARATOR = re.compile(r"[\s,;|]+")
_LAGGED = re.compile(r"(?P<name>.+)_(?P<lag>[1-9]\d*)")


def lagged(name: str, lag: int) -> str:
    """Return what the value of a series so many steps before is called."""
    return f"{name}_{lag}"


def read_lagged(name: str) -> tuple[str, int] | None:
    """Return the series and the steps before that an input's name stands for."""
    match = _LAGGED.fullmatch(name)
    return (match["name"], int(match["lag"])) if match else None


def names_in(path: Path) -> list[str]:
    """Return the names of the series in a file."""
    return [NAMELESS] if _is_bare(path) else csv.read_header(path)


def with_columns(document: Mapping[str, Any], folder: Path) -> Mapping[str, Any]:
    """Return a document with the outputs and inputs that its series stand for, where it lists none."""
    data = document.get("data")
    if not isinstance(data, dict) or data.get("source") != "sequence" or not isinstance(data.get("file"), str):
        return document
    lags = data.get("lags", 1)
    try:
        series = names_in(folder / data["file"])
    except DataError:
        return document  # complained of elsewhere
    outputs = document.get("outputs") or [{"name": name} for name in series]
    if not isinstance(lags, int) or not all(isinstance(one, dict) and "name" in one for one in outputs):
        return document
    inputs = [
        {**({"unit": one["unit"]} if "unit" in one else {}), "name": lagged(str(one["name"]), lag)}
        for lag in range(1, lags + 1)
        for one in outputs
        if one["name"] in series
    ]
    return {**document, "outputs": outputs, "inputs": document.get("inputs") or inputs}


def read_rows(
    path: Path, inputs: Mapping[str, Fraction], outputs: Mapping[str, Fraction], lags: int
) -> tuple[Tensor, tuple[int, ...]]:
    """Return lagged inputs and outputs, float64 [u + v, n], each multiplied by its factor, and the line of each row."""
    wanted = [(*(read_lagged(name) or (name, 1)), factor) for name, factor in inputs.items()]
    wanted += [(name, 0, factor) for name, factor in outputs.items()]
    columns: list[Tensor] = []
    lines: tuple[int, ...] = ()
    for series, lag, factor in wanted:
        values, lines = _series(path, series, factor)
        rows = len(values) - lags
        if rows < 1:
            raise DataError(f"{path}: {len(values)} values are too few for lags = {lags}")
        columns.append(values[lags - lag : lags - lag + rows])
    return torch.stack(columns), lines[lags:]


def _series(path: Path, name: str, factor: Fraction) -> tuple[Tensor, tuple[int, ...]]:
    if not _is_bare(path):
        columns, lines = csv.read_table(path, {name: factor})
        return columns[0], lines
    found = list(_numbers(path))
    values = [float(number * factor) for number, _ in found]
    return torch.tensor(values, dtype=torch.float64), tuple(line for _, line in found)


def _is_bare(path: Path) -> bool:
    """Whether a file holds nothing but numbers: one on each line, or all on one."""
    lines = [words for words in _words(path) if words]
    numbers = bool(lines) and all(map(csv.is_number, lines[0]))
    return numbers and (len(lines) == 1 or all(len(words) == 1 for words in lines))


def _words(path: Path) -> Iterator[Sequence[str]]:
    with csv.open_text(path) as file:
        for line in file:
            yield [word for word in _SEPARATOR.split(line.strip()) if word]


def _numbers(path: Path) -> Iterator[tuple[Fraction, int]]:
    for line, words in enumerate(_words(path), start=1):
        for word in words:
            try:
                yield Fraction(word), line
            except (ValueError, ZeroDivisionError):
                raise DataError(f"{path}:{line}: is not a number: {word!r}", rows=[line]) from None
