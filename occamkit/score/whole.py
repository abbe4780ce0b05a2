"""Penalties read off whole formulas, asked for as far down the ranking as the top needs and no further.

Algebra is slow, and so is a regularizer that evaluates a formula on points of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

import torch
from torch import Tensor

from occamkit import traits
from occamkit.graph import Apply, Expression, Graph
from occamkit.protocols import Output, SymbolicRegularizer, TreeRegularizer
from occamkit.score.patterns import Patterns

MOST_REMEMBERED = 100_000
"""Formulas whose penalties are remembered: some tens of megabytes."""

Key = TypeVar("Key")

Reader = Callable[[int, int], tuple[Expression, Expression]]
"""Reads a node as an output: the function itself, and as it is judged, with its factor and offset."""


class WholeStage:
    """What symbolic regularizers and those that look at trees say of formulas; each formula is asked once."""

    def __init__(
        self,
        algebraic: Sequence[SymbolicRegularizer],
        looking: Sequence[TreeRegularizer],
        outputs: Sequence[Output],
    ) -> None:
        self.algebraic, self.looking, self.outputs = tuple(algebraic), tuple(looking), tuple(outputs)
        self._algebra: dict[Expression, float] = {}
        self._looks: dict[tuple[Expression, int], float] = {}

    def __bool__(self) -> bool:
        return bool(self.algebraic or self.looking)

    def tree(self, function: Expression, finished: Expression, output: int) -> float:
        """Return the weighted sum of penalties of a function as an output, and of what it is when it is finished."""
        total = 0.0
        if self.algebraic:
            # What a number was fitted to is nothing that algebra should see.
            blank = without_numbers(function)
            total += _remembered(self._algebra, blank, lambda: _total(self.algebraic, blank))
        if self.looking:
            total += _remembered(self._looks, (finished, output), lambda: self._look(finished, output))
        return total

    def on(self, graph: Graph, leaves: tuple[Expression, ...], read: Reader) -> GraphWhole:
        """Return the same for the functions of a graph."""
        return GraphWhole(self, graph, leaves, read)

    def _look(self, tree: Expression, output: int) -> float:
        return sum(one.weight * one.look(tree, self.outputs[output]) for one in self.looking)


class GraphWhole:
    """A stage over one graph: takes its penalties from scores.

    A penalty only lowers a score, so a score without it is an upper bound: once `top` settled scores are at least as
    high as every unsettled one, the ranking of the top is final. This is exact, and sympy is called rarely.
    """

    def __init__(self, stage: WholeStage, graph: Graph, leaves: tuple[Expression, ...], read: Reader) -> None:
        self._stage, self._read = stage, read
        hereditary = [one for one in stage.algebraic if traits.hereditary(one)]
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
        """Return the weighted sum of penalties of one function as an output; none for 0, which is no function."""
        return self._stage.tree(*self._read(root, output), output) if root else 0.0


def without_numbers(tree: Expression) -> Expression:
    """Return a tree whose primitives have no values for their fitted constants."""
    below = tuple(map(without_numbers, tree.below))
    return Apply(tree.primitive, below) if isinstance(tree, Apply) else tree.rebuilt(below, tree.own_fitted)


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
