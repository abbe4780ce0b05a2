"""The pack `robust`: for data with outliers, and for knowing something of the formula beforehand.

fitnesses      how well predictions match, whatever a few bad rows say
shapes         penalties for formulas that are not as they should be: monotone, bounded, symmetric, tame outside
points         where those look: points of their own, inside the data's range and beyond it
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from occamkit import hookimpl
from occamkit_robust import fitnesses, shapes

OCCAMKIT_API = ">=0.1,<1"


@hookimpl
def occamkit_fitnesses() -> Iterable[Any]:
    """Four fitnesses that forgive outliers."""
    return fitnesses.FITNESSES


@hookimpl
def occamkit_regularizers() -> Iterable[Any]:
    """Four penalties for the shape of a formula."""
    return shapes.REGULARIZERS


@hookimpl
def occamkit_tasks() -> Iterable[Path]:
    """The tasks beside this module."""
    return sorted((Path(__file__).parent / "tasks").glob("*.toml"))
