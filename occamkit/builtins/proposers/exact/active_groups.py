"""Groups that the data show: products of powers through which alone the inputs act.

A polynomial in the logarithms of the inputs is fitted to the output, or to its logarithm. Its gradients span few
directions if the output depends on few products of powers, and small whole exponents in that span are the groups.
"""

from __future__ import annotations

import itertools
import math

import torch
from torch import Tensor

from occamkit import fit
from occamkit.builtins.proposers.exact.settings import EXACT, SURROGATE
from occamkit.builtins.proposers.exact.view import OutputView
from occamkit.dimensions import Exponents, in_directions


def active_groups(view: OutputView, most: int) -> tuple[Exponents, ...]:
    """Return the groups that the training rows show, simplest first; none where they show none."""
    able = [place for place, loggable in enumerate(view.loggable) if loggable]
    moving = [place for place in able if float(view.logs[place].std()) > EXACT.rounding]
    if len(moving) < 2 or len(moving) != len(view.variables):
        return ()
    gradients, error = _surrogate(view, view.target)
    size = view.target.abs()
    if bool((size > 0).all()) and (bool((view.target > 0).all()) or bool((view.target < 0).all())):
        others, other_error = _surrogate(view, size.log())
        if other_error < 2 * error:
            gradients, error = others, other_error
    if error > SURROGATE.worst:
        return ()
    _, strengths, directions = torch.linalg.svd(gradients / math.sqrt(len(gradients)), full_matrices=False)
    # What the surrogate leaves of the rows it leaves of the slopes, too.
    limit = max(SURROGATE.straight**2, min(SURROGATE.straight, error))
    rank = int((strengths >= limit * strengths[0]).sum())
    if rank >= len(view.variables):
        return ()
    return tuple(in_directions(directions[:rank], len(view.variables), SURROGATE.straight, most))


def _surrogate(view: OutputView, target: Tensor) -> tuple[Tensor, float]:
    """Return the gradients [m, u] of a polynomial fitted to the target, and its error on rows held out."""
    inputs, rows = view.logs.shape
    low, high = view.logs.amin(1, keepdim=True), view.logs.amax(1, keepdim=True)
    place = 2 * (view.logs - low) / (high - low) - 1  # [u, n], from -1 to 1
    degree, most = 1, min(SURROGATE.bound, rows // SURROGATE.per_term)
    while degree < SURROGATE.degree and math.comb(inputs + degree + 1, inputs) <= most:
        degree += 1
    chosen = torch.tensor(_degrees(inputs, degree))  # [t, u]
    values, slopes = chebyshev(place, degree)  # [u, n, degree + 1]
    design = torch.stack([values[one][:, chosen[:, one]] for one in range(inputs)]).prod(0).T  # [t, n]
    view.computed(len(design), 2 * design.numel() * inputs, 2 * design.numel() * len(design))
    held = torch.arange(rows) % SURROGATE.folds == 0
    trial = fit.smooth(design[:, ~held], target[~held])
    left = trial @ design[:, held] - target[held]
    error = float(left.square().mean().sqrt() / target.std().clamp(min=fit.TINY))
    weights = fit.smooth(design, target)
    gradients = []
    for moved in range(inputs):
        parts = [(slopes if one == moved else values)[one][:, chosen[:, one]] for one in range(inputs)]
        gradients.append(torch.stack(parts).prod(0) @ weights * (2 / (high - low))[moved])
    inner = place.abs().amax(0) < SURROGATE.core
    found = torch.stack(gradients, 1)
    return (found[inner] if int(inner.sum()) > EXACT.rows else found), error


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
