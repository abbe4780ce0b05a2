"""Rows to be matched: values on the subsample, with what is solved for projected out, at unit length.

A target t is a combination of rows g and h if and only if, with t projected out, g and h are parallel. So pairs are
found by sorting, not by trying all of them: a few random projections of each row, brought to one sign, are compared
with their neighbours'.
"""

from __future__ import annotations

import copy

import torch
from torch import Tensor

from occamkit.builtins.proposers.exact.holdings import ROOM, mixed
from occamkit.builtins.proposers.exact.settings import EXACT
from occamkit.fit import TINY
from occamkit.graph import KeyTable

PROJECTIONS = 3
NEAR = 2e-8
"""Projections of parallel rows differ by less, even where much of a row was projected out."""
LEFT = 1e-6
"""A row of which less than this part is left is made of what was projected out."""
MOST_PAIRS, MOST_ALONE = 40, 8
"""Matches of one target that are looked into: all but the first few are other forms of them."""


class Directions:
    """Rows of unit length and one sign, each direction once: [M, P]; `source` and `kind` say whose they are."""

    def __init__(self, nuisance: Tensor) -> None:
        """Prepare to project out the rows of nuisance [z, P]."""
        basis, triangle = torch.linalg.qr(nuisance.T)
        size = triangle.diagonal().abs()
        self.basis = basis[:, size > EXACT.rounding * size.max()]  # [P, z]
        points = nuisance.shape[1]
        generator = torch.Generator().manual_seed(points)
        self._random = torch.randn(points, PROJECTIONS, dtype=torch.float64, generator=generator)
        self._table = KeyTable(nuisance.device, ROOM)
        self.rows = nuisance.new_zeros(0, points)
        self.short = nuisance.new_zeros(0, PROJECTIONS)
        self.source = torch.zeros(0, dtype=torch.int64)
        self.kind = torch.zeros(0, dtype=torch.int8)
        self._order: Tensor | None = None

    def __len__(self) -> int:
        return len(self.rows)

    def first(self, many: int) -> Directions:
        """Return the first so many rows, to be matched alone."""
        some = copy.copy(self)
        some.rows, some.short, some.source, some.kind = (
            one[:many] for one in (self.rows, self.short, self.source, self.kind)
        )
        some._order = None
        return some

    def project(self, values: Tensor) -> Tensor:
        """Take out what is solved for: [m, P]."""
        left: Tensor = values - (values @ self.basis) @ self.basis.T
        return left

    def unit(self, values: Tensor) -> tuple[Tensor, Tensor]:
        """Return what is left of each row at unit length [m, P], and how much of its spread that is [m]."""
        left = self.project(values)
        length = left.norm(dim=1)
        spread = (values - values.mean(1, keepdim=True)).norm(dim=1)
        return left / length.clamp(min=TINY)[:, None], length / (spread + LEFT)

    def add(self, values: Tensor, source: Tensor, kind: int) -> None:
        """Add rows [m, P] that are finite, unless their direction is there already."""
        rows, left = self.unit(values)
        keep = torch.nonzero(left > LEFT).squeeze(1)
        rows, source = rows.index_select(0, keep), source.index_select(0, keep)
        short = rows @ self._random
        turned = short[:, :1] < 0
        rows, short = torch.where(turned, -rows, rows), torch.where(turned, -short, short)
        rounded = (short / EXACT.cancelled).round().to(torch.int64)
        self._table.reserve(self._table.count + len(rows) + 1)
        numbers, first = self._table.numbers(mixed(rounded))
        fresh = torch.nonzero(numbers >= first).squeeze(1).flip(0)
        where = torch.zeros(self._table.count - first, dtype=torch.int64)
        where.scatter_(0, numbers[fresh] - first, fresh)
        where = where.sort().values
        self.rows = torch.cat([self.rows, rows[where]])
        self.short = torch.cat([self.short, short[where]])
        self.source = torch.cat([self.source, source[where]])
        self.kind = torch.cat([self.kind, torch.full((len(where),), kind, dtype=torch.int8)])
        self._order = None

    def sort(self, keys: Tensor) -> None:
        """Put the rows in the order of keys [M]."""
        order = keys.argsort(stable=True)
        self.rows, self.short = self.rows.index_select(0, order), self.short.index_select(0, order)
        self.source, self.kind = self.source.index_select(0, order), self.kind.index_select(0, order)
        self._order = None

    def singles(self, target: Tensor) -> list[int]:
        """Return the rows that a target of unit length [P] is parallel to, nearest first."""
        if len(self) == 0:
            return []
        missing = 1 - (self.rows @ target).square()
        found = torch.topk(missing, min(MOST_ALONE, len(self)), largest=False)
        told = zip(found.indices.tolist(), found.values.tolist(), strict=True)
        return [place for place, one in told if one < EXACT.cancelled]

    def pairs(self, target: Tensor, aside: Tensor | None = None) -> list[tuple[int, int]]:
        """Return pairs of rows that a target of unit length [P] is a combination of, simplest first.

        aside: one more row of unit length that may take part with any weight; then there are fewer.
        """
        if len(self) < 2:
            return []
        along = self.rows @ target  # [M]
        left = 1 - along.square()
        short = self.short - along[:, None] * (target @ self._random)
        if aside is not None:
            rest = aside - (aside @ target) * target
            rest = rest / rest.norm().clamp(min=TINY)
            across = self.rows @ rest
            left = left - across.square()
            short = short - across[:, None] * (rest @ self._random)
        places = torch.nonzero(left > EXACT.cancelled).squeeze(1)
        short = short.index_select(0, places) / left.index_select(0, places).sqrt()[:, None]
        short = torch.where(short[:, :1] < 0, -short, short)
        ordered, order = short[:, 0].sort()
        found: list[tuple[int, int]] = []
        for step in range(1, PROJECTIONS + 1):
            near = torch.nonzero(ordered[step:] - ordered[:-step] < NEAR).squeeze(1)
            one, other = order[near], order[near + step]
            alike = (short[one, 1:] - short[other, 1:]).abs().amax(1) < PROJECTIONS * NEAR
            hits = torch.stack([places[one[alike]], places[other[alike]]], 1)
            hits = hits[self._missing(target, aside, hits) < EXACT.snap]
            found += [(min(pair), max(pair)) for pair in hits.tolist()]
        most = MOST_PAIRS if aside is None else MOST_ALONE
        return sorted(set(found), key=lambda pair: (pair[1], pair[0]))[:most]

    def _missing(self, target: Tensor, aside: Tensor | None, pairs: Tensor) -> Tensor:
        """Return how much of a target pairs of rows [h, 2] leave: [h]. Rows may be parallel on account of the aside."""
        left = target.expand(len(pairs), -1)
        taken: list[Tensor] = []
        rows = [self.rows.index_select(0, pairs[:, 0]), self.rows.index_select(0, pairs[:, 1])]
        for row in rows if aside is None else [aside.expand_as(left), *rows]:
            rest = row
            for one in taken:
                rest = rest - (rest * one).sum(1, keepdim=True) * one
            length = rest.norm(dim=1, keepdim=True)
            rest = torch.where(length > LEFT, rest / length.clamp(min=TINY), torch.zeros_like(rest))
            left = left - (left * rest).sum(1, keepdim=True) * rest
            taken.append(rest)
        missing: Tensor = left.norm(dim=1)
        return missing

    def lookup(self, targets: Tensor) -> list[tuple[int, int]]:
        """Return (target, row) of targets of unit length [Q, P] that are parallel to a row."""
        if len(self) == 0 or len(targets) == 0:
            return []
        if self._order is None:
            self._order = self.short[:, 0].argsort()
            self._sorted = self.short.index_select(0, self._order)
        short = targets @ self._random
        short = torch.where(short[:, :1] < 0, -short, short)
        first = self._sorted[:, 0].contiguous()
        low = torch.searchsorted(first, (short[:, 0] - NEAR).contiguous())
        high = torch.searchsorted(first, (short[:, 0] + NEAR).contiguous())
        found: list[tuple[int, int]] = []
        asked = torch.nonzero(high > low).squeeze(1)
        for step in range(MOST_ALONE):
            asked = asked[low[asked] + step < high[asked]]
            if asked.numel() == 0 or len(found) >= MOST_PAIRS:
                break
            place = low[asked] + step
            alike = (self._sorted[place, 1:] - short[asked, 1:]).abs().amax(1) < PROJECTIONS * NEAR
            found += zip(asked[alike].tolist(), self._order[place[alike]].tolist(), strict=True)
        return found[:MOST_PAIRS]
