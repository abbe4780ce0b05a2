"""Penalties and vetoes that the written tree decides alone, before anything is evaluated."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from occamkit.graph import Expression, Graph, GraphFold, Leaf
from occamkit.graph.tree_fold import fold_tree
from occamkit.protocols import Output, StructureRegularizer, Variable
from occamkit.units import DIMENSIONLESS


class StructureStage:
    """What structural regularizers say of functions, for each output.

    variables: the leaves. outputs: what a function itself must give. Each regularizer is a fold, over a tree or over a
    whole graph; its verdict depends on the state that the fold has at the root.
    """

    def __init__(
        self, regularizers: Sequence[StructureRegularizer], variables: Sequence[Variable], outputs: Sequence[Output]
    ) -> None:
        self.regularizers, self.variables, self.outputs = tuple(regularizers), tuple(variables), tuple(outputs)
        self._known: Mapping[tuple[str, float | None], Variable] = {(one.name, one.value): one for one in variables}

    def __bool__(self) -> bool:
        return bool(self.regularizers)

    def tree(self, tree: Expression, output: int) -> tuple[float, float]:
        """Return the weighted penalty of a tree as an output, and what it is worth: see `verdict`."""
        told = [verdict(one, self._state(one, tree), self.outputs[output]) for one in self.regularizers]
        return sum(penalty for penalty, _ in told), min((worth for _, worth in told), default=0.0)

    def on(self, graph: Graph) -> GraphStructure:
        """Return the same for the functions of a graph."""
        return GraphStructure(self, graph)

    def _state(self, regularizer: StructureRegularizer, tree: Expression) -> Any:
        return fold_tree(tree, lambda leaf: regularizer.leaf(self._variable(leaf)), regularizer.combine)

    def _variable(self, leaf: Leaf) -> Variable:
        # A constant that a proposer recognised need not be among the task's own.
        return self._known.get((leaf.name, leaf.value)) or Variable(leaf.name, DIMENSIONLESS, leaf.value)


def verdict(regularizer: StructureRegularizer, state: Any, output: Output) -> tuple[float, float]:
    """Return the weighted penalty of a state at the root, and what the function is worth.

    worth: what a vetoed function scores, as a part of a perfect fitness and negative; zero where there is no veto.
    """
    said = regularizer.verdict(state, output)
    return regularizer.weight * said.penalty, -regularizer.weight if said.veto else 0.0


class GraphStructure:
    """A stage over one graph: verdicts are asked for once per state and output, and functions only gather them."""

    def __init__(self, stage: StructureStage, graph: Graph) -> None:
        self._verdicts = [_Verdicts(graph, stage, one) for one in stage.regularizers]

    def look(self, roots: Tensor) -> tuple[Tensor, Tensor]:
        """Return the weighted penalty of functions roots[i] as output i, and what they are worth: both [v, F]."""
        told = [verdicts.look(roots) for verdicts in self._verdicts]
        penalties, worths = zip(*told, strict=True)
        return torch.stack(penalties).sum(0), torch.stack(worths).amin(0)


class _Verdicts:
    """The verdicts of one regularizer, for each output and each state that its fold has met."""

    def __init__(self, graph: Graph, stage: StructureStage, regularizer: StructureRegularizer) -> None:
        self.regularizer = regularizer
        self.outputs = stage.outputs
        self.fold = GraphFold(graph, [regularizer.leaf(variable) for variable in stage.variables], regularizer.combine)
        self._generation = graph.generation
        self._told = torch.zeros(2, len(self.outputs), 0, device=graph.device)  # [penalty and worth, v, states]

    def look(self, roots: Tensor) -> tuple[Tensor, Tensor]:
        """Return penalty and worth of functions roots[i] as output i: both [v, F]."""
        numbers = self.fold.numbers(roots.reshape(-1)).view_as(roots)
        if self._generation != self.fold.graph.generation:
            self._generation = self.fold.graph.generation
            self._told = self._told[:, :, :0]
        fresh = self.fold.states[self._told.shape[2] :]
        if fresh:
            told = [[verdict(self.regularizer, state, output) for state in fresh] for output in self.outputs]
            self._told = torch.cat([self._told, self._told.new_tensor(told).permute(2, 0, 1)], 2)
        penalty, worth = self._told
        return penalty.gather(1, numbers), worth.gather(1, numbers)
