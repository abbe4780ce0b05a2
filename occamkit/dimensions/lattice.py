"""Whole exponents: the vectors of small whole numbers that solve linear equations, smallest first, exactly."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from fractions import Fraction

import torch
from torch import Tensor

LARGEST = 2
"""Largest exponent that all vectors are gone through for."""
MOST_VECTORS, MOST_SPARSE = 600_000, 60_000
"""Vectors that are gone through: of all, and of those that are nought but in few places."""


def null_vectors(rows: Sequence[Sequence[Fraction]], count: int) -> list[list[int]]:
    """Return vectors of `count` whole numbers that are orthogonal to all rows, smallest first; they span all such.

    All small ones are there, if they are few enough to go through; the others are sums and differences of a basis.
    """
    common = math.lcm(*(value.denominator for row in rows for value in row))
    matrix = [[int(value * common) for value in row] for row in rows]
    small = _small_vectors(torch.tensor(matrix, dtype=torch.int64).reshape(-1, count), count)
    if _rank(small) == count - _rank(matrix):
        return small
    basis = _basis(matrix, count)
    sums = [_plus(one, other, sign) for one, other in itertools.combinations(basis, 2) for sign in (1, -1)]
    whole = [*small, *basis, *sums]
    both = dict.fromkeys((*map(tuple, whole), *(tuple(-value for value in one) for one in whole)))
    return one_of_each(torch.tensor(list(both)))


def _small_vectors(matrix: Tensor, count: int) -> list[list[int]]:
    largest = LARGEST if (2 * LARGEST + 1) ** count <= MOST_VECTORS else 1
    if (2 * largest + 1) ** count > MOST_VECTORS:
        return []
    box = box_of(count, largest)
    box = box[box.abs().sum(1) <= max(6, count + 1)]
    return one_of_each(box[(box @ matrix.T == 0).all(1)])


def _basis(matrix: Sequence[Sequence[int]], count: int) -> list[list[int]]:
    """Return short vectors of which all whole solutions are whole combinations, by the reduction of a lattice.

    Each unit vector stands beside its image, made so heavy that short vectors are those whose image is zero.
    """
    from sympy import ZZ
    from sympy.polys.matrices import DomainMatrix

    heavy = 1 + count * max((abs(value) for row in matrix for value in row), default=0) ** (len(matrix) + 1)
    beside = [
        [int(place == other) for other in range(count)] + [heavy * row[place] for row in matrix]
        for place in range(count)
    ]
    reduced = DomainMatrix([[ZZ(value) for value in row] for row in beside], (count, len(beside[0])), ZZ).lll()
    found = [[int(value) for value in row] for row in reduced.to_list()]
    return [row[:count] for row in found if not any(row[count:])]


def _rank(vectors: Sequence[Sequence[int]]) -> int:
    return int(torch.linalg.matrix_rank(torch.tensor(vectors, dtype=torch.float64))) if vectors else 0


def _plus(one: Sequence[int], other: Sequence[int], sign: int) -> list[int]:
    return [left + sign * right for left, right in zip(one, other, strict=True)]


def box_of(count: int, largest: int) -> Tensor:
    """Return all vectors of whole numbers up to a largest: [many, count]."""
    axis = torch.arange(-largest, largest + 1)
    return torch.cartesian_prod(*[axis] * count).reshape(-1, count)


def small_vectors(count: int) -> Tensor:
    """Return all vectors of small whole numbers; where these are too many, those of few ones [many, count]."""
    if 3**count <= MOST_VECTORS:
        return box_of(count, LARGEST if (2 * LARGEST + 1) ** count <= MOST_VECTORS else 1)
    found, many = [torch.zeros(1, count, dtype=torch.int64)], 0
    for size in range(1, count):
        many += math.comb(count, size) * 2**size
        if many > MOST_SPARSE:
            break
        places = torch.combinations(torch.arange(count), size)  # [p, size]
        signs = torch.cartesian_prod(*[torch.tensor([-1, 1])] * size).reshape(-1, size)  # [s, size]
        vectors = torch.zeros(len(signs), len(places), count, dtype=torch.int64)
        vectors.scatter_(2, places.expand(len(signs), -1, -1), signs[:, None, :].expand(-1, len(places), -1))
        found.append(vectors.reshape(-1, count))
    return torch.cat(found)


def one_of_each(vectors: Tensor) -> list[list[int]]:
    """Return vectors without common divisors, one of each pair of opposites, smallest first."""
    ordered = vectors[torch.argsort(vectors.abs().sum(1), stable=True)]
    found = []
    for vector in ordered.tolist():
        present = [value for value in vector if value]
        if not present or math.gcd(*present) > 1:
            continue
        above, below = sum(value > 0 for value in present), sum(value < 0 for value in present)
        if above > below or (above == below and present[0] > 0):
            found.append(vector)
    return found
