"""What the section [constants] does to units: whether a fitted number may carry one."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from occamkit.primitives import Constant, Elementwise
from occamkit.protocols import Output, Primitive
from occamkit.task.powers import Powers
from occamkit.task.spec import TaskSpec
from occamkit.units import DIMENSIONLESS, FREE


def allowed(primitive: Primitive, spec: TaskSpec) -> Primitive:
    """Return the primitive as the search may use it: its constants free in their units, or plain numbers."""
    if spec.constants.units == "free" or not primitive.constants:
        return primitive
    plain = tuple(replace(constant, unit=DIMENSIONLESS) for constant in primitive.constants)
    return _with_constants(primitive, plain)


def judged(outputs: Iterable[Output], spec: TaskSpec, powers: Powers) -> tuple[Output, ...]:
    """Return what a function itself must give: any unit at all, if a factor of any unit is put before it.

    If powers are put before it that have the unit, a plain number.
    """
    if spec.fitness.scale == "monomial":
        return tuple(
            replace(output, unit=DIMENSIONLESS) if powers.reach(output.unit) else _with_factor(output, spec)
            for output in outputs
        )
    return tuple(_with_factor(output, spec) for output in outputs)


def _with_factor(output: Output, spec: TaskSpec) -> Output:
    if spec.fitness.scale != "none" and spec.constants.units == "free":
        return replace(output, unit=FREE)
    return output


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
