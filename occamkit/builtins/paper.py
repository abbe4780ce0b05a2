"""The tasks of the paper, as task files: `occamkit run paper/sin-3x-2`."""

from __future__ import annotations

from pathlib import Path

from occamkit import TaskFile

_FOLDER = Path(__file__).parent / "tasks" / "paper"

TASKS = tuple(TaskFile(f"paper/{path.stem}", path) for path in sorted(_FOLDER.glob("*.toml")))
