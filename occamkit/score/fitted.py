"""Scores of functions with constants: fitted once for each output, then judged like any other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor

from occamkit.evaluate import Evaluator
from occamkit.evaluate.constant_store import ConstantStore
from occamkit.evaluate.constants import ConstantFitter
from occamkit.fit.scaling import Scaling
from occamkit.protocols import Fitness

_BUDGET = 1 << 27
_ROWS_PER_FUNCTION = 16


class FittedFunctions:
    """Fits the constants of functions that are new, and enters their scores where the evaluator finds them.

    targets: [v, n], in the fitter's precision. scalings: what is solved for beside the constants of each output.
    """

    def __init__(self, fitter: ConstantFitter, targets: Tensor, scalings: Sequence[Scaling]) -> None:
        self.graph = fitter.graph
        self.fitter = fitter
        self._targets = targets
        self._scalings = tuple(one.like(targets) for one in scalings)
        self._store = ConstantStore(fitter.graph, targets.shape[0], targets)

    def enter(self, evaluator: Evaluator, roots: Tensor, targets: Tensor, fitnesses: Sequence[Fitness]) -> None:
        """Give the evaluator the scores of those functions roots[i] that have constants, as output i: [v, F].

        targets: [v, n] on the evaluator's rows, which may be a mini-batch; constants are fitted on all rows.
        """
        for output in range(len(roots)):
            fresh = self._fresh(evaluator, output, roots[output])
            if fresh.numel() == 0:
                continue
            unfitted = fresh.index_select(0, torch.nonzero(~self._store.known(output, fresh)).squeeze(1))
            if unfitted.numel():
                constants, _ = self.fitter.fit(unfitted, self._targets[output], self._scalings[output])
                self._store.put(output, unfitted, constants)
            evaluator.evaluated += fresh.numel()
            for part in torch.split(fresh, self._most_at_once(evaluator)):
                self._score(evaluator, output, part, targets[output], fitnesses[output])

    def constants(self, output: int, root: int) -> Sequence[float]:
        """Return the fitted constants of one function; none if it has none."""
        node = torch.tensor([root], device=self.graph.device)
        if int(self.graph.constants[root]) == 0 or not bool(self._store.known(output, node)):
            return ()
        return tuple(self._store.get(output, node).tolist())

    def stored(self) -> dict[str, Tensor]:
        """Return the fitted constants, to be kept in a file along with the graph."""
        return self._store.stored()

    def restore(self, stored: Mapping[str, Tensor]) -> None:
        """Know what `stored` says; the graph must have been restored before."""
        self._store.restore(stored)

    def _fresh(self, evaluator: Evaluator, output: int, roots: Tensor) -> Tensor:
        """Return the distinct functions with constants among roots [F] that the evaluator has no score for."""
        lacking = (self.graph.constants.index_select(0, roots) > 0) & ~evaluator.known(output, roots)
        found: Tensor = torch.unique(roots.index_select(0, torch.nonzero(lacking).squeeze(1)))
        return found

    def _score(self, evaluator: Evaluator, output: int, roots: Tensor, target: Tensor, fitness: Fitness) -> None:
        found = torch.empty(roots.numel(), dtype=target.dtype, device=target.device)
        nothing = torch.zeros_like(target)

        def visitor(rows: Tensor, at: Tensor) -> None:
            scores = fitness.score(rows, target).add_(torch.mv(rows, nothing))  # undefined rows, undefined score
            found.scatter_(0, at, scores[: at.numel()])

        constants = self._store.get(output, roots).to(target.dtype)
        evaluator.put(output, roots, found, evaluator.visit(roots, visitor, constants))

    def _most_at_once(self, evaluator: Evaluator) -> int:
        row = evaluator.columns.shape[1] * evaluator.columns.element_size()
        return max(1, _BUDGET // (row * _ROWS_PER_FUNCTION))
