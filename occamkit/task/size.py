"""How large a search is: the weights of its network, and the functions that it can draw."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class SearchSize:
    """weights: the paper's parameter count; functions: the base-10 logarithm of how many each output can be."""

    weights: int
    functions: float


def search_size(leaves: int, outputs: int, arities: Sequence[Sequence[int]], skip_connections: bool) -> SearchSize:
    """Measure a network over `leaves` columns, with the arities of each layer's primitives, first layer first.

    Functions are counted as written, so that a + b and b + a are two.
    """
    seen, weights = leaves, 0
    reachable = math.log10(leaves)
    for layer in arities:
        weights += sum(layer) * seen
        images = _log_sum([arity * reachable for arity in layer])
        reachable = _log_sum([reachable, images]) if skip_connections else images
        seen = seen + len(layer) if skip_connections else len(layer)
    return SearchSize(weights + outputs * seen, reachable)


def _log_sum(logarithms: Sequence[float]) -> float:
    top = max(logarithms)
    return top + math.log10(sum(10 ** (one - top) for one in logarithms))
