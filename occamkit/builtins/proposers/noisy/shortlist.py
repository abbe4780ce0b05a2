"""Many products at once: exponents solved for and rounded, and what is then left of the target in its own space.

Pairs are found in logarithms with free exponents, where noise bends the target and any pair can lean on odd exponents.
So thousands of them are completed, roughly but all together, and only the shortest are worth a draft of their own.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor

from occamkit.builtins.proposers.exact.tables import EXPONENT, Table
from occamkit.builtins.proposers.noisy.drafts import LARGEST_FACTOR_POWER, LARGEST_POWER, linked
from occamkit.builtins.proposers.noisy.space import Space
from occamkit.description import lengths, power_costs
from occamkit.fit import TINY

CHUNK = 1_000
RIDGE = 1e-10


def shortest(table: Table, here: Space, pairs: Sequence[tuple[int, int]], most: int) -> list[tuple[int, int]]:
    """Return the pairs of rows that make the shortest products."""
    if not pairs:
        return []
    rows = torch.tensor(pairs)
    told = torch.cat([_lengths(table, here, part) for part in torch.split(rows, CHUNK)])
    ranked = torch.topk(told, min(most, len(pairs)), largest=False)
    found = zip(ranked.values.tolist(), ranked.indices.tolist(), strict=True)
    return [pairs[place] for value, place in found if math.isfinite(value)]


def _lengths(table: Table, here: Space, pairs: Tensor) -> Tensor:
    """Return how long products of pairs of rows [k, 2] and what they leave are: [k]."""
    view, pick = table.view, table.view.pick
    features, odd = _features(table, here, pairs)  # [k, 2, P], [k, 2, P]
    exponential = here.rows.kind[pairs] == EXPONENT  # [k, 2]
    front = here.nuisance.expand(len(pairs), *here.nuisance.shape)
    halves = torch.cat([torch.ones(front.shape[:2], dtype=torch.bool), ~exponential], 1)
    halves[:, 0] = False  # the logarithm of the factor in front
    solved = solve_and_round(torch.cat([front, features * here.weight], 1), here.logs, halves)  # [k, z + 2]
    view.computed(60, 8 * features.numel() * len(here.nuisance))
    along, powers = solved[:, 1:-2], solved[:, -2:]  # [k, z - 1], [k, 2]
    basis = view.logs.new_tensor([[float(one) for one in row] for row in view.scale.basis]).reshape(
        -1, len(view.leaves)
    )
    exponents = view.logs.new_tensor([float(one) for one in here.start]) + along @ basis  # [k, u]
    logs = exponents @ view.logs[:, pick] + (powers.unsqueeze(2) * features).sum(1)  # [k, P]
    bare = (logs - logs.amax(1, keepdim=True)).exp()
    turns = _is_odd(exponents) @ (view.columns[:, pick] < 0).double() + (_is_odd(powers).unsqueeze(2) * odd).sum(1)
    bare = torch.where(turns.remainder(2) == 1, -bare, bare)
    target, weight = (view.target, torch.ones_like(view.target)) if here.link is None else linked(view, here.link)
    wanted, weighted = (target * weight)[pick], bare * weight[pick]
    share = (weighted @ wanted).square() / weighted.square().sum(1).clamp(min=TINY)
    left = 1 - share / wanted.square().sum()
    costs = here.costs[pairs].sum(1) + (power_costs(exponents) + (exponents != 0)).sum(1)
    costs = costs + power_costs(powers * ~exponential).sum(1)
    found = lengths(left, wanted.numel(), costs, exponential.sum(1))
    able = (exponents.abs().amax(1) <= LARGEST_POWER) & (powers != 0).all(1)
    able &= (exponential | (powers.abs() <= LARGEST_FACTOR_POWER)).all(1)
    return torch.where(able & torch.isfinite(found), found, torch.inf)


def _features(table: Table, here: Space, pairs: Tensor) -> tuple[Tensor, Tensor]:
    """Return how rows take part in logarithms, and where a factor is negative: both [k, 2, P]."""
    source, kind = here.rows.source[pairs], here.rows.kind[pairs]
    values = table.library.values.index_select(0, source.flatten()).view(*source.shape, -1)
    factors = (kind != EXPONENT).unsqueeze(2)
    return torch.where(factors, values.abs().clamp(min=TINY).log(), values), (factors & (values < 0)).double()


def _is_odd(powers: Tensor) -> Tensor:
    return (powers.remainder(2) == 1).double()


def solve_and_round(design: Tensor, target: Tensor, halves: Tensor) -> Tensor:
    """Solve target [P] = weights · design [k, m, P] for k problems at once, with whole and half weights in `halves`.

    What one weight loses by rounding others can make up for, so the surest is rounded first and the rest is solved
    for again. Weights outside `halves` [k, m] stay as they come.
    """
    length = design.norm(dim=2).clamp(min=TINY)  # [k, m]
    unit = design / length.unsqueeze(2)
    many, count = length.shape
    normal = unit @ unit.transpose(1, 2) + RIDGE * torch.eye(count, dtype=design.dtype)
    covariance, _ = torch.linalg.inv_ex(normal)
    solved = (covariance @ (unit @ target).unsqueeze(2)).squeeze(2) / length
    covariance = covariance / (length.unsqueeze(1) * length.unsqueeze(2))
    left, every = halves.clone(), torch.arange(many)
    for _ in range(count):
        variances = torch.where(left, covariance.diagonal(dim1=1, dim2=2), torch.inf)
        variance, surest = variances.min(1)
        open_ = torch.isfinite(variance)
        if not bool(open_.any()):
            break
        column = covariance[every, :, surest]  # [k, m]
        goal = (2 * solved[every, surest]).round() / 2
        step = torch.where(open_, (goal - solved[every, surest]) / variance.clamp(min=TINY), 0.0)
        solved = solved + column * step.unsqueeze(1)
        solved[every, surest] = torch.where(open_, goal, solved[every, surest])
        lost = column.unsqueeze(2) * column.unsqueeze(1) / variance.clamp(min=TINY)[:, None, None]
        covariance = covariance - torch.where(open_[:, None, None], lost, 0.0)
        left[every, surest] = False
    # Solving for the rest has moved what was rounded before by the last bits.
    rounded: Tensor = torch.where(halves, (2 * solved).round() / 2, solved)
    return rounded
