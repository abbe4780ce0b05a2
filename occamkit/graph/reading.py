"""From node numbers to trees, and back."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from occamkit.graph.expression import Apply, Expression
from occamkit.graph.intern import NUMBER_BITS, NUMBER_MASK, PRIMITIVE_SHIFT, Graph


def read_expression(
    graph: Graph, root: int, leaves: Sequence[Expression], constants: Sequence[float] = ()
) -> Expression:
    """Return the written tree of a node, with its fitted constants if given; `leaves` name the columns."""
    if not 0 < root < graph.count:
        raise ValueError(f"{root} is not a node of the graph")

    def spell(node: int) -> Expression:
        if node <= graph.columns:
            return leaves[node - 1]
        key = int(graph.keys[node])
        primitive = graph.primitives[(key >> PRIMITIVE_SHIFT) - 1]
        backwards = []
        for _ in range(primitive.arity - 1):
            backwards.append(spell(key & NUMBER_MASK))
            first = key >> NUMBER_BITS & NUMBER_MASK
            key = int(graph.keys[first])
        if primitive.arity == 1:
            first = key >> NUMBER_BITS & NUMBER_MASK
        return Apply(primitive, (spell(first), *reversed(backwards)))

    tree = spell(root)
    return tree.with_constants(constants) if constants else tree


def enter_expression(graph: Graph, tree: Expression, leaves: Sequence[Expression]) -> int:
    """Return the node of a tree, entering it if it is new; fitted constants are left out.

    Reads one number per node of the tree back from the device: meant for single functions.
    """
    if tree in leaves:
        return leaves.index(tree) + 1
    if not isinstance(tree, Apply):
        raise TypeError(f"{type(tree).__name__} is neither among the leaves nor Apply")
    below = [enter_expression(graph, argument, leaves) for argument in tree.arguments]
    numbers = [torch.tensor([node], device=graph.device) for node in below]
    return int(graph.apply(graph.primitives.index(tree.primitive), numbers))
