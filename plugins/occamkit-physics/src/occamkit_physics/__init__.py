"""The pack `physics`: constants of nature, relativistic and thermal factors, monomials by dimensional analysis.

constants      CODATA's numbers with their units, as scipy has them
primitives     ratios that laws of nature are made of
monomials      a proposer of the products of powers that the units allow
fortran        an exporter
tasks/         real laws
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from occamkit import hookimpl
from occamkit_physics import constants, fortran, monomials, primitives

OCCAMKIT_API = ">=0.1,<1"


@hookimpl
def occamkit_constants() -> Iterable[Any]:
    """Constants of nature."""
    return constants.CONSTANTS


@hookimpl
def occamkit_primitives() -> Iterable[Any]:
    """Relativistic and thermal factors, in the group `physics`."""
    return primitives.PRIMITIVES


@hookimpl
def occamkit_proposers() -> Iterable[Any]:
    """Monomials that the units allow."""
    return [monomials.Monomials]


@hookimpl
def occamkit_exporters() -> Iterable[Any]:
    """Fortran."""
    return [fortran.Fortran()]


@hookimpl
def occamkit_tasks() -> Iterable[Path]:
    """Real laws, as `physics/FILE`."""
    return sorted((Path(__file__).parent / "tasks").glob("*.toml"))
