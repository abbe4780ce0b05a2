"""Parts of formulas that are penalised wherever they stand, told from the graph alone: x - x, 1·x, log(exp(x)).

What a penalty says of a pattern is asked once, of the smallest formula that shows it, and then holds for every node of
that shape and all that is built on it. So it bounds the penalty of thousands of functions from below without algebra.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from occamkit.graph import Apply, Expression, Forester, Graph, Leaf

Penalty = Callable[[Expression], float]
"""What a formula is penalised by."""

_ANY = Leaf("x")


class Patterns:
    """A lower bound on the penalty of every node of a graph.

    leaves: the columns. penalty: of a whole formula, at least that of each of its parts.
    """

    def __init__(self, graph: Graph, leaves: tuple[Expression, ...], penalty: Penalty) -> None:
        self.graph = graph
        self._leaves = leaves
        self._penalty = penalty
        self._forester = Forester(graph)
        self._asked: dict[tuple[int, ...], float] = {}
        self._bounds = torch.zeros(0, device=graph.device)
        self._generation, self._next = -1, 0

    def bounds(self, nodes: Tensor) -> Tensor:
        """Return what each node [F] is penalised by at least: [F]; reads the new shapes back from the device."""
        graph = self.graph
        if self._bounds.numel() < graph.capacity:
            longer = self._bounds.new_zeros(graph.capacity)
            longer[: self._bounds.numel()] = self._bounds
            self._bounds = longer
        if self._generation != graph.generation:
            self._generation, self._next = graph.generation, graph.columns + 1
        if self._next < graph.count:
            self._learn(torch.arange(self._next, graph.count, device=graph.device))
            self._next = graph.count
        return self._bounds.index_select(0, nodes)

    def _learn(self, nodes: Tensor) -> None:
        for code, part, below in self._forester.with_arguments(nodes):
            bound = torch.stack([self._bounds.index_select(0, argument) for argument in below]).amax(0)
            if len(below) <= 2:
                bound = torch.maximum(bound, self._shapes(code, below))
            self._bounds.index_copy_(0, part, bound)

    def _shapes(self, code: int, below: list[Tensor]) -> Tensor:
        """Return the penalty of the shape of each node of a primitive: [m]."""
        kinds = [self._kinds(argument) for argument in below]
        same = (below[0] == below[-1]).long() if len(below) == 2 else torch.zeros_like(below[0])
        joined = same
        for kind in kinds:
            joined = joined * self._most + kind
        distinct, which = torch.unique(joined, return_inverse=True)
        told = [self._ask(code, len(below), number) for number in distinct.tolist()]
        return torch.tensor(told, dtype=self._bounds.dtype, device=which.device).index_select(0, which)

    @property
    def _most(self) -> int:
        return self.graph.columns + len(self.graph.primitives) + 2

    def _kinds(self, nodes: Tensor) -> Tensor:
        """Return what each node [m] is: a column by its number, or anything else by its primitive."""
        codes = self.graph.codes(self.graph.keys.index_select(0, nodes))
        return torch.where(nodes <= self.graph.columns, nodes, codes + self.graph.columns)

    def _ask(self, code: int, arity: int, joined: int) -> float:
        """Return the penalty of a shape; equal arguments matter, and single ones by what they are."""
        kinds: list[int] = []
        for _ in range(arity):
            joined, kind = divmod(joined, self._most)
            kinds.insert(0, kind)
        key = (code, joined, *kinds)
        if key not in self._asked:
            self._asked[key] = self._penalty(self._smallest(code, bool(joined), kinds))
        return self._asked[key]

    def _smallest(self, code: int, same: bool, kinds: list[int]) -> Expression:
        primitive = self.graph.primitives[code - 1]
        if same:
            return Apply(primitive, (_ANY, _ANY))
        return Apply(primitive, tuple(self._argument(kind, f"x{place}") for place, kind in enumerate(kinds)))

    def _argument(self, kind: int, name: str) -> Expression:
        """Return a constant as it is, a unary primitive over something, and anything else as something."""
        if kind <= self.graph.columns:
            leaf = self._leaves[kind - 1]
            return leaf if isinstance(leaf, Leaf) and leaf.value is not None else Leaf(name)
        primitive = self.graph.primitives[kind - self.graph.columns - 1]
        return Apply(primitive, (Leaf(name),)) if primitive.arity == 1 else Leaf(name)
