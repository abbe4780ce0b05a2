"""The arguments that a primitive can have among expressions that are there already, by their numbers."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

import torch
from torch import Tensor

from occamkit import Primitive
from occamkit.builtins.proposers.exact.settings import EXACT


def arguments_of(primitive: Primitive, size: int, starts: Sequence[int]) -> Iterator[list[Tensor]]:
    """Yield, in blocks, the arguments [m] each with which a primitive makes an expression of some size.

    starts: the number of the first expression of each size. Of arguments that may change places one order is enough.
    """
    left = size - max(1, round(primitive.complexity))
    for sizes in compositions(left, primitive.arity):
        if primitive.commutative and list(sizes) != sorted(sizes):
            continue
        ranges = [(starts[one], starts[one + 1]) for one in sizes]
        if all(last > first for first, last in ranges):
            yield from _blocks(primitive, ranges)


def _blocks(primitive: Primitive, ranges: Sequence[tuple[int, int]]) -> Iterator[list[Tensor]]:
    total = 1
    for first, last in ranges:
        total *= last - first
    if primitive.arity > 2:
        total = min(total, EXACT.combinations)
    for start in range(0, total, EXACT.block):
        place = torch.arange(start, min(start + EXACT.block, total))
        chosen = []
        for first, last in reversed(ranges):
            chosen.append(place % (last - first) + first)
            place = place // (last - first)
        chosen.reverse()
        if primitive.commutative and len(chosen) == 2 and ranges[0] == ranges[1]:
            once = chosen[0] <= chosen[1]
            chosen = [one[once] for one in chosen]
        yield chosen


def compositions(total: int, parts: int) -> Iterator[tuple[int, ...]]:
    """Yield the ways to write a number as a sum of so many positive ones."""
    if parts == 1:
        if total >= 1:
            yield (total,)
        return
    for cuts in itertools.combinations(range(1, total), parts - 1):
        yield tuple(high - low for low, high in zip((0, *cuts), (*cuts, total), strict=True))
