"""Fitting constants: how many functions a second, and how often the numbers that were hidden are found again."""

from __future__ import annotations

import time
from typing import Any

import torch
from torch import Tensor

from occamkit.evaluate.constants import METHODS, ConstantFitter, Settings
from occamkit.evaluate.duals import ForestModel
from occamkit.graph import Forester, Graph
from occamkit.network import Layout, OccamNetwork, Sampler
from occamkit.packs.registry import Registry
from occamkit_bench.clock import one_thread

NAMES = ("add", "sub", "mul", "div", "sin", "cos", "add_c", "mul_c", "pow_c")
POINTS = 200
SOLVED = 1e-6
"""A fit is right when it leaves no more than this part of the target's variance."""


def constants(functions: int, seed: int = 0) -> list[dict[str, Any]]:
    """Fit functions of one, two and three constants, each to itself with other constants: a row for each method."""
    one_thread()
    graph, roots = _drawn(Registry.load(), seed)
    generator = torch.Generator().manual_seed(seed)
    columns = torch.rand(2, POINTS, dtype=torch.float64, generator=generator) * 2 + 0.3
    rows = []
    for count in (1, 2, 3):
        some = roots[graph.constants[roots] == count][:functions]
        some, targets = _targets(graph, some, columns, generator)
        for method in METHODS:
            for starts in (1, 4):
                rows.append(_row(graph, some, columns, targets, Settings(method, starts, seed=seed)))
    return rows


def _row(graph: Graph, roots: Tensor, columns: Tensor, targets: Tensor, settings: Settings) -> dict[str, Any]:
    fitter = ConstantFitter(graph, columns, settings)
    count = int(graph.constants[roots[0]])
    started = time.process_time()
    fitter.fit(roots, targets[0])  # all to one target: how a step of the search does it
    batch = time.process_time() - started
    solved = 0
    for root, target in zip(roots, targets, strict=True):
        found, _ = fitter.fit(root.view(1), target)
        values, _ = ForestModel(Forester(graph), root.view(1), columns, POINTS).evaluate(found.view(1, -1))
        left = (values[0] - target).square().sum() / (target - target.mean()).square().sum()
        solved += bool(left < SOLVED)
    return {
        "method": settings.method,
        "starts": settings.starts,
        "constants": count,
        "functions": roots.numel(),
        "fits_per_second": round(roots.numel() / batch),
        "solved": round(solved / roots.numel(), 3),
    }


def _drawn(registry: Registry, seed: int) -> tuple[Graph, Tensor]:
    """Return distinct functions with constants, as a fresh network draws them."""
    primitives = [registry.find("primitives", f"occamkit:{name}").value for name in NAMES]
    layout = Layout.repeated(2, primitives, [1, 1, 1], 1, True)
    graph = Graph(2, layout.primitives)
    sample = Sampler(OccamNetwork(layout, equalise=1.0)).draw(20_000, torch.Generator().manual_seed(seed))
    roots = graph.intern(sample)[0].unique()
    roots = roots[torch.randperm(roots.numel(), generator=torch.Generator().manual_seed(seed))]
    return graph, roots[graph.constants[roots] > 0]


def _targets(graph: Graph, roots: Tensor, columns: Tensor, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """Return those functions that are defined with constants between 0.5 and 2.5, and their values there: [F, n]."""
    count = int(graph.constants[roots[0]])
    hidden = torch.rand(roots.numel(), count, dtype=torch.float64, generator=generator) * 2 + 0.5
    values, _ = ForestModel(Forester(graph), roots, columns, POINTS).evaluate(hidden)
    usable = torch.isfinite(values).all(1) & (values.std(1) > 1e-6)
    return roots[usable], values[usable]
