"""The proposer for rows with noise and for numbers that nobody can guess."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, ClassVar

from annotated_types import Ge

from occamkit import Proposal, SearchBudget, SearchProblem, search

BREATHS = 3


@dataclass(frozen=True)
class Fit:
    """Fits products and sums of small expressions and the numbers inside them, and weighs error against length.

    rows: rows that expressions are compared on. expressions: size of the library that products are made of.
    """

    name: ClassVar[str] = "fit"
    share: ClassVar[float] = 2.0
    rows: Annotated[int, Ge(16)] = 256
    expressions: Annotated[int, Ge(100)] = 8_000

    def propose(self, problem: SearchProblem, budget: SearchBudget) -> Iterator[Proposal | None]:
        """Yield the shortest formulas of each output, again whenever there are shorter ones."""
        if not problem.explicit:
            return
        for output in range(len(problem.outputs)):
            if problem.solved(output):
                continue
            breaths = 0
            for found in search.fitted(problem, output, self.rows, self.expressions):
                if budget.over():
                    return
                if found is not None:
                    yield Proposal(found, output)
                    continue
                breaths += 1
                # Its steps are short ones: several make a turn like the others'.
                if breaths % BREATHS == 0:
                    yield None
