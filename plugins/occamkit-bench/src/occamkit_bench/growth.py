"""How the cost of a training step grows: with functions, rows, depth and inputs.

Each cell runs in a process of its own, so that its peak memory is its own.
"""

from __future__ import annotations

import multiprocessing
import statistics
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass, replace
from typing import Any

from occamkit.packs.registry import Registry
from occamkit_bench.clock import cpu_seconds, one_thread, peak_megabytes
from occamkit_bench.setting import DEPTH, synthetic_bench

STEPS = 5
REPEATS = 3


@dataclass(frozen=True)
class Cell:
    """One size to measure at: synthetic rows, and the paper's network."""

    functions: int = 8_000
    rows: int = 292
    depth: int = DEPTH
    features: int = 4


BASE = Cell()
"""What the others are held at while one size varies; functions enough to hide the cost of launches."""

SWEEPS: dict[str, tuple[int, ...]] = {
    "functions": (500, 1_000, 2_000, 4_000, 8_000, 16_000, 32_000),
    "rows": (28, 100, 292, 635, 1_000, 2_000),
    "depth": (2, 3, 4, 5, 6),
    "features": (2, 4, 10, 30, 60, 117),
}
QUICK: dict[str, tuple[int, ...]] = {
    "functions": (500, 2_000, 8_000),
    "rows": (28, 292, 635),
    "depth": (2, 4),
    "features": (4, 117),
}
LARGEST = Cell(functions=20_000, rows=635, features=117)
"""The largest setting of the paper's grid, for its memory."""

Report = Callable[[str], None]


def measure_cell(cell: Cell) -> dict[str, float]:
    """Return CPU microseconds per function and per step, and memory in units of 10⁶ bytes."""
    one_thread()
    before = peak_megabytes()
    bench = synthetic_bench(cell.rows, cell.features, cell.functions, cell.depth, Registry.load())
    costs = []
    for seed in range(REPEATS):
        trainer = bench.trainer(seed)
        trainer.step()
        costs.append(cpu_seconds(lambda trainer=trainer: [trainer.step() for _ in range(STEPS)]))  # type: ignore[misc]
    step = statistics.median(costs) / STEPS
    return {
        "microseconds": round(1e6 * step / cell.functions, 3),
        "step_milliseconds": round(1e3 * step, 3),
        "peak_megabytes": round(peak_megabytes(), 1),
        "idle_megabytes": round(before, 1),
    }


def in_own_process(cell: Cell) -> dict[str, float]:
    """Measure a cell in a fresh process."""
    # "spawn" starts from nothing; a forked child would begin with the memory of its parent.
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        return pool.submit(measure_cell, cell).result()


def growth(
    sweeps: dict[str, tuple[int, ...]],
    report: Report,
    run: Callable[[Cell], dict[str, float]] = in_own_process,
    base: Cell = BASE,
    largest: Cell | None = LARGEST,
) -> dict[str, Any]:
    """Vary one size at a time; return a row for each cell, and how well straight lines fit."""
    rows: list[dict[str, Any]] = []
    for varied, values in sweeps.items():
        for value in values:
            report(f"{varied} = {value:,}")
            cell = replace(base, **{varied: value})
            rows.append({"varied": varied, **asdict(cell), **run(cell)})
    lines = {
        varied: straight_line([(row[varied], row["step_milliseconds"]) for row in rows if row["varied"] == varied])
        for varied in ("functions", "rows")
        if len(sweeps.get(varied, ())) > 1
    }
    if largest is not None:
        report("the largest setting")
        rows.append({"varied": "largest", **asdict(largest), **run(largest)})
    return {"rows": rows, "lines": lines}


def straight_line(points: Sequence[tuple[float, float]]) -> dict[str, float]:
    """Fit cost = fixed + slope · size, each point weighing by its relative error; say how far off the worst is."""
    weights = [1 / cost**2 for _, cost in points]
    total = sum(weights)
    mean_size = sum(w * size for w, (size, _) in zip(weights, points, strict=True)) / total
    mean_cost = sum(w * cost for w, (_, cost) in zip(weights, points, strict=True)) / total
    square = sum(w * (size - mean_size) ** 2 for w, (size, _) in zip(weights, points, strict=True))
    product = sum(w * (size - mean_size) * cost for w, (size, cost) in zip(weights, points, strict=True))
    slope = product / square
    fixed = mean_cost - slope * mean_size
    worst = max(abs(fixed + slope * size - cost) / cost for size, cost in points)
    return {"fixed_milliseconds": fixed, "milliseconds_each": slope, "worst_relative": worst}
