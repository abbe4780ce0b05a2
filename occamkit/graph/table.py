"""A table from exact 64-bit keys to consecutive numbers, by open addressing in tensors.

Lookup and insertion are scatters and gathers over whole batches. A key is found only by comparing it with
the stored key itself, so two different keys never share a number, whatever their hashes do.
"""

from __future__ import annotations

import torch
from torch import Tensor

# 2^64 divided by the golden ratio, as a signed integer: spreads consecutive keys over the table.
SPREAD = -7046029254386353131


class KeyTable:
    """Numbers keys in the order of their arrival, from 1; number 0 is no key.

    Memory is 8 bytes for a key and 16 for its slots. `keys[number]` is the key of a number.
    """

    def __init__(self, device: torch.device, capacity: int = 1 << 16) -> None:
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

    def restore(self, keys: Tensor) -> None:
        """Hold these keys instead; their numbers are their places, and place 0 is no key."""
        self.clear()
        self.reserve(keys.numel())
        self.count = keys.numel()
        self.keys[: self.count] = keys.to(self.device)
        self._put_back()

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
            lost = _where(self._slots.index_select(0, slots) != numbers)
            numbers = numbers.index_select(0, lost)
            slots, _ = self._seek(self.keys.index_select(0, numbers), slots.index_select(0, lost))

    def numbers(self, keys: Tensor) -> tuple[Tensor, int]:
        """Return the number of each key [m], new ones included, and the first number that is new.

        Room must have been reserved. Reads a handful of sizes back from the device.
        """
        before = self.count
        slots = self._slot(keys)
        numbers = self._slots.index_select(0, slots)
        result = numbers.to(torch.int64)
        places = _where(self.keys.index_select(0, numbers) != keys)
        if places.numel():
            keys, slots = keys.index_select(0, places), slots.index_select(0, places)
            empty = _where(numbers.index_select(0, places) == 0)
        while places.numel():
            # Who stands before an empty slot takes it. Who was not alone there, or found another key in his
            # slot, looks further on, and comes back if what he finds is an empty slot again.
            if empty.numel():
                self._claim(keys.index_select(0, empty), slots.index_select(0, empty))
                numbers = self._slots.index_select(0, slots)
                result.scatter_(0, places, numbers.to(torch.int64))
                left = _where(self.keys.index_select(0, numbers) != keys)
                if left.numel() == 0:
                    break
                places, keys = places.index_select(0, left), keys.index_select(0, left)
                slots = slots.index_select(0, left)
            slots, numbers = self._seek(keys, slots)
            result.scatter_(0, places, numbers.to(torch.int64))
            left = _where(numbers == 0)
            if left.numel() == 0:
                break
            places, keys = places.index_select(0, left), keys.index_select(0, left)
            slots = slots.index_select(0, left)
            empty = torch.arange(left.numel(), device=self.device)
        return result, before

    def _seek(self, keys: Tensor, slots: Tensor) -> tuple[Tensor, Tensor]:
        """Return the next slot after the given one that holds each key [m] or is empty, and what is there."""
        slots = (slots + 1).bitwise_and_(self._mask)
        numbers = self._slots.index_select(0, slots)
        rest = _where((self.keys.index_select(0, numbers) != keys).logical_and_(numbers != 0))
        if rest.numel():
            further, there = self._seek(keys.index_select(0, rest), slots.index_select(0, rest))
            slots.scatter_(0, rest, further)
            numbers.scatter_(0, rest, there)
        return slots, numbers

    def _claim(self, keys: Tensor, slots: Tensor) -> None:
        """Give new numbers to keys [m] that stand before empty slots and win them.

        Keys that want the same slot write their position into it and the last one stays.
        """
        positions = torch.arange(1, keys.numel() + 1, dtype=torch.int32, device=self.device)
        self._slots.scatter_(0, slots, positions)
        winners = _where(self._slots.index_select(0, slots) == positions)
        after = self.count + winners.numel()
        fresh = torch.arange(self.count, after, dtype=torch.int32, device=self.device)
        torch.index_select(keys, 0, winners, out=self.keys[self.count : after])
        self._slots.scatter_(0, slots.index_select(0, winners), fresh)
        self.count = after

    def _slot(self, keys: Tensor) -> Tensor:
        return (keys * SPREAD) >> (64 - self._bits) & self._mask


def _where(condition: Tensor) -> Tensor:
    """Return where a condition [m] holds. Host read: how often."""
    return torch.nonzero(condition).view(-1)
