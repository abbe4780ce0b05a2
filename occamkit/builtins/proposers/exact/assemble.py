"""From a match to a formula: weights solved for on all rows, exponents and numbers recognised, the tree built."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import torch
from torch import Tensor

from occamkit import Apply, Expression, Primitive, fit
from occamkit.builtins.proposers.exact.settings import EXACT
from occamkit.builtins.proposers.exact.view import OutputView
from occamkit.dimensions import Exponents
from occamkit.graph import Power, product, recognised, snapped, weighted_sum


@dataclass(frozen=True)
class Factor:
    """A factor of a product: a tree to some power, or inside an exponential primitive whose base has this logarithm."""

    tree: Expression
    inside: Primitive | None = None
    log_base: float = 1.0


def solve_product(view: OutputView, target: Tensor, start: Exponents, factors: Sequence[Factor]) -> Expression | None:
    """Return a · Π x^k · Π factor^p that equals the target [n], or None; start: powers that give the unit."""
    values = [view.evaluate(one.tree) for one in factors]
    features = [value.abs().log() if one.inside is None else value for one, value in zip(factors, values, strict=True)]
    nuisance = view.nuisance()
    logs = target.abs().log() - view.logs_of(start)
    design = torch.stack([*nuisance, *features])  # [z + f, n]
    usable = torch.isfinite(design).all(0) & torch.isfinite(logs)
    if float(usable.double().mean()) < 1 - EXACT.most_zeros or int(usable.sum()) <= len(design):
        return None
    view.computed(len(design), design.numel(), design.numel() * len(design))
    # Exponents do not cancel as the weights of a sum do: the values decide, below.
    rows = None if view.weights is None else view.weights[usable]
    weights = fit.solve(design[:, usable], logs[usable], rows, math.inf)
    if weights is None or float((logs[usable] - weights @ design[:, usable]).square().mean().sqrt()) > EXACT.fits:
        return None
    solved = weights.tolist()
    exponents = [float(one) for one in start]
    for weight, row in zip(solved[1 : len(nuisance)], view.scale.basis, strict=True):
        exponents = [old + weight * float(more) for old, more in zip(exponents, row, strict=True)]
    powers = [snapped(one, EXACT.snap) for one in exponents]
    parts: list[tuple[Expression, Power]] = []
    for (leaf, power), column in zip(zip(view.leaves, powers, strict=True), view.columns, strict=True):
        if power:
            parts.append(raised(leaf, power, column))
    for one, value, weight in zip(factors, values, solved[len(nuisance) :], strict=True):
        if one.inside is None:
            power = snapped(weight, EXACT.snap)
            if power:
                parts.append(raised(one.tree, power, value))
        else:
            scale = recognised(weight / one.log_base, EXACT.recognise)
            parts.append((Apply(one.inside, (product(scale, [(one.tree, 1)]),)), Fraction(1)))
    return scaled(view, target, parts)


def scaled(view: OutputView, target: Tensor, parts: Sequence[tuple[Expression, Power]]) -> Expression | None:
    """Return a · Π part, the factor solved for, if it equals the target [n]."""
    bare = view.evaluate(product(1.0, parts)) if parts else torch.ones_like(target)
    solved = fit.solve(bare.unsqueeze(0), target, view.weights)
    if solved is None:
        return None
    coefficient = recognised(float(solved), EXACT.recognise)
    return None if relative(coefficient * bare, target) > EXACT.holds else product(coefficient, parts)


def solve_sum(view: OutputView, target: Tensor, terms: Sequence[Expression]) -> Expression | None:
    """Return offset + Σ a · term that equals the target [n], or None."""
    values = torch.stack([torch.ones_like(target), *(view.evaluate(one) for one in terms)])
    view.computed(len(values), values.numel(), values.numel() * len(values))
    weights = fit.solve(values, target, view.weights)
    if weights is None or relative(weights @ values, target) > EXACT.holds:
        return None
    # A number that changes nothing was solved for in vain.
    share = weights.abs() * values.abs().amax(1) / target.abs().max()
    solved = torch.where(share < EXACT.rounding, 0.0, weights)
    found = [recognised(one, EXACT.recognise) for one in solved.tolist()]
    return weighted_sum(found[0], zip(found[1:], terms, strict=True))


def relative(given: Tensor, wanted: Tensor) -> float:
    """Return the root mean square error as a part of the target's root mean square; infinite where undefined."""
    error = float(((given - wanted).square().mean() / wanted.square().mean()).sqrt())
    return error if error == error else float("inf")  # noqa: PLR0124 an undefined number is not itself


def raised(tree: Expression, power: Power, values: Tensor) -> tuple[Expression, Power]:
    """Return a factor to a power that is defined: a fractional power is taken of what is positive."""
    if float(power).is_integer() or bool((values >= 0).all()):
        return tree, power
    if bool((values <= 0).all()):
        return product(-1.0, [(tree, 1)]), power
    return product(1.0, [(tree, 2)]), power / 2
