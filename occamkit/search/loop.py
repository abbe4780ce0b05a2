"""The run loop: proposers take turns, and all they propose goes through the one judge into the archives.

Whoever has done the least work for its share is next. Work is counted and not timed, so that equal seeds deal equally;
whoever improves on the best is dealt more. At the end of a turn workers, archives and counters are one state, from
which a run goes on to the very result of one that was never interrupted.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterable
from contextlib import closing
from dataclasses import replace

from occamkit.archive import Archive, Candidate, ProgramArchive, archives_of
from occamkit.description import plain
from occamkit.errors import PackError
from occamkit.protocols import Kind
from occamkit.score import Judge
from occamkit.search.conclude import Counts, Outcome, conclude, primitives_of, restored_archives
from occamkit.search.events import Ended, Failed, Improved, Observer, Stepped, TurnBegan, TurnEnded
from occamkit.search.process import interrupts, to_itself
from occamkit.search.proposal import Known, Milestone, Proposal, SearchBudget, State
from occamkit.search.worker import Worker
from occamkit.task import vocabulary
from occamkit.task.problem import Problem

PATIENCE = 160
"""Turns that are left for a simpler formula, when an exact one holds several numbers that mean nothing."""
GIVEN = "given"
"""Who proposed the formulas that a task starts from."""


def search(problem: Problem, observers: Iterable[Observer] = (), state: State | None = None) -> Outcome:
    """Let the task's proposers take turns until every output has an exact formula, or all of them or the budget end.

    An interrupt (Ctrl-C) ends the run after the turn in progress, with what it has. observers: hear every event.
    state: of a run that is to go on.
    """
    with to_itself():
        return _searched(problem, tuple(observers), state)


def _searched(problem: Problem, observers: tuple[Observer, ...], state: State | None) -> Outcome:
    with interrupts() as interrupted:
        run = Run(problem, observers, interrupted)
        if state is not None:
            run.restore(state)
        while run.stop is None:
            run.turn()
        return run.conclude()


class Run:
    """All that changes while proposers take turns."""

    def __init__(
        self, problem: Problem, observers: tuple[Observer, ...] = (), interrupted: Callable[[], bool] = lambda: False
    ) -> None:
        searched = problem.search_problem
        self.problem, self._observers, self._interrupted = problem, observers, interrupted
        self.stop: str | None = None
        self.judge = Judge.of(searched)
        self.archives = archives_of(problem, self.judge)
        self.counts = Counts()
        self._turns, self._patience = 0, PATIENCE
        self._history: dict[int, Known] = {}
        self._favourites: list[Candidate | None] = [None] * len(self.archives)
        self._begin_clock()
        self.workers = []
        for choice in problem.spec.proposers:
            proposer = vocabulary.make_plugin(problem.registry, "proposers", choice)
            pack = problem.registry.find("proposers", choice.name).pack
            self.workers.append(Worker(pack, proposer, searched, SearchBudget(self._deadline, interrupted)))
        for trees in searched.start:
            for archive, tree in zip(self.archives, trees, strict=True):
                archive.offer(tree, GIVEN)

    def _begin_clock(self) -> None:
        self._started = time.monotonic() - self.counts.seconds
        limit = self.problem.spec.stop.seconds
        self._deadline = None if limit is None else self._started + limit

    @property
    def seconds(self) -> float:
        """Seconds since the run began, without those between an interruption and going on."""
        return time.monotonic() - self._started

    def turn(self) -> None:
        """Deal one turn to whoever is due, and see whether that ends the run."""
        live = [worker for worker in self.workers if not worker.account.ended]
        if not live:
            self._end("converged")
            return
        worker = min(live, key=lambda one: one.due)
        self._turns += 1
        self._tell(TurnBegan, worker.name)
        try:
            with closing(worker.turn(self._turns, self._known())) as items:
                for item in items:
                    if self._take(worker, item):
                        break
        except PackError as failed:
            if len(self.workers) == 1:
                raise
            # What the others find is not to be lost; but nobody should miss that one of them is gone.
            warnings.warn(f"{failed}; the search goes on without it", RuntimeWarning, stacklevel=2)
            worker.account = replace(worker.account, ended=True)
            self._tell(Failed, worker.name, str(failed))
        self._count()
        stop = self._reason()
        self._tell(TurnEnded, worker.name, worker.account, stop, lambda: self.state(stop))
        if stop is not None:
            self._end(stop)

    def _take(self, worker: Worker, item: Proposal | Milestone | None) -> bool:
        """Take what a worker yields; whether that ends its turn."""
        if isinstance(item, Proposal):
            # Or whoever has found one form of a formula would go on to list all of them.
            return self._judge(worker, item)
        for one in item.proposals if item is not None else ():
            self._judge(worker, one)
        if item is not None and item.progress is not None:
            step = item.progress
            self.counts = Counts(self.seconds, step.step, step.restarts, step.functions, step.unique_functions)
            self._tell(Stepped, worker.name, step)
        return False

    def _judge(self, worker: Worker, item: Proposal) -> bool:
        """Judge a proposal and enter it; whether it is exact."""
        archive = self.archives[item.output]
        best, front = archive.best(), archive.front()
        candidate = _offered(archive, item, worker.name)
        improved = archive.front() is not front or archive.best() is not best
        account = worker.account
        worker.account = replace(account, proposed=account.proposed + 1, improved=account.improved + improved)
        if candidate is None:
            return False
        if improved:
            self._tell(Improved, worker.name, item.output, candidate, archive.best())
        if archive.best() is not best:
            worker.reward()
        return candidate.figures.exact

    def _known(self) -> Known:
        """Return what is known now, and remember it for whoever has to do a turn again."""
        best = tuple(archive.best() for archive in self.archives)
        now = Known(best, tuple(one.solved for one in self.archives), all(one.good for one in self.archives))
        last = self._history[max(self._history)] if self._history else None
        if last is None or now != last:
            self._history[self._turns] = last = now
        return last

    def _count(self) -> None:
        """Steps are those of a proposer that works in steps; without one, turns that all who still search have had."""
        functions, steps = self.counts.functions, self.counts.steps
        if not any(one.stepped for one in self.workers):
            live = [one for one in self.workers if not one.account.ended] or self.workers
            steps = min(one.account.turns for one in live)
            functions = sum(one.account.proposed for one in self.workers)
        self.counts = replace(self.counts, seconds=self.seconds, steps=steps, functions=functions)

    def _reason(self) -> str | None:
        """Return why the run is to end, if it is."""
        limits = self.problem.spec.stop
        if self._done():
            self._patience -= 1
            if len(self.workers) == 1 or self._patience <= 0 or self._plain():
                return "converged"
        if self._interrupted():
            return "interrupted"
        if limits.max_steps is not None and self.counts.steps >= limits.max_steps:
            return "steps"
        return "seconds" if self._deadline is not None and time.monotonic() >= self._deadline else None

    def _done(self) -> bool:
        """Whether every output has a function that is good enough, and nothing better is to be had."""
        best = [archive.best() for archive in self.archives]
        shallow = all(one is None or one.recurrence in (None, 1) for one in best)
        return self.problem.kind is not Kind.RELATION and all(one.good for one in self.archives) and shallow

    def _plain(self) -> bool:
        best = [archive.best() for archive in self.archives]
        return all(one is not None and plain(one.tree) for one in best)

    def _end(self, stop: str) -> None:
        self.stop = stop
        self._tell(Ended, stop, {one.name: one.account for one in self.workers})

    def _tell(self, event: Callable[..., object], *fields: object) -> None:
        if self._observers:
            told = event(self.seconds, self._turns, *fields)
            for observer in self._observers:
                observer(told)  # type: ignore[arg-type]

    def likeliest(self) -> list[Candidate | None]:
        """Return what a proposer that draws functions holds likeliest now, for each output."""
        found = list(self._favourites)
        for worker in self.workers:
            for one in worker.milestone.favourites() if worker.milestone is not None else ():
                found[one.output] = _candidate(self.archives[one.output], one, worker.name)
        return found

    def conclude(self) -> Outcome:
        """Return what the run has come to."""
        accounts = {one.name: one.account for one in self.workers}
        stop = self.stop or "interrupted"
        return conclude(self.problem, self.archives, self.likeliest(), self.counts, stop, accounts)

    def state(self, stop: str | None = None) -> State:
        """Return all that changes, as plain values; stop: why the run has ended, if it has by itself."""
        known = {
            turn: {"best": [_stored(one) for one in now.best], "solved": list(now.solved), "good": now.good}
            for turn, now in self._history.items()
        }
        return {
            "steps": self.counts.steps,
            "counts": vars(self.counts),
            "turns": self._turns,
            "patience": self._patience,
            "archives": [archive.state() for archive in self.archives],
            "likeliest": [_stored(one) for one in self.likeliest()],
            "workers": [{"name": worker.name, **worker.state()} for worker in self.workers],
            "history": known,
            "ended": None if stop == "interrupted" else stop,
        }

    def restore(self, state: State) -> None:
        """Go on from a state."""
        known = primitives_of(self.problem)
        self.archives = restored_archives(self.problem, self.judge, state)
        self.counts, self.stop = Counts(**state["counts"]), state["ended"]
        self._turns, self._patience = state["turns"], state["patience"]
        self._favourites = [None if one is None else Candidate.read(one, known) for one in state["likeliest"]]
        for turn, stored in state["history"].items():
            best = tuple(None if one is None else Candidate.read(one, known) for one in stored["best"])
            self._history[turn] = Known(best, tuple(stored["solved"]), stored["good"])
        for worker, stored in zip(self.workers, state["workers"], strict=True):
            worker.restore(stored, self._history)
        self._begin_clock()
        for worker in self.workers:
            worker.budget.deadline = self._deadline
        if self.stop is not None:  # killed when all was over but the telling
            self._end(self.stop)


def _candidate(archive: Archive, one: Proposal, proposer: str) -> Candidate:
    if isinstance(archive, ProgramArchive):
        return archive.program(one.program, one.depth, proposer, one.log_q)
    return archive.candidate(one.tree, proposer, one.log_q)


def _offered(archive: Archive, one: Proposal, proposer: str) -> Candidate | None:
    if isinstance(archive, ProgramArchive):
        return archive.offer_program(one.program, one.depth, proposer, one.log_q)
    return archive.offer(one.tree, proposer, one.log_q, one.foretold)


def _stored(one: Candidate | None) -> dict[str, object] | None:
    return None if one is None else one.stored()
