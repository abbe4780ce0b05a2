"""The kernel in C, where it was built; loaded without a compiler."""

from __future__ import annotations

import ctypes
import warnings
from array import array
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from occamkit.kernel.program import Effort, Job, Outside, ProgramFit, RowTable

_NAMES = ("kernel.so", "kernel.dylib", "kernel.dll")
_VERSION = 3
_CALLBACK = ctypes.CFUNCTYPE(None, ctypes.c_int32, ctypes.c_int64, *[ctypes.c_void_p] * 3)


class _Table(ctypes.Structure):
    _fields_ = (
        ("rows", ctypes.c_int64),
        ("total", ctypes.c_double),
        ("columns", ctypes.c_void_p),
        ("weights", ctypes.c_void_p),
        ("target", ctypes.c_void_p),
        ("ones", ctypes.c_void_p),
    )


class _Effort(ctypes.Structure):
    _fields_ = (("starts", ctypes.c_int32), ("steps", ctypes.c_int32), ("least", ctypes.c_double))


def load() -> ctypes.CDLL | None:
    """Return the library that was built beside this module, if there is one and this machine can read it."""
    for name in _NAMES:
        path = Path(__file__).with_name(name)
        if path.exists():
            try:
                library = ctypes.CDLL(str(path))
                library.occamkit_kernel_version.restype = ctypes.c_int64
                found = library.occamkit_kernel_version()
            except (OSError, AttributeError) as error:
                _unread(path, str(error))
                return None
            if found != _VERSION:
                _unread(path, f"it is of version {found}, and {_VERSION} is needed")
                return None
            library.occamkit_fit.restype = ctypes.c_int64
            return library
    return None


def _unread(path: Path, reason: str) -> None:
    again = "searches take longer; install occamkit again to build it anew"
    warnings.warn(f"the kernel {path.name} cannot be used: {reason}; {again}", RuntimeWarning, stacklevel=3)


class Native:
    """Fits many programs in one call."""

    name = "native"

    def __init__(self, library: ctypes.CDLL) -> None:
        self._fit = library.occamkit_fit

    def fit(
        self, table: RowTable, jobs: Sequence[Job], effort: Effort, outside: Outside
    ) -> tuple[list[ProgramFit], int]:
        """Fit each job; also return how many numbers were computed, roughly."""
        code, starts, places = array("i"), array("q"), array("q")
        constants, seeds, given = array("d"), array("Q"), array("b")
        for job in jobs:
            program = job.program
            starts.append(len(code))
            code.extend((len(program.code) // 2, program.offset, program.constants, program.terms))
            code.extend(program.code)
            places.append(len(constants))
            constants.extend([0.0] * program.constants if job.given is None else job.given)
            constants.extend([0.0] * (program.terms + 1))
            seeds.append(job.seed)
            given.append(job.given is not None)
        left = array("d", bytes(8 * len(jobs)))
        held_in: tuple[array[Any], ...] = (code, starts, constants, places, seeds, given)
        rows = (table.columns, table.weights, table.target, table.ones)
        held = _Table(table.columns.shape[1], table.square, *(one.ctypes.data for one in rows))
        work = self._fit(
            ctypes.byref(held),
            ctypes.c_int64(len(jobs)),
            *(_address(one) for one in held_in),
            ctypes.byref(_Effort(effort.starts, effort.steps, effort.least)),
            _address(left),
            _callback(outside),
        )
        if work < 0:
            raise MemoryError("no memory for a fit")
        found = np.frombuffer(constants) if constants else np.empty(0)
        fits = []
        for job, place, square in zip(jobs, places, left, strict=True):
            inside = place + job.program.constants
            fits.append(
                ProgramFit(found[place:inside], found[inside : place + job.program.numbers], square / table.square)
            )
        return fits, work


def _address(values: array[Any]) -> ctypes.c_void_p:
    return ctypes.c_void_p(values.buffer_info()[0])


def _callback(outside: Outside) -> Any:
    def call(which: int, rows: int, x: int, value: int, slope: int) -> None:
        column = ctypes.c_double * rows
        held = (memoryview(column.from_address(one)) for one in (x, value, slope))
        at, values, slopes = (np.ndarray(rows, float, one) for one in held)
        values[:], slopes[:] = outside(which, at)

    return _CALLBACK(call)
