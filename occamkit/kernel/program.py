"""Programs of formulas with free constants, and the rows that they are fitted to.

An instruction is two whole numbers, an operation and its argument. Operations take constants in order, so the program
of a part is the same wherever the part stands, and programs of larger parts are those of smaller ones put together.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.float64]
Outside = Callable[[int, Numbers], tuple[Numbers, Numbers]]
"""Values and slopes of a function that the kernel does not know, by its number."""

MOST_CONSTANTS, MOST_TERMS = 24, 20
LANES = 8
"""Rows are filled up to a multiple of this."""


class Op(IntEnum):
    """Operations on a stack of columns; see `plain`."""

    LOAD = 0
    """Push a column."""
    LOAD_POWER = 1
    """Push the exponential of a constant times a column: a power of that whose logarithm the column holds."""
    MULTIPLY = 2
    """Replace the upper two by their product."""
    SUM = 3
    """Replace some by their weighted sum with an offset; the argument is made by `sum_of`."""
    TERM = 4
    """Take the upper one as a term of the root."""
    EXP = 5
    LOG = 6
    """Of the absolute value; all rows must have one sign."""
    SIN = 7
    COS = 8
    TANH = 9
    RAISE = 10
    """To a quarter of the argument; unless that is a whole positive number, all rows must have one sign."""
    RAISE_FREE = 11
    """The same with a constant for the exponent."""
    OUTSIDE = 12
    """A function that the kernel does not know; the argument says which."""


class Offset(IntEnum):
    """What a sum inside a function begins with."""

    NONE = 0
    ONE = 1
    FREE = 2


def sum_of(terms: int, offset: Offset, first_is_one: bool) -> tuple[int, int]:
    """Return the instruction for a weighted sum of so many terms."""
    return Op.SUM, terms | first_is_one << 8 | offset << 9


class Program(NamedTuple):
    """A sum of terms with weights, which are solved for, and constants inside the terms, which are fitted.

    code: instructions, each of two numbers. constants: how many there are inside the terms.
    """

    code: tuple[int, ...]
    constants: int
    terms: int
    offset: bool = True

    @property
    def outside(self) -> bool:
        """Whether it calls a function that the kernel does not know."""
        return Op.OUTSIDE in self.code[::2]

    @property
    def numbers(self) -> int:
        """Constants and weights together, that of the offset included."""
        return self.constants + self.terms + 1


class Job(NamedTuple):
    """A program to fit from given constants, or with a seed from drawn ones.

    Of given constants, those that are NaN are drawn, and the others kept for a start.
    """

    program: Program
    given: Sequence[float] | Numbers | None = None
    seed: int = 0


@dataclass(frozen=True)
class Effort:
    """How much is done for a job.

    starts: the most that are drawn; the best two are improved. steps: of Levenberg and Marquardt's method. least: a
    step that gains a smaller part than this, twice, is the last.
    """

    starts: int = 24
    steps: int = 8
    least: float = 1e-4


class ProgramFit(NamedTuple):
    """Constants inside the terms, then weights of the offset and of each term; left: the part of the square left."""

    constants: Numbers
    weights: Numbers
    left: float


@dataclass(frozen=True)
class RowTable:
    """Columns [m, n] and a target [n] with weights [n], filled up with rows that do not count.

    square: of the weighted target, about its mean.
    """

    columns: Numbers
    weights: Numbers
    target: Numbers
    square: float
    rows: int
    ones: Numbers = field(repr=False)

    @classmethod
    def of(cls, columns: Numbers, target: Numbers, weights: Numbers | None = None) -> RowTable:
        """Make a table; a weight is a factor of a row's error, 1 unless given."""
        rows = target.shape[0]
        spare = -rows % LANES
        weight = np.ones(rows) if weights is None else np.asarray(weights, float)
        weight = np.concatenate([weight, np.zeros(spare)])
        filled = np.ascontiguousarray(np.concatenate([columns, np.repeat(columns[:, -1:], spare, axis=1)], axis=1))
        weighted = np.concatenate([target, np.zeros(spare)]) * weight
        mean = weighted @ weight / (weight @ weight)
        about = weighted - mean * weight
        return cls(filled, weight, weighted, float(about @ about), rows, np.ones(rows + spare))
