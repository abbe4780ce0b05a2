"""The trace: who got a turn and what it brought, what improved, and every step of the network, as lines of JSON."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

from occamkit.files import write_whole
from occamkit.search.events import Ended, Event, Failed, Improved, Observer, Stepped, TurnEnded


class Tracer:
    """Turns events into lines, without the clock; what improved in a turn stands in the line of that turn."""

    def __init__(self, write: Callable[[dict[str, Any]], None], step: int = 0) -> None:
        self._write, self._step = write, step
        self._improved: list[dict[str, Any]] = []

    def __call__(self, event: Event) -> None:
        """Hear what happened."""
        if isinstance(event, Improved):
            found = event.candidate
            told = {"output": event.output, "formula": found.tree.written(), "complexity": found.complexity}
            self._improved.append({**told, "score": found.score})
        elif isinstance(event, Stepped):
            record = asdict(event.progress.record())
            self._step = record["step"]
            self._write({"event": "step", "turn": event.turn, "proposer": event.proposer, **record})
        elif isinstance(event, TurnEnded):
            had = {"proposer": event.proposer, **asdict(event.account), "brought": self._improved}
            self._write({"event": "turn", "turn": event.turn, "step": self._step, **had})
            self._improved = []
        elif isinstance(event, Failed):
            failed = {"proposer": event.proposer, "reason": event.reason}
            self._write({"event": "failed", "turn": event.turn, "step": self._step, **failed})
        elif isinstance(event, Ended):
            accounts = {name: asdict(account) for name, account in event.accounts.items()}
            ended = {"stop": event.stop, "accounts": accounts}
            self._write({"event": "ended", "turn": event.turn, "step": self._step, **ended})


@contextmanager
def trace_to(path: Path, after: int = 0) -> Iterator[Observer]:
    """Write events to a file, a JSON object on each line; of lines that are there, the turns up to `after` stay."""
    lines = [(line, json.loads(line)) for line in read_lines(path)] if after else []
    kept = [(line, one) for line, one in lines if one["turn"] <= after and one["event"] != "ended"]
    write_whole(path, "".join(f"{line}\n" for line, _ in kept))
    with path.open("a", encoding="utf-8", buffering=1) as file:

        def write(line: dict[str, Any]) -> None:
            file.write(json.dumps(_finite(line), ensure_ascii=False) + "\n")

        yield Tracer(write, kept[-1][1]["step"] if kept else 0)


def read_lines(path: Path) -> list[str]:
    """Return the lines of a trace; one that was being written when the run was killed is left out."""
    if not path.is_file():
        return []
    whole, _, _ = path.read_text(encoding="utf-8").rpartition("\n")
    return whole.split("\n") if whole else []


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _finite(inner) for key, inner in value.items()}
    if isinstance(value, tuple | list):
        return [_finite(inner) for inner in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
