"""The function that the network has settled on (§ Function Selection).

Both ways choose one edge for every argument, so several outputs are read off the same edges.
"""

from __future__ import annotations

import torch
from torch import Tensor

from occamkit.network.model import OccamNetwork


@torch.no_grad()
def likeliest_edges(network: OccamNetwork) -> Tensor:
    """Return the edges [A, 1] of the function with the highest q_apx for each output.

    A dynamic programme from the columns up: the best path to an argument goes through the node for which
    log p(best path to the node) + log p(edge) is largest, and the best path to an image node is the product
    of the best paths to its arguments. Ties go to the lower node.
    """
    layout = network.layout
    logarithms = network.log_probabilities(torch.float64)  # [A, S]
    best = logarithms.new_zeros(layout.nodes)
    edges = []
    for arguments, sources in layout.argument_layers:
        window = logarithms[arguments.start : arguments.stop, sources.start : sources.stop]
        value, choice = (window + best[sources.start : sources.stop]).max(1)
        edges.append(choice + sources.start)
        if arguments.start < layout.first_output:
            best.scatter_add_(0, network.owners[arguments.start : arguments.stop], value)
    return torch.cat(edges).unsqueeze(1)


@torch.no_grad()
def argmax_edges(network: OccamNetwork) -> Tensor:
    """Return the edges [A, 1] with the largest weight of each argument, as the paper did when E = 0."""
    return network.log_probabilities().argmax(1, keepdim=True)
