"""Every small expression over bits once, by growing size, as the words that its values on all rows are packed into.

What a primitive does to bits is asked by calling it on all of them, and written as a sum modulo two of products of its
arguments, which words of 63 rows are put through at once. An expression of 256 rows takes 40 bytes for its values and
some 20 for what it is made of.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from occamkit import Apply, Expression, Leaf, Primitive, traits
from occamkit.builtins.proposers.exact.arguments import arguments_of
from occamkit.builtins.proposers.exact.holdings import ROOM, mixed, newcomers
from occamkit.builtins.proposers.exact.settings import EXACT
from occamkit.graph import KeyTable

MOST_TRIED = 20
"""Candidates that are tried for each expression that is asked for; few of them may be new."""


@dataclass(frozen=True)
class Gate:
    """A primitive that makes bits of bits: the sum modulo two of products, each of the arguments at some places."""

    primitive: Primitive
    products: tuple[tuple[int, ...], ...]

    @classmethod
    def of(cls, primitive: Primitive) -> Gate | None:
        """Return a primitive as a gate, if it is one."""
        table = traits.truth(primitive)
        if table is None:
            return None
        cases = list(itertools.product((0, 1), repeat=primitive.arity))
        # A product is in the sum if an odd number of the cases below it give one.
        products = [
            tuple(place for place, bit in enumerate(top) if bit)
            for top in cases
            if sum(value for case, value in zip(cases, table, strict=True) if _below(case, top)) % 2
        ]
        return cls(primitive, tuple(products))

    def values(self, arguments: Sequence[Tensor], ones: Tensor) -> Tensor:
        """Return the packed values [m, w] for packed arguments [m, w]; ones: a row of them, [w]."""
        total = torch.zeros_like(arguments[0])
        for places in self.products:
            factor = ones.expand_as(total)
            for place in places:
                factor = factor & arguments[place]
            total ^= factor
        return total


def _below(case: tuple[int, ...], top: tuple[int, ...]) -> bool:
    return all(bit <= high for bit, high in zip(case, top, strict=True))


class BitLibrary:
    """Expressions by number, from 1 on in order of size; number 0 stands for zero, which takes no words.

    values: packed, [count + 1, w]. sizes: words of each, [count + 1].
    """

    def __init__(self, leaves: Sequence[Leaf], values: Tensor, ones: Tensor, primitives: Sequence[Primitive]) -> None:
        """Start with leaves whose packed values are [leaves, w]; ones: those of a row of ones, [w]."""
        self._leaves = tuple(leaves)
        self._ones = ones
        self._gates = [gate for gate in map(Gate.of, primitives) if gate is not None]
        self._widest = max([1, *(gate.primitive.arity for gate in self._gates)])
        self._dearest = max([1, *(max(1, round(gate.primitive.complexity)) for gate in self._gates)])
        self._table = KeyTable(values.device, ROOM)
        constant = torch.stack([torch.zeros_like(ones), ones])
        newcomers(self._table, mixed(constant))
        self._starts = [1, 1, 1 + len(leaves)]
        self.values = torch.cat([constant[:1], values])
        self.sizes = torch.ones(len(self.values), dtype=torch.int64)
        self.sizes[0] = 0
        newcomers(self._table, mixed(values))
        self._made = torch.full((len(self.values), 1 + self._widest), -1, dtype=torch.int32)
        self._made[1:, 1] = torch.arange(len(leaves))
        self._tried = 0

    @property
    def count(self) -> int:
        """How many expressions there are; numbers go from 1 to this."""
        return len(self.values) - 1

    def tree(self, number: int) -> Expression:
        """Return an expression as a tree."""
        made: list[int] = self._made[number].tolist()
        code, below = made[0], made[1:]
        if code < 0:
            return self._leaves[below[0]]
        primitive = self._gates[code].primitive
        return Apply(primitive, tuple(self.tree(one) for one in below[: primitive.arity]))

    def grow(self, most: int) -> Iterator[None]:
        """Add one size after the other until there are `most` expressions or no more; others may have turns between.

        What is always zero or always one is left out.
        """
        yielded = self._tried
        while self.count < most and not self._closed() and self._tried < MOST_TRIED * most:
            size = len(self._starts) - 1
            values, made, room = [self.values], [self._made], most - self.count
            for found, parts in self._new(size):
                values.append(found[:room])
                made.append(parts[:room])
                room -= len(found)
                if self._tried - yielded >= EXACT.block:
                    yielded = self._tried
                    yield None
                if room <= 0:
                    break
            self.values, self._made = torch.cat(values), torch.cat(made)
            self.sizes = torch.cat([self.sizes, self.sizes.new_full((len(self.values) - len(self.sizes),), size)])
            self._starts.append(len(self.values))

    def _closed(self) -> bool:
        """Whether no size can hold anything new: the largest expressions, all in one, would be smaller."""
        largest = int(self.sizes[-1])
        return len(self._starts) - 1 > self._widest * largest + self._dearest

    def _new(self, size: int) -> Iterator[tuple[Tensor, Tensor]]:
        """Yield the values of new expressions of some size, and the number of the gate and of its arguments."""
        for code, gate in enumerate(self._gates):
            for chosen in arguments_of(gate.primitive, size, self._starts):
                self._tried += len(chosen[0])
                values = gate.values([self.values[one] for one in chosen], self._ones)
                new = newcomers(self._table, mixed(values))
                made = torch.full((len(new), 1 + self._widest), -1, dtype=torch.int32)
                made[:, 0] = code
                made[:, 1 : 1 + len(chosen)] = torch.stack(chosen, 1)[new]
                yield values[new], made
