"""The pack `bio`: how enzymes saturate and populations grow.

laws           saturation and growth, with constants that are fitted or given
integration    a wrapper that follows a growth law in time
tasks/         data in the style of published ones, generated from stated parameters
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from occamkit import hookimpl
from occamkit_bio import integration, laws

OCCAMKIT_API = ">=0.1,<1"


@hookimpl
def occamkit_primitives() -> Iterable[Any]:
    """Saturation and growth laws, in the groups `enzymes` and `growth`."""
    return laws.PRIMITIVES


@hookimpl
def occamkit_wrappers() -> Iterable[Any]:
    """Euler's way to follow a growth law."""
    return [integration.Euler]


@hookimpl
def occamkit_tasks() -> Iterable[Path]:
    """Enzymes and populations, as `bio/FILE`."""
    return sorted((Path(__file__).parent / "tasks").glob("*.toml"))
