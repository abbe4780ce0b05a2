"""What a plugin may leave out, and what is meant then: the one place that asks.

What a search wants to know of a primitive is what the primitive declares. Where it declares nothing, the primitive is
tried once on a few points; the conformance kit holds declarations against the same trial.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Hashable, Mapping
from typing import Any, TypeVar, cast

import torch
from torch import Tensor

from occamkit.protocols import Kind, Primitive, Proposer
from occamkit.units import CLASH, Dim

Plugin = TypeVar("Plugin")

FUNCTIONS_ALONE = frozenset({Kind.FUNCTION})
MOST_ARGUMENTS = 4
"""Primitives of more arguments are not asked for their truth table."""

_LENGTH = Dim.of({"length": 1})


def inverse(primitive: Primitive) -> Callable[..., Tensor] | None:
    """Return what solves for the first argument of a primitive, if it says so."""
    return cast("Callable[..., Tensor] | None", getattr(primitive, "inverse", None))


def group(plugin: object) -> str | None:
    """Return the group that a plugin belongs to, if any."""
    return cast("str | None", getattr(plugin, "group", None))


def exponential(primitive: Primitive) -> float | None:
    """Return the logarithm of the base of a primitive that turns sums into products, as b^x does; else None."""
    declared = getattr(primitive, "exponential", None)
    return tried_exponential(primitive) if declared is None else float(declared)


def truth(primitive: Primitive) -> tuple[int, ...] | None:
    """Return what a primitive gives for 00, 01, 10, 11 and so on, or None if that is not always a bit."""
    declared = getattr(primitive, "truth", None)
    return tried_truth(primitive) if declared is None else tuple(declared)


def refuses_units(primitive: Primitive) -> bool:
    """Whether a primitive refuses arguments that carry a unit, as sine and exponential do."""
    return _tried_units(cast("Hashable", primitive))


def turns(primitive: Primitive) -> bool:
    """Whether a primitive rises and falls, as a sine does; tried on a few points, and of one argument alone."""
    return _tried_turns(cast("Hashable", primitive))


def multiplies(primitive: Primitive) -> bool:
    """Whether a primitive is the product or the ratio of its two arguments; tried on a few points."""
    return _tried_product(cast("Hashable", primitive))


def squares(fitness: object) -> bool:
    """Whether a fitness says that it ranks good predictions as their mean square error does."""
    return bool(getattr(fitness, "squares", False))


def share(proposer: Proposer) -> float:
    """Return how much work a proposer is dealt for one share of the others'."""
    return float(getattr(proposer, "share", 1.0))


def opening(proposer: Proposer) -> tuple[float, float]:
    """Return the share that a proposer has at first, and for how many turns."""
    own, turns = getattr(proposer, "opening", (1.0, 0.0))
    return float(own), float(turns)


def late(proposer: Proposer) -> float:
    """Return how many turns others have had for each share before a proposer has its first."""
    return float(getattr(proposer, "late", 0.0))


def serves(proposer: Any) -> frozenset[Kind]:
    """Return the kinds of problems that a proposer, or its class, can work on."""
    return frozenset(getattr(proposer, "serves", FUNCTIONS_ALONE))


def resume(proposer: Proposer) -> Callable[..., Any] | None:
    """Return what goes on from a state of a proposer, if it has such a thing."""
    return cast("Callable[..., Any] | None", getattr(proposer, "resume", None))


def prepared(plugin: Plugin, problem: object) -> Plugin:
    """Let a fitness or a regularizer see the problem before the run, if it wants to."""
    prepare = getattr(plugin, "prepare", None)
    return plugin if prepare is None else cast("Plugin", prepare(problem))


def hereditary(regularizer: object) -> bool:
    """Whether a symbolic regularizer penalises a formula at least as much as any part of it."""
    return bool(getattr(regularizer, "hereditary", False))


def explain(regularizer: object) -> Callable[..., str]:
    """Return what says why a structural regularizer vetoes every function of a task."""
    return cast("Callable[..., str]", getattr(regularizer, "explain", lambda *_: "every one is vetoed"))


def feedback(wrapper: object) -> Mapping[str, str]:
    """Return where a wrapper says that inputs take their next values from."""
    return dict(getattr(wrapper, "feedback", None) or {})


def python(wrapper: object) -> Callable[..., Any] | None:
    """Return what writes a wrapper as lines of Python, if it can."""
    return cast("Callable[..., Any] | None", getattr(wrapper, "python", None))


def tried_exponential(primitive: Primitive) -> float | None:
    """Try whether a primitive turns sums into products."""
    return _tried_exponential(cast("Hashable", primitive))


def tried_truth(primitive: Primitive) -> tuple[int, ...] | None:
    """Try what a primitive gives for bits."""
    return _tried_truth(cast("Hashable", primitive))


@functools.cache
def _tried_exponential(given: Hashable) -> float | None:
    primitive = cast("Primitive", given)
    if primitive.arity != 1 or primitive.constants:
        return None
    left, right = torch.linspace(-0.7, 1.1, 8, dtype=torch.float64), torch.linspace(0.9, -1.3, 8, dtype=torch.float64)
    joined, one = primitive.call(left + right), primitive.call(torch.ones(1, dtype=torch.float64))
    if not torch.allclose(joined, primitive.call(left) * primitive.call(right), rtol=1e-12) or float(one) <= 0:
        return None
    return float(one.log()) or None


@functools.cache
def _tried_truth(given: Hashable) -> tuple[int, ...] | None:
    primitive = cast("Primitive", given)
    if primitive.constants or not 1 <= primitive.arity <= MOST_ARGUMENTS:
        return None
    cases = torch.tensor(list(itertools.product((0.0, 1.0), repeat=primitive.arity)), dtype=torch.float64)
    values = primitive.call(*cases.unbind(1))
    return tuple(map(int, values.tolist())) if bool(((values == 0) | (values == 1)).all()) else None


@functools.cache
def _tried_units(given: Hashable) -> bool:
    primitive = cast("Primitive", given)
    constants = [constant.unit for constant in primitive.constants]
    return primitive.units(*[_LENGTH] * primitive.arity, *constants) is CLASH


@functools.cache
def _tried_turns(given: Hashable) -> bool:
    primitive = cast("Primitive", given)
    if primitive.arity != 1 or primitive.constants:
        return True
    steps = primitive.call(torch.linspace(-6.0, 6.0, 97, dtype=torch.float64)).diff()
    return bool((steps > 0).any()) and bool((steps < 0).any())


@functools.cache
def _tried_product(given: Hashable) -> bool:
    primitive = cast("Primitive", given)
    if primitive.arity != 2 or primitive.constants:
        return False
    left, right = torch.linspace(0.7, 2.1, 8, dtype=torch.float64), torch.linspace(3.1, -1.4, 8, dtype=torch.float64)
    values = primitive.call(left, right)
    return any(torch.allclose(values, other, rtol=1e-12) for other in (left * right, left / right))
