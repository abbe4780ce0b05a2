"""Values of functions and their slopes by each constant, carried forward through the graph together.

A primitive is known by its `call` alone: torch's automatic differentiation gives its derivative, elementwise, one call
at a time, so no graph of derivatives is ever built. What no constant can change is computed once.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from occamkit.graph.forest import Forester, Group
from occamkit.graph.unshared import unshared_forest
from occamkit.protocols import Primitive


class _Moving(NamedTuple):
    """A group of rows that constants can change, and how.

    inner: for each argument the rows of its slopes, or None if no constant can change it. places: which of its
    function's constants each of its own is.
    """

    group: Group
    inner: tuple[Tensor | None, ...]  # k tensors [U]
    places: tuple[Tensor, ...]  # c tensors [U, 1, m]


class ForestModel:
    """Functions [F] of a graph that have equally many constants, as a model for least squares.

    columns: [u, m], with m a multiple of what vector kernels take at once, so that a function's values do not depend
    on its company; `points` of them are real.
    """

    def __init__(self, forester: Forester, roots: Tensor, columns: Tensor, points: int) -> None:
        self._forester = forester
        self._columns = columns
        self._points = points
        self.roots = roots
        self.count = int(forester.graph.constants[roots[0]])
        self._forest = unshared_forest(forester, roots)
        self._shared = self._forest.rows - self._forest.own
        self._moving = [self._prepare(group) for group in self._forest.groups if group.start >= self._shared]
        self._values = columns.new_empty(self._forest.rows, columns.shape[1])
        self._slopes = columns.new_empty(self._forest.own + 1, self.count, columns.shape[1])  # the last row is zero
        self._slopes[-1] = 0
        self._values[: columns.shape[0]] = columns
        for group in self._forest.groups:
            if group.start < self._shared:
                arguments = [self._values.index_select(0, rows) for rows in group.arguments]
                self._values[group.start : group.stop] = group.primitive.call(*arguments)

    @property
    def size(self) -> int:
        """How many bytes the rows of these functions take."""
        return (self._values.numel() + self._slopes.numel()) * self._values.element_size()

    def narrow(self, keep: Tensor) -> ForestModel:
        """Return the model of some of the functions, [m] of them."""
        return ForestModel(self._forester, self.roots.index_select(0, keep), self._columns, self._points)

    def evaluate(self, constants: Tensor) -> tuple[Tensor, Tensor]:
        """Return values [F, n] and slopes [F, c, n] at constants [F, c]."""
        flat = constants.reshape(-1)
        for moving in self._moving:
            self._run(moving, flat)
        roots, points = self._forest.roots, self._points
        values = self._values.index_select(0, roots)[:, :points]
        return values, self._slopes.index_select(0, roots - self._shared)[:, :, :points]

    def start_bounds(self) -> tuple[Tensor, Tensor]:
        """Return where starting values of each function's constants are drawn: lowest and highest, [F, c] each."""
        low, high = self._columns.new_empty(2, self.roots.numel() * self.count).unbind(0)
        for moving in self._moving:
            for constant, slots in zip(moving.group.primitive.constants, moving.group.slots, strict=True):
                low.index_fill_(0, slots, constant.init[0])
                high.index_fill_(0, slots, constant.init[1])
        return low.view(-1, self.count), high.view(-1, self.count)

    def _prepare(self, group: Group) -> _Moving:
        inner = tuple(
            # Rows that no constant can change all share the zero row at the end.
            torch.where(rows >= self._shared, rows - self._shared, self._forest.own)
            if bool((rows >= self._shared).any())
            else None
            for rows in group.arguments
        )
        width = self._columns.shape[1]
        places = tuple((slots % self.count).view(-1, 1, 1).expand(-1, 1, width) for slots in group.slots)
        return _Moving(group, inner, places)

    def _run(self, moving: _Moving, constants: Tensor) -> None:
        """Compute the rows of a group: their values, and their slopes by the chain rule."""
        group = moving.group
        arguments = [self._values.index_select(0, rows) for rows in group.arguments]
        own = [constants.index_select(0, slots).unsqueeze(1).expand_as(arguments[0]) for slots in group.slots]
        wanted = [rows is not None for rows in moving.inner]
        value, partials = _differentiate(group.primitive, arguments, own, wanted)
        self._values[group.start : group.stop] = value
        slopes = self._slopes[group.start - self._shared : group.stop - self._shared]
        fresh = True
        for inner, partial in zip(moving.inner, partials[: len(arguments)], strict=True):
            if inner is not None and partial is not None:
                # Where a primitive is infinitely steep, such as a root at zero, the row says nothing of where to go.
                steep = partial.masked_fill_(torch.isinf(partial), 0.0).unsqueeze(1)
                below = self._slopes.index_select(0, inner)
                torch.mul(below, steep, out=slopes) if fresh else slopes.addcmul_(below, steep)
                fresh = False
        if fresh:
            slopes.zero_()
        for place, partial in zip(moving.places, partials[len(arguments) :], strict=True):
            if partial is not None:
                slopes.scatter_add_(1, place, partial.unsqueeze(1))


def _differentiate(
    primitive: Primitive, arguments: list[Tensor], constants: list[Tensor], moving: list[bool]
) -> tuple[Tensor, list[Tensor | None]]:
    """Return the values [U, n] of a primitive and its partial derivative by each argument and constant, or None."""
    inputs = [*arguments, *(one.contiguous() for one in constants)]
    wanted = [*moving, *[True] * len(constants)]
    with torch.enable_grad():
        leaves = [one.detach().requires_grad_(want) for one, want in zip(inputs, wanted, strict=True)]
        value = primitive.call(*leaves)
    if not value.requires_grad:
        return value.detach().to(arguments[0].dtype), [None] * len(leaves)
    asked = [leaf for leaf, want in zip(leaves, wanted, strict=True) if want]
    found = iter(torch.autograd.grad(value, asked, torch.ones_like(value), allow_unused=True))
    return value.detach(), [next(found) if want else None for want in wanted]
