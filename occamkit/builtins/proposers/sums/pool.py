"""The shortest formulas of one output, which are proposed."""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterator

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

    def fresh(self, most: int) -> Iterator[Expression]:
        """Yield those of the shortest formulas that have not been proposed."""
        for tree, told in heapq.nsmallest(most, self._lengths.items(), key=lambda item: item[1]):
            if tree not in self._proposed and math.isfinite(told[1]):
                self._proposed.add(tree)
                yield tree
