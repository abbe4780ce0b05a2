"""Levenberg and Marquardt's method for many functions at once, each with its own constants and damping.

It knows functions only as models: constants in, values and slopes out. So the same method fits thousands of sampled
functions on the graph and polishes one formula on all rows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor

from occamkit.fit.scaling import Scaling

_FIRST_DAMPING = 1e-3
_LEAST_DAMPING = 1e-12
_MOST_DAMPING = 1e8
_HARDER, _SOFTER = 8.0, 0.1
_STEP = 6e-6
"""The step of a central difference, as a part of the constant: the cube root of the rounding of a double."""
_AT_ONCE = 1_000_000
"""Numbers of a column for several starts, at most."""


class Model(Protocol):
    """Functions with constants; every function has as many."""

    def evaluate(self, constants: Tensor) -> tuple[Tensor, Tensor]:
        """Return values [F, n] and slopes [F, c, n] at constants [F, c]."""
        ...

    def narrow(self, keep: Tensor) -> Model:
        """Return the model of some of the functions, [m] of them."""
        ...


@dataclass(frozen=True)
class Differences:
    """A model of one function from several starts, whose slopes are central differences.

    values: from constants [F, c] to values [F, n]. free: which constants have slopes [c]. rows: n.
    """

    values: Callable[[Tensor], Tensor]
    free: Tensor  # [c]
    rows: int

    def evaluate(self, constants: Tensor) -> tuple[Tensor, Tensor]:
        """Return values [F, n] and slopes [F, c, n] at constants [F, c]."""
        count, places = constants.shape[0], torch.nonzero(self.free).squeeze(1)
        step = _STEP * torch.where(constants == 0, 1.0, constants.abs()).index_select(1, places)  # [F, f]
        moves = constants.new_zeros(count, len(places), constants.shape[1])
        moves[:, torch.arange(len(places)), places] = step
        tried = torch.cat([constants.unsqueeze(1), constants.unsqueeze(1) + moves, constants.unsqueeze(1) - moves], 1)
        # A walk through a small tree costs more than its numbers, so all are taken on one walk while they are few.
        parts = torch.split(tried.flatten(0, 1), max(1, _AT_ONCE // self.rows))
        values = torch.cat([self.values(part) for part in parts]).view(count, -1, self.rows)
        here, ahead, behind = torch.split(values, [1, len(places), len(places)], 1)
        slopes = values.new_zeros(*constants.shape, self.rows)
        slopes[:, places] = (ahead - behind) / (2 * step).unsqueeze(2)
        return here.squeeze(1), slopes

    def narrow(self, keep: Tensor) -> Differences:
        """Return the model of some of the starts; they have all the same."""
        return self


@dataclass(frozen=True)
class Fit:
    """Where a fit ended: constants [F, c] and the sum of squares [F], infinite where the function is undefined."""

    constants: Tensor
    error: Tensor


@dataclass
class _State:
    """Functions under way: where they are, what is left there, and how bold the next step is."""

    constants: Tensor  # [F, c]
    error: Tensor  # [F]
    normal: Tensor  # [F, c, c]
    slope: Tensor  # [F, c]
    damping: Tensor  # [F]
    running: Tensor  # [F]


def fit(model: Model, start: Tensor, target: Tensor, scaling: Scaling, iterations: int) -> Fit:
    """Fit the constants [F, c] of functions to a target [n] by least squares, from a start.

    A step that makes things worse, or a function undefined, is not taken: the last good constants stay. Functions that
    have converged are dropped, so a batch costs what its slow members cost.
    """
    best_constants, best_error = start.clone(), start.new_full((start.shape[0],), torch.inf)
    members = torch.arange(start.shape[0], device=start.device)
    floor = _floor(target)
    state = _look(model, start, target, scaling)
    state.running &= state.error > floor
    for _ in range(iterations):
        active = torch.nonzero(state.running).squeeze(1)
        if active.numel() == 0:
            break
        if active.numel() <= 0.6 * members.numel():
            best_constants.index_copy_(0, members, state.constants)
            best_error.index_copy_(0, members, state.error)
            members, model = members.index_select(0, active), model.narrow(active)
            state = _some(state, active)
        _step(state, model, target, scaling, floor)
    best_constants.index_copy_(0, members, state.constants)
    best_error.index_copy_(0, members, state.error)
    return Fit(best_constants, best_error)


def _step(state: _State, model: Model, target: Tensor, scaling: Scaling, floor: float) -> None:
    """Try one step for every function, and take it where it helps."""
    move = _move(state)
    tried = _look(model, state.constants + move, target, scaling)
    better = state.running & (tried.error < state.error)
    gained = torch.where(better, (state.error - tried.error) / state.error, 0.0)
    small = move.abs().amax(1) <= 1e-13 * (state.constants.abs().amax(1) + 1e-13)
    for name in ("constants", "error", "normal", "slope"):
        old, new = getattr(state, name), getattr(tried, name)
        setattr(state, name, torch.where(better.view(-1, *[1] * (old.dim() - 1)), new, old))
    state.damping = torch.where(better, state.damping * _SOFTER, state.damping * _HARDER).clamp(min=_LEAST_DAMPING)
    settled = (better & (gained < 1e-10)) | small | (state.damping > _MOST_DAMPING) | (state.error <= floor)
    state.running &= ~settled


def _look(model: Model, constants: Tensor, target: Tensor, scaling: Scaling) -> _State:
    """Return what a step needs to know at these constants."""
    values, slopes = model.evaluate(constants)
    residual, slopes = scaling.project(values, slopes, target)
    error = residual.square().sum(1)
    error = torch.where(torch.isfinite(error), error, torch.inf)
    # A constant whose slope is undefined somewhere, such as the c of x^c where x < 0, stays where it is.
    slopes = torch.where(torch.isfinite(slopes.sum(2, keepdim=True)), slopes, 0.0)
    normal = slopes @ slopes.transpose(1, 2)
    slope = (slopes @ residual.nan_to_num(0.0, 0.0, 0.0).unsqueeze(2)).squeeze(2)
    return _State(constants, error, normal, slope, torch.full_like(error, _FIRST_DAMPING), torch.isfinite(error))


def _move(state: _State) -> Tensor:
    """Solve for the next step of each function: [F, c]; zero where there is none."""
    diagonal = state.normal.diagonal(dim1=1, dim2=2)
    # A constant without influence has a zero on the diagonal; one keeps the system solvable and its step zero.
    held = torch.where(diagonal > 0, diagonal * state.damping.unsqueeze(1), 1.0)
    system = state.normal + torch.diag_embed(held)
    move, _ = torch.linalg.solve_ex(system.double(), state.slope.double())
    finite = torch.isfinite(move).all(1) & state.running
    return torch.where(finite.unsqueeze(1), move.to(state.constants), 0.0)


def _some(state: _State, keep: Tensor) -> _State:
    fields = (state.constants, state.error, state.normal, state.slope, state.damping, state.running)
    return _State(*(field.index_select(0, keep) for field in fields))


def _floor(target: Tensor) -> float:
    """Return the sum of squares that rounding alone would leave."""
    return float(target.square().sum()) * torch.finfo(target.dtype).eps ** 2
