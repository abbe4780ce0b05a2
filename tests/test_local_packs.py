"""Packs that a task file names by path, and runs that can be repeated as long as nothing has changed."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

from occamkit import Registry, load_task, run
from occamkit.errors import TaskError

MINE = """
import sympy, torch
from dataclasses import dataclass
from typing import ClassVar
from occamkit import Elementwise, hookimpl, units

@dataclass(frozen=True)
class Closeness:
    "Sum of 1 / (1 + error²)."
    name: ClassVar[str] = "closeness"
    width: float = 0.1
    def score(self, predicted, target):
        return (1 / (1 + ((predicted - target) / self.width).square())).sum(1)
    def ceiling(self, points):
        return float(points)

@hookimpl
def occamkit_primitives():
    return [Elementwise("bump", 1, torch.erf, sympy.erf, units.dimensionless)]

@hookimpl
def occamkit_fitnesses():
    return [Closeness]
"""
TASK = """
occamkit = 1
name = "local"
plugins = ["./mine.py"]
data = { source = "formula", target = "mine:bump(x) + 1", points = 40 }
inputs = [{ name = "x", range = [-2, 2] }]
outputs = [{ name = "y" }]
search = { primitives = ["bump", "add", "mul"], depth = 2 }
fitness = { name = "closeness", width = 0.5 }
stop = { max_steps = 40 }
"""


@pytest.fixture
def task(tmp_path: Path) -> Path:
    (tmp_path / "mine.py").write_text(MINE)
    path = tmp_path / "task.toml"
    path.write_text(TASK)
    return path


def test_a_task_uses_its_own_pack_and_nobody_else_sees_it(task: Path, registry: Registry) -> None:
    best = run(task, seed=0, device="cpu", registry=registry).outputs[0].best
    assert best is not None
    assert best.expression == "erf(x) + 1"
    assert "bump" not in registry.names("primitives")
    loaded = load_task(task, registry)
    assert (loaded.spec.fitness.name, loaded.spec.fitness.options()) == ("closeness", {"width": 0.5})


def test_check_and_json_tasks_know_it_too(task: Path, occamkit: Callable[..., Result]) -> None:
    assert "mine:bump" in occamkit("check", str(task)).stdout
    other = task.with_suffix(".json")
    other.write_text(json.dumps(tomllib.loads(TASK)))
    assert occamkit("check", str(other)).exit_code == 0


@pytest.mark.parametrize(
    ("item", "words"),
    [
        ("mine", "must be the path of a Python file, such as './mine.py'"),
        ("mine.py", "must be the path of a Python file, such as './mine.py'"),
        ("./mine.txt", "must be the path of a Python file"),
        ("./not-there.py", "'not-there.py' cannot name a pack"),
        ("./gone.py", "'./gone.py' cannot be read: No such file or directory"),
        ("./raises.py", "pack 'raises': broken: cannot be imported: ZeroDivisionError"),
        ("./empty.py", "it provides nothing"),
        ("./occamkit.py", "another pack is called 'occamkit' already"),
    ],
)
def test_what_cannot_be_used_is_said_with_its_line(
    task: Path, item: str, words: str, occamkit: Callable[..., Result]
) -> None:
    (task.parent / "raises.py").write_text("1 / 0")
    (task.parent / "empty.py").write_text("")
    (task.parent / "occamkit.py").write_text(MINE)
    task.write_text(TASK.replace("./mine.py", item))
    refused = occamkit("check", str(task))
    assert refused.exit_code == 2
    assert "task.toml:4: plugins[0]: " in refused.stderr
    assert words in refused.stderr


def test_a_wrong_shape_is_complained_of(task: Path, registry: Registry) -> None:
    task.write_text(TASK.replace('["./mine.py"]', "3"))
    with pytest.raises(TaskError, match="plugins: must be a list"):
        load_task(task, registry)


def test_the_run_folder_records_it_and_rerun_repeats_it(task: Path, occamkit: Callable[..., Result]) -> None:
    folder = task.parent / "first"
    assert occamkit("run", str(task), "--quiet", "--out", str(folder), "--device", "cpu").exit_code == 0
    recorded = json.loads((folder / "result.json").read_text())["packs"]
    assert recorded["mine"].startswith("sha256:")
    assert tomllib.loads((folder / "task.toml").read_text())["plugins"] == [str(task.parent / "mine.py")]
    again = occamkit("rerun", str(folder), "--quiet")
    assert again.exit_code == 0
    assert again.stdout.startswith("the same result, bit for bit: ")
    assert (task.parent / "first-rerun" / "result.json").is_file()
    assert occamkit("rerun", str(folder), "--quiet", "--json").exit_code == 0
    assert (task.parent / "first-rerun-2").is_dir()


def test_rerun_refuses_a_changed_pack_unless_told(task: Path, occamkit: Callable[..., Result]) -> None:
    folder = task.parent / "first"
    occamkit("run", str(task), "--quiet", "--out", str(folder), "--device", "cpu")
    (task.parent / "mine.py").write_text(MINE + "# another day\n")
    refused = occamkit("rerun", str(folder))
    assert refused.exit_code == 2
    assert "pack 'mine' was sha256:" in refused.stderr
    assert "--anyway" in refused.stderr
    told = occamkit("rerun", str(folder), "--anyway", "--quiet", "--json", "--out", str(task.parent / "second"))
    assert told.exit_code == 0
    document = json.loads(told.stdout)
    assert document["same"] is True
    assert document["changed"][0].startswith("pack 'mine' was sha256:")
    (task.parent / "mine.py").write_text(MINE.replace("torch.erf", "torch.tanh").replace("sympy.erf", "sympy.tanh"))
    other = occamkit("rerun", str(folder), "--anyway", "--quiet")
    assert other.exit_code == 1
    assert "another result: " in other.stdout


def test_rerun_refuses_other_versions_and_other_folders(task: Path, occamkit: Callable[..., Result]) -> None:
    folder = task.parent / "first"
    occamkit("run", str(task), "--quiet", "--out", str(folder), "--device", "cpu")
    document = json.loads((folder / "result.json").read_text())
    changed = {**document, "occamkit": "0.0.1", "packs": {**document["packs"], "gone": "1.0"}}
    (folder / "result.json").write_text(json.dumps(changed))
    refused = occamkit("rerun", str(folder))
    assert "occamkit was 0.0.1 and is " in refused.stderr
    assert "pack 'gone' was 1.0 and is not loaded now" in refused.stderr
    assert "holds no result.json" in occamkit("rerun", str(task.parent)).stderr
    (folder / "result.json").write_text("{}")
    assert "result.json lacks device, occamkit" in occamkit("rerun", str(folder)).stderr
