"""The kernel: fits formulas with free constants to columns, thousands in a second. It knows no other room.

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

from occamkit.errors import UserError, did_you_mean
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


NATIVE, PLAIN = Native.name, Plain.name


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
    """Return the fastest kernel that this machine has, or the one that OCCAMKIT_KERNEL names: native or plain."""
    wanted = os.environ.get("OCCAMKIT_KERNEL") or NATIVE
    if wanted not in (NATIVE, PLAIN):
        raise UserError(f"OCCAMKIT_KERNEL={wanted}: no such kernel{did_you_mean(wanted, (NATIVE, PLAIN))}")
    library = load() if wanted == NATIVE else None
    if library is None and os.environ.get("OCCAMKIT_KERNEL") == NATIVE:
        raise UserError("OCCAMKIT_KERNEL=native: the kernel in C was not built here, or this machine cannot read it")
    return Plain() if library is None else Native(library)
