"""The pack `special`: the error function, gamma, Bessel and friends."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import sympy

from occamkit import hookimpl
from occamkit_special.primitives import PRIMITIVES

OCCAMKIT_API = ">=0.1,<1"


@dataclass(frozen=True)
class Julia:
    """Julia, with the names of SpecialFunctions.jl."""

    name: str = "julia"

    def export(self, expression: Any, inputs: Sequence[str]) -> str:
        """Write a function of the inputs."""
        return f"f({', '.join(inputs)}) = {sympy.julia_code(expression)}"


@hookimpl
def occamkit_primitives() -> Iterable[Any]:
    """The functions, in the group `special`."""
    return PRIMITIVES


@hookimpl
def occamkit_exporters() -> Iterable[Any]:
    """Formulas in a language that has these functions."""
    return [Julia()]


@hookimpl
def occamkit_tasks() -> Iterable[Path]:
    """The task files beside this module, as `special/FILE`."""
    return sorted((Path(__file__).parent / "tasks").glob("*.toml"))
