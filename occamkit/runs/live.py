"""A run while it goes on: a few lines that renew themselves in a terminal or a notebook, plain lines elsewhere."""

from __future__ import annotations

import html
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from rich.console import Console, Group
from rich.live import Live
from rich.text import Text

from occamkit import typeset
from occamkit.archive import Candidate
from occamkit.result.formulas import brief_algebra
from occamkit.search import Event, Improved, Observer, Stepped, TurnBegan
from occamkit.search.proposal import Progress
from occamkit.task.problem import Problem

if TYPE_CHECKING:
    from occamkit.graph import Expression

EVERY_SCREEN = 0.2
"""Seconds between two looks at a terminal or a notebook."""
EVERY_PIPE = 5.0
"""Seconds between two lines elsewhere."""

Show = Callable[["LiveView"], None]


@dataclass(frozen=True)
class LiveView:
    """What there is to see: how the run goes, and the best formula of each output with how good it is."""

    going: str
    formulas: tuple[tuple[str, str], ...]

    def line(self) -> str:
        """Return everything as one line."""
        return "  ".join([self.going, *(f"{formula} ({quality})" for formula, quality in self.formulas)])


@dataclass
class Viewer:
    """Turns events into views; a formula is written once, however long it stays the best."""

    problem: Problem
    best: dict[int, Candidate] = field(default_factory=dict)
    progress: Progress | None = None
    _written: dict[tuple[Expression, int], str] = field(default_factory=dict)

    def hear(self, event: Event) -> None:
        """Note what happened."""
        if isinstance(event, Stepped):
            self.progress = event.progress
        if isinstance(event, Improved) and event.best is not None:
            self.best[event.output] = event.best

    def view(self, event: TurnBegan) -> LiveView:
        """Return what the run has come to as a turn begins."""
        found = [
            (f"{self.problem.outputs[place].name} = {self._formula(candidate, place)}", _quality(candidate))
            for place, candidate in sorted(self.best.items())
        ]
        return LiveView(self._going(event), tuple(found))

    def _going(self, event: TurnBegan) -> str:
        limit, steps, step = self.problem.spec.stop.seconds, self.problem.spec.stop.max_steps, self.progress
        left = f", {max(limit - event.seconds, 0):.0f} s left" if limit is not None else ""
        going = f"{event.seconds:.1f} s{left}  turn {event.turn}: {event.proposer}"
        if step is None:
            return going
        of = f"/{steps}" if steps is not None else ""
        speed = step.functions / max(event.seconds, 1e-9)
        repeats = 1 - step.unique_functions / max(step.functions, 1)
        return (
            f"{going}  step {step.step}{of}  {speed / 1000:.0f}k functions/s  "
            f"{repeats:.0%} repeats  {step.restarts} restarts"
        )

    def _formula(self, candidate: Candidate, output: int) -> str:
        key = (candidate.tree, output)
        if key not in self._written:
            algebra = brief_algebra(self.problem, candidate.tree, output)
            self._written[key] = candidate.tree.written() if algebra is None else typeset.text(algebra)
        return self._written[key]


def _quality(candidate: Candidate) -> str:
    figures = candidate.figures
    part = "valid" if "valid" in figures.mse else "train"
    error = figures.mse[part] ** 0.5
    return f"{part} error {error:.3g}, R² {figures.r2[part]:.4g}, complexity {candidate.complexity:g}"


@contextmanager
def follow(problem: Problem) -> Iterator[Observer]:
    """Yield an observer that shows how a run goes on standard error or in a notebook."""
    viewer, notebook = Viewer(problem), _notebook()
    console = Console(stderr=True)
    if notebook is not None:
        yield _every(EVERY_SCREEN, viewer, lambda view: notebook(_as_html(view)))
    elif console.is_terminal:
        with Live(console=console, auto_refresh=False, transient=True) as live:
            yield _every(EVERY_SCREEN, viewer, lambda view: live.update(_as_lines(view), refresh=True))
    else:
        yield _every(EVERY_PIPE, viewer, lambda view: _write(view.line()))


def _write(line: str) -> None:
    sys.stderr.write(f"{line}\n")
    sys.stderr.flush()


def _every(seconds: float, viewer: Viewer, show: Show) -> Observer:
    shown = time.monotonic()

    def observe(event: Event) -> None:
        nonlocal shown
        viewer.hear(event)
        if isinstance(event, TurnBegan) and time.monotonic() - shown >= seconds:
            show(viewer.view(event))
            shown = time.monotonic()

    return observe


def _as_lines(view: LiveView) -> Group:
    lines = [Text(view.going, style="dim", overflow="ellipsis", no_wrap=True)]
    for formula, quality in view.formulas:
        lines.append(Text(formula, style="bold", overflow="fold"))
        lines.append(Text(f"  {quality}", overflow="ellipsis", no_wrap=True))
    return Group(*lines)


def _as_html(view: LiveView) -> str:
    rows = [f"<div style='opacity:.7'>{html.escape(view.going)}</div>"]
    for formula, quality in view.formulas:
        rows.append(f"<div><code>{html.escape(formula)}</code><br><small>{html.escape(quality)}</small></div>")
    return "".join(rows)


def _notebook() -> Callable[[str], None] | None:
    """Return a way to show HTML in the present cell, when this is a notebook."""
    shell: Any = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    if shell is None or not hasattr(shell, "kernel"):
        return None
    from IPython.display import HTML, display

    handle = display(HTML(""), display_id=True)
    return lambda text: handle.update(HTML(text))
