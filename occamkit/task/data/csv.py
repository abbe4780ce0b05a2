"""Reads number columns of a text file, and says exactly which cell is wrong when one is.

A column with a unit is converted from its decimal text in one exact step, so that data given in km and the same data
given in m become the very same tensor.
"""

from __future__ import annotations

import csv
import decimal
import itertools
import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from typing import Any, TextIO

import numpy as np
import torch
from torch import Tensor

from occamkit.errors import DataError, did_you_mean, nearest

MISSING = frozenset({"", "na", "n/a", "nan", "null", "none", "?", "-", "."})
_DELIMITERS = ",;\t|"
_CHUNK = 50_000
_SHOWN = 5

# Enough digits that one conversion followed by one rounding to a float is as good as exact.
_EXACT = decimal.Context(prec=60)


@contextmanager
def open_text(path: Path) -> Iterator[TextIO]:
    """Open a UTF-8 text file; whatever is wrong with it becomes a DataError."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            yield file
    except FileNotFoundError:
        folder = path.parent
        names = [other.name for other in folder.iterdir()] if folder.is_dir() else []
        match = nearest(path.name, names)
        hint = f"; did you mean {match!r}?" if match else ""
        raise DataError(f"no such file: {path}{hint}") from None
    except IsADirectoryError:
        raise DataError(f"{path} is a folder, not a file") from None
    except (OSError, ValueError) as error:
        if isinstance(error, UnicodeDecodeError):
            raise DataError(f"{path}: is not UTF-8 text (byte {error.start}); save it as UTF-8") from None
        raise DataError(f"{str(path)!r} cannot be read: {error}") from None
    except csv.Error as error:
        raise DataError(f"{path}: cannot be read as a table: {error}") from None


def read_header(path: Path) -> list[str]:
    """Return the column names of a file."""
    with open_text(path) as file:
        header, _ = split_header(path, file)
        return header


def row_count(path: Path) -> int:
    """Return how many rows a file has."""
    with open_text(path) as file:
        header, reader = split_header(path, file)
        return sum(1 for _ in rows_of(path, reader, len(header)))


def split_header(path: Path, file: TextIO) -> tuple[list[str], Any]:
    """Return the column names, and a reader that stands before the first row."""
    first = file.readline()
    if not first.strip():
        raise DataError(f"{path}: is empty; the first line must name the columns")
    delimiter = max(_DELIMITERS, key=first.count)
    file.seek(0)
    reader = csv.reader(file, delimiter=delimiter, skipinitialspace=True)
    header = [name.strip() for name in next(reader)]
    repeated = sorted(name for name, times in Counter(header).items() if name and times > 1)
    if repeated:
        raise DataError(f"{path}:1: column {repeated[0]!r} appears more than once", column=repeated[0], rows=[1])
    if all(is_number(name) for name in header):
        raise DataError(f"{path}:1: the first line must name the columns, found only numbers", rows=[1])
    return header, reader


def is_number(text: str) -> bool:
    """Whether a text reads as a number."""
    try:
        float(text)
    except ValueError:
        return False
    return True


def read_columns(path: Path, factors: Mapping[str, Fraction], missing: str = "error") -> Tensor:
    """Read the columns named by `factors`: float64 [c, n]; see `read_table`."""
    return read_table(path, factors, missing)[0]


def read_table(path: Path, factors: Mapping[str, Fraction], missing: str = "error") -> tuple[Tensor, tuple[int, ...]]:
    """Read the columns named by `factors`, each multiplied by its factor, float64 [c, n], and the lines of the rows.

    missing: "error" refuses rows that lack a value, naming them; "drop" leaves them out.
    """
    names = list(factors)
    with open_text(path) as file:
        header, reader = split_header(path, file)
        for name in names:
            if name not in header:
                raise DataError(f"{path}: no column {name!r}{did_you_mean(name, header)}", column=name)
        places = [header.index(name) for name in names]
        chunks: list[list[Any]] = []
        lines: list[int] = []
        while rows := list(itertools.islice(rows_of(path, reader, len(header)), _CHUNK)):
            lines.extend(line for line, _ in rows)
            chunks.append(
                [
                    _convert(path, name, [row[place] for _, row in rows], [line for line, _ in rows], factors[name])
                    for name, place in zip(names, places, strict=True)
                ]
            )
    if not chunks:
        raise DataError(f"{path}: has a header and no rows")
    columns = torch.from_numpy(np.concatenate([np.stack(chunk) for chunk in chunks], axis=1))
    return _without_gaps(path, columns, names, lines, missing)


def rows_of(path: Path, reader: Any, width: int) -> Iterator[tuple[int, list[str]]]:
    """Yield line numbers and cells of all rows that are not blank; each must be as wide as the header."""
    for row in reader:
        if not any(cell.strip() for cell in row):
            continue
        if len(row) != width:
            raise DataError(
                f"{path}:{reader.line_num}: has {len(row)} cells, the header has {width}", rows=[reader.line_num]
            )
        yield reader.line_num, row


def _convert(path: Path, name: str, cells: Sequence[str], lines: Sequence[int], factor: Fraction) -> Any:
    if factor == 1:
        try:
            return np.array(cells, dtype=np.float64)
        except ValueError:
            pass  # some cell is missing or no number: the slow way finds out which
    numbers = np.empty(len(cells))
    for place, cell in enumerate(cells):
        text = cell.strip()
        if text.lower() in MISSING:
            numbers[place] = math.nan
            continue
        try:
            numbers[place] = float(text) if factor == 1 else _scaled(text, factor)
        except (ValueError, decimal.InvalidOperation):
            raise DataError(
                f"{path}:{lines[place]}: column {name!r} is not a number: {cell!r}", column=name, rows=[lines[place]]
            ) from None
    return numbers


def _scaled(text: str, factor: Fraction) -> float:
    product = _EXACT.multiply(_EXACT.create_decimal(text), decimal.Decimal(factor.numerator))
    return float(_EXACT.divide(product, decimal.Decimal(factor.denominator)))


def _without_gaps(
    path: Path, columns: Tensor, names: Sequence[str], lines: Sequence[int], missing: str
) -> tuple[Tensor, tuple[int, ...]]:
    infinite = torch.isinf(columns)
    gaps = torch.isnan(columns)
    _refuse(path, infinite, names, lines, "infinite values")
    if missing == "error":
        _refuse(
            path,
            gaps,
            names,
            lines,
            "no value",
            hint='; missing = "drop" in [data], or --missing drop, leaves such rows out',
        )
    whole = torch.nonzero(~gaps.any(0)).squeeze(1)
    if whole.numel() == 0:
        raise DataError(f"{path}: every row lacks a value")
    return columns.index_select(1, whole), tuple(lines[row] for row in whole.tolist())


def _refuse(path: Path, bad: Tensor, names: Sequence[str], lines: Sequence[int], what: str, *, hint: str = "") -> None:
    """Raise for the first column with bad cells, naming the lines."""
    for place, name in enumerate(names):
        rows = [lines[row] for row in torch.nonzero(bad[place]).flatten().tolist()]
        if rows:
            more = f" and {len(rows) - _SHOWN} more" if len(rows) > _SHOWN else ""
            shown = f"line{'s' * (len(rows) > 1)} {', '.join(map(str, rows[:_SHOWN]))}{more}"
            raise DataError(f"{path}: column {name!r} has {what} in {shown}{hint}", column=name, rows=rows)
