"""What sums are made of: inputs, simple functions of them, and products of two, with their values on all rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from occamkit import Expression, Leaf, Primitive, SearchProblem
from occamkit.builtins.proposers.free_constants.functions import functions_of
from occamkit.builtins.proposers.ladder.settings import SETTINGS
from occamkit.graph import Apply, product
from occamkit.kernel import Numbers, Op
from occamkit.units import DIMENSIONLESS

LONE, TIMES, POWER = 4, 3, 1
"""Words of a linear term with its weight and its sign, of one factor more, and of a power or a function."""
POWERS = (0.5, -1, 2)
NOBODY = -1
"""The other parent of a square."""

Places = NDArray[np.int64]


@dataclass(frozen=True)
class Lone:
    """An input, or a simple function of one: its column, its values [n]; plain: the input itself."""

    tree: Expression
    column: int
    values: Numbers
    plain: bool = True

    @property
    def words(self) -> int:
        return 0 if self.plain else POWER


@dataclass(frozen=True)
class Terms:
    """Terms with their values [t, n]; parents: the columns of inputs that each is made of [t, 2].

    A product takes part once one of its inputs has: what does nothing alone seldom does much with others.
    """

    trees: tuple[Expression, ...]
    values: Numbers
    parents: Places
    words: Places

    @cached_property
    def lone(self) -> NDArray[np.bool_]:
        """Which are no products [t]."""
        return np.asarray(self.parents[:, 0] == self.parents[:, 1])

    def unlocked(self, place: int) -> NDArray[np.bool_]:
        """Return the products that may follow a term [t]: those with an input that stands in it alone."""
        return np.asarray(self.lone[place] & (self.parents == self.parents[place, 0]).any(1) & ~self.lone)


def plain_factors(problem: SearchProblem) -> list[Lone]:
    """Return the inputs that differ."""
    columns = problem.columns.numpy()
    leaves = [Leaf(one.name) for one in problem.inputs]
    return [Lone(leaf, place, columns[place]) for place, leaf in enumerate(leaves) if np.ptp(columns[place]) > 0]


def curved_factors(problem: SearchProblem, plain: Sequence[Lone]) -> list[Lone]:
    """Return powers of inputs and their logarithms, where they have any and units allow it."""
    logarithm = function_of(problem, Op.LOG)
    found = []
    for one in plain:
        if len(np.unique(one.values)) > 2:
            positive = bool((one.values > 0).all())
            far = positive and float(one.values.min()) > SETTINGS.far * float(np.median(one.values))
            for power in POWERS:
                if far or (positive and power > 0) or power == 2:
                    tree = product(1.0, [(one.tree, power)])
                    found.append(Lone(tree, one.column, one.values**power, plain=False))
            unit = problem.inputs[one.column].unit
            if far and logarithm is not None and unit == DIMENSIONLESS:
                found.append(Lone(Apply(logarithm, (one.tree,)), one.column, np.log(one.values), plain=False))
    return found


def function_of(problem: SearchProblem, op: Op) -> Primitive | None:
    """Return the primitive that is a function of the kernel's, whatever it is called."""
    return next((one.primitive for one in functions_of(problem) if one.op is op and one.rate == 1), None)


def lone_terms(factors: Sequence[Lone]) -> Terms:
    """Return factors as terms."""
    own = np.array([(one.column, one.column) for one in factors])
    words = np.array([LONE + one.words for one in factors])
    return Terms(tuple(one.tree for one in factors), np.stack([one.values for one in factors]), own, words)


def with_products(factors: Sequence[Lone], partners: frozenset[int], squares: bool) -> Terms:
    """Return lone terms, and the products of two inputs of which one at least is plain, among these columns.

    squares: of plain inputs too.
    """
    lone = lone_terms(factors)
    pairs = list(_pairs([one for one in factors if one.column in partners], squares))
    if not pairs:
        return lone
    trees = [product(1.0, [(one.tree, 1), (other.tree, 1)]) for one, other in pairs]
    own = np.array([(one.column, other.column if one is not other else NOBODY) for one, other in pairs])
    words = np.array([LONE + (POWER if one is other else TIMES + one.words + other.words) for one, other in pairs])
    values = np.stack([one.values * other.values for one, other in pairs])
    return Terms(
        (*lone.trees, *trees),
        np.concatenate([lone.values, values]),
        np.concatenate([lone.parents, own]),
        np.concatenate([lone.words, words]),
    )


def _pairs(factors: Sequence[Lone], squares: bool) -> Iterator[tuple[Lone, Lone]]:
    for one, other in combinations(factors, 2):
        if one.column != other.column and (one.plain or other.plain):
            yield one, other
    for one in factors if squares else ():
        if one.plain and len(np.unique(one.values)) > 2:
            yield one, one
