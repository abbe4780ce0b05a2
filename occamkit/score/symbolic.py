"""Penalties read off whole formulas, asked for as far down the ranking as the top needs and no further.

Algebra is slow, and so is a regularizer that evaluates a formula on points of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar, cast

import torch
from torch import Tensor

from occamkit.graph import Expression, Graph
from occamkit.protocols import Output, Stage, SymbolicRegularizer, TreeRegularizer
from occamkit.score.patterns import Patterns

MOST_REMEMBERED = 100_000

Key = TypeVar("Key")

Reader = Callable[[int], Expression]
"""Reads the tree of a node."""
Finisher = Callable[[int, int], Expression]
"""Reads the tree of a node as it is judged for an output: with its fitted constants, factor and offset."""


class SymbolicStage:
    """Takes the penalties of symbolic regularizers, and of those that look at trees, from scores.

    A penalty only lowers a score, so a score without it is an upper bound: once `top` settled scores are at least as
    high as every unsettled one, the ranking of the top is final. This is exact, and sympy is called rarely.
    """

    def __init__(
        self,
        graph: Graph,
        regularizers: Sequence[SymbolicRegularizer | TreeRegularizer],
        read: Reader,
        finish: Finisher,
        leaves: tuple[Expression, ...],
        outputs: Sequence[Output],
    ) -> None:
        self.graph = graph
        self.algebraic = [cast("SymbolicRegularizer", one) for one in regularizers if one.stage is Stage.SYMBOLIC]
        self.whole = [cast("TreeRegularizer", one) for one in regularizers if one.stage is Stage.TREE]
        self.outputs = tuple(outputs)
        self._read, self._finish = read, finish
        self._algebra: dict[Expression, float] = {}
        self._looks: dict[tuple[Expression, int], float] = {}
        hereditary = [one for one in self.algebraic if getattr(one, "hereditary", False)]
        self._patterns = Patterns(graph, leaves, lambda tree: _plainly(hereditary, tree)) if hereditary else None

    def settle(self, scores: Tensor, roots: Tensor, top: int, ceiling: float, output: int = 0) -> Tensor:
        """Return scores [R] in which the best `top` are final; copies the ranking to the host.

        Others may come out too high, by penalties that were not asked for.
        """
        settled = scores if self._patterns is None else scores - ceiling * self._patterns.bounds(roots).to(scores)
        ranking = torch.argsort(settled, descending=True, stable=True).tolist()
        bounds, nodes, given = settled.tolist(), roots.tolist(), scores.tolist()
        settled = settled.clone()
        done: list[float] = []
        for place in ranking:
            if len(done) >= top and sorted(done, reverse=True)[top - 1] >= bounds[place]:
                break
            final = given[place] - ceiling * self.penalty(nodes[place], output)
            settled[place] = final
            done.append(final)
        return settled

    def penalty(self, root: int, output: int = 0) -> float:
        """Return the weighted sum of penalties of one function as an output, remembered by its tree; none for 0."""
        if root == 0:
            return 0.0
        total = 0.0
        if self.algebraic:
            tree = self._read(root)
            total += _remembered(self._algebra, tree, lambda: _total(self.algebraic, tree))
        if self.whole:
            whole = self._finish(root, output)
            total += _remembered(self._looks, (whole, output), lambda: self._look(whole, output))
        return total

    def _look(self, tree: Expression, output: int) -> float:
        return sum(one.weight * one.look(tree, self.outputs[output]) for one in self.whole)


def _remembered(store: dict[Key, float], key: Key, ask: Callable[[], float]) -> float:
    if key not in store:
        if len(store) >= MOST_REMEMBERED:
            store.clear()
        store[key] = ask()
    return store[key]


def _total(regularizers: Sequence[SymbolicRegularizer], tree: Expression) -> float:
    try:
        written, simplified = tree.sympy(evaluate=False), tree.simplified()
    except Exception:  # noqa: BLE001 sympy raises whatever its parts raise on infinities
        return sum(one.weight for one in regularizers)  # what algebra cannot follow counts as trivial
    return sum(one.weight * one.penalty(written, simplified) for one in regularizers)


def _plainly(regularizers: Sequence[SymbolicRegularizer], tree: Expression) -> float:
    """Return the penalty of a tree; nothing if it stands as sympy would write it without any search for better."""
    try:
        written, plain = tree.sympy(evaluate=False), tree.sympy()
    except Exception:  # noqa: BLE001 as above
        return _total(regularizers, tree)
    suspect = any(one.penalty(written, plain) > 0 for one in regularizers)
    return _total(regularizers, tree) if suspect else 0.0
