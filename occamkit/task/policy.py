"""What the section [constants] does to units: whether a fitted number may carry one."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from occamkit.primitives import Constant, Elementwise
from occamkit.protocols import Output, Primitive
from occamkit.task.spec import TaskSpec
from occamkit.units import DIMENSIONLESS, FREE


def allowed(primitive: Primitive, spec: TaskSpec) -> Primitive:
    """Return the primitive as the search may use it: its constants free in their units, or plain numbers."""
    if spec.constants.units == "free" or not primitive.constants:
        return primitive
    plain = tuple(replace(constant, unit=DIMENSIONLESS) for constant in primitive.constants)
    return _with_constants(primitive, plain)


def judged(outputs: Iterable[Output], spec: TaskSpec) -> tuple[Output, ...]:
    """Return what a function itself must give: any unit at all, if a factor of any unit is put before it."""
    if spec.fitness.scale != "none" and spec.constants.units == "free":
        return tuple(replace(output, unit=FREE) for output in outputs)
    return tuple(outputs)


def _with_constants(primitive: Primitive, constants: tuple[Constant, ...]) -> Primitive:
    return Elementwise(
        name=primitive.name,
        arity=primitive.arity,
        call=primitive.call,
        sympy=primitive.sympy,
        units=primitive.units,
        commutative=primitive.commutative,
        constants=constants,
        clusters=primitive.clusters,
        complexity=primitive.complexity,
        symbol=primitive.symbol,
        inverse=getattr(primitive, "inverse", None),
        group=getattr(primitive, "group", None),
    )
