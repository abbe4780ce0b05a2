"""Scales, ticks and plots, as SVG that needs nothing else."""

from __future__ import annotations

import html
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

LEFT, RIGHT, TOP, BOTTOM = 62, 14, 14, 44


@dataclass(frozen=True)
class AxisScale:
    """From numbers to pixels along one axis."""

    low: float
    high: float
    start: float
    stop: float
    logarithmic: bool = False

    def __call__(self, value: float) -> float:
        """Return where a number is, clipped to the axis."""
        low, high = self._at(self.low), self._at(self.high)
        share = (self._at(value) - low) / (high - low)
        return round(self.start + min(max(share, -0.02), 1.02) * (self.stop - self.start), 2)

    def _at(self, value: float) -> float:
        return math.log10(max(value, 1e-300)) if self.logarithmic else value

    def ticks(self) -> list[float]:
        """Return a handful of round numbers inside the range."""
        if self.logarithmic:
            first, last = math.ceil(math.log10(self.low)), math.floor(math.log10(self.high))
            step = max(1, -(-(last - first) // 5))
            return [10.0**power for power in range(first, last + 1, step)] or [self.low, self.high]
        rough = (self.high - self.low) / 5
        size = 10 ** math.floor(math.log10(rough))
        step = next(size * factor for factor in (1, 2, 5, 10) if size * factor >= rough * 0.999)
        first = math.ceil(self.low / step)
        return [number * step for number in range(first, math.floor(self.high / step + 1e-9) + 1)]


def spread(values: Iterable[float], start: float, stop: float, logarithmic: bool = False) -> AxisScale:
    """Return a scale with a little room around finite values."""
    finite = [value for value in values if math.isfinite(value) and (value > 0 or not logarithmic)]
    low, high = (min(finite), max(finite)) if finite else (0.1 if logarithmic else 0.0, 1.0)
    if logarithmic:
        low, high = low / 2, high * 2
    else:
        room = 0.05 * (high - low) or 0.5 * abs(high) or 0.5
        low, high = low - room, high + room
    return AxisScale(low, high, start, stop, logarithmic)


def show(number: float) -> str:
    """Write a number briefly."""
    return f"{number:.4g}" if math.isfinite(number) else "undefined"


@dataclass
class Plot:
    """One plot being drawn: make it with the two scales, add to it, and write it out."""

    x: AxisScale
    y: AxisScale
    x_label: str
    y_label: str
    title: str
    width: int
    height: int
    inside: list[str] = field(default_factory=list)

    def points(
        self,
        values: Iterable[tuple[float, float]],
        kind: str,
        label: Callable[[int], str] | None = None,
        size: float = 3,
    ) -> None:
        """Add points; `label` says what a pointer resting on one shows."""
        for place, (x, y) in enumerate(values):
            if math.isfinite(x) and math.isfinite(y):
                says = f"<title>{html.escape(label(place))}</title>" if label else ""
                self.inside.append(
                    f'<circle class="{kind}" cx="{self.x(x)}" cy="{self.y(y)}" r="{size}">{says}</circle>'
                )

    def line(self, values: Iterable[tuple[float, float]], kind: str) -> None:
        """Add a line through points; it breaks where one is undefined."""
        runs: list[list[str]] = [[]]
        for x, y in values:
            if math.isfinite(x) and math.isfinite(y):
                runs[-1].append(f"{self.x(x)},{self.y(y)}")
            elif runs[-1]:
                runs.append([])
        self.inside += [f'<polyline class="{kind}" points="{" ".join(run)}"/>' for run in runs if len(run) > 1]

    def svg(self) -> str:
        """Write the plot."""
        across, down = (LEFT + self.width - RIGHT) / 2, (TOP + self.height - BOTTOM) / 2
        parts = [f'<svg viewBox="0 0 {self.width} {self.height}" role="img" aria-label="{html.escape(self.title)}">']
        bottom = self.height - BOTTOM
        for tick in self.x.ticks():
            parts.append(f'<path class="grid" d="M{self.x(tick)} {TOP}V{bottom}"/>')
            parts.append(f'<text class="tick" x="{self.x(tick)}" y="{bottom + 16}">{show(tick)}</text>')
        for tick in self.y.ticks():
            parts.append(f'<path class="grid" d="M{LEFT} {self.y(tick)}H{self.width - RIGHT}"/>')
            parts.append(f'<text class="tick side" x="{LEFT - 6}" y="{self.y(tick) + 4}">{show(tick)}</text>')
        parts.append(f'<path class="axis" d="M{LEFT} {TOP}V{bottom}H{self.width - RIGHT}"/>')
        parts.append(f'<text class="name" x="{across}" y="{self.height - 8}">{html.escape(self.x_label)}</text>')
        turned = f'transform="translate(14 {down}) rotate(-90)"'
        parts.append(f'<text class="name" {turned}>{html.escape(self.y_label)}</text>')
        return "".join([*parts, *self.inside, "</svg>"])


def plot(
    xs: Sequence[float],
    ys: Sequence[float],
    x_label: str,
    y_label: str,
    title: str,
    *,
    width: int = 420,
    height: int = 300,
    log_y: bool = False,
) -> Plot:
    """Begin a plot that has room for these numbers."""
    x = spread(xs, LEFT, width - RIGHT)
    y = spread(ys, height - BOTTOM, TOP, log_y)
    return Plot(x, y, x_label, y_label, title, width, height)
