"""The proposer of sums of many products."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, ClassVar

from annotated_types import Ge

from occamkit import Milestone, Proposal, SearchBudget, SearchProblem
from occamkit.builtins.proposers.exact.pool import Pool
from occamkit.builtins.proposers.exact.proposers import metered
from occamkit.builtins.proposers.exact.tables import Found, Workbench
from occamkit.builtins.proposers.exact.view import OutputView
from occamkit.builtins.proposers.sums.polynomials import polynomials

POWERS = (1, -1, 2, -2)
"""Of the output, in which sums are looked for."""
PROPOSED = 20


@dataclass(frozen=True)
class FitProposer:
    """Fits sums of many products at once, and weighs error against length.

    rows: rows that products are compared on.
    """

    name: ClassVar[str] = "fit"
    share: ClassVar[float] = 8.0
    late: ClassVar[float] = 1.0
    rows: Annotated[int, Ge(16)] = 256

    def propose(self, problem: SearchProblem, budget: SearchBudget) -> Iterator[Proposal | Milestone | None]:
        """Yield the shortest formulas of each output, again whenever there are shorter ones."""
        return metered(Workbench.of(problem), budget, self._items(problem, budget))

    def _items(self, problem: SearchProblem, budget: SearchBudget) -> Iterator[Proposal | None]:
        for output in range(len(problem.outputs)):
            if budget.solved(output):
                continue
            for found in _sums(OutputView(problem, output, budget.spend, self.rows)):
                if budget.over():
                    return
                yield None if found is None else Proposal(found, output)


def _sums(view: OutputView) -> Found:
    """Yield the shortest sums, of the output and of what is left of it without its factors; None between."""
    pool = Pool(view)
    rest = yield from Workbench.of(view.problem).divided(view)
    for seen in (view,) if rest is None else (view, rest):
        for _ in polynomials(seen, pool, POWERS):
            yield from pool.exact()
            yield None
        yield from pool.fresh(PROPOSED)
