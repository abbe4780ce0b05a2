"""Live progress on standard error: a line that renews itself in a terminal, plain lines elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rich.console import Console
from rich.live import Live
from rich.text import Text

if TYPE_CHECKING:
    from occamkit.task.problem import Problem
    from occamkit.train.run import Progress

_EVERY_TERMINAL = 0.2
_EVERY_PIPE = 5.0


@contextmanager
def follow(problem: Problem, quiet: bool) -> Iterator[Callable[[Progress], None] | None]:
    """Yield an observer that shows how a run goes, or None when nothing is to be shown."""
    if quiet:
        yield None
        return
    console = Console(stderr=True)
    terminal = console.is_terminal
    every = _EVERY_TERMINAL if terminal else _EVERY_PIPE
    shown = time.monotonic()

    with Live(console=console, auto_refresh=False, transient=True) if terminal else _nothing() as live:

        def observe(progress: Progress) -> None:
            nonlocal shown
            now = time.monotonic()
            if now - shown < every:
                return
            shown = now
            text = describe(problem, progress)
            if isinstance(live, Live):
                live.update(Text(text, overflow="ellipsis", no_wrap=True), refresh=True)
            else:
                print(text, file=sys.stderr, flush=True)

        yield observe


@contextmanager
def _nothing() -> Iterator[None]:
    yield None


def describe(problem: Problem, progress: Progress) -> str:
    """Return one line: time, speed, share of repeats, and the best of each output so far."""
    speed = progress.functions / max(progress.seconds, 1e-9)
    repeats = 1 - progress.unique_functions / max(progress.functions, 1)
    best = "; ".join(
        f"{output.name} = {candidate.tree.written()} (R² {candidate.figures.r2['train']:.4g})"
        for output, candidate in zip(problem.outputs, progress.best, strict=True)
        if candidate is not None
    )
    limit = problem.spec.stop.seconds
    left = f"/{limit:g}" if limit is not None else ""
    return (
        f"{progress.seconds:.1f}{left} s  step {progress.step.number}  {speed / 1000:.0f}k functions/s  "
        f"{repeats:.0%} repeats  {progress.restarts} restarts  {best}"
    )
