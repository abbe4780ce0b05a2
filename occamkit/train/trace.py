"""The trace: every step's best and likeliest functions, one record each, written as it goes."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from occamkit.files import write_whole
from occamkit.train.trainer import Step, Trainer


@dataclass(frozen=True)
class StepRecord:
    """One step: for each output the best function drawn and the likeliest one, with their scores.

    start: which fresh start the step belongs to, from 1. entropy: the mean over the network's choices, in nats.
    unique: the share of different functions among those drawn. vetoed: the share that was refused unevaluated.
    """

    step: int
    start: int
    best: tuple[str, ...]
    best_score: tuple[float, ...]
    likeliest: tuple[str, ...]
    likeliest_score: tuple[float, ...]
    entropy: float
    unique: float
    vetoed: float


Tracer = Callable[[StepRecord], None]


def record(trainer: Trainer, step: Step) -> StepRecord:
    """Describe a step; reads back a few numbers and two trees for each output."""
    roots = step.roots.gather(1, step.leaders[:, :1]).squeeze(1).tolist()
    best = tuple(trainer.judge.read(root).written() for root in roots)
    # Entering the likeliest may empty a full graph, so the best are read before.
    likeliest = trainer.nodes_of(trainer.likeliest_edges())  # [v, 1]
    scores = trainer.judge.score(likeliest, top=1).score.squeeze(1).tolist()
    return StepRecord(
        step=step.number,
        start=trainer.starts,
        best=best,
        best_score=tuple(step.top.score[:, 0].tolist()),
        likeliest=tuple(trainer.judge.read(root).written() for root in likeliest.squeeze(1).tolist()),
        likeliest_score=tuple(scores),
        entropy=float(trainer.network.entropy().detach().mean()),
        unique=len(set(step.roots[0].tolist())) / step.roots.shape[1],
        vetoed=float(step.scores.vetoed.double().mean()),
    )


@contextmanager
def trace_to(path: Path, after: int = 0) -> Iterator[Tracer]:
    """Write records to a file, a JSON object on each line; of records that are there, the steps up to `after` stay."""
    kept = [line for line in read_lines(path) if json.loads(line)["step"] <= after] if after else []
    write_whole(path, "".join(f"{line}\n" for line in kept))
    with path.open("a", encoding="utf-8", buffering=1) as file:

        def write(one: StepRecord) -> None:
            document = {key: _finite(value) for key, value in asdict(one).items()}
            file.write(json.dumps(document, ensure_ascii=False) + "\n")

        yield write


def read_lines(path: Path) -> list[str]:
    """Return the lines of a trace; one that was being written when the run was killed is left out."""
    if not path.is_file():
        return []
    whole, _, _ = path.read_text(encoding="utf-8").rpartition("\n")
    return whole.split("\n") if whole else []


def _finite(value: object) -> object:
    if isinstance(value, tuple):
        return [_finite(inner) for inner in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
