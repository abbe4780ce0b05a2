"""Penalties and vetoes that the written tree decides alone, before anything is evaluated."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from occamkit.graph import Graph, GraphFold
from occamkit.protocols import Output, StructureRegularizer, Variable


class StructureStage:
    """What structural regularizers say of functions, for each output.

    Each regularizer is a fold over the graph; its verdict is asked for once per state and output, and functions only
    gather it.
    """

    def __init__(
        self,
        graph: Graph,
        regularizers: Sequence[StructureRegularizer],
        variables: Sequence[Variable],
        outputs: Sequence[Output],
    ) -> None:
        self._verdicts = [_Verdicts(graph, regularizer, variables, outputs) for regularizer in regularizers]

    def look(self, roots: Tensor) -> tuple[Tensor, Tensor]:
        """Return the weighted penalty of functions roots[i] as output i, and what they are worth: both [v, F].

        worth: what a vetoed function scores, as a part of a perfect fitness and negative; zero where there is no veto.
        """
        told = [verdicts.look(roots) for verdicts in self._verdicts]
        penalties, worths = zip(*told, strict=True)
        return torch.stack(penalties).sum(0), torch.stack(worths).amin(0)


class _Verdicts:
    """The verdicts of one regularizer, for each output and each state that its fold has met."""

    def __init__(
        self, graph: Graph, regularizer: StructureRegularizer, variables: Sequence[Variable], outputs: Sequence[Output]
    ) -> None:
        self.regularizer = regularizer
        self.outputs = outputs
        self.fold = GraphFold(graph, [regularizer.leaf(variable) for variable in variables], regularizer.combine)
        self._generation = graph.generation
        self._penalty = torch.zeros(len(outputs), 0, device=graph.device)  # [v, states]
        self._worth = torch.zeros(len(outputs), 0, device=graph.device)  # [v, states]

    def look(self, roots: Tensor) -> tuple[Tensor, Tensor]:
        """Return penalty and worth of functions roots[i] as output i: both [v, F]."""
        numbers = self.fold.numbers(roots.reshape(-1)).view_as(roots)
        if self._generation != self.fold.graph.generation:
            self._generation = self.fold.graph.generation
            self._penalty, self._worth = self._penalty[:, :0], self._worth[:, :0]
        if self._penalty.shape[1] < len(self.fold.states):
            self._judge(self.fold.states[self._penalty.shape[1] :])
        return self._penalty.gather(1, numbers), self._worth.gather(1, numbers)

    def _judge(self, states: Sequence[object]) -> None:
        """Ask for the verdicts of new states."""
        weight = self.regularizer.weight
        verdicts = [[self.regularizer.verdict(state, output) for state in states] for output in self.outputs]
        penalty = [[weight * one.penalty for one in row] for row in verdicts]
        worth = [[-weight if one.veto else 0.0 for one in row] for row in verdicts]
        self._penalty = torch.cat([self._penalty, self._penalty.new_tensor(penalty)], 1)
        self._worth = torch.cat([self._worth, self._worth.new_tensor(worth)], 1)
