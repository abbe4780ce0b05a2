"""The small door to evaluation: functions in, scores or values out.

Whatever the order of the functions, the size of the blocks, or the company a function is evaluated in, its
values are the same to the last bit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from occamkit.evaluate.blocks import ALIGNMENT, Blocks, Hook
from occamkit.evaluate.store import ScoreStore
from occamkit.graph.forest import Forest, Forester
from occamkit.graph.intern import Graph
from occamkit.graph.unshared import unshared_forest
from occamkit.protocols import Fitness

Visitor = Callable[[Tensor, Tensor], None]
"""Takes values [r, n] and the positions [F] of the functions that the first F rows belong to; F <= r."""


@dataclass(frozen=True)
class Scores:
    """What each sampled function is worth: fitness as given by the fitness, penalty as summed from hooks."""

    fitness: Tensor  # [v, F], NaN where the function is undefined
    penalty: Tensor  # [v, F]


class Evaluator:
    """Evaluates functions of a graph on columns of data.

    columns: [u, n], inputs then constants; device and dtype of everything follow it.
    outputs: v, how many targets functions are scored against.
    hooks: forward regularizers, see `Hook`; a function pays for every node of its written tree.
    remember: whether scores are kept for the next call, which is right for the full data only.
    block: elements worked on at once. budget: bytes for the values of inner nodes; more functions than fit
    are evaluated in parts.
    """

    def __init__(
        self,
        graph: Graph,
        columns: Tensor,
        *,
        outputs: int = 1,
        hooks: Sequence[Hook] = (),
        remember: bool = True,
        block: int = 1 << 17,
        budget: int = 1 << 27,
    ) -> None:
        if columns.dim() != 2 or columns.shape[0] != graph.columns:
            raise ValueError(f"columns must be [{graph.columns}, n], got {list(columns.shape)}")
        self.graph = graph
        self.columns = columns.contiguous()
        self.hooks = tuple(hooks)
        self.remember = remember
        self._options = {"outputs": outputs, "block": block, "budget": budget}
        self._points = columns.shape[1]
        self._row_limit = max(64, budget // (self._points * columns.element_size()))
        self._rows_per_function = 8.0
        self._blocks = Blocks(self.columns, block)
        self._forester = Forester(graph)
        self._store = ScoreStore(graph, outputs, columns.dtype)
        self.evaluated = 0
        """How many functions were evaluated so far; those whose score was known are not among them."""

    def stored(self) -> dict[str, Any]:
        """Return the scores that are known, to be kept in a file along with the graph."""
        return {"evaluated": self.evaluated, **self._store.stored()}

    def restore(self, stored: Mapping[str, Any]) -> None:
        """Know what `stored` says; the graph must have been restored before."""
        self.evaluated = stored["evaluated"]
        self._store.restore(stored)

    def on(self, rows: Tensor) -> Evaluator:
        """Return an evaluator on some rows [m] of the data, for mini-batches; it remembers nothing."""
        part = self.columns.index_select(1, rows)
        return Evaluator(self.graph, part, hooks=self.hooks, remember=False, **self._options)

    @torch.no_grad()
    def score(self, roots: Tensor, targets: Tensor, fitness: Fitness | Sequence[Fitness]) -> Scores:
        """Return the fitness of functions as each output.

        roots: [v, F], node numbers, or 0 for a function that is not to be evaluated and gets NaN.
        targets: [v, n]. fitness: one for all outputs, or one for each. Functions with fitted constants must have been
        scored by `put` before.
        """
        if roots.shape[0] != self._store.known.shape[0] or targets.shape != (roots.shape[0], self._points):
            raise ValueError(f"roots {list(roots.shape)} and targets {list(targets.shape)} do not fit")
        self._store.refresh()
        pending = self._pending(roots)
        if self.graph.has_constants and bool(self.graph.constants.index_select(0, pending).any()):
            raise ValueError("a function has constants that were not fitted yet")
        self.evaluated += pending.numel()
        fitnesses = tuple(fitness) if isinstance(fitness, Sequence) else (fitness,) * len(targets)
        for part, forest in self._parts(pending):
            self._score_part(part, forest, targets, fitnesses)
        found = [self._store.fitness[i].index_select(0, row) for i, row in enumerate(roots)]
        penalty = torch.stack([self._store.penalty[i].index_select(0, row) for i, row in enumerate(roots)])
        if not self.remember:
            self._store.forget()
        return Scores(torch.stack(found), penalty)

    def known(self, output: int, roots: Tensor) -> Tensor:
        """Return which of the functions [F] have a score for an output: [F]."""
        self._store.refresh()
        return self._store.known[output].index_select(0, roots)

    def put(self, output: int, roots: Tensor, fitness: Tensor, penalty: Tensor | None = None) -> None:
        """Remember scores [F] that were found elsewhere, such as those of functions with fitted constants."""
        self._store.refresh()
        self._store.put(output, roots, fitness, torch.zeros_like(fitness) if penalty is None else penalty)

    @torch.no_grad()
    def values(self, roots: Tensor, constants: Tensor | None = None) -> Tensor:
        """Return the values [F, n] of functions; `constants` as for `visit`."""
        result = self.columns.new_empty(roots.numel(), self._points)
        if constants is None:
            distinct, place = torch.unique(roots, return_inverse=True)
        else:
            distinct, place = roots, torch.arange(roots.numel(), device=roots.device)

        def keep(rows: Tensor, at: Tensor) -> None:
            result.index_copy_(0, at, rows[: at.numel()])

        self.visit(distinct, keep, constants)
        return result.index_select(0, place)

    @torch.no_grad()
    def visit(self, roots: Tensor, visitor: Visitor, constants: Tensor | None = None) -> Tensor | None:
        """Hand the values of functions [F] to a visitor, a block at a time; return penalties [F], if hooked.

        Without constants the functions must be distinct and have none. With constants [c], those of the first
        function come first, in the order of `unshared_forest`, and a function that has some may come more
        than once; then all are evaluated together, so ask for no more than fit into memory.
        """
        if constants is not None:
            forest = unshared_forest(self._forester, roots)
            if constants.numel() != forest.constants:
                raise ValueError(f"the functions have {forest.constants} constants, got {constants.numel()}")
            if torch.unique(forest.roots).numel() != roots.numel():
                raise ValueError("a function without constants comes more than once")
            return self._visit(forest, torch.arange(roots.numel(), device=roots.device), visitor, constants)
        found = self.columns.new_zeros(roots.numel()) if self.hooks else None
        positions = torch.arange(roots.numel(), device=roots.device)
        for start, (part, forest) in self._numbered(self._parts(roots)):
            here = positions[start : start + part.numel()]
            penalties = self._visit(forest, here, visitor, None)
            if found is not None and penalties is not None:
                found[start : start + part.numel()] = penalties
        return found

    def _visit(self, forest: Forest, positions: Tensor, visitor: Visitor, constants: Tensor | None) -> Tensor | None:
        """Visit one forest; `positions` [F] number its roots, which are distinct rows."""
        owner = positions.new_full((forest.rows,), -1).scatter_(0, forest.roots, positions)
        tops = owner[forest.tops :]
        penalties = self._blocks.run(
            forest,
            lambda rows, at: visitor(rows, tops[at : at + rows.shape[0]]),
            constants,
            self.hooks,
        )
        kept = torch.nonzero(owner[: forest.tops] >= 0).squeeze(1)  # host read: roots that others use
        kept_owner = owner.index_select(0, kept)
        self._blocks.kept(kept, lambda rows, at: visitor(rows, kept_owner[at : at + rows.shape[0]]))
        return None if penalties is None else penalties.index_select(0, forest.roots)

    def _score_part(self, part: Tensor, forest: Forest, targets: Tensor, fitnesses: Sequence[Fitness]) -> None:
        """Score the distinct functions [F] of one forest for the outputs that lack them, and remember."""
        outputs = targets.shape[0]
        lacking = [~self._store.known[i].index_select(0, part) for i in range(outputs)]
        found = self.columns.new_empty(outputs, part.numel())
        nothing = self.columns.new_zeros(self._points)

        def visitor(rows: Tensor, at: Tensor) -> None:
            for i in range(outputs):
                chosen, where = (rows, at) if outputs == 1 else _lacking_rows(rows, at, lacking[i])
                if where.numel():
                    # Zero times a number is zero and changes no score; times an infinity or NaN it makes the score
                    # undefined, which a fitness by itself may not. As a product with a vector it is one pass.
                    scores = fitnesses[i].score(chosen, targets[i]).add_(torch.mv(chosen, nothing))
                    found[i].scatter_(0, where, scores[: where.numel()])

        positions = torch.arange(part.numel(), device=part.device)
        penalties = self._visit(forest, positions, visitor, None)
        if penalties is None:
            penalties = found.new_zeros(part.numel())
        for i in range(outputs):
            which = torch.nonzero(lacking[i]).squeeze(1)
            self._store.put(
                i,
                part.index_select(0, which),
                found[i].index_select(0, which),
                penalties.index_select(0, which),
            )

    def _pending(self, roots: Tensor) -> Tensor:
        """Return the distinct functions among roots [v, F] that lack a score for their output."""
        scratch = self._forester.scratch()
        missing = torch.cat([self._store.unknown(i, row) for i, row in enumerate(roots)])
        columns = torch.nonzero(missing <= self.graph.columns).squeeze(1)  # columns are always marked
        fresh = self._forester.unseen(missing)
        scratch.index_fill_(0, fresh, -1)
        if columns.numel():
            fresh = torch.cat([torch.unique(missing.index_select(0, columns)), fresh])
        return fresh

    def _parts(self, roots: Tensor) -> Iterator[tuple[Tensor, Forest]]:
        """Cut functions [F] into parts whose inner values fit the budget."""
        start = 0
        while start < roots.numel():
            size = max(1, int(self._row_limit / self._rows_per_function))
            while True:
                part = roots[start : start + size]
                forest = self._forester.forest(part, distinct=True)
                if forest.tops <= self._row_limit or part.numel() == 1:
                    break
                size = part.numel() // 2
            self._rows_per_function = max(1.0, 1.1 * forest.tops / part.numel())
            yield part, forest
            start += part.numel()

    def _numbered(self, parts: Iterator[tuple[Tensor, Forest]]) -> Iterator[tuple[int, tuple[Tensor, Forest]]]:
        start = 0
        for part, forest in parts:
            yield start, (part, forest)
            start += part.numel()


def _lacking_rows(rows: Tensor, at: Tensor, lacking: Tensor) -> tuple[Tensor, Tensor]:
    """Return the rows whose functions lack a score, padded to whole vectors, and the functions."""
    which = torch.nonzero(lacking.index_select(0, at)).squeeze(1)
    padding = which.new_zeros(-which.numel() % ALIGNMENT)
    return rows.index_select(0, torch.cat([which, padding])), at.index_select(0, which)
