"""Run folders: whole or empty, readable after a kill, and resumed to the very result of an uninterrupted run."""

from __future__ import annotations

import itertools
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from click.testing import Result as Shown

from occamkit import Registry
from occamkit.result import Result
from occamkit.runs.folder import RunFolder
from occamkit.search import Event, Run, State
from occamkit.train import Trainer
from occamkit.train.film import Film
from tests.problems import alone, kept_in, problem, train

TASK = """
occamkit = 1
name = "hard"
[data]
source = "formula"
target = "exp(x/5) + sin(y)"
points = 60
[[inputs]]
name = "x"
range = [-10, 10]
[[inputs]]
name = "y"
range = [-10, 10]
[[outputs]]
name = "z"
[search]
primitives = ["add", "mul", "div", "sin", "add4"]
[stop]
max_steps = 30
same_fitness_steps = 6
[trainer]
functions = 200
[[proposers]]
name = "join"
most = 5_000
[[proposers]]
name = "network"
"""


@pytest.fixture
def task(tmp_path: Path) -> Path:
    path = tmp_path / "task.toml"
    path.write_text(TASK)
    return path


@pytest.mark.skipif(not hasattr(os, "fork"), reason="runs are killed in forked processes")
def test_killed_at_twenty_random_moments(task: Path, tmp_path: Path) -> None:
    program = [sys.executable, str(Path(__file__).with_name("kill_runs.py")), str(task), str(tmp_path), "20", "7"]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(Path(__file__).parents[1]), *sys.path])}
    done = subprocess.run(program, stdout=subprocess.PIPE, env=environment, check=True)
    report = json.loads(done.stdout)
    assert len(report["seen"]) == 20
    assert all(one["same"] for one in report["seen"])
    assert any(0 < one.get("steps", 0) < report["steps"] for one in report["seen"])


def test_interrupted_runs_keep_the_best_and_say_how_to_go_on(
    task: Path, tmp_path: Path, occamkit: Callable[..., Shown], monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = occamkit("run", str(task), "--out", str(tmp_path / "whole"), "--quiet")
    original = Trainer.step

    def step(self: Trainer) -> object:
        if self.steps == 20 and not (tmp_path / "sent").exists():
            (tmp_path / "sent").touch()
            os.kill(os.getpid(), signal.SIGINT)
        return original(self)

    monkeypatch.setattr(Trainer, "step", step)
    stopped = occamkit("run", str(task), "--out", str(tmp_path / "run"))
    assert f"occamkit resume {tmp_path / 'run'}" in stopped.stderr
    kept = json.loads((tmp_path / "run" / "result.json").read_text())
    assert (kept["stop"], kept["steps"]) == ("interrupted", 21)
    assert kept["outputs"][0]["best"]["expression"]
    resumed = occamkit("resume", str(tmp_path / "run"), "--quiet")
    assert resumed.stdout == whole.stdout
    again = occamkit("resume", str(tmp_path / "run"))
    assert "is finished" in again.stderr
    assert again.stdout == whole.stdout


def test_states_go_on_to_the_same_outcome_with_penalties_and_mini_batches(registry: Registry) -> None:
    sections = {
        "regularizers": [{"name": "activations", "weight": 0.01}, {"name": "near_trivia"}],
        "trainer": {"functions": 200, "batch": 20},
        "stop": {"max_steps": 25, "same_fitness_steps": 4},
    }
    states: list[State] = []
    whole = train(problem(registry, "exp(x/5)", **sections), kept_in(states))
    for place in (0, 7, 18):
        rest = train(problem(registry, "exp(x/5)", **sections), state=states[place])
        assert rest.fronts == whole.fronts
        assert rest.likeliest == whole.likeliest
        assert (rest.steps, rest.restarts, rest.functions) == (whole.steps, whole.restarts, whole.functions)


def test_states_go_on_with_the_constants_that_were_fitted(registry: Registry) -> None:
    sections = {
        "search": {"primitives": ["mul", "sin", "mul_c"], "constants": [], "depth": 2},
        "trainer": {"functions": 100},
        "stop": {"max_steps": 10},
    }
    states: list[State] = []
    whole = train(problem(registry, "exp(x/5)", **sections), kept_in(states))
    for place in (0, 5):
        rest = train(problem(registry, "exp(x/5)", **sections), state=states[place])
        assert (rest.fronts, rest.likeliest) == (whole.fronts, whole.likeliest)
        assert rest.unique_functions == whole.unique_functions


def test_a_run_bounded_by_seconds_has_the_seconds_that_were_left(registry: Registry) -> None:
    task = problem(registry, "exp(x/5)", stop={"max_steps": None, "seconds": 100.0})
    state = Run(alone(task)).state()
    seen: list[Event] = []
    outcome = train(task, seen.append, state={**state, "counts": {**state["counts"], "seconds": 99.9}})
    assert outcome.stop == "seconds"
    assert outcome.seconds >= 100
    assert seen[0].seconds >= 99.9


def test_the_film_is_bounded_and_evenly_spread(registry: Registry) -> None:
    film = Film()
    for step in range(1, 201):
        film.look(step, 1, lambda: torch.rand(3, 4))
    assert len(film.steps) <= 64
    assert film.steps[0] == 1
    assert {later - sooner for sooner, later in itertools.pairwise(film.steps[1:])} == {film.stride}
    again = Film.read(film.stored())
    assert again.steps == film.steps


def test_the_checkpoint_holds_plain_values_only(task: Path, tmp_path: Path, occamkit: Callable[..., Shown]) -> None:
    occamkit("run", str(task), "--out", str(tmp_path / "run"), "--quiet", "--set", "stop.max_steps=3")
    stored = torch.load(tmp_path / "run" / "checkpoint.pt", weights_only=True)
    assert stored["seed"] == 0
    assert stored["packs"] == {"occamkit": Registry.load(only=[]).versions()["occamkit"]}
    assert stored["state"]["steps"] == 3
    assert [path.name for path in sorted((tmp_path / "run").iterdir())] == [
        "checkpoint.pt", "report.html", "result.json", "task.toml", "trace.jsonl",
    ]  # fmt: skip


def test_results_are_read_back(task: Path, tmp_path: Path, occamkit: Callable[..., Shown], registry: Registry) -> None:
    occamkit("run", str(task), "--out", str(tmp_path / "run"), "--quiet", "--set", "stop.max_steps=3")
    result = RunFolder.open(tmp_path / "run").result(registry)
    assert result.to_dict() == json.loads((tmp_path / "run" / "result.json").read_text())
    assert Result.from_dict(result.to_dict()).to_json() == result.to_json()


def test_what_is_no_run_is_said_to_be_none(tmp_path: Path, occamkit: Callable[..., Shown]) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "notes.txt").touch()
    for name, words in [("none", "no such run folder"), ("empty", "is empty"), ("other", "no task.toml")]:
        for command in (["resume"], ["export", "--to", "c"]):
            shown = occamkit(command[0], str(tmp_path / name), *command[1:])
            assert (shown.exit_code, words in shown.stderr) == (2, True)


def test_changed_data_and_packs_are_refused(
    task: Path, tmp_path: Path, occamkit: Callable[..., Shown], monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = "\n".join(f"{x},{x * x + 0.1 * x}" for x in range(20))
    data = tmp_path / "data.csv"
    data.write_text(f"x,z\n{rows}\n")
    task.write_text(
        f'occamkit = 1\nname = "t"\ndata = {{ source = "csv", file = "{data}" }}\n'
        'inputs = [{ name = "x" }]\noutputs = [{ name = "z" }]\n'
        '[search]\nprimitives = ["mul", "add"]\n[stop]\nmax_steps = 5\n'
    )
    run = tmp_path / "run"
    occamkit("run", str(task), "--out", str(run), "--quiet")
    (run / "result.json").unlink()
    stored = torch.load(run / "checkpoint.pt", weights_only=True)
    torch.save({**stored, "packs": {"occamkit": "0.0.1"}}, run / "checkpoint.pt")
    changed = occamkit("resume", str(run))
    assert (changed.exit_code, "pack 'occamkit' 0.0.1" in changed.stderr) == (2, True)
    torch.save(stored, run / "checkpoint.pt")
    data.write_text(f"x,z\n{rows}\n99,99\n")
    moved = occamkit("resume", str(run))
    assert (moved.exit_code, "the data have changed" in moved.stderr) == (2, True)
