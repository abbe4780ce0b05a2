"""What the section [constants] does to units: whether a fitted number may carry one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from occamkit import traits
from occamkit.dimensions.powers import Powers
from occamkit.primitives import Constant, Elementwise
from occamkit.protocols import Output, Primitive
from occamkit.task.spec import Constants, TaskSpec
from occamkit.units import DIMENSIONLESS, FREE


def allowed(primitive: Primitive, spec: TaskSpec) -> Primitive:
    """Return the primitive as the search may use it: its constants free in their units, or plain numbers."""
    if spec.constants.units == "free" or not primitive.constants:
        return primitive
    plain = tuple(replace(constant, unit=DIMENSIONLESS) for constant in primitive.constants)
    return _with_constants(primitive, plain)


def judged(outputs: Sequence[Output], scale: str, constants: Constants, powers: Powers) -> tuple[Output, ...]:
    """Return what a function itself must give: any unit at all, if a factor of any unit is put before it.

    If powers are put before it that have the unit, a plain number.
    """
    free = scale != "none" and constants.units == "free"
    with_factor = [replace(output, unit=FREE) if free else output for output in outputs]
    if scale != "monomial":
        return tuple(with_factor)
    return tuple(
        replace(output, unit=DIMENSIONLESS) if powers.reach(output.unit) else other
        for output, other in zip(outputs, with_factor, strict=True)
    )


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
        inverse=traits.inverse(primitive),
        group=traits.group(primitive),
    )
