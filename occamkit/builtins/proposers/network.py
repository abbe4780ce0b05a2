"""The network of the paper as a proposer among others."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

from occamkit import Kind, Milestone, Proposal, SearchBudget, SearchProblem
from occamkit.search import Progress
from occamkit.train import Drawn, Learner, Step

Items = Iterator[Proposal | Milestone | None]


@dataclass(frozen=True)
class Network:
    """Draws functions from a network and learns which edges pay (the paper's search)."""

    name: ClassVar[str] = "network"
    share: ClassVar[float] = 1.0
    late: ClassVar[float] = 2.0
    serves: ClassVar[frozenset[Kind]] = frozenset(Kind)

    def propose(self, problem: SearchProblem, budget: SearchBudget) -> Items:
        """Train step by step; a step proposes what is better than all of its complexity that were drawn before."""
        yield from self._steps(Learner(problem, self.name), budget)

    def resume(self, problem: SearchProblem, budget: SearchBudget, state: Mapping[str, Any]) -> Items:
        """Go on with the step that comes next."""
        learner = Learner(problem, self.name)
        learner.restore(state)
        yield from self._steps(learner, budget)

    def _steps(self, learner: Learner, budget: SearchBudget) -> Items:
        while not learner.over(budget.known.best, budget.known.good):
            learner.listen(budget.known.best)
            before = learner.computed
            step = learner.step()
            budget.spend(learner.computed - before)
            found = tuple(map(_proposal, learner.found(step)))
            likeliest = partial(_likeliest, learner)
            yield Milestone(learner.state, found, likeliest, _told(learner, step))


def _proposal(drawn: Drawn) -> Proposal:
    return Proposal(drawn.tree, drawn.output, drawn.log_q, drawn.program, drawn.depth)


def _likeliest(learner: Learner) -> list[Proposal]:
    return [_proposal(one) for one in learner.likeliest()]


def _told(learner: Learner, step: Step) -> Progress:
    trainer = learner.trainer
    return Progress(
        step=trainer.steps,
        start=trainer.starts,
        functions=trainer.steps * trainer.functions,
        unique_functions=trainer.judge.evaluator.evaluated,
        restarts=learner.restarts.count,
        record=lambda: learner.record(step),
        probabilities=trainer.network.probabilities,
    )
