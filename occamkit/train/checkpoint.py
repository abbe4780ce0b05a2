"""Everything that changes during a run, as plain values under names: kept in a file, a run goes on from there.

A run that goes on gives the very result of one that was never interrupted. So the graph is kept too: the order in which
functions first came decides how they are written.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch

from occamkit.graph import Expression
from occamkit.protocols import Primitive
from occamkit.task.checks import callable_primitives
from occamkit.task.problem import Problem
from occamkit.train.figures import Figures
from occamkit.train.film import Film
from occamkit.train.front import Candidate, Front, Whole
from occamkit.train.given import admit, given_formula, lean_towards
from occamkit.train.program_front import ProgramFront, Shallower
from occamkit.train.stop import Budget, Convergence, Restarts
from occamkit.train.trainer import Trainer

State = Mapping[str, Any]
"""The parts of a run by name: tensors, numbers, texts, and lists and tables of these."""

Keeper = Callable[[Callable[[], State], str | None], None]
"""Called after each step with a way to take the state, and why the run stops if it does."""


@dataclass
class Run:
    """What a run is made of; each field is one part of its state."""

    problem: Problem
    generator: torch.Generator
    trainer: Trainer
    fronts: Sequence[Front]
    shallower: Shallower | None
    convergence: Convergence
    restarts: Restarts
    budget: Budget
    film: Film = field(default_factory=Film)
    ended: str | None = None
    """Why the run has ended by itself, of a state that was taken at its very end."""

    def state(self) -> State:
        """Return the state of each part, on the host."""
        trainer = self.trainer
        return {
            "steps": trainer.steps,
            "generator": self.generator.get_state(),
            "network": trainer.network.logits.detach().cpu().clone(),
            "trainer": {"starts": trainer.starts},
            "optimizer": {
                "steps": trainer.optimizer.steps,
                "mean": trainer.optimizer.mean.cpu().clone(),
                "square": trainer.optimizer.square.cpu().clone(),
            },
            "graph": trainer.graph.stored(),
            "scores": trainer.judge.stored(),
            "fronts": [_front_state(front) for front in self.fronts],
            "shallower": self.shallower.stored() if self.shallower else None,
            "convergence": dataclasses.asdict(self.convergence),
            "restarts": dataclasses.asdict(self.restarts),
            "seconds": self.budget.seconds,
            "film": self.film.stored(),
            "ended": self.ended,
        }

    def restore(self, state: State) -> None:
        """Go back to a state."""
        trainer = self.trainer
        trainer.go_to_start(state["trainer"]["starts"])
        self.generator.set_state(state["generator"])
        trainer.steps = state["steps"]
        with torch.no_grad():
            trainer.network.logits.copy_(state["network"])
        trainer.optimizer.steps = state["optimizer"]["steps"]
        trainer.optimizer.mean.copy_(state["optimizer"]["mean"])
        trainer.optimizer.square.copy_(state["optimizer"]["square"])
        trainer.graph.restore(state["graph"])
        trainer.judge.restore(state["scores"])
        for front, kept in zip(self.fronts, state["fronts"], strict=True):
            _restore_front(front, kept)
        if self.shallower is not None:
            self.shallower.restore(state["shallower"])
        self.convergence = _read(Convergence, state["convergence"])
        self.restarts = _read(Restarts, state["restarts"])
        self.film = Film.read(state["film"])
        self.ended = state.get("ended")
        self.budget = Budget(self.problem.spec.stop, self.budget.started - state["seconds"])


def begin(problem: Problem, state: State | None = None) -> Run:
    """Make a run at its first step, or at the step of a state."""
    generator = torch.Generator(device=problem.device).manual_seed(problem.seed)
    budget = Budget(problem.spec.stop)
    trainer = Trainer(problem, generator)
    fronts, shallower = _fronts(problem, trainer)
    run = Run(
        problem=problem,
        generator=generator,
        trainer=trainer,
        fronts=fronts,
        shallower=shallower,
        convergence=Convergence(problem.spec.stop.same_fitness_steps),
        restarts=Restarts(problem.spec.stop.same_best_restarts),
        budget=budget,
    )
    for text in problem.spec.search.start if state is None else ():
        for output, front in enumerate(run.fronts):
            formula = given_formula(problem, text, output)
            admit(front, formula, proposer="given")
            lean_towards(trainer, formula, output)
    if state is not None:
        run.restore(state)
    return run


def _fronts(problem: Problem, trainer: Trainer) -> tuple[Sequence[Front], Shallower | None]:
    """Return a front for each output; outputs that are fed back stand or fall together."""
    outputs = range(len(problem.outputs))
    if problem.wrapper is None:
        return [Front(problem, trainer, output) for output in outputs], None
    programs = [ProgramFront(problem, trainer, output) for output in outputs]
    return programs, Shallower(trainer, programs)


def _front_state(front: Front) -> dict[str, Any]:
    kept = [(level, stored_candidate(candidate)) for level, candidate in front._kept.items()]
    return {"bars": front._bars.cpu().clone(), "kept": kept}


def _restore_front(front: Front, state: Mapping[str, Any]) -> None:
    front._bars.copy_(state["bars"])
    front._kept = {level: read_candidate(front.problem, kept) for level, kept in state["kept"]}
    front._front = front._best = None


def stored_candidate(candidate: Candidate) -> dict[str, Any]:
    """Return a candidate as plain values."""
    fields = {field.name: getattr(candidate, field.name) for field in dataclasses.fields(candidate)}
    whole = candidate.whole and {
        "trees": [tree.to_dict() for tree in candidate.whole.trees],
        "figures": [dataclasses.asdict(figures) for figures in candidate.whole.figures],
    }
    figures = dataclasses.asdict(candidate.figures)
    return {**fields, "tree": candidate.tree.to_dict(), "figures": figures, "whole": whole}


def read_candidate(problem: Problem, stored: Mapping[str, Any]) -> Candidate:
    """Read what `stored_candidate` returned."""
    known = {**callable_primitives(problem.registry), **_by_name(problem.primitives)}
    tree = Expression.from_dict(stored["tree"], known)
    whole = stored["whole"] and Whole(
        tuple(Expression.from_dict(one, known) for one in stored["whole"]["trees"]),
        tuple(Figures(**one) for one in stored["whole"]["figures"]),
    )
    return Candidate(**{**stored, "tree": tree, "figures": Figures(**stored["figures"]), "whole": whole})


def _by_name(primitives: Iterable[Primitive]) -> dict[str, Primitive]:
    return {primitive.name: primitive for primitive in primitives}


def _read(kind: type[Any], fields: Mapping[str, Any]) -> Any:
    return kind(**fields)
