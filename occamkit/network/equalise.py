"""First weights that make all functions equally likely (§ Initialization)."""

from __future__ import annotations

import torch
from torch import Tensor

from occamkit.network.layout import Layout


def equalised_logits(layout: Layout, temperatures: Tensor, equalise: float) -> Tensor:
    """Return weights [A, S] under which every function has the same q_apx, divided by E = `equalise`.

    E = 0 gives equal weights (all 1), E = 1 the equalising ones, and E > 1 something between the two.

    The invariant of the paper's algorithm is that all paths to an argument are equally likely. A path through
    node i has probability p_i · p(edge i), so the edges must have p(edge i) = (1/p_i) / Σ_j (1/p_j), which
    solves the paper's linear system in closed form; every path to the argument then has 1 / Σ_j (1/p_j).
    Weights are w_i = T (log p_0 - log p_i), which sets w_0 = 0 for the inputs as the paper does. Everything
    is kept as logarithms, since deep functions of many arguments have probabilities below any float.
    """
    if equalise < 0:
        raise ValueError(f"equalise must be >= 0, got {equalise}")
    weights = torch.zeros(layout.arguments, layout.nodes, dtype=torch.float64)
    if equalise == 0:
        return weights + 1.0
    path = torch.zeros(layout.nodes, dtype=torch.float64)  # log p of any path to the node
    for depth, (arguments, sources) in enumerate(layout.argument_layers):
        seen = path[sources.start : sources.stop]
        rows = slice(arguments.start, arguments.stop)
        weights[rows, sources.start : sources.stop] = temperatures[rows] * (seen[0] - seen)
        if depth < len(layout.layers):
            layer = layout.layers[depth]
            to_argument = -torch.logsumexp(-seen, 0)
            arities = torch.tensor(layer.arities, dtype=torch.float64)
            path[layer.first_node : layer.nodes.stop] = arities * to_argument
    return weights / equalise
