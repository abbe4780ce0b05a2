"""What a set of functions needs: their nodes, each once, in an order that any fold can follow.

Rows number what is computed. Rows 0 … columns-1 are the columns; then come the inner nodes (used by others)
and last the tops (asked for, and used by no other), each part grouped by height and primitive. All arguments
of a row are lower rows outside its own group, so a fold goes group by group.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor

from occamkit.graph.intern import PAIR, Graph
from occamkit.protocols import Primitive

RADIX = 1 << 15


@dataclass(frozen=True)
class Group:
    """The rows from `start` to `stop`: one primitive, applied to rows of lower groups.

    slots: where the fitted constants of each row are among those of all functions; () if it has none.
    """

    primitive: Primitive
    start: int
    stop: int
    arguments: tuple[Tensor, ...]  # k tensors [U]
    slots: tuple[Tensor, ...] = ()  # c tensors [U]


@dataclass(frozen=True)
class Forest:
    """The rows that some functions need.

    tops: the first row that is asked for and used by no other; such rows need not be kept.
    nodes: the node number of each row. roots: the row of each function that was asked for.
    constants: how many fitted constants all functions have together; own: how many rows at the end have constants
    below them (unshared forests only).
    """

    columns: int
    groups: tuple[Group, ...]
    tops: int
    nodes: Tensor  # [rows]
    roots: Tensor  # [F]
    constants: int = 0
    own: int = 0

    @property
    def rows(self) -> int:
        return self.nodes.numel()


class Forester:
    """Finds forests in a graph; keeps one integer per node as scratch.

    Between calls the scratch holds the row of each column, 0 for no node, and -1 for every other node.
    """

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self._rows = torch.empty(0, dtype=torch.int64, device=graph.device)

    def forest(self, roots: Tensor, *, distinct: bool = False) -> Forest:
        """Return what these root nodes [F] need. Fitted constants are not told apart between functions.

        distinct: that no root comes twice, which saves looking.
        """
        graph, rows = self.graph, self.scratch()
        asked = roots
        if not distinct:
            asked = self.unseen(roots)
            rows.index_fill_(0, asked, -1)
        reached = self.reach(self.numbers_in(asked))
        inner, inner_sizes = self.grouped(reached)
        tops, top_sizes = self.grouped(self.unseen(asked))
        leaves = torch.arange(1, graph.columns + 1, device=graph.device)
        nodes = torch.cat([leaves, inner, tops])
        rows.scatter_(0, nodes, torch.arange(nodes.numel(), device=graph.device))
        groups = self.groups(nodes, [*inner_sizes, *top_sizes])
        found = rows.index_select(0, roots)
        for marked in (reached, tops):
            rows.index_fill_(0, marked, -1)
        return Forest(graph.columns, groups, graph.columns + inner.numel(), nodes, found)

    def scratch(self) -> Tensor:
        """Return the row of each node, as long as the graph needs it."""
        old = self._rows.numel()
        if old < self.graph.capacity:
            longer = self._rows.new_full((self.graph.capacity,), -1)
            longer[:old] = self._rows
            longer[0] = 0
            longer[1 : self.graph.columns + 1] = torch.arange(self.graph.columns, device=longer.device)
            self._rows = longer
        return self._rows

    def unseen(self, nodes: Tensor) -> Tensor:
        """Return those nodes that are not marked in the scratch, each once, and mark them.

        Reads two sizes back from the device.
        """
        rows = self._rows
        fresh = nodes.index_select(0, torch.nonzero(rows.index_select(0, nodes) < 0).view(-1))
        if fresh.numel() == 0:
            return fresh
        marks = torch.arange(fresh.numel(), device=nodes.device)
        rows.scatter_(0, fresh, marks)
        return fresh.index_select(0, torch.nonzero(rows.index_select(0, fresh) == marks).view(-1))

    def reach(self, nodes: Tensor) -> Tensor:
        """Return and mark all unmarked nodes, pairs among them, that these [m] are or are made of."""
        found = []
        while (batch := self.unseen(nodes)).numel():
            found.append(batch)
            nodes = self.numbers_in(batch)
        return torch.cat(found) if found else batch

    def numbers_in(self, nodes: Tensor) -> Tensor:
        """Return both numbers in the keys of these nodes [m]: [2m]."""
        keys = self.graph.keys.index_select(0, nodes)
        return torch.cat([self.graph.first_arguments(keys), self.graph.second_arguments(keys)])

    def grouped(self, nodes: Tensor) -> tuple[Tensor, list[tuple[int, int]]]:
        """Sort nodes [m] by height and primitive, without pairs; and say (code, how many) of each group.

        Reads the sizes of the groups back from the device.
        """
        graph = self.graph
        codes = graph.codes(graph.keys.index_select(0, nodes))
        kinds = len(graph.primitives) + 2
        ranks = graph.heights.index_select(0, nodes).to(torch.int64).mul_(kinds).add_(codes)
        sizes = torch.bincount(ranks).tolist()
        if graph.has_pairs:
            ranks = ranks.masked_fill_(codes == PAIR, len(sizes))
        order = _stable_order(ranks, len(sizes))
        known = [(rank % kinds, size) for rank, size in enumerate(sizes) if size and rank % kinds != PAIR]
        kept = sum(size for _, size in known)
        return nodes.index_select(0, order[:kept]), known

    def with_arguments(self, nodes: Tensor) -> Iterator[tuple[int, Tensor, list[Tensor]]]:
        """Yield nodes [m] by primitive, arguments before what is made of them: code, nodes [p], arguments k × [p]."""
        ordered, sizes = self.grouped(nodes)
        start = 0
        for code, size in sizes:
            part = ordered[start : start + size]
            start += size
            keys = self.graph.keys.index_select(0, part)
            one, two = self.graph.first_arguments(keys), self.graph.second_arguments(keys)
            arity = self.graph.primitives[code - 1].arity
            yield code, part, [one] if arity == 1 else self.unfold(arity, one, two)

    def groups(self, nodes: Tensor, sizes: list[tuple[int, int]]) -> tuple[Group, ...]:
        """Return the groups of nodes [rows] that are sorted and have their rows in the scratch."""
        graph, rows = self.graph, self._rows
        keys = graph.keys.index_select(0, nodes)
        one, two = graph.first_arguments(keys), graph.second_arguments(keys)
        spans = [graph.columns, *(size for _, size in sizes)]
        first, second = (
            torch.split(rows.index_select(0, one), spans),
            torch.split(rows.index_select(0, two), spans),
        )
        groups, start = [], graph.columns
        for index, (code, size) in enumerate(sizes, start=1):
            primitive = graph.primitives[code - 1]
            arguments: tuple[Tensor, ...] = (first[index], second[index])[: primitive.arity]
            if primitive.arity > 2:
                span = slice(start, start + size)
                below = self.unfold(primitive.arity, one[span], two[span])
                arguments = tuple(rows.index_select(0, argument) for argument in below)
            groups.append(Group(primitive, start, start + size, arguments))
            start += size
        return tuple(groups)

    def unfold(self, arity: int, one: Tensor, two: Tensor) -> list[Tensor]:
        """Return the argument nodes of nodes, k tensors [m], given the two numbers of their keys."""
        backwards = [two]
        for _ in range(arity - 2):
            keys = self.graph.keys.index_select(0, one)
            one, two = self.graph.first_arguments(keys), self.graph.second_arguments(keys)
            backwards.append(two)
        return [one, *reversed(backwards)]


def forest_of(graph: Graph, roots: Tensor) -> Forest:
    """Return what these root nodes [F] need; keep a `Forester` instead when asking often."""
    return Forester(graph).forest(roots)


def _stable_order(ranks: Tensor, largest: int) -> Tensor:
    """Return the stable order of small ranks [m].

    On the CPU torch sorts by radix from RADIX elements on, eight times faster than below; so pad.
    """
    small = ranks.to(torch.uint8 if largest < 255 else torch.int32)
    count = small.numel()
    if small.device.type == "cpu" and RADIX // 8 < count < RADIX:
        padding = small.new_full((RADIX - count,), torch.iinfo(small.dtype).max)
        small = torch.cat([small, padding])
    return torch.argsort(small, stable=True)[:count]
