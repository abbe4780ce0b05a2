"""The portfolio: proposers take turns, and all they propose is judged alike."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass, replace

from occamkit.errors import OccamkitError, PackError
from occamkit.protocols import Proposer
from occamkit.search.choice import Shelf, plain
from occamkit.search.problem import Proposal, SearchBudget, SearchProblem
from occamkit.task import vocabulary
from occamkit.task.problem import Problem
from occamkit.train.checkpoint import Keeper, State
from occamkit.train.front import Candidate, tidied
from occamkit.train.interrupt import interrupts
from occamkit.train.run import Observer, Outcome, Training
from occamkit.train.trace import Tracer

REWARD = 1.5
MOST_WORTH = 4.0
MUCH_BETTER = 0.8
PATIENCE = 160
"""Turns that are left for a simpler formula, when an exact one holds several numbers that mean nothing."""


@dataclass
class Runner:
    """A proposer at work: the turns that it has had, and how many it is worth for one of the others'."""

    pack: str
    name: str
    proposals: Iterator[Proposal | None]
    worth: float = 1.0
    turns: int = 0

    @property
    def due(self) -> float:
        """Who has the least of this is next."""
        return self.turns / self.worth

    def reward(self) -> None:
        """Deal it more turns: it has improved on what there was."""
        self.worth = min(REWARD * self.worth, MOST_WORTH)


def search(
    problem: Problem,
    observe: Observer | None = None,
    trace: Tracer | None = None,
    keep: Keeper | None = None,
    state: State | None = None,
) -> Outcome:
    """Let the task's proposers take turns until every output has an exact formula, or all of them or the budget end.

    A turn ends when a proposer yields None. Turns are dealt by count and not by the clock, so that equal seeds deal
    equally; whoever improves on the best is dealt more. keep, state: as for `train`; see `worth_restoring`.
    """
    alone = len(problem.spec.proposers) == 1
    training = Training(problem, observe, trace, keep, state, alone=alone)
    limits = problem.spec.stop
    deadline = None if limits.seconds is None else training.budget.started + limits.seconds
    shelves = [Shelf(problem, output) for output in range(len(problem.outputs))]
    proposers = [vocabulary.make_plugin(problem.registry, "proposers", choice) for choice in problem.spec.proposers]
    shared = SearchProblem(problem, training)
    patience = PATIENCE
    stop = training.run.ended
    with interrupts() as interrupted:
        budget = SearchBudget(deadline, interrupted)
        runners = [
            _runner(problem.registry.find("proposers", choice.name).pack, proposer, shared, budget)
            for choice, proposer in zip(problem.spec.proposers, proposers, strict=True)
        ]
        while stop is None and runners:
            runner = min(runners, key=lambda one: one.due)
            try:
                more = _turn(runner, training, shelves)
            except PackError as failed:
                if alone:
                    raise
                # What the others find is not to be lost; but nobody should miss that one of them is gone.
                warnings.warn(f"{failed}; the search goes on without it", RuntimeWarning, stacklevel=2)
                more = False
            if not more:
                runners.remove(runner)
            done = training.done()
            patience -= done
            if done and (alone or patience <= 0 or _plain(shelves)):
                stop = "converged"
            elif interrupted():
                stop = "interrupted"
            else:
                # Steps are the network's; without it, turns that everybody has had.
                stop = training.budget.spent(training.trainer.steps or min((one.turns for one in runners), default=0))
            training.keep(stop if runners else stop or "converged")
    outcome = training.outcome(stop or "converged")
    if alone and training.trainer.steps:
        return outcome
    for shelf, front in zip(shelves, outcome.fronts, strict=True):
        shelf.add(front)
    chosen = []
    for best, kept, shelf in zip(outcome.best, training.fronts, shelves, strict=True):
        # Of a table, the front knows how many exceptions a program is worth.
        found = best if kept.is_table else _better(shelf.best(), best)
        chosen.append(found and tidied(problem, found, kept.output))
    return replace(outcome, best=tuple(chosen))


def _better(shortest: Candidate | None, best: Candidate | None) -> Candidate | None:
    """Return the formula of the shortest description, unless the front's is much better by the task's own fitness.

    Descriptions are measured by squares, which is not what every fitness is after.
    """
    if shortest is None or best is None or shortest.exact:
        return shortest or best
    return best if best.choice[0] < MUCH_BETTER * shortest.choice[0] else shortest


def worth_restoring(problem: Problem, state: State | None) -> State | None:
    """Return the state that a run can go on from, or None if it must begin again to come to the same end.

    Only the network's part of a search can be kept. A run that is bounded in time goes on with it and with what was
    found, while the other proposers begin again. A run that is to give the very result of one that was never
    interrupted, and has others, begins again as a whole.
    """
    return None if problem.spec.stop.seconds is None and len(problem.spec.proposers) > 1 else state


def _plain(shelves: list[Shelf]) -> bool:
    best = [shelf.best() for shelf in shelves]
    return all(one is not None and plain(one.tree) for one in best)


def _runner(pack: str, proposer: Proposer, problem: SearchProblem, budget: SearchBudget) -> Runner:
    proposals = proposer.propose(problem, budget)
    return Runner(pack, proposer.name, iter(proposals), getattr(proposer, "share", 1.0))


def _next(runner: Runner) -> tuple[Proposal | None, bool]:
    """Return the next proposal, and whether there was one; a proposer that fails is a fault of its pack."""
    try:
        return next(runner.proposals), True
    except StopIteration:
        return None, False
    except OccamkitError:
        raise
    except Exception as error:
        reason = f"failed with {type(error).__name__}: {error}"
        raise PackError(runner.pack, reason, member=f"proposer {runner.name!r}") from error


def _turn(runner: Runner, training: Training, shelves: list[Shelf]) -> bool:
    """Take proposals until one of them is exact or the turn ends; whether there may be more."""
    while True:
        proposal, more = _next(runner)
        if not more:
            return False
        if proposal is None:
            runner.turns += 1
            # What the network draws goes to the fronts by itself.
            drawn = [(shelf, front.best()) for shelf, front in zip(shelves, training.fronts, strict=True)]
            added = [shelf.add([one]) for shelf, one in drawn if one is not None and one.proposer == runner.name]
            if any(added):
                runner.reward()
            return True
        candidate = training.fronts[proposal.output].offer(proposal.tree, runner.name)
        if candidate is not None and shelves[proposal.output].add([candidate]):
            runner.reward()
        if candidate is not None and candidate.figures.exact:
            runner.turns += 1  # or whoever has found one form of a formula would go on to list all of them
            return True
