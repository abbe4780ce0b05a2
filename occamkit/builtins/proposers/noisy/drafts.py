"""Formulas in the making on noisy rows: products whose exponents can be moved, judged by how long they are to tell."""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import torch
from torch import Tensor

from occamkit import Apply, Expression, Primitive, traits
from occamkit.builtins.proposers.exact.assemble import Factor, raised
from occamkit.builtins.proposers.exact.view import OutputView
from occamkit.description import cost, fitted_numbers, length, words
from occamkit.dimensions import Exponents
from occamkit.fit import bounded, fit_tree, solve
from occamkit.graph import Power, product

LARGEST_POWER = 6
LARGEST_FACTOR_POWER = 4
MOVES = (Fraction(1, 2), Fraction(-1, 2), Fraction(1), Fraction(-1))
MOST_MOVES = 4
MOST_NUMBERS = 6
"""Formulas with more numbers are not fitted again: they are sums whose weights were solved for."""
ALL_BUT_EXACT = 1e-9
SMALL_TARGET = 0.05
"""Rows that count for less than this part of the usual say nothing in logarithms."""
DEVIATIONS, SMALL_NOISE = 4.0, 0.25
"""Rows within so many deviations of noise say nothing in logarithms; noise is less than this part of the target."""
NOISE_STEP = 0.05
"""Noise, as a part of the target's spread, that the slope of an inverse is taken over."""


@dataclass(frozen=True)
class Draft:
    """link(a · Π x^k · Π factor^p); an exponential factor has no p, the weight in its exponent is solved for."""

    exponents: Exponents
    factors: tuple[tuple[Factor, Power], ...]
    link: Primitive | None = None

    def moved(self, basis: Sequence[Exponents]) -> Iterator[Draft]:
        """Yield drafts with one exponent moved, along directions that keep the unit."""
        for row in basis:
            for move in MOVES:
                exponents = tuple(old + move * more for old, more in zip(self.exponents, row, strict=True))
                if all(abs(one) <= LARGEST_POWER for one in exponents):
                    yield replace(self, exponents=exponents)
        for place, (factor, power) in enumerate(self.factors):
            if factor.inside is not None:
                continue
            for move in MOVES:
                there = Fraction(power) + move
                if 0 < abs(there) <= LARGEST_FACTOR_POWER:
                    factors = list(self.factors)
                    factors[place] = (factor, there)
                    yield replace(self, factors=tuple(factors))


class Pool:
    """Formulas of one output, each with its length on the training rows; the shortest are proposed."""

    def __init__(self, view: OutputView) -> None:
        self.view = view
        self.size = float(view.target.square().mean().sqrt())
        self._lengths: dict[Expression, float] = {}
        self._drafts: dict[Draft, tuple[float, Expression | None]] = {}
        self._proposed: set[Expression] = set()
        self._urgent: list[Expression] = []
        self._polished: set[tuple[object, ...]] = set()
        self._values: dict[Expression, Tensor] = {}

    def length(self, tree: Expression) -> float:
        """Return how long a formula and what it leaves of the rows are together."""
        return self._length(tree, self.view.evaluate(tree))

    def _length(self, tree: Expression, values: Tensor) -> float:
        self.view.computed(10)
        rows = self.view.target.numel()
        error = float((values - self.view.target).square().mean().sqrt()) / self.size
        if not math.isfinite(error):
            return math.inf
        if error < ALL_BUT_EXACT:
            self._urgent.append(tree)
        return length(error**2, rows, *words(tree))

    def add(self, tree: Expression) -> float:
        """Keep a formula."""
        if tree not in self._lengths:
            self._lengths[tree] = self.length(tree)
        return self._lengths[tree]

    def add_draft(self, draft: Draft) -> float:
        """Complete a draft with its factor and keep it."""
        if draft not in self._drafts:
            tree = self._completed(draft)
            self._drafts[draft] = (math.inf if tree is None else self.add(tree), tree)
        return self._drafts[draft][0]

    def polish(self, basis: Sequence[Exponents], most: int) -> Iterator[None]:
        """Move exponents of the shortest drafts, one at a time, while that shortens them."""
        ranked = sorted(self._drafts.items(), key=lambda item: item[1][0])
        yield from self.polish_first((draft for draft, _ in ranked), basis, most)

    def polish_first(self, drafts: Iterable[Draft], basis: Sequence[Exponents], most: int) -> Iterator[None]:
        """Do so with the first of some drafts whose factors are new."""
        for first in drafts:
            family = (first.link, tuple(factor for factor, _ in first.factors))
            if most <= 0:
                break
            if family in self._polished:
                continue
            self._polished.add(family)
            most -= 1
            draft = first
            for _ in range(MOST_MOVES):
                best = min(draft.moved(basis), key=self.add_draft, default=draft)
                if self.add_draft(best) >= self.add_draft(draft):
                    break
                draft = best
            yield None

    def best(self, most: int) -> list[Expression]:
        """Return the shortest formulas."""
        ranked = heapq.nsmallest(most, self._lengths.items(), key=lambda item: item[1])
        return [tree for tree, _ in ranked]

    def fresh(self, most: int) -> Iterator[Expression]:
        """Yield those of the shortest formulas that have not been proposed."""
        for tree in self.best(most):
            if tree not in self._proposed and math.isfinite(self._lengths[tree]):
                self._proposed.add(tree)
                yield tree

    def urgent(self) -> Iterator[Expression]:
        """Yield formulas that leave all but nothing, as soon as they are there, the cheapest first."""
        self._urgent.sort(key=cost, reverse=True)
        while self._urgent:
            tree = self._urgent.pop()
            if tree not in self._proposed:
                self._proposed.add(tree)
                yield tree

    def values(self, tree: Expression) -> Tensor:
        """Return the values of a part, remembered."""
        if tree not in self._values:
            if len(self._values) > 4000:
                self._values.clear()
            self._values[tree] = self.view.evaluate(tree)
        return self._values[tree]

    def _completed(self, draft: Draft) -> Expression | None:
        """Return a draft as a formula, its factor and the weights in exponents solved for."""
        view = self.view
        view.computed(20 + 4 * len(draft.factors), 10 * view.target.numel())
        target, weight = (view.target, torch.ones_like(view.target))
        if draft.link is not None:
            target, weight = linked(view, draft.link)
        parts: list[tuple[Expression, Power]] = []
        bare = torch.ones_like(view.target)
        for leaf, exponent, column in zip(view.leaves, draft.exponents, view.columns, strict=True):
            if exponent:
                parts.append(raised(leaf, exponent, column))
                bare = bare * _power(column, exponent)
        for factor, power in draft.factors:
            if factor.inside is None:
                values = self.values(factor.tree)
                parts.append(raised(factor.tree, power, values))
                bare = bare * _power(values, power)
        exponents = [factor for factor, _ in draft.factors if factor.inside is not None]
        if exponents:
            values = torch.stack([self.values(factor.tree) for factor in exponents])  # [e, n]
            signal = weight * target.abs()
            if draft.link is None:
                signal = torch.where(signal < noise_of(target), 0.0, signal)
            solved = _exponent_weights(target / bare, values, signal)
            if solved is None:
                return None
            for factor, power, row in zip(exponents, solved, values, strict=True):
                assert factor.inside is not None
                parts.append(
                    (Apply(factor.inside, (product(power / factor.log_base, [(factor.tree, 1)]),)), Fraction(1))
                )
                bare = bare * factor.inside.call(power / factor.log_base * row)
        if not bool(torch.isfinite(bare).all()):
            return None
        square = float((bare * weight).square().sum())
        if not 0 < square < math.inf:
            return None
        whole = product(float((bare * target * weight.square()).sum()) / square, parts)
        return whole if draft.link is None else Apply(draft.link, (whole,))


def _exponent_weights(target: Tensor, values: Tensor, weight: Tensor) -> list[float] | None:
    """Return w with log|target| = const + Σ w · values [e, n], each row counted by its weight; None if undefined.

    They depend on the other exponents, so they are solved for again whenever one of those was rounded or moved.
    """
    logs = target.abs().log()
    usable = torch.isfinite(logs) & (weight > SMALL_TARGET * weight.mean())
    if int(usable.sum()) <= len(values) + 1:
        return None
    design = torch.cat([torch.ones_like(values[:1]), values])[:, usable] * weight[usable]
    solved = solve(design, logs[usable] * weight[usable])
    return None if solved is None else list(solved.tolist())[1:]


def noise_of(target: Tensor) -> float:
    """Return below what size rows are noise, as far as signs tell: a few small ones of the other sign are no signal."""
    size = float(target.square().mean().sqrt())
    other = target[target < 0] if float(target.sum()) > 0 else target[target > 0]
    deviation = float(other.square().mean().sqrt()) if other.numel() else 0.0
    return DEVIATIONS * deviation if deviation < SMALL_NOISE * size else 0.0


def linked(view: OutputView, link: Primitive) -> tuple[Tensor, Tensor]:
    """Return the target inside a primitive, and how much an error there counts in the output: both [n].

    Slopes are taken over a step as large as noise may be, so that rows do not count more than noise allows where the
    inverse is flat at a point and bent around it.
    """
    inverse = traits.inverse(link)
    assert inverse is not None
    inside = inverse(view.target)
    step = NOISE_STEP * float(view.target.std())
    slopes = torch.stack([inverse(view.target + step) - inside, inside - inverse(view.target - step)]).abs() / step
    slope = slopes.amax(0).clamp(min=1e-9)
    weight = torch.where(torch.isfinite(slope) & torch.isfinite(inside), 1 / slope, 0.0)
    return torch.where(torch.isfinite(inside), inside, 0.0), bounded(weight)


def _power(values: Tensor, power: Power) -> Tensor:
    return torch.pow(values if float(power).is_integer() else values.abs(), float(power))


def fit_constants(tree: Expression, view: OutputView, rounds: int = 12) -> Expression:
    """Fit all numbers of a tree but ones, signs and zeros to the output, from where they are."""
    nodes = sum(1 for _ in tree.nodes()) * rounds * 2 * fitted_numbers(tree)
    view.computed(nodes, nodes * view.target.numel())
    return fit_tree(tree, view.named, view.target, None, rounds)[0]
