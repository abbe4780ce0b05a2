"""The proposer for rows with noise and for numbers that nobody can guess."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, ClassVar

from annotated_types import Ge

from occamkit import Milestone, Proposal, SearchBudget, SearchProblem
from occamkit.builtins.proposers.exact.proposers import metered
from occamkit.builtins.proposers.exact.tables import Workbench
from occamkit.builtins.proposers.noisy.fitted import fitted


@dataclass(frozen=True)
class FitProposer:
    """Fits products of small expressions, and weighs error against length.

    rows: rows that expressions are compared on. expressions: size of the library that products are made of.
    """

    name: ClassVar[str] = "fit"
    share: ClassVar[float] = 4.0
    rows: Annotated[int, Ge(16)] = 256
    expressions: Annotated[int, Ge(100)] = 8_000

    def propose(self, problem: SearchProblem, budget: SearchBudget) -> Iterator[Proposal | Milestone | None]:
        """Yield the shortest formulas of each output, again whenever there are shorter ones."""
        return metered(Workbench.of(problem), budget, self._items(problem, budget))

    def _items(self, problem: SearchProblem, budget: SearchBudget) -> Iterator[Proposal | None]:
        for output in range(len(problem.outputs)):
            if budget.solved(output):
                continue
            for found in fitted(problem, output, self.rows, self.expressions, budget.spend):
                if budget.over():
                    return
                yield None if found is None else Proposal(found, output)
