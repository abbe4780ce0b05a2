"""Work in a process of its own, with one thread, so that a crash or a leak costs one piece of it only."""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
from typing import Any

PATIENCE = 120.0
"""Seconds that a process may take beyond its budget, to start and to write its result, before it is ended."""

_START = "from occamkit_bench.apart import work; work()"
_ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")


def run_apart(function: str, given: dict[str, Any], seconds: float) -> dict[str, Any]:
    """Return what a function, "module:name", makes of values in another process; of what goes wrong, "error"."""
    try:
        done = subprocess.run(
            [sys.executable, "-c", _START],
            input=json.dumps([function, given]),
            capture_output=True,
            text=True,
            check=False,
            env={**os.environ, **_ONE_THREAD},
            timeout=seconds + PATIENCE,
        )
    except subprocess.TimeoutExpired:
        return {"error": f"did not end within {PATIENCE:g} s of its budget"}
    if done.returncode != 0:
        said = done.stderr.strip().splitlines()
        return {"error": said[-1] if said else f"ended with code {done.returncode}"}
    return dict(json.loads(done.stdout.strip().splitlines()[-1]))


def work() -> None:
    """The other process: reads what is wanted from standard input, and writes what it made to standard output."""
    function, given = json.loads(sys.stdin.read())
    module, _, name = function.partition(":")
    made = getattr(importlib.import_module(module), name)(given)
    sys.stdout.write(json.dumps(made, ensure_ascii=False) + "\n")
