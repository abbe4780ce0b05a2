"""The network of the paper as a proposer among others."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from occamkit import Proposal, SearchBudget, SearchProblem


@dataclass(frozen=True)
class Network:
    """Draws functions from a network and learns which edges pay (the paper's search)."""

    name: ClassVar[str] = "network"
    share: ClassVar[float] = 2.0
    any_task: ClassVar[bool] = True

    def propose(self, problem: SearchProblem, budget: SearchBudget) -> Iterator[Proposal | None]:
        """Train step by step; what is drawn goes to the front by itself, and what others found is learnt from too."""
        known = [problem.best(output) for output in range(len(problem.outputs))]
        while problem.train() is None:
            for output, before in enumerate(known):
                best = problem.best(output)
                if best is not None and best is not before and best.proposer != self.name:
                    problem.teach(best.tree, output)
                known[output] = best
            yield None
