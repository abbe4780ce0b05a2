"""The veto of expressions whose units do not come out right (Methods, "OccamNet with Units")."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from occamkit import Output, Primitive, Stage, Variable, Verdict, units


@dataclass(frozen=True)
class Units:
    """Vetoes an expression that mixes units or does not give the output's unit."""

    name: ClassVar[str] = "units"
    stage: ClassVar[Stage] = Stage.STRUCTURE
    weight: float = 1.0

    def leaf(self, variable: Variable) -> units.Unit:
        """A leaf has the unit it was declared with."""
        return variable.unit

    def combine(self, primitive: Primitive, args: Sequence[units.Unit]) -> units.Unit:
        """The primitive's own rule decides."""
        return primitive.units(*args, *(constant.unit for constant in primitive.constants))

    def verdict(self, root: units.Unit, output: Output) -> Verdict:
        """Veto unless the root has, or can take, the output's unit."""
        return Verdict(veto=units.agree(root, output.unit) is units.CLASH)

    def explain(self, variables: Sequence[Variable], output: Output) -> str:
        """Say which dimension the output needs and nothing carries, or that no product of powers gives it."""
        target = output.unit
        have = ", ".join(f"{one.name} [{units.show(one.unit)}]" for one in variables) or "nothing"
        carried = [one.unit for one in variables if isinstance(one.unit, units.Dim)]
        if not isinstance(target, units.Dim):
            return f"the inputs and constants are {have}"
        missing = sorted({name for name, _ in target.powers} - {name for unit in carried for name, _ in unit.powers})
        if missing:
            return f"nothing carries {' or '.join(missing)} (there are {have})"
        if not units.in_span(target, carried):
            return f"no product of powers of the inputs gives it (there are {have})"
        return f"it takes more layers or other primitives (there are {have})"


REGULARIZERS = (Units,)
