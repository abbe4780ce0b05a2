"""Sums of many products at once: all that have the output's unit are fitted together, then thinned out one by one.

Elsewhere a sum is put together from two or three terms that are looked for. Here all products of a few inputs take part
from the start, so a sum of many terms is found as soon as one of two.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from occamkit import Expression, Product
from occamkit.builtins.proposers.exact.matching import Image
from occamkit.builtins.proposers.exact.pool import Pool
from occamkit.builtins.proposers.exact.settings import EXACT
from occamkit.builtins.proposers.exact.view import OutputView
from occamkit.description import NOTHING_LEFT, cost, length, own_length
from occamkit.fit import bounded, solve
from occamkit.graph import product, recognised, weighted_sum
from occamkit.units import DIMENSIONLESS, Dim

MOST_DEGREE = 4
MOST_PRODUCTS = 20_000
ROWS_PER_TERM, MOST_FITTED = 4, 150
"""Products that are fitted at once: one for so many rows, and so many at most."""
MOST_ROWS = 2_000
"""Rows that products are thinned out on; of those that are left the weights are solved for on all rows."""
MOST_TERMS = 12
"""A sum of more terms is no formula that anybody asked for."""
KEPT = 3
"""Sums of each fit that are kept: the shortest."""
MOST_WRONG = 0.1
"""Rows of the other sign that noise may have made, where an even power of the output is looked at."""
RIDGE = 1e-13
ALIKE = 0.15
"""Weights that differ by no more than this part may be those of a square."""
ONE = Product(1.0, ())

Places = tuple[int, ...]
"""A product of atoms, by their places."""


@dataclass(frozen=True)
class Atom:
    """What products are made of: a tree with its unit and its values [n]."""

    tree: Expression
    unit: Dim
    values: Tensor


def polynomials(view: OutputView, pool: Pool, powers: Sequence[int]) -> Iterator[None]:
    """Keep the shortest sums that are found in some powers of the output, others may take a turn on the way."""
    atoms = _inputs(view)
    for power in powers:
        if power < 0 and bool((view.target.abs() < 1e-9 * pool.size).any()):
            continue
        if power % 2 == 0 and float((view.target * view.target.sum().sign() < 0).double().mean()) > MOST_WRONG:
            continue
        wanted = view.unit**power if isinstance(view.unit, Dim) and not view.free else None
        chosen: list[Places] = []
        for degree in range(1, MOST_DEGREE + 1):
            most = min(view.target.numel() // ROWS_PER_TERM, MOST_FITTED)
            before, chosen = chosen, _products(atoms, wanted, degree, most)
            if len(chosen) < 2 or chosen == before:
                continue
            _keep_sums(view, pool, power, atoms, chosen)
            view.spend(len(chosen) ** 2 * min(view.target.numel(), MOST_ROWS) + len(chosen) ** 4 // 4)
            yield None


def _inputs(view: OutputView) -> list[Atom]:
    units = [one.unit if isinstance(one.unit, Dim) else DIMENSIONLESS for one in view.variables]
    found = zip(view.leaves, units, view.columns, strict=True)
    return [Atom(leaf, unit, values) for leaf, unit, values in found]


def _products(atoms: Sequence[Atom], unit: Dim | None, degree: int, most: int) -> list[Places]:
    """Return the products of at most `degree` atoms that have a unit, or any, by place; none if there are too many."""
    if math.comb(len(atoms) + degree, degree) > MOST_PRODUCTS:
        return []
    found: list[Places] = []
    for size in range(degree + 1):
        for places in itertools.combinations_with_replacement(range(len(atoms)), size):
            whole = DIMENSIONLESS
            for place in places:
                whole = whole * atoms[place].unit
            if unit is None or whole == unit:
                found.append(places)
            if len(found) > most:
                return []
    return found


def _keep_sums(view: OutputView, pool: Pool, power: int, atoms: Sequence[Atom], chosen: Sequence[Places]) -> None:
    """Fit all products together, leave out what is worth least until one is left, and keep the shortest sums."""
    signed = view.target * float(torch.sign(view.target.sum()))
    # An error of the output counts here by the slope of its power, and by what it was divided by.
    weight = view.evaluate(view.whole(ONE)).abs() / (abs(power) * view.target.abs().pow(power - 1)).clamp(min=1e-9)
    weight = bounded(weight)
    if power % 2 == 0:
        weight = torch.where(signed > 0, weight, 0.0)
    few = torch.linspace(0, weight.numel() - 1, min(weight.numel(), MOST_ROWS)).long()
    rows = torch.stack([_values(atoms, places, few) for places in chosen]) * weight[few]  # [t, m]
    if not bool(torch.isfinite(rows).all()):
        return
    costs = [cost(_tree(atoms, places)) + 1 for places in chosen]
    target = view.target.pow(power) * weight
    found = thinned(rows, target[few], costs)
    nothing = view.zero()
    for left in found:
        kept = torch.stack([_values(atoms, chosen[place]) for place in left]) * weight
        solved = solve(kept, target)
        if solved is None:
            continue
        numbers = [recognised(value, EXACT.recognise) for value in solved.tolist()]
        weights = dict(zip((chosen[place] for place in left), numbers, strict=True))
        for terms in (_terms(atoms, weights), _terms(atoms, *_squares(weights))):
            pool.add(view.whole(Image(power, nothing, view.target).back(view, weighted_sum(*terms))))


def _values(atoms: Sequence[Atom], places: Places, rows: Tensor | slice = slice(None)) -> Tensor:
    """Return the values of a product on some rows."""
    values = torch.ones_like(atoms[0].values[rows])
    for place in places:
        values = values * atoms[place].values[rows]
    return values


def _tree(atoms: Sequence[Atom], places: Places) -> Expression:
    return product(1.0, [(atoms[place].tree, 1) for place in places])


def thinned(rows: Tensor, target: Tensor, costs: Sequence[float]) -> list[list[int]]:
    """Return the places of the shortest fits of a target [n] by fewer and fewer of the rows [t, n]; costs: of each."""
    points, size = target.numel(), float(target.square().sum())
    words = torch.tensor([own_length(points, one, 1) for one in costs], dtype=torch.float64)
    design = rows / rows.norm(dim=1, keepdim=True).clamp(min=1e-300)
    left = torch.arange(len(design))
    normal = design @ design.T + RIDGE * torch.eye(len(design), dtype=design.dtype)
    along = design @ target
    found: list[tuple[float, list[int]]] = []
    while left.numel():
        inverse, failed = torch.linalg.inv_ex(normal[left][:, left])
        if int(failed):
            break
        solved = inverse @ along[left]
        error = max(float((target - solved @ design[left]).square().sum()) / size, NOTHING_LEFT**2)
        if left.numel() <= MOST_TERMS:
            kept = left.tolist()
            found.append((length(error, points, sum(costs[place] for place in kept), len(kept)), kept))
        # What a row takes with it, and what it costs to keep.
        rise = solved.square() / inverse.diagonal().clamp(min=1e-300)
        worth = 0.5 * points * (error + rise / size).log() - words[left]
        left = left[torch.arange(left.numel()) != int(worth.argmin())]
    return [places for _, places in sorted(found)[:KEPT]]


def _squares(weights: Mapping[Places, float]) -> tuple[dict[Places, float], dict[Places, tuple[float, float]]]:
    """Return what is left of a sum without a² ± 2ab + b², and for each such (a, b) its weight and sign."""
    left, squares = dict(weights), dict[Places, tuple[float, float]]()
    for pair in [places for places in weights if len(places) == 2 and len({*places}) == 2]:
        one, other = ((place, place) for place in pair)
        if one in left and other in left:
            sizes = [left[one], left[other], left[pair] / 2]
            if left[one] * left[other] > 0 and max(map(abs, sizes)) < (1 + ALIKE) * min(map(abs, sizes)):
                squares[pair] = (left[one], math.copysign(1.0, left[pair] * left[one]))
                for gone in (one, other, pair):
                    del left[gone]
    return left, squares


def _terms(
    atoms: Sequence[Atom], weights: Mapping[Places, float], squares: Mapping[Places, tuple[float, float]] | None = None
) -> tuple[float, list[tuple[float, Expression]]]:
    """Return the offset of a sum and its other terms."""
    made = [(weight, _tree(atoms, places)) for places, weight in weights.items() if places]
    for (one, other), (weight, sign) in (squares or {}).items():
        inside = weighted_sum(0.0, [(1.0, atoms[one].tree), (sign, atoms[other].tree)])
        made.append((weight, product(1.0, [(inside, 2)])))
    return weights.get((), 0.0), made
