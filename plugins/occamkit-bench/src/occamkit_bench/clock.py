"""CPU time, peak memory and medians.

Process CPU time, not wall time: on a shared machine wall time moves two- or threefold between runs.
"""

from __future__ import annotations

import resource
import sys
import time
from collections.abc import Callable
from pathlib import Path

import torch

_STATUS = Path("/proc/self/status")


def one_thread() -> None:
    """Use one thread, as `occamkit run` does."""
    torch.set_num_threads(1)


def cpu_seconds(work: Callable[[], object]) -> float:
    """Return the CPU seconds that some work takes, over all threads of this process."""
    started = time.process_time()
    work()
    return time.process_time() - started


def peak_megabytes() -> float:
    """Return the most memory that this process has held, in units of 10⁶ bytes."""
    # Linux hands the peak of the parent down in getrusage; the status file has that of the process itself.
    if _STATUS.is_file():
        for line in _STATUS.read_text(encoding="ascii", errors="replace").splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024 / 1e6
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / 1e6 if sys.platform == "darwin" else peak * 1024 / 1e6
