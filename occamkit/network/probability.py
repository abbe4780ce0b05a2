"""How likely given functions are, and the direction in weight space that makes them likelier.

Functions are given as edges [A, F]: the node that each argument drew. Arguments which a function does not
reach may hold any of their sources; they are not counted. Shapes depend on A, S and F alone, so nothing here
reads a value back from the device, and no autograd graph is built: the gradient of a softmax is known.
"""

from __future__ import annotations

import torch
from torch import Tensor

from occamkit.network.model import OccamNetwork


def argument_uses(network: OccamNetwork, edges: Tensor, outputs: Tensor, dtype: torch.dtype) -> Tensor:
    """Return how many paths lead from output `outputs[f]` to each argument of function f: [A, F].

    This is the exponent of the argument's edge in q_apx, which counts an edge once for each path to it.
    """
    layout, functions = network.layout, edges.shape[1]
    uses = torch.zeros(layout.arguments, functions, dtype=dtype, device=edges.device)  # [A, F]
    paths = torch.zeros(layout.nodes, functions, dtype=dtype, device=edges.device)  # [S, F]
    asked = (outputs + layout.first_output).unsqueeze(0)  # [1, F]
    uses.scatter_(0, asked, 1.0)
    paths.scatter_(0, edges.gather(0, asked), 1.0)
    for layer in reversed(layout.layers):
        rows = slice(layer.first_argument, layer.arguments.stop)
        reached = paths.index_select(0, network.owners[rows])
        uses[rows] = reached
        paths.scatter_add_(0, edges[rows], reached)
    return uses


@torch.no_grad()
def log_probability(network: OccamNetwork, edges: Tensor, outputs: Tensor, *, approximate: bool = False) -> Tensor:
    """Return log q of each function as output `outputs[f]`: [F].

    edges: [A, F]. outputs: [F]. approximate: q_apx (an edge counts once for each path through it) instead of
    the exact q (each edge of the DAG once).
    """
    logarithms = network.log_probabilities()
    uses = argument_uses(network, edges, outputs, logarithms.dtype)
    exponents = uses if approximate else (uses > 0).to(uses.dtype)
    return (exponents * logarithms.gather(1, edges)).sum(0)


@torch.no_grad()
def edge_counts(
    network: OccamNetwork,
    edges: Tensor,
    outputs: Tensor,
    weights: Tensor | None = None,
    *,
    approximate: bool = False,
) -> Tensor:
    """Return the summed weight of the functions that use each edge, [A, S]; without weights how many they are."""
    weights = network.logits.new_ones(outputs.numel()) if weights is None else weights
    uses = argument_uses(network, edges, outputs, weights.dtype)
    exponents = uses if approximate else (uses > 0).to(uses.dtype)
    return torch.zeros_like(network.logits, dtype=weights.dtype).scatter_add_(1, edges, exponents * weights)


@torch.no_grad()
def log_gradient(
    network: OccamNetwork, edges: Tensor, outputs: Tensor, weights: Tensor, *, approximate: bool = False
) -> Tensor:
    """Return the gradient of Σ_f weights[f] · log q(f) with respect to the logits: [A, S].

    With g[a, s] the summed weight of the functions that use edge s → a, the gradient is
    (g[a, s] - p[a, s] Σ_s' g[a, s']) / T_a.
    """
    pulled = edge_counts(network, edges, outputs, weights, approximate=approximate)
    pushed = network.probabilities() * pulled.sum(1, keepdim=True)
    return ((pulled - pushed) / network.temperatures).to(network.logits.dtype)
