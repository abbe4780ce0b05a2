"""Formulas as lessons for the network: those that others found, and those that a task starts from."""

from __future__ import annotations

import torch

from occamkit.graph import Apply, Expression
from occamkit.network import Layout, log_gradient
from occamkit.train.trainer import Trainer

HEAD_START = 3.0
"""By how much the weight of an edge is raised that spells a formula to start from: it becomes e³ times likelier."""

Edges = dict[int, int]
"""Which source each argument reads."""


def edges_of(layout: Layout, tree: Expression, leaves: tuple[Expression, ...], output: int) -> Edges | None:
    """Return the edges that spell a tree as an output; None if the network has no room or no node for it.

    Equal parts share a node; each part stands in the first layer after its arguments that has its primitive free.
    """
    edges: Edges = {}
    placed: dict[Expression, int] = {leaf: place for place, leaf in enumerate(leaves)}
    taken: set[int] = set()

    def place(part: Expression) -> int | None:
        if part in placed or not isinstance(part, Apply) or part.primitive not in layout.primitives:
            return placed.get(part)
        below = [place(argument) for argument in part.arguments]
        code = layout.primitives.index(part.primitive)
        for layer in layout.layers:
            if any(one not in layer.sources for one in below):
                continue
            argument = layer.first_argument
            for node, primitive, arity in zip(layer.nodes, layer.primitives, layer.arities, strict=True):
                if primitive == code and node not in taken:
                    taken.add(node)
                    edges.update((argument + at, one) for at, one in enumerate(below) if one is not None)
                    placed[part] = node
                    return node
                argument += arity
        return None

    root = place(tree)
    if root is None or root not in layout.output_sources:
        return None
    return {**edges, layout.first_output + output: root}


def teach(trainer: Trainer, tree: Expression, output: int) -> bool:
    """Make a formula likelier as an output, as a step does with the best that it drew; whether it can be expressed."""
    spelt = edges_of(trainer.layout, tree, trainer.judge.leaves, output)
    if spelt is None:
        return False
    edges = torch.tensor(trainer.layout.first_sources)
    edges[list(spelt)] = torch.tensor(list(spelt.values()))
    edges = edges.unsqueeze(1).to(trainer.network.logits.device)
    weight = torch.ones(1, device=edges.device, dtype=trainer.network.logits.dtype)
    trainer.optimizer.ascend(log_gradient(trainer.network, edges, edges.new_tensor([output]), weight))
    return True


@torch.no_grad()
def lean_towards(trainer: Trainer, tree: Expression | None, output: int) -> bool:
    """Let a network begin near a formula; whether it can express it."""
    edges = None if tree is None else edges_of(trainer.layout, tree, trainer.judge.leaves, output)
    for argument, source in (edges or {}).items():
        trainer.network.logits[argument, source] += HEAD_START * trainer.network.temperatures[argument, 0]
    return edges is not None
