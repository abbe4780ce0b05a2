"""A million functions: the paper's whole CPU budget for one data set."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

from occamkit.packs.registry import Registry
from occamkit.search import search
from occamkit_bench.clock import one_thread, peak_megabytes
from occamkit_bench.paper import alone
from occamkit_bench.setting import load_bench

MILLION = 1_000_000


def million(dataset: str = "1027_ESL", functions: int = 2_000, total: int = MILLION) -> dict[str, Any]:
    """Train twice: the bare steps, and a whole run as `occamkit run` does it.

    A whole run also keeps the front, writes down what improves on it, and starts afresh after it has converged, so
    that it sees more new functions.
    """
    one_thread()
    bench = load_bench(dataset, functions, Registry.load())
    steps = max(1, total // functions)
    trainer = bench.trainer(seed=0)
    wall = time.monotonic()
    started = time.process_time()
    for _ in range(steps):
        trainer.step()
    bare = time.process_time() - started
    wall = time.monotonic() - wall
    steps_peak, steps_new = peak_megabytes(), trainer.judge.evaluator.evaluated
    del trainer  # or the second run would be charged for the memory of the first
    stop = bench.problem.spec.stop.model_copy(update={"max_steps": steps, "same_best_restarts": steps})
    spec = bench.problem.spec.model_copy(update={"stop": stop})
    whole = time.process_time()
    outcome = search(alone(replace(bench.problem, spec=spec)))
    whole = time.process_time() - whole
    return {
        "dataset": dataset,
        "functions": steps * functions,
        "functions_a_step": functions,
        "steps_cpu_seconds": round(bare, 2),
        "steps_wall_seconds": round(wall, 2),
        "steps_new_functions": steps_new,
        "steps_peak_megabytes": round(steps_peak, 1),
        "run_cpu_seconds": round(whole, 2),
        "run_new_functions": outcome.unique_functions,
        "run_restarts": outcome.restarts,
        "run_peak_megabytes": round(peak_megabytes(), 1),
        "synthetic": bench.synthetic,
    }
