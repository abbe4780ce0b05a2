"""A whole run: steps and restarts until an exact function is found or the budget is spent."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch

from occamkit.task.problem import Problem
from occamkit.train.front import Candidate, Front
from occamkit.train.interrupt import interrupts
from occamkit.train.stop import Budget, Convergence, Restarts
from occamkit.train.trace import Tracer, record
from occamkit.train.trainer import Step, Trainer


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

    best is None for an output for which no defined function was ever drawn.
    """

    stop: str
    seconds: float
    steps: int
    restarts: int
    functions: int
    unique_functions: int
    best: tuple[Candidate | None, ...]
    likeliest: tuple[Candidate, ...]
    fronts: tuple[tuple[Candidate, ...], ...]


Observer = Callable[[Progress], None]


def train(problem: Problem, observe: Observer | None = None, trace: Tracer | None = None) -> Outcome:
    """Train until every output has an exact function, or starting afresh no longer helps, or the budget is spent.

    A run that has converged to something imperfect starts afresh; the best over all of them is kept. An interrupt
    (Ctrl-C) ends the run after the step in progress, with what it has. trace: called with every step's best and
    likeliest functions.
    """
    generator = torch.Generator(device=problem.device).manual_seed(problem.seed)
    budget = Budget(problem.spec.stop)
    trainer = Trainer(problem, generator)
    fronts = [Front(problem, trainer, output) for output in range(len(problem.outputs))]
    convergence = Convergence(problem.spec.stop.same_fitness_steps)
    restarts = Restarts(problem.spec.stop.same_best_restarts)
    stop = None
    with interrupts() as interrupted:
        while stop is None:
            step = trainer.step()
            for front in fronts:
                front.look(step)
            best = tuple(front.best() for front in fronts)
            if trace is not None:
                trace(record(trainer, step))
            if observe is not None:
                observe(_progress(trainer, step, budget.seconds, restarts.count, best))
            if all(one is not None and _good_enough(trainer, one) for one in best):
                stop = "converged"
            elif interrupted():
                stop = "interrupted"
            elif (stop := budget.spent(trainer.steps)) is None and convergence.settled(step.top.score):
                if restarts.fruitless(best):
                    stop = "converged"
                else:
                    trainer.restart()
                    convergence = Convergence(problem.spec.stop.same_fitness_steps)
    return _outcome(trainer, fronts, stop, budget.seconds, restarts.count)


def _good_enough(trainer: Trainer, candidate: Candidate) -> bool:
    """Whether a function is exact, or has the score that the task asks for."""
    wanted = trainer.problem.spec.stop.score
    return candidate.figures.exact or (wanted is not None and candidate.score >= wanted * trainer.judge.ceiling)


def _progress(
    trainer: Trainer, step: Step, seconds: float, restarts: int, best: tuple[Candidate | None, ...]
) -> Progress:
    evaluated = trainer.judge.evaluator.evaluated
    return Progress(step, seconds, trainer.steps * trainer.functions, evaluated, restarts, best)


def _outcome(trainer: Trainer, fronts: list[Front], stop: str, seconds: float, restarts: int) -> Outcome:
    found = [front.candidates() for front in fronts]
    return Outcome(
        stop=stop,
        seconds=seconds,
        steps=trainer.steps,
        restarts=restarts,
        functions=trainer.steps * trainer.functions,
        unique_functions=trainer.judge.evaluator.evaluated,
        best=tuple(front.best() for front in fronts),
        likeliest=tuple(front.likeliest() for front in fronts),
        fronts=tuple(map(tuple, found)),
    )
