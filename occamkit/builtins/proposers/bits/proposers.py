"""The proposer for programs over bits."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, ClassVar

from annotated_types import Ge

from occamkit import Proposal, SearchBudget, SearchProblem
from occamkit.builtins.proposers.bits.parity import Parities
from occamkit.builtins.proposers.exact.tables import Found

FEW = 20_000
"""Expressions that are gone through for all outputs before there are more."""


@dataclass(frozen=True)
class Parity:
    """Solves for sums modulo two of the inputs, alone and with one or two small expressions among them.

    Only for inputs and outputs that are bits, with a primitive that adds them. Sums that miss a few rows are proposed
    too. most: expressions in memory, at some 100 bytes each for 256 rows; fewer where there are more rows.
    """

    name: ClassVar[str] = "parity"
    most: Annotated[int, Ge(100)] = 300_000

    def propose(self, problem: SearchProblem, budget: SearchBudget) -> Iterator[Proposal | None]:
        """Yield sums of inputs for each output, then what a library adds to them."""
        sums = Parities.of(problem)
        for proposal in () if sums is None else self._proposals(sums, budget):
            yield proposal
            if budget.over():
                return

    def _proposals(self, sums: Parities, budget: SearchBudget) -> Iterator[Proposal | None]:
        for output in sums.outputs:
            if not budget.solved(output):
                yield from _of(sums.linear(output), output)
        for size in (min(FEW, self.most), self.most):
            before = sums.library.count
            left = [output for output in sums.outputs if not budget.solved(output)]
            if left:
                yield from sums.grow(size)
            for output in left if sums.library.count > before else ():
                yield from _of(sums.nonlinear(output, near=size <= FEW), output)


def _of(found: Found, output: int) -> Iterator[Proposal | None]:
    for tree in found:
        yield None if tree is None else Proposal(tree, output)
