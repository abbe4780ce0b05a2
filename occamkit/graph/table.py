"""A table from exact 64-bit keys to consecutive numbers, by open addressing in tensors.

Lookup and insertion are scatters and gathers over whole batches. A key is found only by comparing it with
the stored key itself, so two different keys never share a number, whatever their hashes do.
"""

from __future__ import annotations

import torch
from torch import Tensor

# 2^64 divided by the golden ratio, as a signed integer: spreads consecutive keys over the table.
SPREAD = -7046029254386353131
WINDOW = 4
"""How many slots are looked at together once a key has not found its first slot free."""


class KeyTable:
    """Numbers keys in the order of their arrival, from 1; number 0 is no key.

    Memory is 8 bytes for a key and 16 for its slots. `keys[number]` is the key of a number.
    """

    def __init__(self, device: torch.device, capacity: int = 1 << 14) -> None:
        self.device = device
        self.count = 1
        self.keys = torch.empty(0, dtype=torch.int64, device=device)
        self._slots = torch.empty(0, dtype=torch.int32, device=device)
        self._bits = 0
        self._mask = 0
        self.reserve(capacity)

    @property
    def capacity(self) -> int:
        """How many numbers fit before the table must grow."""
        return self.keys.numel()

    def clear(self) -> None:
        """Forget all keys; memory stays."""
        self.count = 1
        self._slots.zero_()

    def reserve(self, capacity: int) -> None:
        """Make room for this many numbers, growing fourfold if it must."""
        if capacity <= self.capacity:
            return
        bits = max(capacity - 1, 1).bit_length() + bool(self.capacity)
        keys = torch.full((1 << bits,), -1, dtype=torch.int64, device=self.device)
        keys[: self.count] = self.keys[: self.count] if self.capacity else -1
        self.keys = keys
        self._bits = bits + 2  # at most a quarter of the slots are taken
        self._mask = (1 << self._bits) - 1
        self._slots = torch.zeros(1 << self._bits, dtype=torch.int32, device=self.device)
        if self.count > 1:
            self._put_back()

    def _put_back(self) -> None:
        """Enter the numbers that exist into empty slots."""
        numbers = torch.arange(1, self.count, dtype=torch.int32, device=self.device)
        slots = self._slot(self.keys[1 : self.count])
        while numbers.numel():
            self._slots.scatter_(0, slots, numbers)
            lost = torch.nonzero(self._slots.index_select(0, slots) != numbers).squeeze(1)
            numbers = numbers.index_select(0, lost)
            slots = self._seek(self.keys.index_select(0, numbers), slots.index_select(0, lost))

    def numbers(self, keys: Tensor) -> tuple[Tensor, int]:
        """Return the number of each key [m], new ones included, and the first number that is new.

        Room must have been reserved. Reads three sizes per round back from the device; there are two or three
        rounds, since only keys that find their slot taken by another key need a second one.
        """
        before = self.count
        slots = self._slot(keys)
        numbers = self._slots.index_select(0, slots)
        result = numbers.to(torch.int64)
        left = torch.nonzero(self.keys.index_select(0, numbers) != keys).squeeze(1)
        places = left
        while left.numel():
            keys, slots = keys.index_select(0, left), slots.index_select(0, left)
            self._claim(keys, slots)
            numbers = self._slots.index_select(0, slots)
            result.scatter_(0, places, numbers.to(torch.int64))
            left = torch.nonzero(self.keys.index_select(0, numbers) != keys).squeeze(1)
            places = places.index_select(0, left)
            if left.numel():
                slots.scatter_(0, left, self._seek(keys.index_select(0, left), slots.index_select(0, left)))
        return result, before

    def _seek(self, keys: Tensor, slots: Tensor) -> Tensor:
        """Return the next slot of each key [m] that holds it or is empty, looking at several slots at once."""
        ahead = torch.arange(1, WINDOW + 1, device=self.device)
        found = slots.clone()
        open_ = torch.arange(keys.numel(), device=self.device)
        while open_.numel():
            window = (slots.unsqueeze(1) + ahead) & self._mask  # [m, WINDOW]
            numbers = self._slots.index_select(0, window.view(-1)).view_as(window)
            stored = self.keys.index_select(0, numbers.view(-1)).view_as(window)
            fits = (numbers == 0) | (stored == keys.unsqueeze(1))
            first = window.gather(1, fits.to(torch.uint8).argmax(1, keepdim=True)).squeeze(1)
            found.scatter_(0, open_, first)
            rest = torch.nonzero(~fits.any(1)).squeeze(1)
            open_, keys = open_.index_select(0, rest), keys.index_select(0, rest)
            slots = (slots.index_select(0, rest) + WINDOW) & self._mask
        return found

    def _claim(self, keys: Tensor, slots: Tensor) -> None:
        """Give new numbers to the keys that stand before an empty slot and win it.

        Keys that want the same slot write their position into it and the last one stays; equal keys then
        share the number of the winner, others go on to the next slot.
        """
        empty = torch.nonzero(self._slots.index_select(0, slots) == 0).squeeze(1)
        wanted = slots.index_select(0, empty)
        positions = torch.arange(1, empty.numel() + 1, dtype=torch.int32, device=self.device)
        self._slots.scatter_(0, wanted, positions)
        winners = torch.nonzero(self._slots.index_select(0, wanted) == positions).squeeze(1)
        count = winners.numel()
        fresh = torch.arange(self.count, self.count + count, dtype=torch.int32, device=self.device)
        self.keys[self.count : self.count + count] = keys.index_select(0, empty.index_select(0, winners))
        self._slots.scatter_(0, wanted.index_select(0, winners), fresh)
        self.count += count

    def _slot(self, keys: Tensor) -> Tensor:
        return (keys * SPREAD) >> (64 - self._bits) & self._mask
