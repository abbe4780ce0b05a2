"""Programs, seed by seed: the paper's non-analytic functions, a sorter of four numbers, and shift registers."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from occamkit.errors import UserError, did_you_mean
from occamkit.packs.registry import Registry
from occamkit.protocols import Task
from occamkit.task.file.load import check_document, load_task
from occamkit.task.prepared import PreparedTask
from occamkit_bench.clock import one_thread
from occamkit_bench.paper import PREFIX, Report, attempt, row

ROWS = (
    "three-x-or-x", "square-or-neg", "x-or-sin", "sort3", "lfsr4", "two-branch", "recursion-4", "recursion-2",
)  # fmt: skip
"""The rows of the paper's table of non-analytic functions, in its order."""

BITS = 8


def programs(
    wanted: Sequence[str], seeds: int, report: Report, grow: bool = False, everyone: bool = False
) -> list[dict[str, Any]]:
    """Run each task with seeds 0 … seeds - 1; one row for each task.

    grow: the paper's tasks without their depth. everyone: all proposers search, not the network alone.
    """
    one_thread()
    registry = Registry.load()
    known = [*(PREFIX + name for name in ROWS), "sort4", "lfsr8"]
    for name in wanted:
        if name not in known:
            raise UserError(f"--task: there is no task {name!r}{did_you_mean(name, known)}")
    rows = []
    for name in wanted or known:
        attempts = []
        for seed in range(seeds):
            attempts.append(attempt(_task(name, seed, registry, grow), seed, registry, everyone))
            last = attempts[-1]
            report(f"{name} seed {seed}: {'found' if last.success else 'missed'} in {last.seconds:.1f} s")
        rows.append(row(name, attempts))
    return rows


def _task(name: str, seed: int, registry: Registry, grow: bool) -> Task:
    if name.startswith(PREFIX):
        return load_task(name, registry, {"search.depth": None} if grow else None)
    document = sort4() if name == "sort4" else lfsr8(seed)
    return PreparedTask(check_document(document, registry, Path()), registry, Path())


def sort4() -> dict[str, Any]:
    """Return the task of sorting four numbers with max and min alone; nothing is said of depth or width."""
    low, high, other_low, other_high = "Min(x0, x1)", "Max(x0, x1)", "Min(x2, x3)", "Max(x2, x3)"
    middle = f"Max({low}, {other_low}), Min({high}, {other_high})"
    target = {
        "y0": "Min(x0, x1, x2, x3)",
        "y1": f"Min({middle})",
        "y2": f"Max({middle})",
        "y3": "Max(x0, x1, x2, x3)",
    }
    return {
        "occamkit": 1,
        "name": "sort4",
        "data": {"source": "formula", "target": target, "points": 500, "split": {"valid": 0.0, "test": 0.0}},
        "inputs": [{"name": f"x{place}", "range": [-50, 50]} for place in range(4)],
        "outputs": [{"name": name} for name in target],
        "search": {"primitives": ["occamkit:max", "occamkit:min"], "constants": []},
    }


def lfsr8(seed: int) -> dict[str, Any]:
    """Return the task of a shift register of eight bits whose taps, two to eight of them, the seed chooses.

    It is bounded by steps, so that how busy the machine is makes no difference.
    """
    chance = random.Random(seed)
    taps = sorted(chance.sample(range(BITS), chance.randint(2, BITS)))
    feedback = f"x{taps[0]}"
    for tap in taps[1:]:
        feedback = f"xor({feedback}, x{tap})"
    target = {"y0": feedback, **{f"y{place + 1}": f"x{place}" for place in range(BITS - 1)}}
    return {
        "occamkit": 1,
        "name": "lfsr8",
        "data": {"source": "formula", "target": target},
        "inputs": [{"name": f"x{place}", "values": [0, 1]} for place in range(BITS)],
        "outputs": [{"name": name} for name in target],
        "search": {"primitives": [f"occamkit:{name}" for name in ("xor*2", "and", "or", "not")], "constants": []},
        "stop": {"max_steps": 1500, "same_best_restarts": 100},
    }
