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
            yield from _climbed(Ladder(seen, output), budget, foretold)


def _climbed(ladder: Ladder, budget: SearchBudget, foretold: bool) -> Iterator[Proposal | None]:
    """Yield the best of the rungs so far, after the straight ones and at the end."""
    rungs = list(ladder.rungs()) if ladder.ready else []
    for number, rung in enumerate(rungs):
        for work in ladder.climb(rung):
            budget.spend(work)
            yield None
            if budget.over() or budget.solved(ladder.output):
                return
        if rung is rungs[-1] or (rung.base and not rungs[number + 1].base):
            yield from ladder.winner(foretold)


def _seen(problem: SearchProblem) -> tuple[SearchProblem, bool]:
    """Return a problem with the rows that sums are made of, and whether these are all, and none counts more.

    Those that are held back are among them: here they are held back fold by fold.
    """
    columns, targets, weights = problem.columns, problem.targets, problem.weights
    told = weights is None and problem.held is not None
    if weights is None and problem.held is not None:
        columns, targets = torch.cat([columns, problem.held[0]], 1), torch.cat([targets, problem.held[1]], 1)
    every = max(1, -(-columns.shape[1] // SETTINGS.most_rows))
    weights = None if weights is None else weights[::every]
    seen = replace(problem, columns=columns[:, ::every], targets=targets[:, ::every], weights=weights)
    return seen, told and every == 1
