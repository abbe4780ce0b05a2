"""Rows of their own for every program: what a program reads differs from one to the next, and so do all its nodes."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from occamkit.graph.forest import Forester
from occamkit.graph.intern import PAIR, Graph
from occamkit.protocols import Primitive
from occamkit.task.feedback import Feedback


@dataclass(frozen=True)
class _Group:
    """Rows from `start` to `stop`: one primitive, applied to lower rows."""

    primitive: Primitive
    start: int
    stop: int
    arguments: tuple[Tensor, ...]  # k tensors [U]


@dataclass(frozen=True)
class ProgramRows:
    """Programs laid out: the columns that stay, then each program's own inputs, then each program's own nodes.

    owned: where the inputs that read the state begin, one stretch of P rows for each. outputs: the rows of the roots.
    carried: the rows whose values the state takes besides.
    """

    programs: int
    values: Tensor  # [rows, n]
    owned: tuple[tuple[int, int], ...]  # (first row, row of the state)
    groups: tuple[_Group, ...]
    results: Tensor  # [s · P]

    def step(self, state: Tensor) -> Tensor:
        """Return the state [s, P, n] after one step; the values that were held before are lost."""
        values = self.values
        for first, row in self.owned:
            values[first : first + self.programs] = state[row]
        for group in self.groups:
            given = [values.index_select(0, argument) for argument in group.arguments]
            values[group.start : group.stop] = group.primitive.call(*given)
        return values.index_select(0, self.results).view(-1, self.programs, values.shape[1])


class OwnRows:
    """Lays programs of a graph out."""

    def __init__(self, graph: Graph, feedback: Feedback) -> None:
        self.graph = graph
        self.feedback = feedback
        self._forester = Forester(graph)
        self._memory = torch.empty(0, device=graph.device)

    def lay_out(self, roots: Tensor, columns: Tensor) -> ProgramRows:
        """Return the rows of programs [v, P] over columns [u, n]; those laid out before lose theirs."""
        graph, feedback = self.graph, self.feedback
        count, wide = roots.shape[1], graph.count
        owners = torch.arange(count, device=roots.device)
        nodes = self._nodes(owners.repeat(len(roots)) * wide + roots.reshape(-1))  # sorted, owner · wide + node
        keys = graph.keys.index_select(0, nodes % wide)
        codes = graph.codes(keys)
        kinds = len(graph.primitives) + 2
        ranks = graph.heights.index_select(0, nodes % wide).to(torch.int64) * kinds + codes
        order = torch.argsort(ranks, stable=True)
        sizes = torch.bincount(ranks).tolist() if nodes.numel() else []  # host read: how many rows of each kind
        first = graph.columns + len(feedback.fed) * count
        places = torch.empty_like(order).scatter_(0, order, torch.arange(order.numel(), device=order.device) + first)
        owned = {place: graph.columns + turn * count for turn, place in enumerate(feedback.fed)}

        def rows_of(owner: Tensor, node: Tensor) -> Tensor:
            found = torch.searchsorted(nodes, owner * wide + node).clamp_(max=max(nodes.numel() - 1, 0))
            rows = places.index_select(0, found) if nodes.numel() else torch.zeros_like(node)
            for place in range(graph.columns):
                column = owned[place] + owner if place in owned else torch.full_like(owner, place)
                rows = torch.where(node == place + 1, column, rows)
            return rows

        groups, start = [], 0
        for rank, size in enumerate(sizes):
            code = rank % kinds
            if size and code != PAIR:
                members = order[start : start + size]
                primitive, owner = graph.primitives[code - 1], nodes.index_select(0, members) // wide
                key = keys.index_select(0, members)
                one, two = graph.first_arguments(key), graph.second_arguments(key)
                below = [one] if primitive.arity == 1 else self._forester.unfold(primitive.arity, one, two)
                arguments = tuple(rows_of(owner, node) for node in below)
                groups.append(_Group(primitive, first + start, first + start + size, arguments))
            start += size
        results = [rows_of(owners, root) for root in roots]
        results += [rows_of(owners, torch.full_like(owners, place + 1)) for place in feedback.carried]
        values = self._room(first + start, columns)
        reading = tuple((owned[place], feedback.rows[place] or 0) for place in feedback.fed)
        return ProgramRows(count, values, reading, tuple(groups), torch.cat(results))

    def _nodes(self, asked: Tensor) -> Tensor:
        """Return all inner nodes, pairs among them, that these are or are made of, as owner · wide + node, sorted."""
        graph, wide = self.graph, self.graph.count
        found = []
        while True:
            asked = torch.unique(asked.index_select(0, torch.nonzero(asked % wide > graph.columns).squeeze(1)))
            if asked.numel() == 0:
                break
            found.append(asked)
            keys, base = graph.keys.index_select(0, asked % wide), asked - asked % wide
            asked = torch.cat([base + graph.first_arguments(keys), base + graph.second_arguments(keys)])
        return torch.unique(torch.cat(found)) if found else asked

    def _room(self, rows: int, columns: Tensor) -> Tensor:
        """Return memory for this many rows, the columns in the first ones."""
        points = columns.shape[1]
        if self._memory.numel() < rows * points or self._memory.dtype != columns.dtype:
            self._memory = columns.new_empty((rows + rows // 4) * points)
        values = self._memory[: rows * points].view(rows, points)
        values[: len(columns)] = columns
        return values
