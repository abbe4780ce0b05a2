"""The end of a run: what was found, made ready for people; the same for a live, a killed and a resumed one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from occamkit.archive import Archive, Candidate, archives_of, refitted, tidied, ties
from occamkit.protocols import Primitive
from occamkit.score import Judge
from occamkit.search.events import Account
from occamkit.search.simple import offer_simple
from occamkit.task.file.checks import callable_primitives
from occamkit.task.problem import Problem

MOST_SHOWN = 20
"""How many functions of a front are kept for the result."""


@dataclass(frozen=True)
class Counts:
    """How far a run has come; functions: how many were drawn, or proposed where none are drawn."""

    seconds: float = 0.0
    steps: int = 0
    restarts: int = 0
    functions: int = 0
    unique_functions: int = 0


@dataclass(frozen=True, kw_only=True)
class Outcome(Counts):
    """What a run found: for each output the best, what is held likeliest at the end, and the front.

    best is None for an output for which no defined function was found, likeliest where nobody draws functions.
    ties: for each output, other formulas that are nearly as good as the best. accounts: what each proposer was dealt,
    and what it brought.
    """

    stop: str
    best: tuple[Candidate | None, ...]
    likeliest: tuple[Candidate | None, ...]
    fronts: tuple[tuple[Candidate, ...], ...]
    ties: tuple[tuple[Candidate, ...], ...] = ()
    accounts: Mapping[str, Account] = field(default_factory=dict)


def conclude(
    problem: Problem,
    archives: Sequence[Archive],
    likeliest: Sequence[Candidate | None],
    counts: Counts,
    stop: str,
    accounts: Mapping[str, Account],
) -> Outcome:
    """Return what a run has come to."""
    offer_simple(problem.search_problem, archives)
    # The last touch may change who is the best, so fronts come first.
    fronts = [archive.finished(MOST_SHOWN) for archive in archives]
    chosen = [archive.best() for archive in archives]
    best = [one and refitted(problem, tidied(problem, one, output), output) for output, one in enumerate(chosen)]
    for front, before, after in zip(fronts, chosen, best, strict=True):
        front[:] = [after if after is not None and one is before else one for one in front]
    return Outcome(
        stop=stop,
        best=tuple(best),
        likeliest=tuple(one and tidied(problem, one, output) for output, one in enumerate(likeliest)),
        fronts=tuple(map(tuple, fronts)),
        ties=tuple(map(ties, archives, chosen)),
        accounts=dict(accounts),
        **vars(counts),
    )


def conclude_state(problem: Problem, state: Mapping[str, Any]) -> Outcome:
    """Return what a run had come to when its state was taken; nothing is searched."""
    archives = restored_archives(problem, Judge.of(problem.search_problem), state)
    known = primitives_of(problem)
    likeliest = [None if one is None else Candidate.read(one, known) for one in state["likeliest"]]
    accounts = {one["name"]: Account(**one["account"]) for one in state["workers"]}
    return conclude(problem, archives, likeliest, Counts(**state["counts"]), state["ended"] or "interrupted", accounts)


def restored_archives(problem: Problem, judge: Judge, state: Mapping[str, Any]) -> tuple[Archive, ...]:
    """Return the archives of a state."""
    archives = archives_of(problem, judge)
    for archive, stored in zip(archives, state["archives"], strict=True):
        archive.restore(stored, primitives_of(problem))
    return archives


def primitives_of(problem: Problem) -> dict[str, Primitive]:
    """Return all that trees of a run may be made of, by name."""
    return {**callable_primitives(problem.registry), **{one.name: one for one in problem.primitives}}
