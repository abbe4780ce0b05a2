"""Folds: something is known of the columns, and follows for every node from its arguments."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any

import torch
from torch import Tensor

from occamkit.graph.forest import Forester
from occamkit.graph.intern import Graph
from occamkit.protocols import Primitive


class GraphFold:
    """Carries a hashable state from the columns to every node of a graph, such as units or counts.

    leaves: the state of each column. combine: the state of a primitive applied to states. Every node is looked at
    once, and each combination of a primitive and argument states asked for once; equal states are one, and have a
    number. So thousands of functions cost as many calls as there are combinations, and the rest is gathers.
    """

    def __init__(
        self, graph: Graph, leaves: Sequence[Hashable], combine: Callable[[Primitive, Sequence[Any]], Hashable]
    ) -> None:
        self.graph = graph
        self.states: list[Any] = []
        """The state that each number stands for, until the graph is emptied."""
        self._combine = combine
        self._known: dict[Hashable, int] = {}
        self._asked: dict[tuple[int, tuple[int, ...]], int] = {}
        self._leaves = tuple(leaves)
        self._forester = Forester(graph)
        self._numbers = torch.zeros(0, dtype=torch.int64, device=graph.device)
        self._generation, self._next = -1, 0

    def numbers(self, nodes: Tensor) -> Tensor:
        """Return the number of the state of each node [F]; reads the new combinations back from the device."""
        self._follow_graph()
        if self._next < self.graph.count:
            self._learn(torch.arange(self._next, self.graph.count, device=self.graph.device))
            self._next = self.graph.count
        return self._numbers.index_select(0, nodes)

    def _follow_graph(self) -> None:
        """Grow with the graph, and start again from the columns when it was emptied."""
        graph = self.graph
        if self._numbers.numel() < graph.capacity:
            longer = self._numbers.new_zeros(graph.capacity)
            longer[: self._numbers.numel()] = self._numbers
            self._numbers = longer
        if self._generation != graph.generation:
            self._generation, self._next = graph.generation, graph.columns + 1
            self.states.clear()
            self._known.clear()
            self._asked.clear()
            leaves = [self._number(state) for state in self._leaves]
            self._numbers[1 : self._next] = torch.tensor(leaves, device=graph.device)

    def _learn(self, nodes: Tensor) -> None:
        for code, part, below in self._forester.with_arguments(nodes):
            combinations, which = self._combinations(below)
            found = [self._apply(code - 1, combination) for combination in combinations]
            self._numbers.index_copy_(0, part, torch.tensor(found, device=part.device).index_select(0, which))

    def _combinations(self, arguments: Sequence[Tensor]) -> tuple[list[tuple[int, ...]], Tensor]:
        """Return the distinct combinations of argument states, and which of them each node has: [m]."""
        combinations: list[tuple[int, ...]] = [()]
        which = torch.zeros_like(arguments[0])
        for argument in arguments:
            joined = which * len(self.states) + self._numbers.index_select(0, argument)
            distinct, which = torch.unique(joined, return_inverse=True)
            split = [divmod(number, len(self.states)) for number in distinct.tolist()]
            combinations = [(*combinations[place], state) for place, state in split]
        return combinations, which

    def _apply(self, primitive: int, arguments: tuple[int, ...]) -> int:
        key = (primitive, arguments)
        if key not in self._asked:
            given = [self.states[argument] for argument in arguments]
            self._asked[key] = self._number(self._combine(self.graph.primitives[primitive], given))
        return self._asked[key]

    def _number(self, state: Hashable) -> int:
        if state not in self._known:
            self._known[state] = len(self.states)
            self.states.append(state)
        return self._known[state]
