"""The network as a picture: columns on the left, layers of primitives, outputs on the right."""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import dataclass

from occamkit.network import Layout
from occamkit.report.content import Frame

FAINTEST = 0.03
"""Edges that are less likely than this are left out."""
MOST_EDGES = 400


@dataclass(frozen=True)
class Spot:
    """A node in the picture, with its place from 0 to 1 in both directions."""

    label: str
    x: float
    y: float


@dataclass(frozen=True)
class Edge:
    """A line from one node to another, and how likely it is that the second takes its argument from the first."""

    source: int
    target: int
    probability: float


def spots(layout: Layout, leaves: Sequence[str], outputs: Sequence[str]) -> list[Spot]:
    """Return where every node stands: the network's nodes by their numbers, then the outputs."""
    columns: list[list[str]] = [list(leaves)]
    for layer in layout.layers:
        members = [layout.primitives[index] for index in layer.primitives]
        columns.append([primitive.symbol or primitive.name for primitive in members])
    columns.append(list(outputs))
    last = len(columns) - 1
    return [
        Spot(label, place / last, (row + 0.5) / len(column))
        for place, column in enumerate(columns)
        for row, label in enumerate(column)
    ]


def edges(frame: Frame) -> list[Edge]:
    """Return the likely edges, least likely first, so that the likeliest are drawn on top."""
    layout = frame.layout
    found = []
    likely = (frame.probabilities >= FAINTEST).nonzero().tolist()
    for argument, source in likely:
        owner = layout.owners[argument]
        target = owner if owner >= 0 else layout.nodes + argument - layout.first_output
        found.append(Edge(source, target, float(frame.probabilities[argument, source])))
    return sorted(found, key=lambda edge: edge.probability)[-MOST_EDGES:]


def size(layout: Layout, leaves: Sequence[str]) -> tuple[int, int]:
    """Return width and height of a picture in which every node can be read."""
    tallest = max(len(leaves), *(len(layer.primitives) for layer in layout.layers))
    return 130 * (len(layout.layers) + 2), max(180, 22 * tallest + 20)


def svg(frame: Frame, leaves: Sequence[str], outputs: Sequence[str], title: str) -> str:
    """Return the picture of one moment."""
    width, height = size(frame.layout, leaves)
    places = spots(frame.layout, leaves, outputs)
    at = [(round(55 + spot.x * (width - 110), 1), round(10 + spot.y * (height - 20), 1)) for spot in places]
    parts = [f'<svg viewBox="0 0 {width} {height}" role="img" aria-label="{html.escape(title)}">']
    for edge in edges(frame):
        (x1, y1), (x2, y2) = at[edge.source], at[edge.target]
        opacity, thick = round(0.06 + 0.94 * edge.probability, 3), round(0.4 + 2.4 * edge.probability, 2)
        bend = round((x1 + x2) / 2, 1)
        says = f"{places[edge.source].label} → {places[edge.target].label}: {edge.probability:.2f}"
        parts.append(
            f'<path class="edge" d="M{x1} {y1}C{bend} {y1} {bend} {y2} {x2} {y2}" opacity="{opacity}" '
            f'stroke-width="{thick}"><title>{html.escape(says)}</title></path>'
        )
    for spot, (x, y) in zip(places, at, strict=True):
        label = spot.label if len(spot.label) <= 12 else f"{spot.label[:11]}…"
        half = 5 + 3.6 * len(label)
        parts.append(f'<rect class="node" x="{x - half}" y="{y - 9}" width="{2 * half}" height="18" rx="9"/>')
        parts.append(f'<text class="label" x="{x}" y="{y + 4}">{html.escape(label)}</text>')
    return "".join([*parts, "</svg>"])
