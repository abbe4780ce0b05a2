"""Sums on noisy rows: two or three terms, each a product of powers times a small expression, weights solved for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from occamkit import Expression
from occamkit.builtins.proposers.exact.assemble import solve_sum
from occamkit.builtins.proposers.exact.matching import Image, images
from occamkit.builtins.proposers.exact.tables import Table
from occamkit.builtins.proposers.exact.view import OutputView
from occamkit.builtins.proposers.noisy.drafts import Pool
from occamkit.builtins.proposers.noisy.pairs import best_pairs
from occamkit.builtins.proposers.noisy.vary import Projected, Skeleton, fit_constants, refine, vary
from occamkit.description import PRICES, cost, rank
from occamkit.dimensions import Exponents
from occamkit.fit import bounded, solve
from occamkit.graph import product, weighted_sum

EXPRESSIONS = 250
"""Expressions of the library that terms are made with."""
MONOMIALS = 8
MOST_TERMS = 2_500
TOP_SINGLES, TOP_PAIRS, TOP_TRIPLES = 40, 150, 10
ASIDE = 12
"""Terms that are tried as the third."""
AMONG = 700
MOST_LEFT = 0.3
"""What fitted numbers leave of a target that is worth a formula, as a part of its square."""
WELL_FITTED = 1e-3


@dataclass(frozen=True)
class Terms:
    """Terms of one power of the output: what they are, weighted values at unit length, costs; and the target."""

    power: int
    parts: list[tuple[Exponents, int | None]]  # a product of powers, and an expression by number
    rows: Tensor  # [T, P]
    costs: Tensor  # [T]
    target: Tensor  # [P], at unit length

    def tree(self, table: Table, place: int) -> Expression:
        """Return a term as a tree."""
        exponents, number = self.parts[place]
        factors = table.view.factors(exponents)
        return product(1.0, factors if number is None else [(table.library.tree(number), 1), *factors])


def terms_of(table: Table, power: int) -> Terms | None:
    """Return the terms that some power of the output may be a sum of; None where that power is undefined."""
    view = table.view
    seen = images(view, MONOMIALS, (power,))
    if not seen:
        return None
    weight = torch.ones_like(view.target)
    if power != 1:
        # An error of the output counts in its power by the slope.
        weight = 1 / (abs(power) * view.target.abs().pow(power - 1)).clamp(min=1e-9)
        weight = bounded(weight)
    library, pick = table.library, view.pick
    numbers = torch.arange(1, min(library.count, 4 * EXPRESSIONS) + 1)
    chosen = numbers[~library.constant[numbers]][:EXPRESSIONS]
    nested = library.nested[chosen]
    prices = library.sizes(chosen) + PRICES.refuses_units * nested
    parts: list[tuple[Exponents, int | None]] = []
    blocks, costs = [], []
    for image in seen:
        front = view.monomial(image.monomial)[pick]
        price = cost(view.monomial_tree(image.monomial)) if any(image.monomial) else 0.0
        parts += [(image.monomial, None), *((image.monomial, number) for number in chosen.tolist())]
        blocks += [front.unsqueeze(0), front * library.values.index_select(0, chosen)]
        costs += [torch.tensor([max(price, 1.0)]), price + prices]
    order = torch.cat(costs).argsort(stable=True)[:MOST_TERMS]
    values = torch.cat(blocks).index_select(0, order) * weight[pick]
    parts = [parts[place] for place in order.tolist()]
    length = values.norm(dim=1)
    good = torch.isfinite(length) & (length > 0)
    rows = torch.where(good[:, None], values / length[:, None], 0.0)
    distinct = _distinct(rows, good)
    wanted = view.target[pick].pow(power) * weight[pick]
    return Terms(
        power,
        [parts[place] for place in distinct],
        rows[distinct],
        torch.cat(costs)[order][distinct].double(),
        wanted / wanted.norm(),
    )


def _distinct(rows: Tensor, good: Tensor) -> list[int]:
    """Return the places of rows whose direction no earlier row has."""
    generator = torch.Generator().manual_seed(1)
    short = (rows @ torch.randn(rows.shape[1], 2, dtype=torch.float64, generator=generator) * 1e6).round().abs()
    seen: set[tuple[float, ...]] = set()
    kept = []
    for place, (key, fine) in enumerate(zip(map(tuple, short.tolist()), good.tolist(), strict=True)):
        if fine and key not in seen:
            seen.add(key)
            kept.append(place)
    return kept


def sums_of(view: OutputView, here: Terms) -> Iterator[tuple[int, ...] | None]:
    """Yield sets of terms worth a formula, others may take a turn on the way."""
    points = here.target.numel()
    along = here.rows @ here.target
    ranks = rank(along.square(), points, here.costs)
    for place in ranks.argsort()[:TOP_SINGLES].tolist():
        yield (place,)
    yield from best_pairs(here.rows, along, here.costs, TOP_PAIRS, view)
    for third in range(min(ASIDE, len(here.rows))):
        row = here.rows[third]
        left = here.target - (here.target @ row) * row
        if float(left.norm()) < 1e-9:
            continue
        others = here.rows[:AMONG] - (here.rows[:AMONG] @ row)[:, None] * row
        length = others.norm(dim=1)
        places = torch.nonzero(length > 1e-3).squeeze(1)
        others = others[places] / length[places, None]
        for pair in best_pairs(others, others @ (left / left.norm()), here.costs[places], TOP_TRIPLES, view):
            yield None if pair is None else (third, int(places[pair[0]]), int(places[pair[1]]))


def add_sum(table: Table, pool: Pool, here: Terms, chosen: Sequence[int]) -> None:
    """Keep the sum of some terms, their weights solved for on all rows."""
    view = table.view
    trees = [here.tree(table, place) for place in chosen]
    values = torch.stack([pool.values(tree) for tree in trees])
    if not bool(torch.isfinite(values).all()):
        return
    target, weight = view.target, torch.ones_like(view.target)
    if here.power != 1:
        target = target.pow(here.power)
        weight = 1 / (abs(here.power) * view.target.abs().pow(here.power - 1)).clamp(min=1e-9)
        weight = bounded(weight)
    view.computed(4 * len(values), 4 * values.numel(), values.numel() * len(values))
    weights = solve(values, target, weight)
    if weights is not None:
        inside = weighted_sum(0.0, zip(weights.tolist(), trees, strict=True))
        pool.add(Image(here.power, view.zero(), view.target).back(view, inside))


def varied_sums(
    table: Table, pool: Pool, image: Image, chosen: Iterable[tuple[Skeleton, bool, float] | None]
) -> Iterator[None]:
    """Fit the numbers inside one term beside an offset, seen through a power and a product of powers."""
    view, pick = table.view, table.view.pick
    monomial = view.monomial(image.monomial)
    weight = monomial.abs() / (abs(image.power) * view.target.abs().pow(image.power - 1)).clamp(min=1e-9)
    weight = (bounded(weight) / weight.median())[pick]
    spanning = weight.unsqueeze(1)
    basis = spanning / spanning.norm()
    target = image.target[pick] * weight
    columns = {name: column[pick] for name, column in view.named.items()}
    goal = Projected(target - basis @ (basis.T @ target), basis, weight, columns, spanning, view)
    coarse = goal.coarse()
    for one in chosen:
        if one is None or not one[1]:
            yield None
            continue
        skeleton = one[0]
        fitted, left = vary(skeleton, False, coarse, torch.zeros(1, coarse.target.numel(), dtype=torch.float64))
        if float(left[0]) < MOST_LEFT:
            none = torch.zeros(1, target.numel(), dtype=torch.float64)
            fitted, left = refine(skeleton, False, goal, none, fitted)
            tree = skeleton.tree.with_constants(fitted[0].tolist())
            solved = solve_sum(view, image.target, [tree], holds=1.0)
            if solved is not None:
                whole = image.back(view, solved[0])
                pool.add(whole)
                if float(left[0]) < WELL_FITTED:
                    pool.add(fit_constants(whole, view, rounds=20))
        yield None
