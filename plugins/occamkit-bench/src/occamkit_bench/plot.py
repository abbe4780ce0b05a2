"""Pictures of what was measured; matplotlib is the extra `plot` of this pack."""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from occamkit.errors import UserError

SUFFIXES = (".svg", ".png", ".pdf")
_COLOURS = {
    "occamkit": "#0b6e4f",
    "dense": "#8d99ae",
    "dense_reused": "#5c677d",
    "gplearn": "#c8553d",
    "pyoperon": "#e09f3e",
}
_LABELS = {
    "functions": "functions a step",
    "rows": "rows",
    "depth": "depth",
    "features": "inputs",
}


def check_plot(path: Path | None) -> None:
    """Refuse, before any time is spent, what could not be drawn in the end."""
    if path is None:
        return
    if path.suffix not in SUFFIXES:
        raise UserError(f"--plot: {path.name!r} must end in {', '.join(SUFFIXES)}")
    if not path.resolve().parent.is_dir():
        raise UserError(f"--plot: there is no folder {str(path.parent)!r}")
    if importlib.util.find_spec("matplotlib") is None:
        raise UserError("--plot needs matplotlib, which is not installed; pip install 'occamkit-bench[plot]' brings it")


def _figure(columns: int, rows: int = 1) -> tuple[Any, Any]:
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    # The same input gives the same file.
    mpl.rcParams["svg.hashsalt"] = "occamkit"
    figure, axes = plt.subplots(rows, columns, figsize=(4.2 * columns, 3.1 * rows), layout="constrained", squeeze=False)
    for axis in axes.flat:
        axis.spines[["top", "right"]].set_visible(False)
    return figure, axes


def _save(figure: Any, path: Path) -> None:
    import matplotlib.pyplot as plt

    figure.savefig(path, metadata={"Date": None} if path.suffix == ".svg" else None)
    plt.close(figure)


def plot_growth(document: dict[str, Any], path: Path) -> None:
    """Draw cost and memory against each size that was varied."""
    varied = [name for name in _LABELS if any(row["varied"] == name for row in document["rows"])]
    figure, axes = _figure(len(varied), 2)
    for column, name in enumerate(varied):
        rows = [row for row in document["rows"] if row["varied"] == name]
        sizes = [row[name] for row in rows]
        cost, memory = axes[0][column], axes[1][column]
        if name in document["lines"]:
            cost.plot(sizes, [row["step_milliseconds"] for row in rows], "o", color=_COLOURS["occamkit"])
            line = document["lines"][name]
            fitted = [line["fixed_milliseconds"] + line["milliseconds_each"] * size for size in sizes]
            cost.plot(sizes, fitted, "-", color=_COLOURS["dense"], label="straight line", zorder=0)
            cost.legend(frameon=False)
            cost.set_ylabel("CPU ms a step")
        else:
            cost.plot(sizes, [row["microseconds"] for row in rows], "o-", color=_COLOURS["occamkit"])
            cost.set_ylabel("CPU µs a function")
        memory.plot(sizes, [row["peak_megabytes"] for row in rows], "o-", color=_COLOURS["occamkit"])
        memory.set_ylabel("peak memory, MB")
        for axis in (cost, memory):
            axis.set_ylim(bottom=0)
            axis.set_xlabel(_LABELS[name])
    _save(figure, path)


def plot_throughput(rows: Sequence[dict[str, Any]], path: Path) -> None:
    """Draw functions per CPU second of every contender, as bars."""
    names = [name for name in _COLOURS if any(name in row for row in rows)]
    figure, axes = _figure(1)
    axis = axes[0][0]
    figure.set_size_inches(1.6 * len(rows) + 2.5, 3.6)
    width = 0.8 / len(names)
    for place, name in enumerate(names):
        at = [number + place * width for number in range(len(rows))]
        axis.bar(at, [row.get(name, 0) for row in rows], width, color=_COLOURS[name], label=name.replace("_", ", "))
    middles = [number + width * (len(names) - 1) / 2 for number in range(len(rows))]
    axis.set_xticks(middles, [f"{row['dataset'][:12]}\nR = {row['functions']:,}" for row in rows])
    axis.set_yscale("log")
    axis.set_ylabel("functions per CPU second")
    axis.legend(frameon=False, ncols=len(names), loc="upper center", bbox_to_anchor=(0.5, 1.15))
    _save(figure, path)
