"""Formulas that others found, as lessons for the network; and what the network has learnt, for others to read."""

from __future__ import annotations

import torch
from torch import Tensor

from occamkit.graph import Apply, Expression
from occamkit.network import Layout, log_gradient
from occamkit.protocols import Primitive
from occamkit.train.trainer import Trainer


def edges_of(layout: Layout, tree: Expression, leaves: tuple[Expression, ...]) -> Tensor | None:
    """Return edges [A, 1] that spell a tree for every output; None if the network has no room or no node for it.

    Equal parts share a node; each part stands in the first layer after its arguments that has its primitive free.
    """
    if not layout.skip_connections:
        return None
    edges = torch.tensor(layout.first_sources)
    taken: set[int] = set()
    placed: dict[Expression, tuple[int, int]] = {}  # the layer, from 0 for columns, and the node

    def place(part: Expression) -> tuple[int, int] | None:
        if part in leaves:
            return 0, leaves.index(part)
        if part in placed:
            return placed[part]
        if not isinstance(part, Apply) or part.primitive not in layout.primitives:
            return None
        below = [place(argument) for argument in part.arguments]
        if any(one is None for one in below):
            return None
        found = [one for one in below if one is not None]
        code = layout.primitives.index(part.primitive)
        for depth in range(max(layer for layer, _ in found), len(layout.layers)):
            layer = layout.layers[depth]
            argument = layer.first_argument
            for node, primitive, arity in zip(layer.nodes, layer.primitives, layer.arities, strict=True):
                if primitive == code and node not in taken:
                    taken.add(node)
                    edges[argument : argument + arity] = torch.tensor([source for _, source in found])
                    placed[part] = (depth + 1, node)
                    return placed[part]
                argument += arity
        return None

    root = place(tree)
    if root is None:
        return None
    edges[layout.first_output :] = root[1]
    return edges.unsqueeze(1)


def teach(trainer: Trainer, tree: Expression, output: int) -> bool:
    """Make a formula likelier as an output, as a step does with the best that it drew; whether it can be expressed."""
    edges = edges_of(trainer.layout, tree, trainer.judge.leaves)
    if edges is None:
        return False
    edges = edges.to(trainer.network.logits.device)
    weight = torch.ones(1, device=edges.device, dtype=trainer.network.logits.dtype)
    outputs = edges.new_tensor([output])
    trainer.optimizer.ascend(log_gradient(trainer.network, edges, outputs, weight))
    return True


def preferences(trainer: Trainer) -> dict[Primitive, float]:
    """Return how much of its probability the network gives to each primitive."""
    shares = trainer.network.probabilities().detach().mean(0).tolist()  # [S]
    found = dict.fromkeys(trainer.layout.primitives, 0.0)
    for layer in trainer.layout.layers:
        for node, code in zip(layer.nodes, layer.primitives, strict=True):
            found[trainer.layout.primitives[code]] += shares[node]
    return found
