"""Where the time of a training step goes, measured from outside: occamkit itself is not changed."""

from __future__ import annotations

import functools
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import occamkit.train.trainer as room
from occamkit.graph import Graph
from occamkit.network import Sample, Sampler
from occamkit.score import GraphJudge
from occamkit.train.adam import Adam
from occamkit.train.trainer import Trainer

STAGES: dict[str, tuple[tuple[Any, str], ...]] = {
    "sample": ((Sampler, "draw"),),
    "intern": ((Graph, "intern"),),
    "score": ((GraphJudge, "score"),),
    "select/gradient": ((Sample, "edges"), (room, "log_gradient")),
    "update": ((Adam, "ascend"),),
}
"""The calls that a stage consists of."""

REST = "rest"
"""What is in no stage: choosing the best, their weights, and the loop itself."""


@contextmanager
def timed_stages() -> Iterator[dict[str, float]]:
    """Yield the CPU seconds spent in each stage so far; nested calls of other stages do not occur."""
    spent = dict.fromkeys(STAGES, 0.0)
    originals = [(owner, name, getattr(owner, name)) for calls in STAGES.values() for owner, name in calls]
    for stage, calls in STAGES.items():
        for owner, name in calls:
            setattr(owner, name, _timed(getattr(owner, name), stage, spent))
    try:
        yield spent
    finally:
        for owner, name, original in originals:
            setattr(owner, name, original)


def _timed(call: Callable[..., Any], stage: str, spent: dict[str, float]) -> Callable[..., Any]:
    @functools.wraps(call)
    def timed(*args: Any, **options: Any) -> Any:
        started = time.process_time()
        try:
            return call(*args, **options)
        finally:
            spent[stage] += time.process_time() - started

    return timed


def stage_costs(trainer: Trainer, steps: int) -> dict[str, float]:
    """Train some steps and return the microseconds per function that each stage took, and the rest."""
    with timed_stages() as spent:
        started = time.process_time()
        for _ in range(steps):
            trainer.step()
        whole = time.process_time() - started
    costs = {**spent, REST: whole - sum(spent.values())}
    return {stage: round(1e6 * seconds / (steps * trainer.functions), 3) for stage, seconds in costs.items()}
