"""The shortest formulas of one output, which are proposed."""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterable, Iterator

from occamkit import Expression
from occamkit.builtins.proposers.exact.view import OutputView
from occamkit.description import cost, length, words

ALL_BUT_EXACT = 1e-9
"""The error of a formula that leaves nothing, as a part of the output."""


class Pool:
    """Formulas of one output, each with its length on the training rows."""

    def __init__(self, view: OutputView) -> None:
        self.view = view
        self.size = float(view.target.square().mean().sqrt())
        self._lengths: dict[Expression, tuple[bool, float]] = {}
        self._proposed: set[Expression] = set()

    def add(self, tree: Expression) -> None:
        """Keep a formula."""
        if tree not in self._lengths:
            self._lengths[tree] = self._length(tree)

    def _length(self, tree: Expression) -> tuple[bool, float]:
        """Return what formulas are ranked by: those that leave nothing by cost, then others by their description."""
        self.view.computed(10)
        rows = self.view.target.numel()
        error = float((self.view.evaluate(tree) - self.view.target).square().mean().sqrt()) / self.size
        if not math.isfinite(error):
            return True, math.inf
        return (False, cost(tree)) if error < ALL_BUT_EXACT else (True, length(error**2, rows, *words(tree)))

    def exact(self) -> Iterator[Expression]:
        """Yield formulas that leave nothing and have not been proposed, the cheapest first."""
        found = ((told, tree) for tree, told in self._lengths.items() if not told[0])
        yield from self._new(sorted(found, key=lambda pair: pair[0]))

    def fresh(self, most: int) -> Iterator[Expression]:
        """Yield those of the shortest formulas that have not been proposed."""
        finite = ((told, tree) for tree, told in self._lengths.items() if math.isfinite(told[1]))
        yield from self._new(heapq.nsmallest(most, finite, key=lambda pair: pair[0]))

    def _new(self, ranked: Iterable[tuple[tuple[bool, float], Expression]]) -> Iterator[Expression]:
        for _, tree in ranked:
            if tree not in self._proposed:
                self._proposed.add(tree)
                yield tree
