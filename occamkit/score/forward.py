"""Penalties of nodes, read off their values on the way through evaluation."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from torch import Tensor

from occamkit.graph import Apply, Expression
from occamkit.protocols import ForwardRegularizer, NodeBatch

Hook = Callable[[NodeBatch], Tensor]


class ForwardStage:
    """What forward regularizers say of nodes; a function pays for every node that it uses, each time it uses it."""

    def __init__(self, regularizers: Sequence[ForwardRegularizer]) -> None:
        self.hooks: tuple[Hook, ...] = tuple(map(_weighted, regularizers))

    def tree(self, tree: Expression, columns: Mapping[str, Tensor]) -> tuple[Tensor, float]:
        """Return the values of a tree on columns [n], and what its nodes pay together."""
        if not self.hooks:
            return tree.evaluate(columns), 0.0
        told = [self.tree(one, columns) for one in tree.below]
        below = [values for values, _ in told]
        values = tree.compute(below, tree.own_fitted, columns)
        penalty = sum(paid for _, paid in told)
        if isinstance(tree, Apply):
            batch = _batch(tree, below, values, next(iter(columns.values())))
            penalty += sum(float(hook(batch)) for hook in self.hooks)
        return values, penalty


def _weighted(regularizer: ForwardRegularizer) -> Hook:
    def hook(batch: NodeBatch) -> Tensor:
        return regularizer.weight * regularizer.score_nodes(batch)

    return hook


def _batch(node: Apply, below: Sequence[Tensor], values: Tensor, like: Tensor) -> NodeBatch:
    arguments = tuple(one.expand_as(like).unsqueeze(0) for one in below)
    constants = tuple(like.new_tensor([value]) for value in node.constants)
    return NodeBatch(node.primitive, arguments, constants, values.expand_as(like).unsqueeze(0))
