"""The proposer of sums that foretell rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

import torch

from occamkit import Proposal, SearchBudget, SearchProblem, traits
from occamkit.builtins.proposers.ladder.ladder import Ladder


@dataclass(frozen=True)
class LadderProposer:
    """Weighs sums of inputs, their products and simple functions by how well they foretell rows."""

    name: ClassVar[str] = "ladder"
    opening: ClassVar[tuple[float, float]] = (30.0, 60.0)
    late: ClassVar[float] = 1.0

    def propose(self, problem: SearchProblem, budget: SearchBudget) -> Iterator[Proposal | None]:
        """Yield the sum that foretells the rows of each output best."""
        if not problem.closed or not traits.squares(problem.fitness):
            return
        every = _with_held(problem)
        for output in range(len(problem.outputs)):
            ladder = Ladder(every, output)
            for work in ladder.climb() if ladder.ready else ():
                budget.spend(work)
                yield None
                if budget.over() or budget.solved(output):
                    break
            else:
                yield from ladder.winner()


def _with_held(problem: SearchProblem) -> SearchProblem:
    """Return a problem whose rows are those that are held back too: they are held back here, fold by fold."""
    if problem.held is None or problem.weights is not None:
        return problem
    columns, targets = problem.held
    return replace(
        problem, columns=torch.cat([problem.columns, columns], 1), targets=torch.cat([problem.targets, targets], 1)
    )
