"""What a contender must have, and the hook by which other packs bring theirs.

A pack names a module by an entry point of the group `occamkit_bench`; there a function marked with `hookimpl` and
called `occamkit_bench_contenders` returns contenders.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Final, Protocol

import numpy as np
import pluggy
from numpy.typing import NDArray

from occamkit.errors import UserError, did_you_mean

PROJECT: Final = "occamkit_bench"
hookspec = pluggy.HookspecMarker(PROJECT)
hookimpl = pluggy.HookimplMarker(PROJECT)

Values = NDArray[np.float64]


@dataclass(frozen=True)
class Fitted:
    """What a contender made of rows: how it tells others [n, u] -> [n], and its formula with its size, if it has one.

    size: numbers, names, operators and functions.
    """

    predict: Callable[[Values], Values]
    formula: str | None = None
    size: int | None = None


class Contender(Protocol):
    """Something that learns to tell a target from rows, in about so many seconds, with one thread."""

    @property
    def name(self) -> str:
        """What it is called in tables."""

    @property
    def needs(self) -> str:
        """The module without which it cannot run; empty if it needs none."""

    def fit(self, inputs: Values, target: Values, seconds: float, seed: int) -> Fitted:
        """Learn from inputs [n, u] and a target [n]."""


@hookspec
def occamkit_bench_contenders() -> Iterable[Contender]:  # type: ignore[empty-body]
    """Return contenders for `occamkit bench black-box`."""


def contenders() -> dict[str, Contender]:
    """Return all contenders by name: those of this pack, then those of others."""
    from occamkit_bench.contenders import builtin

    manager = pluggy.PluginManager(PROJECT)
    manager.add_hookspecs(sys.modules[__name__])
    manager.register(builtin)
    manager.load_setuptools_entrypoints(PROJECT)
    brought = reversed(manager.hook.occamkit_bench_contenders())
    return {one.name: one for group in brought for one in group}


def named(names: Iterable[str]) -> list[Contender]:
    """Return the contenders of these names, which must be there and able to run."""
    known, found = contenders(), []
    for name in names:
        if name not in known:
            raise UserError(
                f"--contenders: there is none called {name!r}{did_you_mean(name, known)}; there are {', '.join(known)}"
            )
        if known[name].needs and find_spec(known[name].needs) is None:
            raise UserError(f"--contenders: {name} needs {known[name].needs}: pip install 'occamkit-bench[peers]'")
        found.append(known[name])
    return found
