"""An exporter to Fortran."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import sympy


@dataclass(frozen=True)
class Fortran:
    """Fortran 2003, a pure function in double precision."""

    name: str = "fortran"

    def export(self, expression: Any, inputs: Sequence[str]) -> str:
        """Write a function of the inputs."""
        given = "value"
        while given in inputs:
            given += "_"
        body = sympy.fcode(expression, assign_to=given, standard=2003, source_format="free")
        arguments = ", ".join(inputs)
        return (
            f"pure function f({arguments}) result({given})\n"
            f"  real(kind(1d0)), intent(in) :: {arguments}\n"
            f"  real(kind(1d0)) :: {given}\n"
            f"  {body.replace(chr(10), chr(10) + '  ')}\n"
            f"end function\n"
        )
