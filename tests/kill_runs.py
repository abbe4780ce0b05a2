"""Kills runs at random moments, resumes them, and prints what became of each; a program of its own, since it forks.

python tests/kill_runs.py TASK FOLDER COUNT SEED
"""

from __future__ import annotations

import json
import os
import random
import signal
import sys
import time
from pathlib import Path

import torch

from occamkit import Registry
from occamkit.cli.main import cli
from occamkit.runs.folder import RunFolder


def command(*arguments: str) -> None:
    """Run a command quietly, in this process."""
    cli([*arguments, "--quiet", "--checkpoint-every", "0.02"], standalone_mode=False)


def killed(folder: Path, task: str, seconds: float) -> None:
    """Run a task in a child and kill it after a while."""
    child = os.fork()
    if child == 0:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        try:
            command("run", task, "--out", str(folder))
        finally:
            os._exit(0)
    time.sleep(seconds)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)


def without_seconds(folder: Path) -> dict[str, object]:
    """Return the document of a result, without what the clock says."""
    document: dict[str, object] = json.loads((folder / "result.json").read_text(encoding="utf-8"))
    return {key: value for key, value in document.items() if key != "seconds"}


def main() -> None:
    """Kill and resume."""
    torch.set_num_threads(1)
    task, base, count, seed = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
    registry, chance, seen = Registry.load(only=[]), random.Random(seed), []
    shown = os.dup(1)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    started = time.monotonic()
    command("run", task, "--out", str(base / "whole"))
    length = time.monotonic() - started
    whole, trace = without_seconds(base / "whole"), (base / "whole" / "trace.jsonl").read_bytes()
    for place in range(count):
        folder = base / f"run{place}"
        killed(folder, task, chance.uniform(0, 1.1 * length))
        if not folder.is_dir() or not any(folder.iterdir()):
            seen.append({"before": "not begun", "same": True})
            continue
        before = RunFolder.open(folder).result(registry)
        resumed_twice = chance.random() < 0.5
        if resumed_twice:
            child = os.fork()
            if child == 0:
                command("resume", str(folder))
                os._exit(0)
            time.sleep(chance.uniform(0, length))
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
        command("resume", str(folder))
        same = without_seconds(folder) == whole and (folder / "trace.jsonl").read_bytes() == trace
        seen.append({"before": before.stop, "steps": before.steps, "same": same})
    os.write(shown, json.dumps({"steps": whole["steps"], "seen": seen}).encode())


if __name__ == "__main__":
    main()
