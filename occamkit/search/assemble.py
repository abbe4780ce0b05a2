"""From a match to a formula: weights solved for on all rows, exponents and numbers recognised, the tree built."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import torch
from torch import Tensor

from occamkit.graph import Apply, Expression
from occamkit.protocols import Primitive
from occamkit.search.algebra import Power, product, recognised, snapped, weighted_sum
from occamkit.search.view import View
from occamkit.task.dimensions import Exponents

FITS = 1e-6
"""Error in logarithms below which a match is looked into."""
HOLDS = 1e-7
"""Relative error below which a match is proposed."""
SNAP = 2e-5
RECOGNISE = 1e-9
MOST_UNDEFINED = 0.3


@dataclass(frozen=True)
class Factor:
    """A factor of a product: a tree to some power, or inside an exponential primitive whose base has this logarithm."""

    tree: Expression
    inside: Primitive | None = None
    log_base: float = 1.0


def solve_product(
    view: View, target: Tensor, start: Exponents, factors: Sequence[Factor], fits: float = FITS, holds: float = HOLDS
) -> Expression | None:
    """Return a · Π x^k · Π factor^p that equals the target [n], or None; start: powers that give the unit."""
    values = [view.evaluate(one.tree) for one in factors]
    features = [value.abs().log() if one.inside is None else value for one, value in zip(factors, values, strict=True)]
    nuisance = view.nuisance()
    logs = target.abs().log() - (view.logs.new_tensor([float(one) for one in start]) @ view.logs)
    design = torch.stack([*nuisance, *features])  # [z + f, n]
    usable = torch.isfinite(design).all(0) & torch.isfinite(logs)
    if float(usable.double().mean()) < 1 - MOST_UNDEFINED or int(usable.sum()) <= len(design):
        return None
    design, wanted = design[:, usable].T, logs[usable]
    weights = torch.linalg.lstsq(design, wanted, driver="gelsd").solution
    if float((wanted - design @ weights).square().mean().sqrt()) > fits:
        return None
    solved = weights.tolist()
    exponents = [float(one) for one in start]
    for weight, row in zip(solved[1 : len(nuisance)], view.scale.basis, strict=True):
        exponents = [old + weight * float(more) for old, more in zip(exponents, row, strict=True)]
    powers = [snapped(one, SNAP) for one in exponents]
    parts: list[tuple[Expression, Power]] = []
    for (leaf, power), column in zip(zip(view.leaves, powers, strict=True), view.columns, strict=True):
        if power:
            parts.append(raised(leaf, power, column))
    for one, value, weight in zip(factors, values, solved[len(nuisance) :], strict=True):
        if one.inside is None:
            power = snapped(weight, SNAP)
            if power:
                parts.append(raised(one.tree, power, value))
        else:
            scale = recognised(weight / one.log_base, RECOGNISE)
            parts.append((Apply(one.inside, (product(scale, [(one.tree, 1)]),)), Fraction(1)))
    return scaled(view, target, parts, holds)


def scaled(
    view: View, target: Tensor, parts: Sequence[tuple[Expression, Power]], holds: float = HOLDS
) -> Expression | None:
    """Return a · Π part, the factor solved for, if it equals the target [n]."""
    bare = view.evaluate(product(1.0, parts)) if parts else torch.ones_like(target)
    if not bool(torch.isfinite(bare).all()):
        return None
    square = float(bare @ bare)
    if square == 0:
        return None
    coefficient = recognised(float(bare @ target) / square, RECOGNISE)
    if relative(coefficient * bare, target) > holds:
        return None
    return product(coefficient, parts)


def solve_sum(
    view: View, target: Tensor, terms: Sequence[Expression], holds: float = HOLDS
) -> tuple[Expression, float] | None:
    """Return offset + Σ a · term that equals the target [n], or None."""
    values = torch.stack([torch.ones_like(target), *(view.evaluate(one) for one in terms)])
    if not bool(torch.isfinite(values).all()):
        return None
    size = values.norm(dim=1).clamp(min=1e-300)
    weights = torch.linalg.lstsq((values / size[:, None]).T, target, driver="gelsd").solution / size
    error = relative(weights @ values, target)
    if error > holds:
        return None
    found = [recognised(one, RECOGNISE) for one in weights.tolist()]
    # A number that changes nothing was solved for in vain.
    found = [0.0 if abs(one) * float(v.abs().max()) < 1e-9 * float(target.abs().max()) else one
             for one, v in zip(found, values, strict=True)]  # fmt: skip
    return weighted_sum(found[0], zip(found[1:], terms, strict=True)), error


def relative(given: Tensor, wanted: Tensor) -> float:
    """Return the root mean square error as a part of the target's root mean square; infinite where undefined."""
    error = float(((given - wanted).square().mean() / wanted.square().mean()).sqrt())
    return error if error == error else float("inf")  # noqa: PLR0124 an undefined number is not itself


def raised(tree: Expression, power: Power, values: Tensor) -> tuple[Expression, Power]:
    """Return a factor to a power that is defined: a broken power is taken of what is positive."""
    if float(power).is_integer() or bool((values >= 0).all()):
        return tree, power
    if bool((values <= 0).all()):
        return product(-1.0, [(tree, 1)]), power
    return product(1.0, [(tree, 2)]), power / 2
