"""The fitted constants of every function met so far, for each output."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor

from occamkit.graph.intern import Graph


class ConstantStore:
    """Constants by output and node number: 8 bytes per node and output, and the constants themselves.

    Emptied when the graph is.
    """

    def __init__(self, graph: Graph, outputs: int, like: Tensor) -> None:
        self.graph = graph
        self._generation = graph.generation
        self._first = torch.empty(outputs, 0, dtype=torch.int64, device=graph.device)
        self._pool = like.new_empty(1 << 10)
        self._used = 0

    def put(self, output: int, roots: Tensor, constants: Tensor) -> None:
        """Remember the constants [c] of functions [F], in the order of `unshared_forest`."""
        self._follow_graph()
        counts = self.graph.constants.index_select(0, roots).to(torch.int64)
        after = self._used + constants.numel()
        if after > self._pool.numel():
            longer = self._pool.new_empty(2 * after)
            longer[: self._used] = self._pool[: self._used]
            self._pool = longer
        self._pool[self._used : after] = constants
        self._first[output].scatter_(0, roots, self._used + counts.cumsum(0) - counts)
        self._used = after

    def known(self, output: int, roots: Tensor) -> Tensor:
        """Return which of the functions [F] have been fitted: [F]."""
        self._follow_graph()
        return self._first[output].index_select(0, roots) >= 0

    def get(self, output: int, roots: Tensor) -> Tensor:
        """Return the constants [c] of functions [F] that have been fitted, those of the first function first."""
        counts = self.graph.constants.index_select(0, roots).to(torch.int64)
        first = self._first[output].index_select(0, roots)
        begin = counts.cumsum(0) - counts
        places = torch.repeat_interleave(first - begin, counts)
        return self._pool.index_select(0, places + torch.arange(places.numel(), device=places.device))

    def stored(self) -> dict[str, Tensor]:
        """Return all constants, to be kept in a file along with the graph."""
        self._follow_graph()
        return {
            "first": self._first[:, : self.graph.count].cpu().clone(),
            "pool": self._pool[: self._used].cpu().clone(),
        }

    def restore(self, stored: Mapping[str, Tensor]) -> None:
        """Know what `stored` says; the graph must have been restored before."""
        self._follow_graph()
        self._first[:, : self.graph.count] = stored["first"].to(self._first)
        self._pool = stored["pool"].to(self._pool)
        self._used = self._pool.numel()

    def _follow_graph(self) -> None:
        outputs, length = self._first.shape
        if self._generation != self.graph.generation:
            self._generation, self._used = self.graph.generation, 0
            self._first.fill_(-1)
        if length < self.graph.capacity:
            longer = self._first.new_full((outputs, self.graph.capacity), -1)
            longer[:, :length] = self._first
            self._first = longer
