"""Functions per CPU second of whole training steps, all contenders in turn.

Each round gives every contender one turn, so that a slow minute of the machine slows all of them; the figure is the
median over rounds.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence
from typing import Any

from occamkit.packs.registry import Registry
from occamkit_bench.clock import cpu_seconds, one_thread
from occamkit_bench.dense import DenseTrainer
from occamkit_bench.peers import Turn, gplearn_turn, installed_peers, pyoperon_turn
from occamkit_bench.setting import Bench, load_bench
from occamkit_bench.stages import stage_costs

FUNCTIONS = (2_000, 20_000)
PER_TURN = 100_000
"""Functions of one turn of occamkit: the first of a run, when hardly any has been seen before."""
PER_QUICK_TURN = 40_000
LEAST_STEPS = 3
GPLEARN_SHARE = 50
"""gplearn looks at so many times fewer functions in a turn, and takes as long for them."""
LEAST_ROUNDS = 3

Report = Callable[[str], None]


def occamkit_turn(bench: Bench, functions: int, steps: int) -> Turn:
    """Return a turn of the real trainer: an untrained network each time, its first step not counted."""

    def turn(seed: int) -> float:
        trainer = bench.trainer(seed)
        trainer.step()
        return steps * functions / cpu_seconds(lambda: [trainer.step() for _ in range(steps)])

    return turn


def dense_turn(bench: Bench, functions: int, reuse: bool) -> Turn:
    """Return a turn of the dense oracle: one step, as its speed does not change with training."""

    def turn(seed: int) -> float:
        return functions / cpu_seconds(DenseTrainer(bench.problem, seed, reuse=reuse).step)

    return turn


def contenders(bench: Bench, functions: int, steps: int) -> dict[str, Turn]:
    """Return a turn of each contender that is installed."""
    turns = {
        "occamkit": occamkit_turn(bench, functions, steps),
        "dense": dense_turn(bench, functions, reuse=False),
        "dense_reused": dense_turn(bench, functions, reuse=True),
    }
    peers = installed_peers()
    if "gplearn" in peers:
        turns["gplearn"] = gplearn_turn(bench, steps * functions // GPLEARN_SHARE)
    if "pyoperon" in peers:
        turns["pyoperon"] = pyoperon_turn(bench, functions, steps)
    return turns


def measure(turns: dict[str, Turn], seconds: float) -> dict[str, list[float]]:
    """Give every contender a turn, again and again for so many CPU seconds; return functions per second."""
    speeds: dict[str, list[float]] = {name: [] for name in turns}
    started = time.process_time()
    rounds = 0
    while rounds < LEAST_ROUNDS or time.process_time() - started < seconds:
        for name, turn in turns.items():
            speeds[name].append(turn(rounds))
        rounds += 1
    return speeds


def throughput(
    datasets: Sequence[str], functions: Sequence[int], seconds: float, report: Report, per_turn: int = PER_TURN
) -> list[dict[str, Any]]:
    """Measure every data set at every number of functions; one row for each."""
    one_thread()
    registry = Registry.load()
    rows = []
    for dataset in datasets:
        for count in functions:
            report(f"{dataset}, {count:,} functions a step")
            bench = load_bench(dataset, count, registry)
            rows.append(_row(dataset, bench, max(LEAST_STEPS, per_turn // count), seconds))
    return rows


def _row(dataset: str, bench: Bench, steps: int, seconds: float) -> dict[str, Any]:
    functions = bench.problem.spec.trainer.functions
    speeds = measure(contenders(bench, functions, steps), seconds)
    return {
        "dataset": dataset,
        "functions": functions,
        **{name: round(statistics.median(values), 1) for name, values in speeds.items()},
        "stages": _stages(bench, steps),
        "rows_of_data": bench.rows,
        "features": bench.features,
        "synthetic": bench.synthetic,
        "rounds": len(speeds["occamkit"]),
        "spread": {name: [round(min(values), 1), round(max(values), 1)] for name, values in speeds.items()},
    }


def _stages(bench: Bench, steps: int) -> dict[str, float]:
    """Return the median microseconds per function of each stage, over fresh runs."""
    found = []
    for seed in range(LEAST_ROUNDS):
        trainer = bench.trainer(seed)
        trainer.step()
        found.append(stage_costs(trainer, steps))
    return {stage: statistics.median(costs[stage] for costs in found) for stage in found[0]}
