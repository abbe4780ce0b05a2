"""Sums modulo two: what is linear is solved for, and the rest is looked up in a library as one expression or two.

An expression and a target are the same modulo the inputs if their difference is a sum of inputs. What is left of each
without such sums is hashed; so e ⊕ x0 ⊕ x5 ⊕ … costs no more than e, and all pairs of expressions are gone through by
sorting. Which primitive adds modulo two, and which makes one of zero, is found by calling them on bits.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from occamkit import Apply, Expression, Leaf, Primitive, SearchProblem, traits
from occamkit.builtins.proposers.bits.gates import BitLibrary
from occamkit.builtins.proposers.bits.rows import BitRows, Span, as_numbers, drawn, ones_in, pack, unpack
from occamkit.builtins.proposers.exact.holdings import mixed
from occamkit.builtins.proposers.exact.tables import Found
from occamkit.description import BITS_PER_WORD, MOST_EXCEPTIONS

MOST_COMPARED = 16
"""Inputs up to which a target is compared with all linear functions."""
AT_ONCE, AT_MOST = 1 << 18, 1 << 22
"""Numbers that such comparisons of expressions take in one turn, and altogether."""
MOST_WORDS = 3_000_000
"""Words that a library holds, at 8 bytes each: 600,000 expressions of 256 rows."""
MOST_PAIRS = 1 << 18
MOST_PROPOSED = 8
NEVER = 1 << 40
"""Words of what cannot be written."""


@dataclass(frozen=True)
class Adder:
    """What a task adds modulo two with.

    turns: whether the primitive gives the complement of the sum. complement: a primitive that swaps zero and one.
    other: a given number that swaps them when it is added.
    """

    primitive: Primitive
    turns: bool
    complement: Primitive | None
    other: Leaf | None

    @classmethod
    def of(cls, primitives: Sequence[Primitive], numbers: Sequence[Leaf]) -> Adder | None:
        """Return what these primitives and given numbers can add with, the cheapest; None if they cannot."""
        tables = {one: traits.truth(one) for one in sorted(primitives, key=lambda one: one.complexity)}
        found = [(one, turns) for turns in (False, True) for one, table in tables.items()
                 if table == ((1, 0, 0, 1) if turns else (0, 1, 1, 0))]  # fmt: skip
        if not found:
            return None
        primitive, turns = found[0]
        complement = next((one for one, table in tables.items() if table == (1, 0)), None)
        other = next((one for one in numbers if one.value == (0 if turns else 1)), None)
        return cls(primitive, turns, complement, other)

    @property
    def affine(self) -> bool:
        """Whether sums with one added can be written, all or some."""
        return self.turns or self.complement is not None or self.other is not None

    def words(self, sizes: Tensor, terms: Tensor, odd: Tensor) -> Tensor:
        """Return the words of sums of so many terms, whose own words are sizes; odd: whether one is added."""
        turned = (odd != 0) ^ (self.turns & ((terms - 1) % 2 == 1))
        words = torch.where(terms > 0, sizes + terms - 1, 3)
        if self.complement is None and self.other is None:
            return torch.where(turned, NEVER, words)
        return words + turned * (1 if self.complement is not None else 2)

    def total(self, terms: Sequence[Expression], odd: bool) -> Expression:
        """Return a sum of terms as a tree that is as shallow as can be; odd: whether one is added."""
        turned = odd ^ (self.turns and (len(terms) - 1) % 2 == 1)
        level = list(terms)
        while len(level) > 1:
            pairs = [Apply(self.primitive, (one, two)) for one, two in zip(level[::2], level[1::2], strict=False)]
            level = [*pairs, *level[len(level) // 2 * 2 :]]
        if not turned:
            return level[0]
        if self.complement is not None:
            return Apply(self.complement, (level[0],))
        assert self.other is not None  # otherwise it takes more words than there are
        return Apply(self.primitive, (level[0], self.other))


class Parities:
    """The outputs of a task over bits, and the library that their sums modulo two are looked for in.

    A match is a row of five whole numbers: its words, the rows that it misses, two expressions by number (0 for none)
    and the linear function that is added to them.
    """

    def __init__(self, problem: SearchProblem, rows: BitRows, adder: Adder) -> None:
        self._seed = problem.seed
        self._rows = rows
        self._adder = adder
        self._inputs = [Leaf(one.name) for one in problem.variables if one.value is None]
        given = [Leaf(one.name, one.value) for one in problem.variables if one.value in (0, 1)]
        inputs, ones = pack(rows.inputs), pack(torch.ones_like(rows.inputs[:1]))
        values = torch.cat([inputs, *(ones * int(one.value == 1) for one in given)])
        self.library = BitLibrary([*self._inputs, *given], values, ones[0], problem.distinct_primitives)
        known = torch.cat([inputs, ones]) if adder.affine else inputs
        self._span = Span(as_numbers(known), inputs.shape[1])
        # One even where that is too many: the result says so of a small table.
        self._most_missed = max(1, int(MOST_EXCEPTIONS * problem.columns.shape[1]))

    @classmethod
    def of(cls, problem: SearchProblem) -> Parities | None:
        """Return the sums of a task, or None if its inputs are not all bits, or nothing adds them."""
        rows = BitRows.of(problem.columns, problem.targets, problem.seed)
        given = [Leaf(one.name, one.value) for one in problem.variables if one.value is not None]
        adder = Adder.of(problem.primitives, given)
        return None if rows is None or adder is None else cls(problem, rows, adder)

    @property
    def outputs(self) -> list[int]:
        """The outputs that are bits."""
        return [output for output, bits in enumerate(self._rows.bits) if bits]

    def linear(self, output: int) -> Found:
        """Yield the linear functions that meet all rows, or all but a few."""
        if len(self._inputs) <= MOST_COMPARED:
            yield from self._proposed(self._compared(output, torch.zeros(1, dtype=torch.int64)))
            return
        found: dict[int, None] = {}
        for function in drawn(self._rows, output, self._seed):
            if function is None:
                yield None
            else:
                found[function] = None
        linear = torch.tensor(list(found), dtype=torch.int64)
        none = torch.zeros_like(linear)
        yield from self._proposed(self._matches(none, none, linear, self._missed(output, linear)))

    def grow(self, most: int) -> Iterator[None]:
        """Let the library grow to so many expressions, if there is room for them, others may take a turn on the way."""
        yield from self.library.grow(min(most, MOST_WORDS // self.library.values.shape[1]))

    def nonlinear(self, output: int, near: bool) -> Found:
        """Yield sums of a linear function and of one or two expressions; near: and of one that misses a few rows."""
        matches = [self._met(output)]
        width = len(self._inputs)
        if near and width <= MOST_COMPARED:
            last = min(self.library.count, AT_MOST >> width)
            for numbers in torch.split(torch.arange(1, last + 1), AT_ONCE >> width):
                matches.append(self._compared(output, numbers))
                yield None
        found = torch.unique(torch.cat(matches), dim=0)
        if not self._rows.whole:
            # Of so many pairs some meet any rows; only what says less than they do can tell of others.
            found = found[BITS_PER_WORD * found[:, 0] < self._rows.count]
        yield from self._proposed(found)

    def _missed(self, output: int, linear: Tensor) -> Tensor:
        """Return how many rows linear functions [m] miss."""
        added = ones_in(linear[:, None] & self._rows.place) + (linear[:, None] >> len(self._inputs))
        wrong = (added % 2 == 1) != self._rows.target(output)
        return (wrong * self._rows.votes[output].abs()).sum(1).long()

    def _compared(self, output: int, numbers: Tensor) -> Tensor:
        """Return the matches of single expressions, by number, with every linear function."""
        met = self._rows.spectrum(unpack(self.library.values[numbers], self._rows.count), output)
        missed = ((self._rows.votes[output].abs().sum() - met.abs()) / 2).long()
        which, linear = torch.nonzero(missed <= self._most_missed).unbind(1)
        odd = (met[which, linear] < 0).long() << len(self._inputs)
        return self._matches(torch.zeros_like(which), numbers[which], linear | odd, missed[which, linear])

    def _met(self, output: int) -> Tensor:
        """Return the matches of one or two expressions that meet all rows, by what is left of them."""
        rests, made = self._span.rests(self.library.values)
        wanted, base = self._span.rests(pack(self._rows.target(output)[None]))
        # What is linear itself is solved for; the first is zero, for matches of one expression or none.
        numbers = torch.nonzero(rests.any(1) | (torch.arange(len(rests)) == 0)).squeeze(1)
        keys, order = mixed(rests[numbers]).sort(stable=True)
        asked = mixed(rests[numbers] ^ wanted)
        first = torch.searchsorted(keys, asked)
        many = torch.searchsorted(keys, asked, right=True) - first
        many = torch.where(many.cumsum(0) <= MOST_PAIRS, many, 0)
        one = torch.repeat_interleave(torch.arange(len(numbers)), many)
        among = torch.arange(len(one)) - torch.repeat_interleave(many.cumsum(0) - many, many)
        left, right = numbers[one], numbers[order[first[one] + among]]
        same = (left <= right) & ((rests[left] ^ rests[right]) == wanted).all(1)
        left, right = left[same], right[same]
        return self._matches(left, right, made[left] ^ made[right] ^ base, torch.zeros_like(left))

    def _matches(self, left: Tensor, right: Tensor, linear: Tensor, missed: Tensor) -> Tensor:
        """Return those matches that are worth keeping: [m, 5]."""
        odd = linear >> len(self._inputs)
        added = ones_in(linear ^ (odd << len(self._inputs)))
        terms = added + (left > 0).long() + (right > 0).long()
        words = self._adder.words(added + self.library.sizes[left] + self.library.sizes[right], terms, odd)
        return _worth_keeping(torch.stack([words, missed, left, right, linear], 1), self._most_missed)

    def _proposed(self, matches: Tensor) -> Found:
        """Yield matches as trees: those that miss rows first, for the search may end with one that misses none."""
        chosen = _worth_keeping(matches, self._most_missed).tolist()
        for _, _, left, right, linear in sorted(chosen, key=lambda match: (match[1] == 0, *match)):
            terms: list[Expression] = [leaf for place, leaf in enumerate(self._inputs) if linear >> place & 1]
            terms += [self.library.tree(number) for number in (left, right) if number]
            yield self._adder.total(terms or self._inputs[:1] * 2, bool(linear >> len(self._inputs)))


def _worth_keeping(matches: Tensor, most_missed: int) -> Tensor:
    """Return the shortest few of the matches that miss nothing, and others if they miss fewer than all shorter ones."""
    matches = matches[(matches[:, 0] < NEVER) & (matches[:, 1] <= most_missed)]
    if len(matches) == 0:
        return matches
    words, missed = matches[:, 0], matches[:, 1]
    order = (words * (most_missed + 1) + missed).argsort(stable=True)
    missed = missed[order]
    least = torch.cat([missed.new_tensor([most_missed + 1]), missed.cummin(0).values[:-1]])
    exact = missed == 0
    return matches[order[(missed < least) | (exact & (exact.cumsum(0) <= MOST_PROPOSED))]]
