"""Small problems for tests of scores and training."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from occamkit import Registry
from occamkit.archive import Archive
from occamkit.score import Judge
from occamkit.search import Observer, Outcome, State, TurnEnded, search
from occamkit.task.file.load import check_document
from occamkit.task.prepared import PreparedTask
from occamkit.task.problem import Problem, make_problem
from occamkit.task.spec import Choice


def problem(registry: Registry, target: str | dict[str, str] = "sin(3*x+2)", seed: int = 0, **sections: Any) -> Problem:
    """Make a problem over x in [-10, 10]; sections of the task file replace the defaults key by key."""
    outputs = list(target) if isinstance(target, dict) else ["y"]
    document: dict[str, Any] = {
        "occamkit": 1,
        "name": "small",
        "data": {"source": "formula", "target": target, "points": 60, "split": {"valid": 0.2, "test": 0.2}},
        "inputs": [{"name": "x", "range": [-10, 10]}],
        "outputs": [{"name": name} for name in outputs],
        "search": {
            "primitives": ["mul", "add*2", "sin*2"], "constants": [1, 2], "depth": 3, "equalise": 0.0,
            "last_temperature": 1.0,
        },
        "trainer": {"functions": 500},
        "stop": {"max_steps": 60},
    }  # fmt: skip
    for key, section in sections.items():
        document[key] = {**document.get(key, {}), **section} if isinstance(section, dict) else section
    spec = check_document(document, registry, Path())
    return make_problem(PreparedTask(spec, registry, Path()), registry, seed, "cpu")


def alone(task: Problem) -> Problem:
    """Return a problem that only the network works on."""
    spec = task.spec.model_copy(update={"proposers": [Choice(name="occamkit:network")]})
    return replace(task, spec=spec)


def train(task: Problem, *observers: Observer, state: State | None = None) -> Outcome:
    """Search with the network alone."""
    return search(alone(task), observers, state)


def archive(task: Problem, output: int = 0) -> Archive:
    """Return an empty archive of an output."""
    return Archive(task, Judge.of(task.search_problem), output)


def kept_in(states: list[State]) -> Observer:
    """Take the state of a run after every turn."""
    return lambda event: states.append(event.state()) if isinstance(event, TurnEnded) else None
