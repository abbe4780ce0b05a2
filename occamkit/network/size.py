"""How many functions a network could draw at the most."""

from __future__ import annotations

import math

from occamkit.network.layout import Layout


def log10_functions(layout: Layout) -> float:
    """Return the base-10 logarithm of how many different functions each output could be, as written.

    All trees over the columns whose tops are primitives of the layers: a + b and b + a are two. An upper bound, since
    a layer with one copy of a primitive cannot hold two different uses of it.
    """
    leaf = math.log10(layout.columns)
    below = leaf
    for layer in layout.layers:
        arities = [layout.primitives[primitive].arity for primitive in set(layer.primitives)]
        tops = [arity * below for arity in arities]
        below = _log_sum([leaf, *tops] if layout.skip_connections else tops)
    return below


def _log_sum(logarithms: list[float]) -> float:
    top = max(logarithms)
    return top + math.log10(sum(10 ** (one - top) for one in logarithms))
