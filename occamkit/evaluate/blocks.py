"""The arithmetic of evaluation: a forest's rows, a block at a time, into memory that is kept.

Blocks are small enough to stay in a core's cache. Arguments are gathered into buffers that live as long as
this object; a primitive allocates its own result, which at this size comes back from the allocator's cache
without a page fault, and the result is copied to where it belongs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from occamkit.graph.forest import Forest, Group
from occamkit.protocols import NodeBatch, Primitive

Hook = Callable[[NodeBatch], Tensor]
"""Looks at a batch of nodes and returns a penalty for each: [U]."""
Consumer = Callable[[Tensor, int], None]
"""Takes values [r, n] of the tops from a position on; extra rows at the end are to be ignored."""

ALIGNMENT = 64
"""Elements that vector kernels take at once, or a multiple. They treat what is left at the end of a tensor by
other code, which for some operations rounds differently; so that a function's values never depend on where in
a block it stands, no call sees a ragged end."""


class _Batch(NamedTuple):
    """Some rows of a group: what they are applied to, and where their constants are."""

    arguments: tuple[Tensor, ...]  # k tensors [U]
    slots: tuple[Tensor, ...]  # c tensors [U]


class Blocks:
    """Evaluates forests on columns [u, n]; keeps the values of inner rows only.

    block: how many elements are worked on at once.
    """

    def __init__(self, columns: Tensor, block: int) -> None:
        self.columns = columns
        self.points = columns.shape[1]
        self._step = ALIGNMENT // min(ALIGNMENT, self.points & -self.points)
        self.rows = max(1, block // self.points // self._step) * self._step
        self._buffers: list[Tensor] = []
        self._cached: dict[tuple[int, int], tuple[tuple[Tensor, ...], tuple[Tensor, ...]]] = {}
        self._values = columns.clone()
        self._tops = columns.new_zeros(self.rows, self.points)

    def run(
        self,
        forest: Forest,
        consume: Consumer,
        constants: Tensor | None = None,
        hooks: Sequence[Hook] = (),
    ) -> Tensor | None:
        """Evaluate a forest and hand the values of its tops, in order, to `consume`.

        constants: [c], of all functions, if the forest has slots for them. Returns the penalties of every row
        [rows], summed over the written tree of each, if there are hooks.
        """
        values = self._room(forest.tops)
        penalties = self.columns.new_zeros(forest.rows) if hooks else None
        filled, position = 0, 0
        for group in forest.groups:
            inner, start = group.start < forest.tops, group.start
            for batch in _batches(group, self.rows, self.rows if inner else self.rows - filled):
                output, arguments, fitted = self._call(group.primitive, batch, values, constants)
                count = output.shape[0]
                if penalties is not None:
                    seen = NodeBatch(group.primitive, arguments, fitted, output)
                    total = penalties[start : start + count]
                    for hook in hooks:
                        total += hook(seen)
                    for rows in batch.arguments:
                        total += penalties.index_select(0, rows)
                if inner:
                    values[start : start + count] = output
                else:
                    self._tops[filled : filled + count] = output
                    filled += count
                    if filled == self.rows:
                        consume(self._tops, position)
                        filled, position = 0, position + filled
                start += count
        if filled:
            consume(self._tops[: self._padded(filled)], position)
        return penalties

    def kept(self, rows: Tensor, consume: Consumer) -> None:
        """Hand the values of kept rows [m] to `consume`, after `run`."""
        for start in range(0, rows.numel(), self.rows):
            part = rows[start : start + self.rows]
            torch.index_select(self._values, 0, part, out=self._tops[: part.numel()])
            consume(self._tops[: self._padded(part.numel())], start)

    def _call(
        self, primitive: Primitive, batch: _Batch, values: Tensor, constants: Tensor | None
    ) -> tuple[Tensor, tuple[Tensor, ...], tuple[Tensor, ...]]:
        """Return the values [U, n] of a batch, its arguments [U, n] and its constants [U]."""
        count = batch.arguments[0].numel()
        shaped, flat = self._views(count, len(batch.arguments))
        for rows, buffer in zip(batch.arguments, shaped, strict=True):
            torch.index_select(values, 0, rows, out=buffer)
        if count % self._step == 0 and not batch.slots:
            return primitive.call(*shaped), shaped, ()
        if not batch.slots:
            output = primitive.call(*flat)
            return output[: count * self.points].view(count, self.points), shaped, ()
        if constants is None:
            raise ValueError(f"{primitive.name} needs its fitted constants")
        fitted = tuple(constants.index_select(0, slots) for slots in batch.slots)
        return primitive.call(*shaped, *(one.unsqueeze(1) for one in fitted)), shaped, fitted

    def _room(self, rows: int) -> Tensor:
        """Return the table of kept values with at least this many rows, the columns in the first ones."""
        if self._values.shape[0] < rows:
            self._values = self.columns.new_empty(rows + rows // 4, self.points)
            self._values[: self.columns.shape[0]] = self.columns
        return self._values

    def _views(self, count: int, arity: int) -> tuple[tuple[Tensor, ...], tuple[Tensor, ...]]:
        """Return the argument buffers for this many rows: as [count, n], and flat without a ragged end."""
        views = self._cached.get((count, arity))
        if views is None:
            while len(self._buffers) < arity:
                self._buffers.append(self.columns.new_ones(self.rows * self.points + ALIGNMENT))
            size = count * self.points
            whole = -(-size // ALIGNMENT) * ALIGNMENT
            views = (
                tuple(buffer[:size].view(count, self.points) for buffer in self._buffers[:arity]),
                tuple(buffer[:whole] for buffer in self._buffers[:arity]),
            )
            self._cached[count, arity] = views
        return views

    def _padded(self, rows: int) -> int:
        return -(-rows // self._step) * self._step


def _batches(group: Group, rows: int, room: int) -> Iterator[_Batch]:
    """Cut a group into batches of at most `rows` rows, the first of at most `room`."""
    size = group.stop - group.start
    room = min(room, size)
    sizes = [room, *[rows] * ((size - room) // rows)]
    if sum(sizes) < size:
        sizes.append(size - sum(sizes))
    if len(sizes) == 1:
        yield _Batch(group.arguments, group.slots)
        return
    columns = [torch.split(column, sizes) for column in (*group.arguments, *group.slots)]
    arity = len(group.arguments)
    for parts in zip(*columns, strict=True):
        yield _Batch(parts[:arity], parts[arity:])
