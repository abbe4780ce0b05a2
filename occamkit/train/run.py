"""A whole run: steps and restarts until an exact function is found or the budget is spent."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from occamkit.task.growth import starts_in_turn
from occamkit.task.problem import Problem
from occamkit.train.checkpoint import Keeper, Run, State, begin
from occamkit.train.front import Candidate, Front, tidied
from occamkit.train.interrupt import interrupts
from occamkit.train.stop import Budget, Convergence
from occamkit.train.trace import Tracer, record
from occamkit.train.trainer import Step, Trainer

MOST_SHOWN = 20
"""How many functions of a front are kept for the result."""


@dataclass(frozen=True)
class Progress:
    """What a run has come to after a step; `best` has one candidate, or None, for each output."""

    step: Step
    seconds: float
    functions: int
    unique_functions: int
    restarts: int
    best: tuple[Candidate | None, ...]


@dataclass(frozen=True)
class Outcome:
    """What a run found: for each output the best, the likeliest at the end, and the front.

    best is None for an output for which no defined function was ever drawn, likeliest if the network was not asked.
    """

    stop: str
    seconds: float
    steps: int
    restarts: int
    functions: int
    unique_functions: int
    best: tuple[Candidate | None, ...]
    likeliest: tuple[Candidate | None, ...]
    fronts: tuple[tuple[Candidate, ...], ...]


Observer = Callable[[Progress], None]


def train(
    problem: Problem,
    observe: Observer | None = None,
    trace: Tracer | None = None,
    keep: Keeper | None = None,
    state: State | None = None,
) -> Outcome:
    """Train until every output has an exact function, or starting afresh no longer helps, or the budget is spent.

    A run that has converged to something imperfect starts afresh; the best over all of them is kept. An interrupt
    (Ctrl-C) ends the run after the step in progress, with what it has. trace: called with every step's best and
    likeliest functions. keep: called after each step with a way to take the state of the run. state: such a state, to
    go on from; the outcome is that of a run that was never interrupted.
    """
    training = Training(problem, observe, trace, keep, state)
    stop = training.run.ended
    with interrupts() as interrupted:
        while stop is None:
            stop = training.step()
            # Only here, where the next step would begin, so that going on later is the same as going on now.
            if stop is None and interrupted():
                stop = "interrupted"
            training.keep(stop)
    return training.outcome(stop)


class Training:
    """The network's search, step by step, so that it can take turns with others.

    run: all that changes, its fronts among it: what was found for each output, by whomever. alone: whether an exact
    formula ends the steps; where there are others, they may have found one that is exact and yet not the simplest.
    """

    def __init__(
        self,
        problem: Problem,
        observe: Observer | None = None,
        trace: Tracer | None = None,
        keep: Keeper | None = None,
        state: State | None = None,
        *,
        alone: bool = True,
    ) -> None:
        self.problem = problem
        self.alone = alone
        self.run = begin(problem, state)
        self._observe, self._trace, self._keep = observe, trace, keep

    @property
    def budget(self) -> Budget:
        """Steps and seconds that the run may take."""
        return self.run.budget

    @property
    def trainer(self) -> Trainer:
        """The network and its steps."""
        return self.run.trainer

    @property
    def fronts(self) -> Sequence[Front]:
        """What was found for each output."""
        return self.run.fronts

    def step(self) -> str | None:
        """Train once; return why to stop, if there is a reason."""
        run, trainer = self.run, self.run.trainer
        step = trainer.step()
        for front in run.fronts:
            front.look(step)
        best = tuple(front.best() for front in run.fronts)
        if self._trace is not None:
            self._trace(record(trainer, step))
        if self._observe is not None:
            self._observe(_progress(trainer, step, run.budget.seconds, run.restarts.count, best))
        if self._keep is not None:
            run.film.look(trainer)
        if self.alone and self.done():
            return "converged"
        if (stop := run.budget.spent(trainer.steps)) is None and run.convergence.settled(step.top.score):
            # A relation that holds may be the square of a simpler one, so it is looked for until nothing changes.
            return "converged" if self.alone and _all_good(run) else _afresh(run, best)
        return stop

    def done(self) -> bool:
        """Whether every output has a function that is good enough, and nothing better is to be had."""
        return self.problem.spec.implicit is None and _all_good(self.run)

    def keep(self, stop: str | None) -> None:
        """Let whoever keeps the run take its state."""
        if self._keep is not None:
            self.run.ended = stop if stop != "interrupted" else None
            self._keep(self.run.state, stop)

    def outcome(self, stop: str) -> Outcome:
        """Return what was found."""
        return conclude(self.run, stop)


def _all_good(run: Run) -> bool:
    """Whether every output has a function that is good enough, and none with fewer repetitions is to be had."""
    best = [front.best() for front in run.fronts]
    good = [one for one in best if one is not None and _good_enough(run.trainer, one)]
    return len(good) == len(best) and (run.shallower is None or run.shallower.exhausted(good))


def _afresh(run: Run, best: tuple[Candidate | None, ...]) -> str | None:
    """Start afresh; "converged" when that no longer helps and every size of the network has had its turn."""
    if run.restarts.fruitless(best) and run.trainer.starts >= starts_in_turn(run.problem.spec.search):
        return "converged"
    run.trainer.restart()
    run.convergence = Convergence(run.problem.spec.stop.same_fitness_steps)
    return None


def _good_enough(trainer: Trainer, candidate: Candidate) -> bool:
    """Whether a function is exact, or has the score that the task asks for."""
    wanted = trainer.problem.spec.stop.score
    return candidate.exact or (wanted is not None and candidate.score >= wanted * trainer.judge.ceiling)


def _progress(
    trainer: Trainer, step: Step, seconds: float, restarts: int, best: tuple[Candidate | None, ...]
) -> Progress:
    evaluated = trainer.judge.evaluator.evaluated
    return Progress(step, seconds, trainer.steps * trainer.functions, evaluated, restarts, best)


def conclude(run: Run, stop: str) -> Outcome:
    """Return what a run has come to."""
    trainer, fronts = run.trainer, run.fronts
    found = [front.finished(MOST_SHOWN) for front in fronts]
    return Outcome(
        stop=stop,
        seconds=run.budget.seconds,
        steps=trainer.steps,
        restarts=run.restarts.count,
        functions=trainer.steps * trainer.functions,
        unique_functions=trainer.judge.evaluator.evaluated,
        best=tuple(front.best() for front in fronts),
        likeliest=tuple(
            tidied(run.problem, front.likeliest(), front.output) if trainer.steps else None for front in fronts
        ),
        fronts=tuple(map(tuple, found)),
    )
