"""The library: every small expression over some ingredients, each once, by growing size.

Two expressions are one when their values on a subsample of rows are the same up to sign: their values, rounded to 36
bits, are hashed to an exact key, and a key is found only by comparing it with the stored one. An expression costs
8 bytes for each row of the subsample, 64 for the rows that decide, some 40 for what it is made of and for its key: 360
bytes with 32 rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from occamkit import Apply, Expression, Primitive, Product, traits
from occamkit.builtins.proposers.exact.arguments import arguments_of
from occamkit.builtins.proposers.exact.holdings import ROOM, Batch, Holdings, keys_of, newcomers
from occamkit.builtins.proposers.exact.settings import EXACT
from occamkit.graph import KeyTable
from occamkit.units import CLASH, Unit

_END = object()


@dataclass(frozen=True)
class Ingredient:
    """What expressions are built from: a tree, its unit, and whether it is a number."""

    tree: Expression
    unit: Unit
    constant: bool = False


class Library:
    """Expressions by number, from 1 on in order of size; an expression may be stored with its sign turned."""

    def __init__(
        self,
        ingredients: Sequence[Ingredient],
        values: Tensor,
        primitives: Sequence[Primitive],
        discrete: bool = False,
        spend: Callable[[int], None] = lambda _: None,
    ) -> None:
        """Start with ingredients whose values on the subsample are [leaves, P]; discrete rows are all looked at.

        spend: is given how many numbers were computed.
        """
        self.ingredients = tuple(ingredients)
        self.primitives = tuple(one for one in primitives if not one.constants)
        self.size = 1
        self.tried = 0
        self._discrete, self._spend = discrete, spend
        self._table = KeyTable(values.device, ROOM)
        self._widest = max([2, *(one.arity for one in self.primitives)])
        self._made = Holdings(values.shape[1], values.shape[1] if discrete else EXACT.deciding, self._widest)
        self._units: list[Unit] = []
        self._starts = [1, 1]
        keep = self._enter(
            Batch(
                torch.zeros(len(ingredients), self._widest, dtype=torch.int32),
                torch.arange(len(ingredients), dtype=torch.int16),
                torch.full((len(ingredients),), -1, dtype=torch.int16),
                torch.tensor([self._unit(one.unit) for one in ingredients], dtype=torch.int16),
                torch.zeros(len(ingredients), dtype=torch.int8),
                torch.tensor([one.constant for one in ingredients], dtype=torch.bool),
            ),
            values,
        )
        self._starts.append(1 + keep)
        self._dearest = max([1, *(max(1, round(one.complexity)) for one in self.primitives)])
        self._growth = self._grow()

    @property
    def count(self) -> int:
        """How many expressions there are; numbers go from 1 to this."""
        return self._made.count - 1

    @property
    def values(self) -> Tensor:
        """The values of all expressions on the subsample, row 0 empty: [count + 1, P]."""
        return self._made.values[: self._made.count]

    @property
    def constant(self) -> Tensor:
        """Which expressions are numbers: [count + 1]."""
        return self._made.constant[: self._made.count]

    @property
    def nested(self) -> Tensor:
        """How deep functions that take plain numbers alone are nested in each expression: [count + 1]."""
        return self._made.nested[: self._made.count]

    def sizes(self, numbers: Tensor) -> Tensor:
        """Return how many nodes expressions have."""
        return torch.bucketize(numbers, torch.tensor(self._starts[1:]), right=True)

    def tree(self, number: int) -> Expression:
        """Return an expression as a tree."""
        made = self._made
        code = int(made.primitive[number])
        if code < 0:
            tree = self.ingredients[int(made.leaf[number])].tree
        else:
            primitive = self.primitives[code]
            below = [self.tree(int(one)) for one in made.arguments[number, : primitive.arity]]
            tree = Apply(primitive, tuple(below))
        return Product(-1.0, ((tree, 1),)) if bool(made.turned[number]) else tree

    def grow(self, most: int) -> Iterator[None]:
        """Add one size after the other until there are `most` expressions; others may take a turn after each block."""
        self._made.reserve(min(most, EXACT.at_once) + EXACT.block)
        while self.count < most and next(self._growth, _END) is not _END:
            yield None

    def _grow(self) -> Iterator[object]:
        largest, yielded = self.size, 0
        while True:
            size = self.size + 1
            for batch in self._candidates(size):
                self._enter(batch)
                if self.tried - yielded >= EXACT.block // 2:
                    yielded = self.tried
                    yield None
            self.size = size
            self._starts.append(self._made.count)
            if self._starts[-1] > self._starts[-2]:
                largest = size
            if size > self._widest * largest + self._dearest:
                return  # of what there is, nothing larger can be made

    def _candidates(self, size: int) -> Iterator[Batch]:
        for code, primitive in enumerate(self.primitives):
            for chosen in arguments_of(primitive, size, self._starts):
                yield from self._block(code, primitive, chosen)

    def _block(self, code: int, primitive: Primitive, arguments: list[Tensor]) -> Iterator[Batch]:
        made = self._made
        self.tried += arguments[0].numel()
        nested = torch.stack([made.nested[one] for one in arguments]).amax(0)
        constant = torch.stack([made.constant[one] for one in arguments]).all(0)
        keep = torch.ones_like(constant)
        if traits.refuses_units(primitive) and not self._discrete and primitive.arity == 1:
            nested = nested + 1
            keep &= nested <= 1
        if self.size >= EXACT.constants:
            keep &= ~constant
        units = self._units_of(primitive, arguments)
        keep &= units >= 0
        if not bool(keep.all()):
            arguments = [one[keep] for one in arguments]
            nested, constant, units = nested[keep], constant[keep], units[keep]
        if arguments[0].numel() == 0:
            return
        padded = torch.zeros(len(nested), self._widest, dtype=torch.int32)
        padded[:, : len(arguments)] = torch.stack(arguments, 1).to(torch.int32)
        codes = torch.full((len(nested),), code, dtype=torch.int16)
        yield Batch(padded, torch.full_like(codes, -1), codes, units, nested.to(torch.int8), constant)

    def _units_of(self, primitive: Primitive, arguments: list[Tensor]) -> Tensor:
        """Return the unit of each candidate by number, -1 for a clash."""
        states = [self._made.unit[one].long() for one in arguments]
        if len(self._units) == 1:
            unit = primitive.units(*[self._units[0]] * primitive.arity)
            number = -1 if unit is CLASH else self._unit(unit)
            return torch.full((arguments[0].numel(),), number, dtype=torch.int16)
        joined = torch.zeros_like(states[0])
        for state in states:
            joined = joined * len(self._units) + state
        distinct, which = torch.unique(joined, return_inverse=True)
        numbers = []
        many = len(self._units)
        for combination in distinct.tolist():
            parts = [combination // many**place % many for place in reversed(range(primitive.arity))]
            unit = primitive.units(*(self._units[part] for part in parts))
            numbers.append(-1 if unit is CLASH else self._unit(unit))
        return torch.tensor(numbers, dtype=torch.int16)[which]

    def _unit(self, unit: Unit) -> int:
        if unit not in self._units:
            self._units.append(unit)
        return self._units.index(unit)

    def _compute(self, batch: Batch, columns: Tensor) -> Tensor:
        """Return the values of candidates of one primitive, from columns [count, rows] of what is there already."""
        primitive = self.primitives[int(batch.primitive[0])]
        below = batch.arguments[:, : primitive.arity].long()
        return primitive.call(*(columns.index_select(0, one) for one in below.unbind(1)))

    def _enter(self, batch: Batch, given: Tensor | None = None) -> int:
        """Keep what is new and can be told from rounding; return how many.

        All candidates are computed on the few rows that decide whether they are new, and only new ones on all.
        """
        made = self._made
        head = self._compute(batch, made.head) if given is None else given[:, : made.head.shape[1]]
        # Values, their sizes and spreads, and keys that are looked up.
        self._spend(EXACT.few * (EXACT.operation + head.numel()))
        largest = head.abs().amax(1)
        # Comparisons with an undefined number are false.
        good = (largest < EXACT.largest) & (largest > 1 / EXACT.largest)
        good &= batch.constant | (head.amax(1) - head.amin(1) > EXACT.last_digits * largest)
        # What is left of a difference of equal numbers is rounding.
        if given is None:
            inside = made.largest[batch.arguments[:, :2].long()].amax(1)
            good &= batch.constant | (largest > EXACT.cancelled * inside)
        places = torch.nonzero(good).squeeze(1)
        head = head.index_select(0, places)
        turned = head[:, 0] < 0
        head = torch.where(turned[:, None], -head, head)
        where = newcomers(self._table, keys_of(head))
        if where.numel() == 0:
            return 0
        new, turned = batch.take(places[where]), turned[where]
        values = self._compute(new, made.values) if given is None else given[places[where]]
        values = torch.where(turned[:, None], -values, values)
        self._spend(2 * values.numel())
        defined = torch.nonzero(values.abs().amax(1) < EXACT.largest).squeeze(1)
        made.append(values.index_select(0, defined), new.take(defined), turned[defined])
        return len(defined)
