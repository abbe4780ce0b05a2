"""Rows of bits: packed into words, as vectors modulo two, and compared with all linear functions at once.

A linear function is the sum modulo two of some inputs, and perhaps of one. It is a whole number here: a bit for each
input that it adds, and the bit after the last input for the one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

WIDTH = 63
"""Bits of a word; the sign of a whole number is not used."""
MOST_INPUTS = 62
MOST_ROWS = 4096
"""Different rows that are looked at, as many as a whole truth table has at most."""
DRAWS = 100
"""Sets of rows that are drawn where there are too many linear functions to compare with all."""
DRAWS_IN_TURN = 20
SPARE_ROWS = 4
"""Rows that are drawn beyond those that decide, so that most draws with a wrong row are seen to contradict."""


@dataclass(frozen=True)
class BitRows:
    """The different training rows of a task whose inputs are all bits; rows that repeat vote on a target."""

    inputs: Tensor  # [u, n], bool
    place: Tensor  # [n], the row as a whole number
    votes: Tensor  # [v, n], how many say 0 less how many say 1
    bits: tuple[bool, ...]
    """Which targets are bits."""

    @classmethod
    def of(cls, inputs: Tensor, targets: Tensor, seed: int) -> BitRows | None:
        """Return the rows of inputs [u, n] and targets [v, n], or None if some input is no bit."""
        if not 0 < len(inputs) <= MOST_INPUTS or not _are_bits(inputs):
            return None
        weights = 1 << torch.arange(len(inputs))
        place, which = torch.unique(weights @ inputs.long(), return_inverse=True)
        bits = tuple(_are_bits(one) for one in targets)
        votes = targets.new_zeros(len(targets), len(place)).index_add_(1, which, 1 - 2 * targets.nan_to_num())
        if len(place) > MOST_ROWS:
            order = torch.randperm(len(place), generator=torch.Generator().manual_seed(seed))
            place, votes = place[order[:MOST_ROWS]], votes[:, order[:MOST_ROWS]]
        return cls((place & weights[:, None]) != 0, place, votes, bits)

    @property
    def count(self) -> int:
        """How many different rows there are."""
        return len(self.place)

    @property
    def whole(self) -> bool:
        """Whether they are the whole truth table."""
        return self.count == 1 << len(self.inputs)

    def target(self, output: int) -> Tensor:
        """Return what most rows say of an output: [n], bool."""
        return self.votes[output] < 0

    def spectrum(self, values: Tensor, output: int) -> Tensor:
        """Return how well functions [m, n] fit when a linear one is added: rows met less rows missed, [m, 2^u].

        A negative number says so of the linear function with one added. (A Walsh–Hadamard transform.)
        """
        signs = torch.where(values, -self.votes[output], self.votes[output])
        met = signs.new_zeros(len(values), 1 << len(self.inputs))
        met[:, self.place] = signs
        for place in range(len(self.inputs)):
            halves = met.view(len(values), -1, 2, 1 << place)
            met = torch.stack([halves[:, :, 0] + halves[:, :, 1], halves[:, :, 0] - halves[:, :, 1]], 2)
        return met.view(len(values), -1)


def _are_bits(values: Tensor) -> bool:
    return bool(((values == 0) | (values == 1)).all())


def pack(bits: Tensor) -> Tensor:
    """Pack bits [m, n] into words [m, w]."""
    words = -(-bits.shape[1] // WIDTH)
    padded = torch.zeros(len(bits), words * WIDTH, dtype=torch.int64)
    padded[:, : bits.shape[1]] = bits
    return (padded.view(len(bits), words, WIDTH) << torch.arange(WIDTH)).sum(2)


def unpack(words: Tensor, count: int) -> Tensor:
    """Return the bits [m, n] of words [m, w]."""
    bits = (words[:, :, None] >> torch.arange(WIDTH)) & 1
    return bits.view(len(words), -1)[:, :count] != 0


def ones_in(words: Tensor) -> Tensor:
    """Return how many bits are set in each whole number."""
    pairs = words - ((words >> 1) & 0x5555555555555555)
    fours = (pairs & 0x3333333333333333) + ((pairs >> 2) & 0x3333333333333333)
    eights = (fours + (fours >> 4)) & 0x0F0F0F0F0F0F0F0F
    for shift in (8, 16, 32):
        eights = eights + (eights >> shift)
    return eights & 0x7F


def as_numbers(words: Tensor) -> list[int]:
    """Return packed rows [m, w] as one whole number each."""
    return [sum(word << (WIDTH * place) for place, word in enumerate(row)) for row in words.tolist()]


class Span:
    """All sums modulo two of some vectors, by a basis in which each pivot bit stands once (Gaussian elimination)."""

    def __init__(self, vectors: Sequence[int], words: int) -> None:
        self._words = words
        self._basis: list[tuple[int, int, int]] = []  # pivot, vector, which of the given ones it is the sum of
        for place, vector in enumerate(vectors):
            rest, made = self.rest(vector)
            if rest == 0:
                continue
            made ^= 1 << place
            pivot = rest.bit_length() - 1
            self._basis = [
                (one, old ^ rest, parts ^ made) if old >> pivot & 1 else (one, old, parts)
                for one, old, parts in self._basis
            ]
            self._basis.append((pivot, rest, made))

    def rest(self, vector: int) -> tuple[int, int]:
        """Return what is left of a vector modulo the span, and which vectors were taken off, a bit for each."""
        made = 0
        for pivot, one, parts in self._basis:
            if vector >> pivot & 1:
                vector, made = vector ^ one, made ^ parts
        return vector, made

    def rests(self, rows: Tensor) -> tuple[Tensor, Tensor]:
        """Do so for packed rows: [m, w] and [m]."""
        rows, made = rows.clone(), torch.zeros_like(rows[:, 0])
        mask = (1 << WIDTH) - 1
        for pivot, one, parts in self._basis:
            taken = -((rows[:, pivot // WIDTH] >> (pivot % WIDTH)) & 1)
            vector = rows.new_tensor([one >> (WIDTH * place) & mask for place in range(self._words)])
            rows ^= taken[:, None] & vector
            made ^= taken & parts
        return rows, made


def drawn(rows: BitRows, output: int, seed: int) -> Iterator[int | None]:
    """Yield the linear functions that random sets of rows decide on, and None for a pause; all rows come first.

    Where rows leave a choice, inputs are taken in a random order: few inputs are found if few are enough.
    """
    generator = torch.Generator().manual_seed(seed)
    inputs = len(rows.inputs)
    vectors = torch.cat([rows.inputs, torch.ones_like(rows.inputs[:1]), rows.target(output)[None]])
    for draw in range(DRAWS):
        order = torch.randperm(inputs, generator=generator).tolist()
        chosen = torch.randperm(rows.count, generator=generator)[: rows.count if draw == 0 else inputs + SPARE_ROWS]
        packed = pack(vectors[:, chosen])
        numbers = as_numbers(packed)
        left, made = Span([*(numbers[place] for place in order), numbers[inputs]], packed.shape[1]).rest(numbers[-1])
        if left == 0:
            yield sum(1 << place for bit, place in enumerate([*order, inputs]) if made >> bit & 1)
        if draw % DRAWS_IN_TURN == 0:
            yield None
