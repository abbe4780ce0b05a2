"""The kernel: fits formulas with free constants to columns, thousands in a second. It knows nothing of occamkit.

    program  programs of formulas, and the rows that they are fitted to
    native   the kernel in C, where it was built
    plain    the same in numpy, for machines without it
    starts   where its fits begin

The C is in `native/`, with `hatch_build`, which compiles it. `kernel()` says which is in use; both give the same
numbers but for rounding.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Sequence
from typing import Protocol

from occamkit.kernel.native import Native, load
from occamkit.kernel.plain import Plain
from occamkit.kernel.program import (
    MOST_CONSTANTS,
    MOST_TERMS,
    Effort,
    Job,
    Numbers,
    Offset,
    Op,
    Outside,
    Program,
    ProgramFit,
    RowTable,
    sum_of,
)

__all__ = [
    "MOST_CONSTANTS",
    "MOST_TERMS",
    "Effort",
    "Job",
    "Kernel",
    "Numbers",
    "Offset",
    "Op",
    "Outside",
    "Program",
    "ProgramFit",
    "RowTable",
    "kernel",
    "sum_of",
]


class Kernel(Protocol):
    """What fits programs."""

    name: str

    def fit(
        self, table: RowTable, jobs: Sequence[Job], effort: Effort, outside: Outside
    ) -> tuple[list[ProgramFit], int]:
        """Fit each job; also return how many numbers were computed, roughly."""
        ...


@functools.cache
def kernel() -> Kernel:
    """Return the fastest kernel that this machine has; with OCCAMKIT_KERNEL=plain, the one in numpy."""
    library = None if os.environ.get("OCCAMKIT_KERNEL") == "plain" else load()
    return Plain() if library is None else Native(library)
