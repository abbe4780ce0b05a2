"""Pairs of rows that tell the most of a target for what they cost, all of them compared."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor

from occamkit.builtins.proposers.exact.view import OutputView
from occamkit.description import lengths

PAIR_BLOCK = 500
PASSES = 6
"""Numbers computed for each pair."""
PARALLEL = 1e-4
"""Where two rows are this nearly parallel, single precision cannot tell what they say together."""


def best_pairs(
    rows: Tensor, along: Tensor, costs: Tensor, most: int, view: OutputView, points: int | None = None
) -> Iterator[tuple[int, int] | None]:
    """Yield the pairs of rows [M, P] that tell the most of a target for what they cost; None for a pause.

    along: the products of rows and target, all of unit length [M]. points: how many of the places P count, if not all.
    """
    compact, shares, prices = rows.float(), along.float(), costs.float()
    points, many = points or rows.shape[1], len(rows)
    best: list[tuple[float, int, int]] = []
    for first in range(0, many, PAIR_BLOCK):
        part = slice(first, min(first + PAIR_BLOCK, many))
        gram = compact[part] @ compact.T
        left = 1 - gram.square()
        told = shares[part, None].square() + shares.square() - 2 * gram * shares[part, None] * shares
        missing = (1 - told / left.clamp(min=PARALLEL)).clamp(min=1e-7)
        rank = lengths(missing, points, prices[part, None] + prices)
        above = torch.ones_like(left, dtype=torch.bool).triu(first + 1)
        rank = torch.where(above & (left >= PARALLEL), rank, torch.inf)
        lowest = torch.topk(rank.flatten(), min(most, rank.numel()), largest=False)
        best += [
            (value, first + place // many, place % many)
            for value, place in zip(lowest.values.tolist(), lowest.indices.tolist(), strict=True)
            if value < float("inf")
        ]
        best = sorted(best)[:most]
        view.computed(most, PASSES * gram.numel(), gram.numel() * rows.shape[1])
        yield None
    yield from ((one, other) for _, one, other in best)
