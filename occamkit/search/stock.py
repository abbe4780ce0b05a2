"""What a library holds: a column for each thing that is known of an expression, and keys of their values."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from occamkit.graph.table import KeyTable

_KEPT_BITS = 16
_FACTOR = -7046029254386353131
_MASK = (1 << 62) - 1


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
        fields = (self.arguments, self.leaf, self.primitive, self.unit, self.nested, self.constant)
        return Batch(*(one.index_select(0, places) for one in fields))


class Stock:
    """What is known of each expression, in memory that doubles when it is full; place 0 is nobody's."""

    def __init__(self, rows: int, deciding: int, widest: int) -> None:
        self.count = 1
        self.head = torch.zeros(1 << 12, min(deciding, rows), dtype=torch.float64)
        self.values = torch.zeros(1 << 12, rows, dtype=torch.float64)
        self.largest = torch.zeros(1 << 12, dtype=torch.float64)
        self.arguments = torch.zeros(1 << 12, widest, dtype=torch.int32)
        self.leaf = torch.zeros(1 << 12, dtype=torch.int16)
        self.primitive = torch.zeros(1 << 12, dtype=torch.int16)
        self.unit = torch.zeros(1 << 12, dtype=torch.int16)
        self.nested = torch.zeros(1 << 12, dtype=torch.int8)
        self.constant = torch.zeros(1 << 12, dtype=torch.bool)
        self.turned = torch.zeros(1 << 12, dtype=torch.bool)

    def append(self, values: Tensor, batch: Batch, turned: Tensor) -> None:
        """Enter candidates that are new."""
        last = self.count + len(values)
        self.reserve(last)
        here = slice(self.count, last)
        self.values[here] = values
        self.head[here] = values[:, : self.head.shape[1]]
        self.largest[here] = values.abs().amax(1)
        self.turned[here] = turned
        for name in ("arguments", "leaf", "primitive", "unit", "nested", "constant"):
            getattr(self, name)[here] = getattr(batch, name)
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
    rounded = (bits + (1 << (_KEPT_BITS - 1))) >> _KEPT_BITS
    return mixed(rounded)


def mixed(columns: Tensor) -> Tensor:
    """Hash whole numbers [m, columns] to keys [m]."""
    key = torch.zeros(len(columns), dtype=torch.int64, device=columns.device)
    for column in columns.unbind(1):
        key = (key ^ column) * _FACTOR
        key = key ^ (key >> 29)
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
