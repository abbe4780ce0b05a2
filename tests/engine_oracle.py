"""The slow and obvious way to do what the engine does: every node of every function, one edge at a time."""

from __future__ import annotations

from itertools import product

import torch
from hypothesis import strategies as st

from occamkit.network import Layout, OccamNetwork
from tests.engine_primitives import EVERY_ARITY

torch.set_num_threads(1)


@st.composite
def layouts(draw, primitives=EVERY_ARITY, max_layers=3, max_nodes=5):
    members = st.lists(st.sampled_from(primitives), min_size=1, max_size=max_nodes)
    return Layout.build(
        draw(st.integers(1, 4)),
        draw(st.lists(members, min_size=1, max_size=max_layers)),
        outputs=draw(st.integers(1, 3)),
        skip_connections=draw(st.booleans()),
    )


@st.composite
def networks(draw, **options):
    layout = draw(layouts(**options))
    network = OccamNetwork(
        layout,
        temperature=draw(st.sampled_from([0.5, 1.0, 10.0])),
        last_temperature=draw(st.sampled_from([1.0, 3.0])),
        dtype=torch.float64,
    )
    generator = torch.Generator().manual_seed(draw(st.integers(0, 2**20)))
    with torch.no_grad():
        network.logits.copy_(torch.randn(network.logits.shape, generator=generator, dtype=torch.float64))
    return network


def random_edges(layout: Layout, functions: int, seed: int) -> torch.Tensor:
    """All edges [A, R] of some functions, drawn evenly, whether reached or not."""
    generator = torch.Generator().manual_seed(seed)
    rows = []
    for arguments, sources in layout.argument_layers:
        for _ in arguments:
            rows.append(torch.randint(sources.start, sources.stop, (functions,), generator=generator))
    return torch.stack(rows)


def all_edges(layout: Layout) -> torch.Tensor:
    """The edges [A, R] of every choice that the arguments of a small network can make."""
    choices = [sources for arguments, sources in layout.argument_layers for _ in arguments]
    return torch.tensor(list(product(*choices))).T.contiguous()


def dense_values(layout: Layout, edges: torch.Tensor, columns: torch.Tensor) -> torch.Tensor:
    """Values [v, R, n] of all outputs, evaluating every node of every function."""
    functions, points = edges.shape[1], columns.shape[1]
    values = columns.new_empty(layout.nodes, functions, points)
    values[: layout.columns] = columns.unsqueeze(1)
    numbers = torch.arange(functions)
    for layer in layout.layers:
        argument = layer.first_argument
        for node, index, arity in zip(layer.nodes, layer.primitives, layer.arities, strict=True):
            drawn = [values[edges[argument + j], numbers] for j in range(arity)]
            values[node] = layout.primitives[index].call(*drawn)
            argument += arity
    return torch.stack([values[row, numbers] for row in edges[layout.first_output :]])


def spelled(layout: Layout, edges: torch.Tensor, output: int, function: int):
    """One function as nested tuples, commutative arguments sorted: equal exactly when the functions are."""

    def spell(node: int):
        if node < layout.columns:
            return ("column", node)
        layer = next(layer for layer in layout.layers if node in layer.nodes)
        place = node - layer.first_node
        first = layer.first_argument + sum(layer.arities[:place])
        primitive = layout.primitives[layer.primitives[place]]
        below = [spell(int(edges[first + j, function])) for j in range(primitive.arity)]
        return (primitive.name, *(sorted(below, key=repr) if primitive.commutative else below))

    return spell(int(edges[layout.first_output + output, function]))


def used_arguments(layout: Layout, edges: torch.Tensor, output: int, function: int) -> list[int]:
    """The arguments on every path below an output, once for each path."""
    found = []

    def walk(argument: int) -> None:
        found.append(argument)
        node = int(edges[argument, function])
        for layer in layout.layers:
            if node in layer.nodes:
                place = node - layer.first_node
                first = layer.first_argument + sum(layer.arities[:place])
                for j in range(layer.arities[place]):
                    walk(first + j)

    walk(layout.first_output + output)
    return found
