"""What a library holds: a column for each thing that is known of an expression, and keys of their values."""

from __future__ import annotations

from dataclasses import dataclass, fields

import torch
from torch import Tensor

from occamkit.graph import KeyTable

ROOM = 1 << 12
"""Expressions that there is room for at first; it doubles."""
_DROPPED_BITS = 16
"""Bits of a value that may be rounding."""
_FACTOR, _SHIFT, _MASK = -7046029254386353131, 29, (1 << 62) - 1
"""Of a hash: what a key is multiplied by and mixed with, and the bits that are kept."""


@dataclass(frozen=True)
class Batch:
    """Candidates on their way into the library."""

    arguments: Tensor  # [m, k]
    leaf: Tensor
    primitive: Tensor
    unit: Tensor
    nested: Tensor
    constant: Tensor

    def take(self, places: Tensor) -> Batch:
        """Return some of the candidates."""
        return Batch(*(getattr(self, one.name).index_select(0, places) for one in fields(self)))


class Holdings:
    """What is known of each expression, in memory that doubles when it is full; place 0 is nobody's."""

    def __init__(self, rows: int, deciding: int, widest: int) -> None:
        self.count = 1
        self.head = torch.zeros(ROOM, min(deciding, rows), dtype=torch.float64)
        self.values = torch.zeros(ROOM, rows, dtype=torch.float64)
        self.largest = torch.zeros(ROOM, dtype=torch.float64)
        self.arguments = torch.zeros(ROOM, widest, dtype=torch.int32)
        self.leaf, self.primitive, self.unit = (torch.zeros(ROOM, dtype=torch.int16) for _ in ("leaf", "code", "unit"))
        self.nested = torch.zeros(ROOM, dtype=torch.int8)
        self.constant, self.turned = torch.zeros(ROOM, dtype=torch.bool), torch.zeros(ROOM, dtype=torch.bool)

    def append(self, values: Tensor, batch: Batch, turned: Tensor) -> None:
        """Enter candidates that are new."""
        last = self.count + len(values)
        self.reserve(last)
        here = slice(self.count, last)
        self.values[here] = values
        self.head[here] = values[:, : self.head.shape[1]]
        self.largest[here] = values.abs().amax(1)
        self.turned[here] = turned
        for one in fields(batch):
            getattr(self, one.name)[here] = getattr(batch, one.name)
        self.count = last

    def reserve(self, least: int) -> None:
        """Make room for so many expressions."""
        room = len(self.values)
        if least <= room:
            return
        room = max(least, 2 * room)
        for name, old in list(vars(self).items()):
            if isinstance(old, Tensor):
                longer = old.new_empty(room, *old.shape[1:])
                longer[: self.count] = old[: self.count]
                setattr(self, name, longer)


def keys_of(values: Tensor) -> Tensor:
    """Hash rounded values [m, rows] to keys [m]; zeros of both signs are one."""
    bits = (values + 0.0).contiguous().view(torch.int64)
    rounded = (bits + (1 << (_DROPPED_BITS - 1))) >> _DROPPED_BITS
    return mixed(rounded)


def mixed(columns: Tensor) -> Tensor:
    """Hash whole numbers [m, columns] to keys [m]."""
    key = torch.zeros(len(columns), dtype=torch.int64, device=columns.device)
    for column in columns.unbind(1):
        key = (key ^ column) * _FACTOR
        key = key ^ (key >> _SHIFT)
    return key & _MASK


def newcomers(table: KeyTable, keys: Tensor) -> Tensor:
    """Enter keys [m] into a table and return the places of those that are new, of equal ones the first."""
    table.reserve(table.count + len(keys) + 1)
    numbers, first = table.numbers(keys)
    # New numbers come in the order of arrival, not of place; the last to be written stays.
    fresh = torch.nonzero(numbers >= first).squeeze(1).flip(0)
    where = torch.zeros(table.count - first, dtype=torch.int64, device=keys.device)
    where.scatter_(0, numbers[fresh] - first, fresh)
    return where.sort().values
