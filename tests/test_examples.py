"""Examples: all are shown in the gallery, whose page runs the tasks; the programs are run here."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
EXAMPLES = ROOT / "examples"


@pytest.mark.parametrize("folder", sorted(path.name for path in EXAMPLES.iterdir() if path.is_dir()))
def test_every_example_is_listed_and_shown(folder: str) -> None:
    assert f"({folder}/" in (EXAMPLES / "README.md").read_text(encoding="utf-8")
    assert f"examples/{folder}/" in (ROOT / "docs" / "gallery.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("program", sorted(EXAMPLES.rglob("*.py")), ids=lambda path: path.stem)
def test_programs_run(program: Path) -> None:
    pytest.importorskip("sklearn")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path])}
    done = subprocess.run([sys.executable, str(program)], stdout=subprocess.PIPE, env=environment, check=True)
    assert done.stdout
