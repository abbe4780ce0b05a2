"""The last touch on a formula's constants: fitted on all rows, made simple where nothing is lost, with their errors.

The search fits constants in batches and often on a part of the rows; a formula that is kept deserves better.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from occamkit.evaluate.least_squares import fit
from occamkit.evaluate.scaling import Scaling
from occamkit.graph import Expression, Product, Sum
from occamkit.task.problem import Problem
from occamkit.train.recognise import recognised

_ITERATIONS = 30
_ROUNDING = 1e-10
"""Errors below this part of the target's size are rounding: no constant is known better than that allows."""
_INDEPENDENT = 1e-8
"""Slopes of unit length whose combination is shorter than the root of this are not independent, but for rounding."""
_CHANCE = 2.0
"""How many standard errors a constant may be from the simple number that it stands for."""
_STEP = 6e-6
"""The step of a central difference, as a part of the constant: the cube root of the rounding of a double."""


@dataclass(frozen=True)
class Tidied:
    """A formula with its constants at their best.

    errors: the standard error of each constant, or None for one that was made a simple number or has no influence, and
    for all of an exact formula.
    """

    tree: Expression
    errors: tuple[float | None, ...]


def tidy(problem: Problem, tree: Expression, output: int) -> Tidied:
    """Fit the constants of a formula on all training rows, make them simple, and say how well they are known."""
    if not tree.fitted:
        return Tidied(tree, ())
    inputs, targets = problem.dataset.part("train")
    columns = dict(zip((one.name for one in problem.dataset.variables), inputs, strict=True))
    task = _Fitting(tree, columns, targets[output])
    found = task.fitted(tree.fitted, _structure(tree))
    if not math.isfinite(found.error):
        return Tidied(tree, tuple(None for _ in tree.fitted))
    found = _independent(task, found)
    if problem.spec.constants.snap:
        found = _snapped(task, found)
    deviations = task.deviations(found)
    exact = found.error <= targets.shape[1] * task.rounding**2
    errors = tuple(
        None if exact or place in found.fixed or not math.isfinite(deviation) else deviation
        for place, deviation in enumerate(deviations)
    )
    return Tidied(tree.with_constants(found.constants), errors)


@dataclass(frozen=True)
class _Found:
    """Constants, which of them are fixed, and the sum of squares that they leave."""

    constants: tuple[float, ...]
    fixed: frozenset[int]
    error: float


@dataclass(frozen=True)
class _Fitting:
    """One formula to be fitted to a target [n]."""

    tree: Expression
    columns: Mapping[str, Tensor]
    target: Tensor

    def fitted(self, start: Sequence[float], fixed: frozenset[int] = frozenset()) -> _Found:
        """Fit from a start, some constants fixed."""
        model = _TreeModel(self.tree, self.columns, self.target, fixed)
        found = fit(model, self.target.new_tensor([start]), self.target, Scaling(), _ITERATIONS)
        return _Found(tuple(found.constants[0].tolist()), fixed, float(found.error))

    def deviations(self, found: _Found) -> list[float]:
        """Return the standard error of each constant, from the slopes at the fit; infinite where it has none."""
        result = [math.inf] * len(found.constants)
        free, slopes, size = self.slopes(found)
        if not free:
            return result
        variances = torch.linalg.pinv(slopes @ slopes.T, hermitian=True).diagonal() / size**2
        scatter = math.sqrt(found.error / max(1, self.target.numel() - len(free)))
        for place, variance in zip(free, variances.tolist(), strict=True):
            result[place] = math.sqrt(max(variance, 0.0)) * max(scatter, self.rounding)
        return result

    def slopes(self, found: _Found) -> tuple[list[int], Tensor, Tensor]:
        """Return which constants matter, the slopes by these at unit length [f, n], and their true lengths [f]."""
        model = _TreeModel(self.tree, self.columns, self.target, found.fixed)
        _, slopes = model.evaluate(self.target.new_tensor([found.constants]))
        size = slopes[0].norm(dim=1)
        free = torch.nonzero((size > 0) & torch.isfinite(size)).squeeze(1).tolist()
        return free, slopes[0, free] / size[free, None], size[free]

    @property
    def rounding(self) -> float:
        """The error of a single row that is rounding and nothing else."""
        return _ROUNDING * math.sqrt(float(self.target.square().mean()))

    def as_good(self, new: _Found, old: _Found) -> bool:
        """Whether a fit is worse than another by no more than chance makes of the constants that it fixes."""
        rows = self.target.numel()
        spare = max(1, rows - len(old.constants))
        more = len(new.fixed - old.fixed)
        return new.error <= max(old.error * (1 + _CHANCE**2 * more / spare), rows * self.rounding**2)


def _structure(tree: Expression) -> frozenset[int]:
    """Return which constants are no fitted numbers but the lack of one: no offset, a factor of one or minus one."""
    owned = [(node, value) for node in tree.nodes() for value in node.own_fitted]
    return frozenset(
        place
        for place, (node, value) in enumerate(owned)
        if isinstance(node, Product | Sum) and value in (0.0, 1.0, -1.0)
    )


def _independent(task: _Fitting, found: _Found) -> _Found:
    """Fix constants that others can make up for, such as one of the two in c0·c1·x, until all that are left matter."""
    while True:
        free, slopes, _ = task.slopes(found)
        if len(free) < 2:
            return found
        sizes, directions = torch.linalg.eigh(slopes @ slopes.T)
        if float(sizes[0]) > _INDEPENDENT:
            return found
        involved = [place for place, part in zip(free, directions[:, 0].abs().tolist(), strict=True) if part > 0.2]
        place = min(involved, key=lambda one: abs(found.constants[one] - (round(found.constants[one]) or 1)))
        whole = float(round(found.constants[place]) or 1)
        constants = (*found.constants[:place], whole, *found.constants[place + 1 :])
        tried = task.fitted(constants, found.fixed | {place})
        found = tried if task.as_good(tried, found) else replace(found, fixed=found.fixed | {place})


def _snapped(task: _Fitting, found: _Found) -> _Found:
    """Make constants simple one by one, the best known first, as long as the fit stays as good."""
    first = found
    refused: set[int] = set()
    while True:
        deviations = task.deviations(found)
        left = [place for place in range(len(deviations)) if place not in found.fixed | refused]
        if not left:
            return found
        place = min(left, key=lambda one: deviations[one] / max(abs(found.constants[one]), 1e-300))
        for value in recognised(found.constants[place], _CHANCE * deviations[place]):
            constants = (*found.constants[:place], value, *found.constants[place + 1 :])
            tried = task.fitted(constants, found.fixed | {place})
            if task.as_good(tried, first):
                found = tried
                break
        else:
            refused.add(place)


@dataclass(frozen=True)
class _TreeModel:
    """A formula as a model for least squares, with slopes by central differences; fixed constants have none."""

    tree: Expression
    columns: Mapping[str, Tensor]
    target: Tensor
    fixed: frozenset[int]

    def evaluate(self, constants: Tensor) -> tuple[Tensor, Tensor]:
        """Return values [1, n] and slopes [1, c, n] at constants [1, c]."""
        given = constants[0].tolist()
        slopes = self.target.new_zeros(1, len(given), self.target.numel())
        for place, value in enumerate(given):
            if place not in self.fixed:
                step = _STEP * (abs(value) or 1.0)
                ahead, behind = (self._values(given, place, value + move) for move in (step, -step))
                slopes[0, place] = (ahead - behind) / (2 * step)
        return self._values(given, 0, given[0]).unsqueeze(0), slopes

    def narrow(self, keep: Tensor) -> _TreeModel:
        """There is one function only."""
        return replace(self)

    def _values(self, constants: list[float], place: int, value: float) -> Tensor:
        changed = [*constants[:place], value, *constants[place + 1 :]]
        return self.tree.with_constants(changed).evaluate(self.columns).expand_as(self.target)
