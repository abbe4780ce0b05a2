"""Products on noisy rows: screened by what they leave in weighted logarithms, then drafted, polished and compared.

Expressions and pairs are ranked by what they leave together with what they cost, never by what they leave alone: else
the longest win.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

import torch
from torch import Tensor

from occamkit.builtins.proposers.exact.assemble import Factor
from occamkit.builtins.proposers.exact.tables import Table
from occamkit.builtins.proposers.exact.view import OutputView
from occamkit.builtins.proposers.noisy.drafts import LARGEST_FACTOR_POWER, LARGEST_POWER, Draft
from occamkit.builtins.proposers.noisy.shortlist import shortest, solve_and_round
from occamkit.builtins.proposers.noisy.space import Space, factor_of
from occamkit.description import lengths, rank

PAIRED = 3_000
TOP_SINGLES, TOP_PAIRS, FIRST = 120, 120, 60
PAIRS = 4_000
"""Pairs that are told from each other by more than what they leave in logarithms."""
PAIR_BLOCK = 500
PASSES = 6
"""Numbers computed for each pair."""
PARALLEL = 1e-4
"""Where two rows are this nearly parallel, single precision cannot tell what they say together."""


def screen(table: Table, here: Space, paired: int = PAIRED) -> Iterator[tuple[int, ...] | None]:
    """Yield sets of rows worth a draft, and None for a pause: none, the best alone, the first, the best pairs.

    paired: rows of which all pairs are tried.
    """
    yield ()
    rows, points = here.rows, here.points
    if len(rows) == 0:
        return
    along = rows.rows @ here.unit
    ranks = rank(along.square(), points, here.costs)
    for row in dict.fromkeys([*ranks.argsort()[:TOP_SINGLES].tolist(), *range(min(FIRST, len(rows)))]):
        yield (row,)
    yield None
    many = min(paired, len(rows))
    found = []
    for pair in _best_pairs(rows.rows[:many], along[:many], here.costs[:many], PAIRS, table.view, points):
        if pair is None:
            yield None
        else:
            found.append(pair)
    yield from shortest(table, here, found, TOP_PAIRS)


def draft(table: Table, here: Space, chosen: Sequence[int]) -> Draft | None:
    """Return the product of some rows, its exponents solved for and rounded to halves."""
    factors = [factor_of(table, int(here.rows.source[row]), int(here.rows.kind[row])) for row in chosen]
    view = table.view
    design = torch.stack([*here.nuisance, *(_feature(view, one) * here.weight for one in factors)])
    if not bool(torch.isfinite(design).all()):
        return None
    halves = torch.tensor(
        [[place > 0 for place in range(len(here.nuisance))] + [one.inside is None for one in factors]]
    )
    solved = solve_and_round(design.unsqueeze(0), here.logs, halves)[0].tolist()
    view.computed(10 * len(design), design.numel())
    exponents = here.start
    for weight, row in zip(solved[1 : len(here.nuisance)], view.scale.basis, strict=True):
        exponents = tuple(old + Fraction(weight) * more for old, more in zip(exponents, row, strict=True))
    if any(abs(one) > LARGEST_POWER for one in exponents):
        return None
    powers = []
    for factor, weight in zip(factors, solved[len(here.nuisance) :], strict=True):
        power = Fraction(1) if factor.inside is not None else Fraction(weight)
        if power == 0 or abs(power) > LARGEST_FACTOR_POWER:
            return None
        powers.append((factor, power))
    return Draft(exponents, tuple(powers), here.link)


def _feature(view: OutputView, factor: Factor) -> Tensor:
    """Return how a factor takes part in logarithms, on the subsample: [P]."""
    values = view.evaluate(factor.tree)[view.pick]
    return values.abs().log() if factor.inside is None else values


def _best_pairs(
    rows: Tensor, along: Tensor, costs: Tensor, most: int, view: OutputView, points: int
) -> Iterator[tuple[int, int] | None]:
    """Yield the pairs of rows [M, P] that tell the most of a target for what they cost; None for a pause.

    along: the products of rows and target, all of unit length [M]. points: how many of the places P count.
    """
    compact, shares, prices = rows.float(), along.float(), costs.float()
    many = len(rows)
    best: list[tuple[float, int, int]] = []
    for first in range(0, many, PAIR_BLOCK):
        part = slice(first, min(first + PAIR_BLOCK, many))
        gram = compact[part] @ compact.T
        left = 1 - gram.square()
        told = shares[part, None].square() + shares.square() - 2 * gram * shares[part, None] * shares
        missing = (1 - told / left.clamp(min=PARALLEL)).clamp(min=1e-7)
        told_in = lengths(missing, points, prices[part, None] + prices)
        above = torch.ones_like(left, dtype=torch.bool).triu(first + 1)
        told_in = torch.where(above & (left >= PARALLEL), told_in, torch.inf)
        lowest = torch.topk(told_in.flatten(), min(most, told_in.numel()), largest=False)
        best += [
            (value, first + place // many, place % many)
            for value, place in zip(lowest.values.tolist(), lowest.indices.tolist(), strict=True)
            if value < float("inf")
        ]
        best = sorted(best)[:most]
        view.computed(most, PASSES * gram.numel(), gram.numel() * rows.shape[1])
        yield None
    yield from ((one, other) for _, one, other in best)
