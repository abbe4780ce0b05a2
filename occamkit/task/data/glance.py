"""A first look at a table: how many rows it has, which columns hold numbers, and which tell about the target.

Only some rows are looked at when there are many, so that a table may be larger than memory would like.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from occamkit.errors import DataError, did_you_mean
from occamkit.task.data.csv import MISSING, open_text, rows_of, split_header

MOST_CELLS = 4_000_000
"""How many cells are looked at; of a larger table, every so-many-th row."""

Columns = np.ndarray[Any, np.dtype[np.float64]]


@dataclass(frozen=True)
class Glance:
    """What a look at a table has shown.

    numbers: the columns that hold numbers. texts: those that do not. sample: some rows of `numbers`, NaN where a cell
    is missing. places: which rows these are.
    """

    rows: int
    numbers: tuple[str, ...]
    texts: tuple[str, ...]
    sample: Columns  # [c, m]
    places: Columns  # [m]

    def columns(self, names: Sequence[str]) -> Columns:
        """Return the sampled rows of some columns: [c, m]."""
        place_of = {name: place for place, name in enumerate(self.numbers)}
        found: Columns = self.sample[[place_of[name] for name in names]]
        return found


def glance(path: Path, wanted: Sequence[str] | None = None, most_cells: int = MOST_CELLS) -> Glance:
    """Look at a file; `wanted` are the columns of interest, None all of them."""
    lines = _line_count(path)
    with open_text(path) as file:
        header, reader = split_header(path, file)
        for name in wanted or ():
            if name not in header:
                raise DataError(f"{path}: no column {name!r}{did_you_mean(name, header)}", column=name)
        names = [name for name in header if name] if wanted is None else list(wanted)
        place_of = {name: place for place, name in enumerate(header)}
        positions = [place_of[name] for name in names]
        stride = max(1, lines * len(header) // most_cells)
        rows, cells, places = 0, [], []
        for _, row in rows_of(path, reader, len(header)):
            if rows % stride == 0:
                cells.append([row[position] for position in positions])
                places.append(rows)
            rows += 1
    if rows == 0:
        raise DataError(f"{path}: has a header and no rows")
    found = {name: _numbers([row[place] for row in cells]) for place, name in enumerate(names)}
    numbers = tuple(name for name, column in found.items() if column is not None)
    kept = [column for column in found.values() if column is not None]
    return Glance(
        rows=rows,
        numbers=numbers,
        texts=tuple(name for name, column in found.items() if column is None),
        sample=np.stack(kept) if kept else np.zeros((0, len(cells))),
        places=np.array(places, dtype=np.float64),
    )


def _line_count(path: Path) -> int:
    try:
        with path.open("rb") as file:
            return sum(block.count(b"\n") for block in iter(lambda: file.read(1 << 20), b""))
    except OSError:
        return 0  # whoever opens it to read says what is wrong


def _numbers(cells: Sequence[str]) -> Columns | None:
    """Return a column as numbers, or None when most of its cells are something else."""
    try:
        return np.array(cells, dtype=np.float64)
    except ValueError:
        pass
    column, wrong, missing = np.full(len(cells), np.nan), 0, 0
    for place, cell in enumerate(cells):
        text = cell.strip()
        if text.lower() in MISSING:
            missing += 1
            continue
        try:
            column[place] = float(text)
        except ValueError:
            wrong += 1
    return None if 2 * wrong > len(cells) - missing or missing == len(cells) else column


def telling(inputs: Columns, target: Columns, most: int) -> list[int]:
    """Return which rows of inputs [c, n] tell most about a target [n], at most so many, best first.

    One half are columns by tenths of which the target's mean or its spread differs most; so a column that only
    stretches the target up and down is found too. The other half are chosen one by one, each for what those before it
    leave unexplained; so a small influence is found in the shadow of a large one.
    """
    ranking = np.argsort(-dependence(inputs, target), kind="stable")
    chosen = [int(place) for place in ranking[: (most + 1) // 2]]
    scaled = inputs - inputs.mean(1, keepdims=True)
    scaled /= np.maximum(np.linalg.norm(scaled, axis=1, keepdims=True), 1e-300)
    while len(chosen) < min(most, len(inputs)):
        fitted, *_ = np.linalg.lstsq(scaled[chosen].T, target - target.mean(), rcond=None)
        left = np.abs(scaled @ (target - target.mean() - fitted @ scaled[chosen]))
        left[chosen] = -1.0
        chosen.append(int(np.argmax(left)))
    return chosen


def dependence(inputs: Columns, target: Columns, bins: int = 10) -> Columns:
    """Return the larger share of variance [c] that tenths of each column explain, of the target or of its square."""
    centred = target - target.mean()
    squares = centred**2 - (centred**2).mean()
    bins = max(2, min(bins, len(target) // 5))
    found = np.zeros(len(inputs))
    for place, column in enumerate(inputs):
        tenths = np.searchsorted(np.quantile(column, np.linspace(0, 1, bins + 1)[1:-1]), column, side="right")
        counts = np.bincount(tenths, minlength=bins)
        for values in (centred, squares):
            total = float(values @ values)
            if total > 0:
                sums = np.bincount(tenths, weights=values, minlength=bins)
                found[place] = max(found[place], float((sums**2 / np.maximum(counts, 1)).sum()) / total)
    return found
