"""Tables with a wrong row: when it is better to name an exception than to build it into the program.

A table whose columns all have few values can always be met exactly, if need be by a program that lists its rows. So
programs of tables are compared by their length in bits, each row that they miss at a price.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from occamkit.archive.figures import PARTS
from occamkit.description import BITS_PER_WORD, MOST_EXCEPTIONS
from occamkit.graph import Product, Sum
from occamkit.task.problem import Problem

if TYPE_CHECKING:
    from occamkit.archive.candidate import Candidate

MOST_VALUES = 16
"""A column with more different values than this is not one of a table; nor is one of decimals that never come again."""
STRICTNESS = 3.0
"""An exception costs so many times the bits that it takes to write down. Data are mostly right: a program that is
exact is given up only for one that is much shorter."""


class Outliers:
    """Chooses between the programs of a table; `applies` says whether the task is one."""

    def __init__(self, problem: Problem) -> None:
        dataset = problem.dataset
        columns = [*dataset.inputs, *dataset.targets]
        self.applies = all(map(_few_values, columns))
        rows = sum(getattr(dataset, part).numel() for part in PARTS if part != "test")
        values = max((column.unique().numel() for column in dataset.targets), default=1)
        self._most = int(MOST_EXCEPTIONS * rows)
        self._price = STRICTNESS * math.log2(max(2, rows * values))

    def choose(self, candidates: Iterable[Candidate]) -> Candidate | None:
        """Return the best program among those that miss few rows; None when there is none, or this is no table."""
        if not self.applies:
            return None
        near = [one for one in candidates if one.wrong <= self._most]
        return min(near, key=lambda one: (self._length(one), one.wrong, one.complexity), default=None)

    def doubt(self, best: Candidate, candidates: Iterable[Candidate]) -> Candidate | None:
        """Return what is no longer than the best, one exception included, of a table that is too small for any."""
        if not self.applies or self._most > 0:
            return None
        near = [one for one in candidates if one.wrong == 1 and self._length(one) <= self._length(best)]
        return min(near, key=self._length, default=None)

    def _length(self, candidate: Candidate) -> float:
        trees = (candidate.tree,) if candidate.whole is None else candidate.whole.trees
        # A product of three is written with two signs, whoever solved for it.
        nodes = [node for tree in trees for node in tree.nodes()]
        words = sum(one.own_complexity if isinstance(one, Product | Sum) else 1 for one in nodes)
        return BITS_PER_WORD * words + self._price * candidate.wrong


def _few_values(column: Tensor) -> bool:
    values = torch.unique(column)
    return values.numel() <= MOST_VALUES and (values.numel() < column.numel() or bool((values == values.round()).all()))
