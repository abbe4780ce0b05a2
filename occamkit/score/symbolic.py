"""Penalties that only algebra can see, asked for as far down the ranking as the top needs and no further."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from occamkit.graph import Expression, Graph
from occamkit.protocols import SymbolicRegularizer

MOST_REMEMBERED = 100_000

Reader = Callable[[int], Expression]
"""Reads the tree of a node."""


class SymbolicStage:
    """Takes the penalties of symbolic regularizers from scores.

    A penalty only lowers a score, so a score without it is an upper bound: once `top` settled scores are at least as
    high as every unsettled one, the ranking of the top is final. This is exact, and sympy is called rarely.
    """

    def __init__(self, graph: Graph, regularizers: Sequence[SymbolicRegularizer], read: Reader) -> None:
        self.graph = graph
        self.regularizers = tuple(regularizers)
        self.read = read
        self._penalties: dict[Expression, float] = {}

    def settle(self, scores: Tensor, roots: Tensor, top: int, ceiling: float) -> Tensor:
        """Return scores [R] in which the best `top` are final; copies the ranking to the host."""
        settled = scores.clone()
        ranking = torch.argsort(scores, descending=True, stable=True).tolist()
        bounds, nodes = scores.tolist(), roots.tolist()
        done: list[float] = []
        for place in ranking:
            if len(done) >= top and sorted(done, reverse=True)[top - 1] >= bounds[place]:
                break
            final = bounds[place] - ceiling * self.penalty(nodes[place])
            settled[place] = final
            done.append(final)
        return settled

    def penalty(self, root: int) -> float:
        """Return the weighted sum of penalties of one function, remembered by its tree."""
        tree = self.read(root)
        if tree not in self._penalties:
            if len(self._penalties) >= MOST_REMEMBERED:
                self._penalties.clear()
            self._penalties[tree] = self._ask(tree)
        return self._penalties[tree]

    def _ask(self, tree: Expression) -> float:
        try:
            written, simplified = tree.sympy(evaluate=False), tree.simplified()
        except Exception:  # noqa: BLE001 sympy raises whatever its parts raise on infinities
            return sum(one.weight for one in self.regularizers)  # what algebra cannot follow counts as trivial
        return sum(one.weight * one.penalty(written, simplified) for one in self.regularizers)
