"""Which formula is the best when none is exact: the one that describes the rows in the fewest words.

    length = n/2 · log(mean square error) + price · cost + log(n)/2 for each fitted number

over training and validation rows together. The cost counts nodes, exponents and, dearer, primitives that accept plain
numbers alone (sine, exponential and the like): these imitate other shapes within a range most easily.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Hashable, Iterable
from fractions import Fraction
from typing import cast

from occamkit.graph import Apply, Expression, Leaf, Product, Sum
from occamkit.protocols import Primitive
from occamkit.score.trees import SIGNS
from occamkit.search.algebra import simple
from occamkit.task.problem import Problem
from occamkit.train.front import Candidate
from occamkit.units import CLASH, Dim

PRICE = 1.5
"""What one unit of cost must gain, in units of log likelihood."""
PLAIN_ONLY = 2.0
"""What a primitive costs more that accepts plain numbers alone."""
NOTHING_LEFT = 1e-10
"""Errors below this part of the target's size are rounding."""
ODD_NUMBER = 4.0
"""What a number that means nothing costs in an exact formula."""
MOST_KEPT = 200

_LENGTH = Dim.of({"length": 1})


def plain_only(primitive: Primitive) -> bool:
    """Whether a primitive refuses arguments that carry a unit, as sine and exponential do."""
    return _refuses_units(cast("Hashable", primitive))


@functools.cache
def _refuses_units(given: Hashable) -> bool:
    primitive = cast("Primitive", given)
    constants = [constant.unit for constant in primitive.constants]
    return primitive.units(*[_LENGTH] * primitive.arity, *constants) is CLASH


def power_cost(power: Fraction | float) -> float:
    """Return what an exponent costs: one of 1 nothing, small whole numbers and halves little."""
    if abs(power) == 1:
        return 0.0
    if abs(power) in (Fraction(1, 2), 2):
        return 1.0
    return 1.5 if power == int(power) else 2.5


def cost(tree: Expression) -> float:
    """Return what a formula costs to write down."""
    total = 0.0
    for node in tree.nodes():
        if isinstance(node, Leaf):
            total += 1
        elif isinstance(node, Apply):
            total += node.primitive.complexity + PLAIN_ONLY * plain_only(node.primitive)
        elif isinstance(node, Product):
            total += sum(power_cost(power) for _, power in node.factors)
        elif isinstance(node, Sum):
            total += len(node.terms) - 1 + (node.offset != 0)
    return total


def numbers(tree: Expression) -> int:
    """Return how many fitted numbers a formula holds."""
    return sum(value not in (0.0, *SIGNS) for value in tree.fitted)


def odd_numbers(tree: Expression) -> int:
    """Return how many numbers of a formula are no small fractions, nor such times a power of pi."""
    return sum(value not in (0.0, *SIGNS) and not simple(value) for value in tree.fitted)


def plain(tree: Expression) -> bool:
    """Whether no number of a formula but its factor means nothing; others may hide a simpler formula."""
    inside = tree.below if isinstance(tree, Product) else (tree,)
    return not any(map(odd_numbers, inside))


def description_length(problem: Problem, candidate: Candidate, output: int) -> float:
    """Return how long a formula and what it leaves of the rows are together."""
    rows, squares, size = 0, 0.0, 0.0
    scale = problem.dataset.output_scale(output)
    for part in ("train", "valid"):
        targets = problem.dataset.part(part)[1][output]
        if targets.numel():
            rows += targets.numel()
            squares += targets.numel() * candidate.figures.mse[part]
            size += float(scale.declared(targets).square().sum())
    relative = squares / size if size > 0 else squares
    if not math.isfinite(relative):
        return math.inf
    words = PRICE * cost(candidate.tree) + 0.5 * math.log(rows) * numbers(candidate.tree)
    return 0.5 * rows * math.log(max(relative, NOTHING_LEFT**2)) + words


class Shelf:
    """The best formulas of one output by description length, whoever found them."""

    def __init__(self, problem: Problem, output: int) -> None:
        self.problem = problem
        self.output = output
        self._kept: dict[Expression, tuple[float, Candidate]] = {}

    def add(self, candidates: Iterable[Candidate]) -> bool:
        """Keep candidates; whether one of them is the best now."""
        before = self.best()
        for candidate in candidates:
            if candidate.tree not in self._kept:
                self._kept[candidate.tree] = (self._length(candidate), candidate)
        if len(self._kept) > 2 * MOST_KEPT:
            self._kept = dict(sorted(self._kept.items(), key=lambda item: item[1][0])[:MOST_KEPT])
        return self.best() is not before

    def best(self) -> Candidate | None:
        """Return the exact formula of least cost, or the one of least length."""
        if not self._kept:
            return None
        return min(self._kept.values(), key=lambda pair: pair[0])[1]

    def _length(self, candidate: Candidate) -> float:
        if candidate.figures.exact:
            return -1e12 + cost(candidate.tree) + ODD_NUMBER * odd_numbers(candidate.tree)
        return description_length(self.problem, candidate, self.output)
