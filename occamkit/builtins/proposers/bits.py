"""The proposer for programs over bits."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, ClassVar

from annotated_types import Ge

from occamkit import Proposal, SearchBudget, SearchProblem, search


@dataclass(frozen=True)
class Parity:
    """Solves for sums modulo two of the inputs, alone and with one or two small expressions among them.

    Only for inputs and outputs that are bits, with a primitive that adds them. Sums that miss a few rows are proposed
    too. most: expressions in memory, at some 100 bytes each.
    """

    name: ClassVar[str] = "parity"
    most: Annotated[int, Ge(100)] = 20_000

    def propose(self, problem: SearchProblem, budget: SearchBudget) -> Iterator[Proposal | None]:
        """Yield sums of inputs for each output, then what a library adds to them."""
        sums = search.Parities.of(problem) if problem.explicit else None
        if sums is None:
            return
        for tree, output in _all(sums, problem, self.most):
            yield None if tree is None else Proposal(tree, output)
            if budget.over():
                return


def _all(sums: search.Parities, problem: SearchProblem, most: int) -> Iterator[tuple[search.Expression | None, int]]:
    for output in sums.outputs:
        if not problem.solved(output):
            yield from ((tree, output) for tree in sums.linear(output))
    if all(problem.solved(output) for output in sums.outputs):
        return
    yield from ((None, 0) for _ in sums.library.grow(most))
    for output in sums.outputs:
        if not problem.solved(output):
            yield from ((tree, output) for tree in sums.nonlinear(output))
