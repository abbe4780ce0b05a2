"""What the exact search was set to by hand, each number with its reason.

They were set by trial while `occamkit bench feynman` was watched, with and without units. No value was varied alone,
so none is claimed to be the best; several that stood apart before were made one without a loss there.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True)
class ExactSettings:
    """How expressions are compared, how many there are, and in what order they are gone through.

    Rows. rows: that expressions are compared on, more than there ever are numbers to solve for. discrete_rows: the same
    where columns have few_values at most, whose rows decide little; sampled_rows: of tables with more. deciding: rows
    that tell two apart. most_zeros: the part of a column that may be zero, for its logarithm to be of use.

    Rounding. last_digits: what rounding makes of a number, as a part of it. rounding: the same after some arithmetic.
    cancelled: what is left of a difference of nearly equal numbers. largest: values beyond this, or below its inverse,
    are rounding sooner or later; largest_exponent is what an exponential takes before it overflows.

    Libraries. sizes: of one library after the other, in expressions. longest: the same at most, over how many times as
    many rows as usual they are compared on. constants: nodes up to which numbers are combined to numbers. combinations:
    of a primitive of three or more arguments that are tried at one size. block: candidates that are computed at once.
    at_once: expressions that are projected or peeled at once. held: rows that tables hold together, at 300 bytes each.

    Groups. few, more, many: how many products of powers libraries are made of, in turn. few_inputs: for so many all
    products of them are gone through.

    Matches. powers: of the output that are taken to be a sum; even ones lose the sign, so they come last. weights: what
    a term that is taken away may be multiplied by. images: products of powers that a sum is divided by. peeled: terms
    that are taken away in quick and in deep stages. aside: expressions tried as the third. fits, holds: the error in
    logarithms below which a match is looked into, and the relative error below which it is proposed. snap, recognise:
    how near an exponent is to a small fraction, and a number to a simple one.

    Work, counted in numbers that are computed, at some 8 ns each on one core. operation: what a call takes besides.
    multiplications: of matrices, that take as long as one number.
    """

    rows: int = 32
    discrete_rows: int = 256
    sampled_rows: int = 64
    few_values: int = 8
    deciding: int = 8
    most_zeros: float = 0.2
    last_digits: float = 1e-12
    rounding: float = 1e-9
    cancelled: float = 1e-7
    largest: float = 1e9
    largest_exponent: float = 700.0
    sizes: tuple[int, ...] = (3_000, 30_000, 120_000, 200_000)
    constants: int = 4
    combinations: int = 200_000
    block: int = 1 << 15
    at_once: int = 20_000
    held: int = 1_000_000
    longest: int = 300_000
    few: int = 4
    more: int = 14
    many: int = 30
    few_inputs: int = 5
    powers: tuple[int, ...] = (1, -1, 2, -2)
    weights: tuple[Fraction, ...] = tuple(map(Fraction, ("1", "-1", "2", "-2", "1/2", "-1/2")))
    images: int = 6
    peeled: tuple[int, ...] = (2_000, 20_000, 60_000)
    aside: int = 60
    fits: float = 1e-6
    holds: float = 1e-7
    snap: float = 2e-5
    recognise: float = 1e-9
    operation: int = 2_500
    multiplications: int = 16


@dataclass(frozen=True)
class SurrogateSettings:
    """Smooth surrogates of the output, which say what its form is.

    degree: of each input alone, and bound: terms in all, one for so many rows. most_rows: that it is fitted to.
    folds: the rows are held out in so many parts. worst: with a larger part of the deviation left it says nothing.
    no_worse: an error this many times as large is as good. near: how far an exponent may be from a half. core: slopes
    are taken away from the edges of the data. straight: how far a group may be from the span of the slopes.
    small: a target below this part of its usual size says nothing in logarithms. most_inputs: with more there are too
    few rows for each.
    """

    degree: int = 8
    bound: int = 200
    per_term: int = 3
    most_rows: int = 2_000
    folds: int = 5
    worst: float = 0.5
    no_worse: float = 1.03
    near: float = 0.12
    core: float = 0.95
    straight: float = 0.04
    small: float = 0.05
    most_inputs: int = 12


EXACT = ExactSettings()
SURROGATE = SurrogateSettings()
