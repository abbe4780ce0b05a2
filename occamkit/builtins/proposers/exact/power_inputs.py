"""Inputs that enter as a power alone: y = x^k · rest, where the rest does not depend on x.

The logarithm of the output is fitted by a smooth surrogate, once with all that an input may do and once with its
logarithm alone. If the second tells rows that were held out no worse, the input is nothing but a factor; all that is
left to search for has an input less.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

import torch
from torch import Tensor

from occamkit import fit
from occamkit.builtins.proposers.exact.active_groups import chebyshev
from occamkit.builtins.proposers.exact.settings import EXACT, SURROGATE
from occamkit.builtins.proposers.exact.view import OutputView
from occamkit.dimensions import Exponents


@dataclass(frozen=True)
class Logs:
    """The rows that a surrogate is fitted to, weighted, in logarithms."""

    inputs: Tensor  # [u, n], scaled to -1 … 1
    logs: Tensor  # [u, n]
    target: Tensor  # [n]
    weight: Tensor  # [n]
    view: OutputView


PowerInputs = tuple[Exponents, list[int]]
"""The exponents of inputs that enter as a power alone, and the places of the others."""


def power_inputs(view: OutputView) -> Generator[None, None, PowerInputs | None]:
    """Return the inputs that enter as a power alone; None without any. Others may take a turn on the way."""
    views = _rows(view)
    if not views:
        return None
    every = list(range(len(view.variables)))
    rows = min(views, key=lambda one: _error(one, every)[0])
    bent = [place for place in range(len(view.variables)) if float(rows.logs[place].std()) > EXACT.rounding]
    error, _ = _error(rows, bent)
    if error > SURROGATE.worst:
        return None
    while bent:
        trials: dict[int, float] = {}
        for place in bent:
            trials[place] = _error(rows, [one for one in bent if one != place])[0]
            yield None
        able = sorted((one for one in bent if trials[one] <= SURROGATE.no_worse * error), key=trials.__getitem__)
        if not able:
            break
        rest = [one for one in bent if one not in able]
        together = _error(rows, rest)[0]
        if together > SURROGATE.no_worse * error:  # some of them are no factors, only none is missed alone
            rest, together = [one for one in bent if one != able[0]], trials[able[0]]
        bent, error = rest, min(error, together)
    _, powers = _error(rows, bent)
    exponents = [Fraction(0)] * len(view.variables)
    for place, power in enumerate(powers):
        half = Fraction(round(2 * power), 2)
        if place not in bent and abs(float(half) - power) < SURROGATE.near:
            exponents[place] = half
        elif place not in bent:
            bent.append(place)
    return (tuple(exponents), sorted(bent)) if 0 < len(bent) < len(view.variables) else None


def _rows(view: OutputView) -> list[Logs]:
    """Return the rows of one sign, all alike or each by the size of its target, as noise would have it.

    Nothing where too many are of the other sign, or an input has no logarithm.
    """
    many = len(view.variables)
    if not all(view.loggable) or not 2 <= many <= SURROGATE.most_inputs:
        return []
    target = view.target * float(torch.sign(view.target.sum()))
    size = float(target.square().mean().sqrt())
    other = target[target <= 0]
    noise = float(other.square().mean().sqrt()) if other.numel() else 0.0
    usual = min(size, 2 * float(target.abs().median()))
    keep = target > max(SURROGATE.small * usual, SURROGATE.per_term * noise)
    if int(keep.sum()) < max(target.numel() / 2, SURROGATE.most_inputs * many):
        return []
    places = torch.nonzero(keep).squeeze(1)
    places = places[torch.linspace(0, len(places) - 1, min(len(places), SURROGATE.most_rows)).long()]
    columns = view.columns[:, places]
    low, high = columns.amin(1, keepdim=True), columns.amax(1, keepdim=True)
    place = 2 * (columns - low) / (high - low).clamp(min=fit.TINY) - 1
    weight = fit.bounded(target[places])
    weights = (torch.ones_like(weight), weight / weight.mean())
    return [Logs(place, view.logs[:, places], target[places].log(), one, view) for one in weights]


def _error(rows: Logs, bent: Sequence[int]) -> tuple[float, list[float]]:
    """Return what a surrogate leaves of rows held out, as a part of their deviation, and the powers of all inputs.

    bent: the inputs that may do anything; of the others it knows the logarithms alone.
    """
    target = rows.target * rows.weight
    mean = float((rows.target * rows.weight.square()).sum() / rows.weight.square().sum())
    spread = float(((rows.target - mean) * rows.weight).square().sum())
    folds = torch.arange(target.numel()) % SURROGATE.folds
    best: tuple[float, Tensor] | None = None
    for terms in _designs(rows, bent):
        design = terms * rows.weight  # [t, n]
        squares = 0.0
        for fold in range(SURROGATE.folds):
            train, held = folds != fold, folds == fold
            weights = fit.smooth(design[:, train], target[train])
            squares += float((target[held] - weights @ design[:, held]).square().sum())
            rows.view.computed(2, 2 * design.numel(), design.numel() * len(design))
        if best is None or squares < best[0]:
            best = squares, design
    assert best is not None
    powers = fit.smooth(best[1], target)[1 : 1 + len(rows.logs)]
    return math.sqrt(best[0] / max(spread, fit.TINY)), powers.tolist()


def _designs(rows: Logs, bent: Sequence[int]) -> Iterator[Tensor]:
    """Yield the rows of surrogates [t, n]: one, all logarithms, and more and more products of what may do anything."""
    found = [torch.ones_like(rows.target), *rows.logs]
    values = chebyshev(rows.inputs, SURROGATE.degree)[0].permute(2, 0, 1)  # [d + 1, u, n]
    most = min(rows.target.numel() // SURROGATE.per_term, SURROGATE.bound)
    # The slope of an input stays with its logarithm.
    found += [values[degree, place] for place in bent for degree in range(2, SURROGATE.degree + 1)]
    yield torch.stack(found)
    for degree in range(2, SURROGATE.degree if len(bent) > 1 else 0):
        if len(found) + math.comb(len(bent) + degree - 1, degree) - len(bent) > most:
            break
        for places in itertools.combinations_with_replacement(bent, degree):
            if len({*places}) > 1:
                powers = [(place, places.count(place)) for place in dict.fromkeys(places)]
                found.append(torch.stack([values[power, place] for place, power in powers]).prod(0))
        yield torch.stack(found)
