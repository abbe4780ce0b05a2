"""Run folders: `task.toml`, `checkpoint.pt`, `trace.jsonl` and `result.json`, written so that a reader always can.

A folder is filled in one step when the run begins, so that it is empty or whole. The checkpoint is replaced every few
seconds, the result comes last. A run that was killed has no result yet; it is then read off the checkpoint.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import shutil
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch

from occamkit.errors import UserError
from occamkit.files import write_whole
from occamkit.packs.registry import Registry
from occamkit.protocols import Task
from occamkit.result import Result
from occamkit.result.write import make_result
from occamkit.search import Event, Run, State, Stepped, TurnEnded, conclude_state
from occamkit.task.file.load import dump_toml, load_task
from occamkit.task.file.model import PLUGIN_KEYS
from occamkit.task.problem import Problem, make_problem
from occamkit.task.spec import CsvData, SequenceData, TaskSpec
from occamkit.task.vocabulary import all_primitives
from occamkit.train.film import Film

FORMAT = 3
"""Version of the checkpoint file."""

EVERY = 10.0
"""Seconds between checkpoints."""


@dataclass(frozen=True)
class RunFolder:
    """A run on disk."""

    path: Path

    @classmethod
    def open(cls, path: Path) -> RunFolder:
        """Return the run in a folder, or say what is missing."""
        if not path.is_dir():
            raise UserError(f"{path}: no such run folder")
        if not any(path.iterdir()):
            raise UserError(f"{path}: is empty; the run was ended before it began: start it again with --out {path}")
        if not (path / "task.toml").is_file():
            raise UserError(f"{path}: is no run folder; it has no task.toml")
        return cls(path)

    def task(self, registry: Registry) -> Task:
        """Return the task, resolved as it was run."""
        return load_task(self.path / "task.toml", registry)

    def checkpoint(self) -> dict[str, Any]:
        """Return the last checkpoint: seed, device, packs, a digest of the data, and the state of the run."""
        path = self.path / "checkpoint.pt"
        if not path.is_file():
            raise UserError(f"{self.path}: has no checkpoint.pt; it was made by a version that kept none")
        stored: dict[str, Any] = torch.load(path, weights_only=True, map_location="cpu")
        if stored.get("format") != FORMAT:
            raise UserError(f"{path}: has format {stored.get('format')!r}, this version reads {FORMAT}")
        return stored

    @property
    def finished(self) -> bool:
        """Whether the run has ended by itself."""
        stored = self._stored_result()
        return stored is not None and stored.stop != "interrupted"

    def result(self, registry: Registry) -> Result:
        """Return the result, or what the last checkpoint has come to."""
        stored = self._stored_result()
        if stored is not None:
            return stored
        kept = self.checkpoint()
        problem = self.problem(registry, kept)
        return make_result(problem, conclude_state(problem, kept["state"]))

    def problem(self, registry: Registry, checkpoint: dict[str, Any] | None = None) -> Problem:
        """Return the problem that was searched; refuses data and packs that have changed since."""
        kept = checkpoint or self.checkpoint()
        task = self.task(registry)
        _require_packs(self.path, kept["packs"], used_packs(task.spec, registry))
        device = kept["device"]
        problem = make_problem(task, registry, kept["seed"], device)
        if digest(problem) != kept["data"]:
            raise UserError(f"{self.path}: the data have changed since the run began; start a new run")
        return problem

    def _stored_result(self) -> Result | None:
        path = self.path / "result.json"
        if not path.is_file():
            return None
        return Result.from_dict(json.loads(path.read_text(encoding="utf-8")))

    def write_result(self, result: Result) -> None:
        """Write the result; of a run that has ended, the checkpoint no longer needs what it takes to go on."""
        write_whole(self.path / "result.json", result.to_json())
        if result.stop != "interrupted":
            kept = self.checkpoint()
            workers = [{**one, "from": None, "since": []} for one in kept["state"]["workers"]]
            kept["state"] = {**kept["state"], "workers": workers, "history": {}}
            _write_checkpoint(self.path, kept)


def claim(path: Path) -> Path:
    """Make a new folder for a run, or refuse before any time is spent."""
    if path.is_file():
        raise UserError(f"--out: {path} is a file; name a new folder")
    if path.is_dir() and any(path.iterdir()):
        raise UserError(f"--out: {path} exists already and is not empty; results are never overwritten")
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(f"--out: {path} cannot be made: {error.strerror}") from None
    return path


def start(path: Path, problem: Problem, base: Path) -> RunFolder:
    """Fill a claimed folder in one step; paths in the task are relative to `base`."""
    new = path.resolve().with_name(f".{path.resolve().name}.{os.getpid()}.part")
    new.mkdir()
    try:
        write_whole(new / "task.toml", dump_toml(_found_anywhere(problem.spec, base)))
        save(new, problem, Run(problem).state(), Film())
        os.replace(new, path.resolve())  # an empty folder gives way to a whole one
    except BaseException:
        shutil.rmtree(new, ignore_errors=True)
        raise
    return RunFolder(path)


def save(folder: Path, problem: Problem, state: State, film: Film) -> None:
    """Replace the checkpoint."""
    stored = {
        "format": FORMAT,
        "seed": problem.seed,
        "device": str(problem.device),
        "packs": used_packs(problem.spec, problem.registry),
        "data": digest(problem),
        "state": dict(state),
        "film": film.stored(),
    }
    _write_checkpoint(folder, stored)


def _write_checkpoint(folder: Path, stored: dict[str, Any]) -> None:
    file = io.BytesIO()
    torch.save(stored, file)
    write_whole(folder / "checkpoint.pt", file.getvalue())


@dataclass
class FolderKeeper:
    """Keeps a run in its folder: hears what happens, films the network, and saves the state every so often.

    A save that takes long makes the next one wait: at most a twentieth of the time is spent on saving.
    """

    folder: Path
    problem: Problem
    every: float = EVERY
    film: Film = field(default_factory=Film)
    _next: float = field(default_factory=time.monotonic)

    @classmethod
    def of(cls, folder: RunFolder, problem: Problem, every: float, *, resumed: bool) -> FolderKeeper:
        """Return what keeps a run in a folder, with the film so far if it is resumed."""
        film = Film.read(folder.checkpoint()["film"]) if resumed else Film()
        return cls(folder.path, problem, every, film, time.monotonic() + every)

    def __call__(self, event: Event) -> None:
        """Film a step; save at the end of a turn if it is time, or if it was the last."""
        if isinstance(event, Stepped):
            self.film.look(event.progress.step, event.progress.start, event.progress.probabilities)
        if isinstance(event, TurnEnded) and (event.stop is not None or time.monotonic() >= self._next):
            started = time.monotonic()
            save(self.folder, self.problem, event.state(), self.film)
            ended = time.monotonic()
            self._next = ended + max(self.every, 19 * (ended - started))


def digest(problem: Problem) -> str:
    """Return a fingerprint of the rows and of how they are split."""
    dataset = problem.dataset
    found = hashlib.sha256()
    for tensor in (dataset.inputs, dataset.targets, dataset.train, dataset.valid, dataset.test):
        found.update(tensor.contiguous().numpy().tobytes())
    return found.hexdigest()


def used_packs(spec: TaskSpec, registry: Registry) -> dict[str, str]:
    """Return the version of every pack that a task takes something from."""
    packs = {entry.pack for entry in all_primitives(registry, spec.search.primitives)}
    for key, kind in PLUGIN_KEYS.items():
        chosen = getattr(spec, key)
        for choice in chosen if isinstance(chosen, list) else [chosen]:
            if choice is not None:
                packs.add(registry.find(kind, choice.name).pack)
    versions = registry.versions()
    return {name: versions[name] for name in sorted(packs)}


def _require_packs(path: Path, recorded: dict[str, str], present: dict[str, str]) -> None:
    for name, version in recorded.items():
        if present.get(name) != version:
            now = f"is {present[name]} now" if name in present else "is not used now"
            raise UserError(f"{path}: was made with pack {name!r} {version}, which {now}; install that version again")


def _found_anywhere(spec: TaskSpec, base: Path) -> TaskSpec:
    """Name the data file and the task's own packs by their whole paths, since the folder is another one."""
    if spec.plugins:
        spec = spec.model_copy(update={"plugins": [str((base / one).resolve()) for one in spec.plugins]})
    if not isinstance(spec.data, CsvData | SequenceData):
        return spec
    file = str((base / spec.data.file).resolve())
    return spec.model_copy(update={"data": spec.data.model_copy(update={"file": file})})
