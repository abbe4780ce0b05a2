"""Groups that the data show: products of powers through which alone the inputs act.

A polynomial in the logarithms of the inputs is fitted to the output, or to its logarithm. Its gradients span few
directions if the output depends on few products of powers, and small whole exponents in that span are the groups.
"""

from __future__ import annotations

import itertools
import math

import torch
from torch import Tensor

from occamkit.search.view import View
from occamkit.task.dimensions import Exponents, in_directions

MOST_TERMS = 330
LARGEST_DEGREE = 12
HELD_OUT = 5
"""One row in so many judges the polynomial."""
WORST_FIT = 0.5
"""With a larger part of the deviation left, the gradients mean nothing."""
TOLERANCE = 0.04
CORE = 0.95
"""Gradients are taken away from the edges of the data, where polynomials are worst."""


def active_groups(view: View, most: int) -> tuple[Exponents, ...]:
    """Return the groups that the training rows show, simplest first; none where they show none."""
    able = [place for place, loggable in enumerate(view.loggable) if loggable]
    moving = [place for place in able if float(view.logs[place].std()) > 1e-9]
    if len(moving) < 2 or len(moving) != len(view.variables):
        return ()
    gradients, error = _surrogate(view.logs, view.target)
    size = view.target.abs()
    if bool((size > 0).all()) and (bool((view.target > 0).all()) or bool((view.target < 0).all())):
        others, other_error = _surrogate(view.logs, size.log())
        if other_error < 2 * error:
            gradients, error = others, other_error
    if error > WORST_FIT:
        return ()
    _, strengths, directions = torch.linalg.svd(gradients / math.sqrt(len(gradients)), full_matrices=False)
    strengths = strengths / strengths[0]
    limit = max(0.004, min(0.04, error * (1.0 if error > 0.01 else 2.0)))
    rank = int((strengths >= limit).sum())
    if rank >= len(view.variables):
        return ()
    return tuple(in_directions(directions[:rank], len(view.variables), TOLERANCE, most))


def _surrogate(logs: Tensor, target: Tensor) -> tuple[Tensor, float]:
    """Return the gradients [m, u] of a polynomial fitted to the target, and its error on rows held out."""
    inputs, rows = logs.shape
    low, high = logs.amin(1, keepdim=True), logs.amax(1, keepdim=True)
    place = 2 * (logs - low) / (high - low) - 1  # [u, n], from -1 to 1
    degree = 1
    while degree < LARGEST_DEGREE and math.comb(inputs + degree + 1, inputs) <= min(MOST_TERMS, rows // 3):
        degree += 1
    powers = _degrees(inputs, degree)
    values, slopes = chebyshev(place, degree)  # [u, n, degree + 1]
    chosen = torch.tensor(powers)  # [t, u]
    design = torch.ones(rows, len(powers), dtype=logs.dtype)
    for one in range(inputs):
        design = design * values[one][:, chosen[:, one]]
    held = torch.arange(rows) % HELD_OUT == 0
    trial = torch.linalg.lstsq(design[~held], target[~held], driver="gelsd", rcond=1e-10).solution
    error = float((design[held] @ trial - target[held]).square().mean().sqrt() / target.std().clamp(min=1e-300))
    weights = torch.linalg.lstsq(design, target, driver="gelsd", rcond=1e-10).solution
    gradients = []
    for moved in range(inputs):
        product = torch.ones_like(design)
        for one in range(inputs):
            product = product * (slopes if one == moved else values)[one][:, chosen[:, one]]
        gradients.append(product @ weights * (2 / (high - low))[moved])
    inner = place.abs().amax(0) < CORE
    found = torch.stack(gradients, 1)
    return (found[inner] if int(inner.sum()) > 50 else found), error


def _degrees(inputs: int, degree: int) -> list[tuple[int, ...]]:
    """Return all exponents of total degree at most `degree`."""
    found = []
    for total in range(degree + 1):
        for cuts in itertools.combinations(range(total + inputs - 1), inputs - 1):
            edges = (-1, *cuts, total + inputs - 1)
            found.append(tuple(after - before - 1 for before, after in itertools.pairwise(edges)))
    return found


def chebyshev(place: Tensor, degree: int) -> tuple[Tensor, Tensor]:
    """Return Chebyshev polynomials and their slopes at places [u, n]: both [u, n, degree + 1]."""
    first, second = [torch.ones_like(place), place], [torch.ones_like(place), 2 * place]
    for _ in range(2, degree + 1):
        first.append(2 * place * first[-1] - first[-2])
        second.append(2 * place * second[-1] - second[-2])
    slopes = [torch.zeros_like(place)] + [n * second[n - 1] for n in range(1, degree + 1)]
    return torch.stack(first[: degree + 1], 2), torch.stack(slopes, 2)
