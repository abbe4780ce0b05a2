"""Folds over a forest: something is known of the columns, and follows for every node from its arguments."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any

import torch
from torch import Tensor

from occamkit.graph.forest import Forest
from occamkit.protocols import Primitive


def tree_sum(
    forest: Forest,
    weight: Callable[[Primitive], float],
    *,
    leaf: float = 0.0,
    dtype: torch.dtype = torch.float64,
) -> Tensor:
    """Return the sum of a weight over the written tree of every row, every occurrence counted: [rows].

    With the primitive's complexity as weight this is the complexity of each function.
    """
    sums = torch.full((forest.rows,), leaf, dtype=dtype, device=forest.nodes.device)
    for group in forest.groups:
        total = sums[group.start : group.stop]
        total.fill_(weight(group.primitive))
        for rows in group.arguments:
            total += sums.index_select(0, rows)
    return sums


class StateFold:
    """Carries any hashable state from the columns to the roots, such as units, counts or sympy expressions.

    leaves: the state of each column. combine: the state of a primitive applied to states. Each combination of
    a primitive and argument states is asked for once and then remembered, across forests too; equal states
    are one. So thousands of functions cost as many calls as there are combinations, and the rest is gathers.
    """

    def __init__(
        self, leaves: Sequence[Hashable], combine: Callable[[Primitive, Sequence[Any]], Hashable]
    ) -> None:
        self._combine = combine
        self._states: list[Any] = []
        self._numbers: dict[Hashable, int] = {}
        self._known: dict[tuple[Primitive, tuple[int, ...]], int] = {}
        self._leaves = [self._number(state) for state in leaves]

    def states(self, forest: Forest) -> list[Any]:
        """Return the state of each root of a forest. Copies the argument rows of all nodes to the host."""
        numbers = torch.empty(forest.rows, dtype=torch.int64)
        numbers[: forest.columns] = torch.tensor(self._leaves)
        for group in forest.groups:
            below = [rows.to("cpu") for rows in group.arguments]
            given = torch.stack([numbers.index_select(0, rows) for rows in below])  # [k, U]
            distinct, which = torch.unique(given, dim=1, return_inverse=True)
            asked = [self._apply(group.primitive, tuple(states)) for states in distinct.T.tolist()]
            numbers[group.start : group.stop] = torch.tensor(asked).index_select(0, which)
        return [self._states[number] for number in numbers.index_select(0, forest.roots.to("cpu")).tolist()]

    def _apply(self, primitive: Primitive, arguments: tuple[int, ...]) -> int:
        key = (primitive, arguments)
        if key not in self._known:
            self._known[key] = self._number(self._combine(primitive, [self._states[a] for a in arguments]))
        return self._known[key]

    def _number(self, state: Hashable) -> int:
        if state not in self._numbers:
            self._numbers[state] = len(self._states)
            self._states.append(state)
        return self._numbers[state]
