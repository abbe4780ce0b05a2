"""A fresh network that already leans towards functions which no regularizer vetoes.

Where inputs carry units, most functions that a fresh network draws make no sense. So before it learns from the data it
is fitted to those of its own functions that do: of all networks, the one that gives them the highest likelihood. This
asks the regularizers alone, nothing is evaluated, and functions keep their odds against each other as far as a network
can express them.
"""

from __future__ import annotations

import torch
from torch import Tensor

from occamkit.graph import Graph
from occamkit.network import OccamNetwork, Sample, Sampler
from occamkit.network.probability import edge_counts
from occamkit.score import GraphJudge

ENOUGH = 0.5
"""A network of whose functions this part is accepted needs no help."""
_BATCH = 4_096
_MOST_BATCHES = 8
_MOST_ROUNDS = 4
_WANTED = 400
_PRIOR = 10.0
"""How many functions the old weights of an argument count for; keeps every edge possible."""


@torch.no_grad()
def steer(network: OccamNetwork, sampler: Sampler, graph: Graph, judge: GraphJudge, generator: torch.Generator) -> None:
    """Fit a network to those of its functions that are not vetoed; again from the result while they are few."""
    for _ in range(_MOST_ROUNDS):
        counts = torch.zeros_like(network.logits)
        found = 0
        for _ in range(_MOST_BATCHES):
            sample = sampler.draw(_BATCH, generator)
            roots = graph.intern(sample)  # [v, R]
            accepted = judge.accepts(roots)
            if float(accepted.double().mean()) >= ENOUGH:
                return
            found += _count(network, sample, accepted, counts)
            if found >= _WANTED:
                break
        if found == 0:
            return
        _fit(network, counts)
        if found >= _WANTED:
            return


def _count(network: OccamNetwork, sample: Sample, accepted: Tensor, counts: Tensor) -> int:
    """Count the edges of some of the accepted functions [v, R]; return how many there are for each output."""
    outputs, functions = torch.nonzero(accepted, as_tuple=True)
    if functions.numel() == 0:
        return 0
    stride = max(1, functions.numel() // _WANTED)  # drawn independently, so any of them will do
    counts += edge_counts(network, sample.edges(functions[::stride]), outputs[::stride])
    return functions.numel() // accepted.shape[0]


def _fit(network: OccamNetwork, counts: Tensor) -> None:
    """Set the weights to what makes functions with these edges [A, S] likeliest, with the old ones as a prior."""
    old = network.probabilities()
    share = (counts + _PRIOR * old) / (counts.sum(1, keepdim=True) + _PRIOR)
    logits = share.clamp(min=1e-12).log() * network.temperatures
    network.logits.copy_(torch.where(network.mask, logits, network.logits))
