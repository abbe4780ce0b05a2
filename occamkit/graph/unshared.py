"""Forests in which every function has its own fitted constants.

Two functions that share a subexpression such as c·x may have different values fitted in it, and so may two
places of one function. So here a node with constants below it gets a row for each of its occurrences in the
written trees; nodes without constants are shared as ever.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from occamkit.graph.forest import Forest, Forester, Group
from occamkit.graph.intern import PAIR, Graph


@dataclass(frozen=True)
class _Occurrences:
    """Occurrences [m] of nodes with constants, those of roots first.

    one, two: what their keys hold: a shared node as its number, an occurrence i as -1 - i.
    slots: where their constants begin.
    """

    nodes: Tensor
    one: Tensor
    two: Tensor
    slots: Tensor


def unshared_forest(forester: Forester, roots: Tensor) -> Forest:
    """Return what functions [F] need when each has its own constants; a function may come more than once.

    Function f has `graph.constants[roots[f]]` constants, those of function 0 first. Inside a function they
    follow the written tree: those of a node, then those of its arguments from left to right.
    """
    graph = forester.graph
    counts = graph.constants.index_select(0, roots).to(torch.int64)
    fitted = torch.nonzero(counts > 0).squeeze(1)
    slots = (counts.cumsum(0) - counts).index_select(0, fitted)
    spread = _spread(graph, roots.index_select(0, fitted), slots)
    rows = forester.scratch()
    plain = torch.nonzero(counts == 0).squeeze(1)
    held = torch.cat([spread.one, spread.two])
    needed = torch.cat([held.index_select(0, torch.nonzero(held > 0).squeeze(1)), roots.index_select(0, plain)])
    reached = forester.reach(needed)
    shared, shared_sizes = forester.grouped(reached)
    nodes = torch.cat([torch.arange(1, graph.columns + 1, device=graph.device), shared])
    rows.scatter_(0, nodes, torch.arange(nodes.numel(), device=graph.device))
    groups = list(forester.groups(nodes, shared_sizes))
    order, sizes, tops = _order(graph, spread.nodes, fitted.numel())
    own_rows = torch.empty_like(spread.nodes)
    own_rows.scatter_(0, order, torch.arange(order.numel(), device=graph.device) + nodes.numel())
    start = nodes.numel()
    for code, size in sizes:
        members = order[start - nodes.numel() : start - nodes.numel() + size]
        primitive = graph.primitives[code - 1]
        numbers = _arguments(graph, spread, members, primitive.arity)
        arguments = tuple(_rows_of(given, rows, own_rows) for given in numbers)
        first = spread.slots.index_select(0, members)
        places = tuple(first + index for index in range(len(primitive.constants)))
        groups.append(Group(primitive, start, start + size, arguments, places))
        start += size
    found = rows.index_select(0, roots)
    found.index_copy_(0, fitted, own_rows[: fitted.numel()])
    rows.index_fill_(0, reached, -1)
    return Forest(
        graph.columns,
        tuple(groups),
        nodes.numel() + tops,
        torch.cat([nodes, spread.nodes.index_select(0, order)]),
        found,
        int(counts.sum()),
        order.numel(),
    )


def _spread(graph: Graph, nodes: Tensor, slots: Tensor) -> _Occurrences:
    """Spread the written trees below nodes [m] as far as they hold constants, one level per round."""
    levels: list[_Occurrences] = []
    own = torch.tensor([0, *(len(p.constants) for p in graph.primitives), 0], device=graph.device)
    total = nodes.numel()
    while nodes.numel():
        keys = graph.keys.index_select(0, nodes)
        one, two = graph.first_arguments(keys), graph.second_arguments(keys)
        first = slots + own.index_select(0, graph.codes(keys))
        inside = graph.constants.index_select(0, one).to(torch.int64)
        second = first + inside
        both = torch.cat([one, two])
        places = torch.cat([first, second])
        holding = torch.nonzero(graph.constants.index_select(0, both) > 0).squeeze(1)
        named = both.clone()
        named.scatter_(0, holding, -1 - total - torch.arange(holding.numel(), device=graph.device))
        levels.append(_Occurrences(nodes, named[: nodes.numel()], named[nodes.numel() :], slots))
        nodes, slots = both.index_select(0, holding), places.index_select(0, holding)
        total += nodes.numel()
    if not levels:
        return _Occurrences(nodes, nodes, nodes, slots)
    return _Occurrences(*(torch.cat(parts) for parts in zip(*map(_fields, levels), strict=True)))


def _fields(level: _Occurrences) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    return level.nodes, level.one, level.two, level.slots


def _order(graph: Graph, nodes: Tensor, roots: int) -> tuple[Tensor, list[tuple[int, int]], int]:
    """Sort occurrences by height and primitive, roots last, pairs left out.

    Returns the order, (code, size) of each group, and how many come before the roots.
    """
    kinds = len(graph.primitives) + 2
    codes = graph.codes(graph.keys.index_select(0, nodes))
    ranks = graph.heights.index_select(0, nodes).to(torch.int64) * kinds + codes
    levels = (int(graph.heights.max()) + 1) * kinds
    ranks[:roots] += levels
    ranks.masked_fill_(codes == PAIR, 2 * levels)
    sizes = torch.bincount(ranks, minlength=2 * levels)[: 2 * levels].tolist()
    groups = [(rank % kinds, size) for rank, size in enumerate(sizes) if size]
    return torch.argsort(ranks, stable=True)[: sum(sizes)], groups, sum(sizes[:levels])


def _arguments(graph: Graph, spread: _Occurrences, members: Tensor, arity: int) -> list[Tensor]:
    """Unfold the pairs of some occurrences [U]: their arguments, k tensors [U], numbered as in `one`."""
    one, two = spread.one.index_select(0, members), spread.two.index_select(0, members)
    backwards = [two] if arity > 1 else []
    for _ in range(arity - 2):
        keys = graph.keys.index_select(0, one.clamp(min=0))
        place = (-1 - one).clamp(min=0)
        inner = one < 0
        two = torch.where(inner, spread.two.index_select(0, place), graph.second_arguments(keys))
        one = torch.where(inner, spread.one.index_select(0, place), graph.first_arguments(keys))
        backwards.append(two)
    return [one, *reversed(backwards)]


def _rows_of(given: Tensor, rows: Tensor, own_rows: Tensor) -> Tensor:
    """Return the row of each shared node or occurrence [U]."""
    own = own_rows.index_select(0, (-1 - given).clamp(min=0))
    return torch.where(given < 0, own, rows.index_select(0, given.clamp(min=0)))
