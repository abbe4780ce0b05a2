"""What is known of functions already scored, by node number."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor

from occamkit.graph.intern import Graph


class ScoreStore:
    """Fitness per output and penalty of every function scored on the full data.

    Holds 4 or 8 bytes per node and output; emptied when the graph is, and never larger than its limit.
    """

    def __init__(self, graph: Graph, outputs: int, dtype: torch.dtype) -> None:
        self.graph = graph
        self.generation = graph.generation
        self.fitness = torch.empty(outputs, 0, dtype=dtype, device=graph.device)
        self.penalty = torch.empty(outputs, 0, dtype=dtype, device=graph.device)
        self.known = torch.empty(outputs, 0, dtype=torch.bool, device=graph.device)

    def forget(self) -> None:
        """Know nothing any more."""
        self.known.zero_()
        self.generation = self.graph.generation

    def stored(self) -> dict[str, Tensor]:
        """Return what is known, to be kept in a file along with the graph."""
        self.refresh()
        count = self.graph.count
        kept = {"fitness": self.fitness[:, :count], "penalty": self.penalty[:, :count], "known": self.known[:, :count]}
        return {name: values.cpu().clone() for name, values in kept.items()}

    def restore(self, stored: Mapping[str, Tensor]) -> None:
        """Know what `stored` says; the graph must have been restored before."""
        self.forget()
        self.refresh()
        count = self.graph.count
        self.fitness[:, :count] = stored["fitness"].to(self.fitness)
        self.penalty[:, :count] = stored["penalty"].to(self.penalty)
        self.known[:, :count] = stored["known"].to(self.known)

    def refresh(self) -> None:
        """Follow the graph: grow with it, forget with it. Node 0, no function, is known to be undefined."""
        outputs, length = self.known.shape
        if self.generation != self.graph.generation:
            self.forget()
        if length < self.graph.capacity:
            fitness = self.fitness.new_empty(outputs, self.graph.capacity)
            penalty = self.penalty.new_empty(outputs, self.graph.capacity)
            known = self.known.new_zeros(outputs, self.graph.capacity)
            fitness[:, :length], penalty[:, :length], known[:, :length] = self.fitness, self.penalty, self.known
            self.fitness, self.penalty, self.known = fitness, penalty, known
        self.known[:, 0] = True
        self.fitness[:, 0] = float("nan")
        self.penalty[:, 0] = 0.0

    def unknown(self, output: int, roots: Tensor) -> Tensor:
        """Return those of the roots [F] whose fitness for an output is not known; some may come twice."""
        missing = torch.nonzero(~self.known[output].index_select(0, roots)).squeeze(1)
        return roots.index_select(0, missing)

    def put(self, output: int, roots: Tensor, fitness: Tensor, penalty: Tensor | None) -> None:
        """Remember what was found for roots [F]."""
        self.fitness[output].scatter_(0, roots, fitness)
        self.known[output].index_fill_(0, roots, True)
        if penalty is not None:
            self.penalty[output].scatter_(0, roots, penalty)
