"""The built-in pack: what occamkit ships, through the same hooks as anybody's pack.

Modules here import only what a third party may import: the public names of `occamkit` and of its public rooms.

    arithmetic, trig, exponential, logic, extrema, smooth, wide   primitives
    learned                                                       primitives that carry a constant to be fitted
    fitness                                                       how well a prediction matches the target
    dimensions, complexity, trivia, algebra                       regularizers
    recurrence                                                    the wrapper
    paper                                                         the tasks of the paper
    proposers, exporters                                          where candidates come from, languages they go to
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain
from typing import Any

from occamkit import hookimpl
from occamkit.builtins import (
    algebra,
    arithmetic,
    complexity,
    dimensions,
    exponential,
    exporters,
    extrema,
    fitness,
    learned,
    logic,
    paper,
    proposers,
    recurrence,
    smooth,
    trig,
    trivia,
    wide,
)

OCCAMKIT_API = ">=0.1,<1"

OCCAMKIT_DEFAULTS = {
    "primitives": [
        f"occamkit:{name}" for name in ("add", "sub", "mul", "div", "sin", "cos", "exp", "log", "square", "sqrt")
    ],
    "constants": [1, 2, "pi"],
    "fitness": {"name": "occamkit:gaussian"},
    "regularizers": [],
    "regularizers with units": [{"name": "occamkit:units"}],
    "regularizers of relations": [
        {"name": f"occamkit:{name}"}
        for name in ("trivial_operations", "trivial_constants", "near_trivia", "activations", "constants")
    ],
    "proposers": [
        {"name": f"occamkit:{name}"}
        for name in ("parity", "monomial", "enumerate", "join", "free-constants", "fit", "ladder", "network")
    ],
    "proposers of relations and programs": [{"name": "occamkit:network"}],
}
"""What a task gets when it does not say; full names, so that no other pack can make them ambiguous."""


@hookimpl
def occamkit_primitives() -> Iterable[Any]:
    """Every primitive, by module."""
    modules = (arithmetic, trig, exponential, logic, extrema, wide, smooth, learned)
    return chain.from_iterable(module.PRIMITIVES for module in modules)


@hookimpl
def occamkit_fitnesses() -> Iterable[Any]:
    """Every fitness."""
    return fitness.FITNESSES


@hookimpl
def occamkit_regularizers() -> Iterable[Any]:
    """Every regularizer."""
    return chain(dimensions.REGULARIZERS, complexity.REGULARIZERS, trivia.REGULARIZERS, algebra.REGULARIZERS)


@hookimpl
def occamkit_wrappers() -> Iterable[Any]:
    """The recurrence."""
    return recurrence.WRAPPERS


@hookimpl
def occamkit_tasks() -> Iterable[Any]:
    """The paper's tasks."""
    return paper.TASKS


@hookimpl
def occamkit_exporters() -> Iterable[Any]:
    """Every language that formulas are written in."""
    return exporters.EXPORTERS


@hookimpl
def occamkit_proposers() -> Iterable[Any]:
    """Every proposer."""
    return proposers.PROPOSERS
