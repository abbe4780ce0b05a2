"""The last touch on a formula's constants: fitted on all rows, made simple where nothing is lost, with their errors.

The search fits constants in batches and often on a part of the rows; a formula that is kept deserves better.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import torch
from torch import Tensor

from occamkit.archive.figures import DIGITS
from occamkit.fit.linear import standard_errors
from occamkit.fit.noise import proportional
from occamkit.fit.trees import exponents, fit_tree, model_of, structural
from occamkit.graph import Expression, tied, with_exact_powers
from occamkit.graph.number_units import units_of_constants
from occamkit.graph.numbers import likely, snapped
from occamkit.task.data.dataset import Part
from occamkit.task.problem import Problem
from occamkit.units import DIMENSIONLESS, Dim

_ITERATIONS, _TRIED = 30, 6
"""Of a fit, and of one that begins where the others are at their best and one number was moved a little."""
_ROUNDING = 1e-10
"""Errors below this part of the target's spread are rounding: no constant is known better than that allows."""
_INDEPENDENT = 1e-8
"""Slopes of unit length whose combination is shorter than the root of this are not independent, but for rounding."""
_CHANCE = 2.0
"""How many standard errors a constant may be from the simple number that it stands for."""


@dataclass(frozen=True)
class Tidied:
    """A formula with its constants at their best.

    errors: the standard error of each constant, or None for one that was made a simple number or has no influence, and
    for all of an exact formula.
    """

    tree: Expression
    errors: tuple[float | None, ...]


def tidy(
    problem: Problem, tree: Expression, output: int, of_values: bool = False, parts: Sequence[Part] = ("train",)
) -> Tidied:
    """Fit the constants of a formula on all training rows, make them simple, and say how well they are known.

    of_values: whether errors are parts of values. parts: of the rows that are fitted to.
    """
    if not tree.fitted:
        return Tidied(tree, ())
    columns, targets = problem.dataset.named(*parts)
    weights = proportional(targets[output]) if of_values else None
    task = _Fitting(tree, columns, targets[output], torch.ones_like(targets[output]) if weights is None else weights)
    found = task.fitted(tree.fitted, structural(tree))
    if not math.isfinite(found.error):
        return Tidied(tree, tuple(None for _ in tree.fitted))
    found = _independent(task, found)
    if problem.spec.constants.snap:
        task, found = _tied(task, found, problem, output)
        found = _snapped(task, found)
    deviations = task.deviations(found)
    exact = found.error <= targets.shape[1] * task.rounding**2
    errors = tuple(
        None if exact or place in found.fixed or not math.isfinite(deviation) else deviation
        for place, deviation in enumerate(deviations)
    )
    powers = exponents(task.tree) & found.fixed
    simple = {at for at in powers if isinstance(snapped(found.constants[at], 0.0), Fraction)}
    kept = tuple(error for place, error in enumerate(errors) if place not in simple)
    return Tidied(with_exact_powers(task.tree.with_constants(found.constants), simple), kept)


@dataclass(frozen=True)
class _Found:
    """Constants, which of them are fixed, and the sum of squares that they leave."""

    constants: tuple[float, ...]
    fixed: frozenset[int]
    error: float


@dataclass(frozen=True)
class _Fitting:
    """One formula to be fitted to a target [n]; weights: factors of errors [n]."""

    tree: Expression
    columns: Mapping[str, Tensor]
    target: Tensor
    weights: Tensor

    def fitted(self, start: Sequence[float], fixed: frozenset[int], iterations: int = _ITERATIONS) -> _Found:
        """Fit from a start, some constants fixed."""
        tree = self.tree.with_constants(start)
        tree, error = fit_tree(tree, self.columns, self.target, fixed, iterations, self.weights)
        return _Found(tree.fitted, fixed, error)

    def deviations(self, found: _Found) -> list[float]:
        """Return the standard error of each constant, from the slopes at the fit; infinite where it has none."""
        result = [math.inf] * len(found.constants)
        free, slopes, size = self.slopes(found)
        if free:
            told = standard_errors(slopes * size[:, None], found.error, self.rounding)
            for place, one in zip(free, told.tolist(), strict=True):
                result[place] = one
        return result

    def slopes(self, found: _Found) -> tuple[list[int], Tensor, Tensor]:
        """Return which constants matter, the slopes by these at unit length [f, n], and their true lengths [f]."""
        model = model_of(self.tree, self.columns, self.weights, found.fixed)
        _, slopes = model.evaluate(self.target.new_tensor([found.constants]))
        size = slopes[0].norm(dim=1)
        free = torch.nonzero((size > 0) & torch.isfinite(size)).squeeze(1).tolist()
        return free, slopes[0, free] / size[free, None], size[free]

    @property
    def rounding(self) -> float:
        """The error of a single row that is rounding and nothing else."""
        largest, spread = float(self.target.abs().max()), float(self.target.std(correction=0))
        return max(_ROUNDING * (spread or largest), DIGITS * largest)

    def as_good(self, new: _Found, old: _Found, more: int | None = None) -> bool:
        """Whether a fit is worse than another by no more than chance makes of the constants that it fixes.

        more: how many these are, if formulas differ.
        """
        rows = self.target.numel()
        spare = max(1, rows - len(old.constants))
        more = len(new.fixed - old.fixed) if more is None else more
        return new.error <= max(old.error * (1 + _CHANCE**2 * more / spare), rows * self.rounding**2)


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


def _tied(task: _Fitting, found: _Found, problem: Problem, output: int) -> tuple[_Fitting, _Found]:
    """Make one number of two that are nearly equal, as long as the fit stays as good and units allow it."""
    units = {one.name: one.unit for one in problem.variables if isinstance(one.unit, Dim)}
    wanted = problem.outputs[output].unit
    wanted = wanted if isinstance(wanted, Dim) else DIMENSIONLESS
    first, made = found, 0
    while True:
        for tree in tied(task.tree.with_constants(found.constants)):
            if units_of_constants(tree, units, wanted, structural(tree)) is None:
                continue
            other = replace(task, tree=tree)
            tried = _independent(other, other.fitted(tree.fitted, structural(tree)))
            if task.as_good(tried, first, more=made + 1):
                task, found, made = other, tried, made + 1
                break
        else:
            return task, found


def _snapped(task: _Fitting, found: _Found) -> _Found:
    """Make constants simple one by one, the best known first, as long as the fit stays as good."""
    first, powers = found, exponents(task.tree)
    refused: set[int] = set()
    while True:
        deviations = task.deviations(found)
        left = [place for place in range(len(deviations)) if place not in found.fixed | refused]
        if not left:
            return found if found is first else task.fitted(found.constants, found.fixed)
        place = min(left, key=lambda one: deviations[one] / max(abs(found.constants[one]), 1e-300))
        for value in likely(found.constants[place], _CHANCE * deviations[place]):
            if place in powers and not isinstance(snapped(value, 0.0), Fraction):
                continue  # nobody writes x**(3/7)
            constants = (*found.constants[:place], value, *found.constants[place + 1 :])
            tried = task.fitted(constants, found.fixed | {place}, _TRIED)
            if task.as_good(tried, first):
                found = tried
                break
        else:
            refused.add(place)
