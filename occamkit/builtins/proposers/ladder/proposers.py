"""The proposer of sums that foretell rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

import torch

from occamkit import Proposal, SearchBudget, SearchProblem, traits
from occamkit.builtins.proposers.ladder.ladder import Ladder
from occamkit.builtins.proposers.ladder.settings import SETTINGS


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
        seen, foretold = _seen(problem)
        for output in range(len(problem.outputs)):
            ladder = Ladder(seen, output)
            for work in ladder.climb() if ladder.ready else ():
                budget.spend(work)
                yield None
                if budget.over() or budget.solved(output):
                    break
            else:
                yield from ladder.winner(foretold)


def _seen(problem: SearchProblem) -> tuple[SearchProblem, bool]:
    """Return a problem with the rows that sums are made of, and whether these are all, and none counts more.

    Those that are held back are among them: here they are held back fold by fold.
    """
    if problem.held is None or problem.weights is not None:
        return problem, False
    columns, targets = (
        torch.cat(pair, 1) for pair in zip((problem.columns, problem.targets), problem.held, strict=True)
    )
    every = max(1, -(-columns.shape[1] // SETTINGS.most_rows))
    return replace(problem, columns=columns[:, ::every], targets=targets[:, ::every]), every == 1
