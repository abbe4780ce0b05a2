"""Fitting the constants of sampled functions, thousands at once (Methods, "Constant Fitting", "Undefined Outputs").

Functions with equally many constants are fitted together. Where a function starts depends on the seed and on nothing
else, neither on its company nor on what was fitted before, so a run that is taken up again finds the same constants.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.quasirandom import SobolEngine

from occamkit.evaluate import gradient_descent
from occamkit.evaluate.duals import ForestModel
from occamkit.fit import nonlinear
from occamkit.fit.nonlinear import Fit, Model
from occamkit.fit.scaling import Scaling
from occamkit.graph.forest import Forester
from occamkit.graph.intern import Graph

MOST_ROWS = 2_000
"""Constants of sampled functions are fitted on no more rows than this; what is kept is polished on all of them."""

_ALIGNMENT = 32
"""Rows come in multiples of this, so that kernels never see a ragged end and a function's values do not depend on its
company; see `blocks`, which has more columns to spare."""
_BUDGET = 1 << 25
_FIRST_ITERATIONS = 6
"""How far every start is followed; after that only the best start of each function is."""
_LOOK = 300_000
"""What a look at functions costs besides their numbers: measured beside those in CPU seconds."""
_ROUNDS = (9, 90)
"""How many more starts are tried in each round, for functions that were undefined at all before."""

UNSCALED = Scaling()

Method = Callable[[Model, Tensor, Tensor, Scaling, int], Fit]
METHODS: dict[str, Method] = {"levenberg-marquardt": nonlinear.fit, "adam": gradient_descent.fit}


@dataclass(frozen=True)
class Settings:
    """How constants are fitted; see the section [constants] of a task."""

    method: str = "levenberg-marquardt"
    starts: int = 4
    iterations: int = 25
    retries: int = 100
    seed: int = 0


class ConstantFitter:
    """Fits the constants of functions of a graph on columns [u, n]."""

    def __init__(self, graph: Graph, columns: Tensor, settings: Settings) -> None:
        self.graph = graph
        self.settings = settings
        self._forester = Forester(graph)
        generator = torch.Generator().manual_seed(settings.seed)
        self._rows = _some_rows(columns.shape[1], generator).to(columns.device)
        self._points = self._rows.numel()
        padding = self._rows[:1].expand(-self._points % _ALIGNMENT)
        self._columns = columns.index_select(1, torch.cat([self._rows, padding])).contiguous()
        self._draws: dict[int, Tensor] = {}
        self._bytes_per_start = 4096.0
        self.computed = 0
        """Numbers that were computed so far, roughly."""

    def fit(self, roots: Tensor, target: Tensor, scaling: Scaling = UNSCALED) -> tuple[Tensor, Tensor]:
        """Return the constants of distinct functions [F] that all have some, and whether each is defined: [c], [F].

        target: [n]. scaling: what is solved for beside them, on all rows. Constants come as `unshared_forest` orders
        them: those of the first function first.
        """
        wanted = target.index_select(0, self._rows)
        scaling = scaling.on(self._rows)
        counts = self.graph.constants.index_select(0, roots).to(torch.int64)
        first = counts.cumsum(0) - counts
        constants = self._columns.new_empty(int(counts.sum()))
        defined = torch.zeros_like(roots, dtype=torch.bool)
        for count in torch.unique(counts).tolist():
            members = torch.nonzero(counts == count).squeeze(1)
            for part in self._parts(members):
                found = self._fit_part(roots.index_select(0, part), wanted, scaling, count)
                places = first.index_select(0, part).unsqueeze(1) + torch.arange(count, device=roots.device)
                constants.index_copy_(0, places.reshape(-1), found.constants.reshape(-1))
                defined.index_copy_(0, part, torch.isfinite(found.error))
        return constants, defined

    def _fit_part(self, roots: Tensor, target: Tensor, scaling: Scaling, count: int) -> Fit:
        """Fit functions [F] of `count` constants from several starts each; return the best of each."""
        starts = self.settings.starts
        model = self._model(roots.repeat_interleave(starts))
        first = min(_FIRST_ITERATIONS, self.settings.iterations) if starts > 1 else self.settings.iterations
        best = _best(self._run(model, self._start(model, starts, 0), target, scaling, first), starts, count)
        if first < self.settings.iterations:
            left = self.settings.iterations - first
            best = self._run(self._model(roots), best.constants, target, scaling, left)
        begin, left = starts, self.settings.retries
        for more in _ROUNDS:
            undefined = torch.nonzero(~torch.isfinite(best.error)).squeeze(1)
            tries = min(more, left)
            if undefined.numel() == 0 or tries <= 0:
                break
            for part in self._parts(undefined, tries):
                self._retry(best, part, roots.index_select(0, part), target, scaling, begin, tries)
            begin, left = begin + tries, left - tries
        return best

    def _run(self, model: ForestModel, start: Tensor, target: Tensor, scaling: Scaling, iterations: int) -> Fit:
        self.computed += iterations * (_LOOK + model.size // self._columns.element_size())
        return METHODS[self.settings.method](model, start, target, scaling, iterations)

    def _retry(
        self, best: Fit, part: Tensor, roots: Tensor, target: Tensor, scaling: Scaling, begin: int, tries: int
    ) -> None:
        """Look for starts at which functions [m] are defined, and fit from the first such start of each."""
        model = self._model(roots.repeat_interleave(tries))
        start = self._start(model, tries, begin)
        values, _ = model.evaluate(start)
        finite = torch.isfinite(values).all(1).view(-1, tries)
        lucky = torch.nonzero(finite.any(1)).squeeze(1)
        if lucky.numel() == 0:
            return
        chosen = finite.to(torch.int8).argmax(1).index_select(0, lucky) + lucky * tries
        found = self._run(
            self._model(roots.index_select(0, lucky)),
            start.index_select(0, chosen),
            target,
            scaling,
            self.settings.iterations,
        )
        places = part.index_select(0, lucky)
        best.constants.index_copy_(0, places, found.constants)
        best.error.index_copy_(0, places, found.error)

    def _start(self, model: ForestModel, tries: int, begin: int) -> Tensor:
        """Return starting constants [F · tries, c], the same for every function from try `begin` on.

        Among retries every other one is rounded: x^c with x < 0 is defined for whole c alone.
        """
        low, high = model.start_bounds()
        draws = self._draw(model.count)[begin : begin + tries].repeat(low.shape[0] // tries, 1)
        start = low + (high - low) * draws
        if begin:
            number = torch.arange(start.shape[0], device=start.device) % tries
            start = torch.where((number % 2 == 0).unsqueeze(1), start.round(), start)
        return start

    def _draw(self, count: int) -> Tensor:
        """Return uniform numbers [tries, count] that depend on seed and count alone, and cover the space evenly."""
        if count not in self._draws:
            tries = self.settings.starts + sum(_ROUNDS) + 1
            if count <= SobolEngine.MAXDIM:
                drawn = _evenly(tries, count, self.settings.seed)
            else:
                generator = torch.Generator().manual_seed(self.settings.seed)
                drawn = torch.rand(tries, count, generator=generator, dtype=torch.float64)
            self._draws[count] = drawn.to(self._columns)
        return self._draws[count]

    def _parts(self, members: Tensor, tries: int | None = None) -> Iterator[Tensor]:
        """Cut members [m] into parts whose rows fit the budget."""
        start = 0
        while start < members.numel():
            size = max(1, int(_BUDGET / (self._bytes_per_start * (tries or self.settings.starts))))
            yield members[start : start + size]
            start += size

    def _model(self, roots: Tensor) -> ForestModel:
        model = ForestModel(self._forester, roots, self._columns, self._points)
        self._bytes_per_start = max(self._bytes_per_start / 2, 1.2 * model.size / roots.numel())
        return model


def _best(fitted: Fit, starts: int, count: int) -> Fit:
    """Return the best start of each function."""
    error, which = fitted.error.view(-1, starts).min(1)
    places = which + torch.arange(which.numel(), device=which.device) * starts
    return Fit(fitted.constants.index_select(0, places).view(-1, count), error.clone())


def _evenly(tries: int, count: int, seed: int) -> Tensor:
    """Return points [tries, count] of the unit cube that leave no large part of it empty."""
    engine = SobolEngine(count, scramble=True, seed=seed)  # type: ignore[no-untyped-call]
    return engine.draw(tries, dtype=torch.float64)


def _some_rows(rows: int, generator: torch.Generator) -> Tensor:
    """Return the rows that constants are fitted on: all, or a random sample in file order."""
    if rows <= MOST_ROWS:
        return torch.arange(rows)
    return torch.randperm(rows, generator=generator)[:MOST_ROWS].sort().values
