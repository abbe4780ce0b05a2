"""What every task promises."""

from __future__ import annotations

from typing import Any

import torch

from occamkit.protocols import Task, TaskFile
from occamkit.task.file.load import load_task
from occamkit.task.problem import make_problem, unsupported
from occamkit.testing.promises import Promises, Subject, refused

promise = Promises()


def _loaded(subject: Subject) -> Task:
    if not isinstance(subject.value, TaskFile):
        task: Task = subject.value
        return task
    path: Any = subject.value.path
    return refused(subject, lambda: load_task(path, subject.setting.registry))  # type: ignore[no-any-return]


@promise("validates")
def validates(subject: Subject) -> None:
    """It loads without a complaint, as `occamkit check` would."""
    _loaded(subject)


@promise("has rows")
def has_rows(subject: Subject) -> None:
    """Inputs and targets are finite numbers, with rows to train on."""
    task = _loaded(subject)
    dataset = refused(subject, lambda: task.data(0))
    finite = torch.isfinite(dataset.inputs).all() and torch.isfinite(dataset.targets).all()
    assert bool(finite), "a row holds NaN or an infinity; draw from where the target is defined"
    assert len(dataset.train) > 0, "no rows are left to train on"


@promise("same seed, same data")
def same_seed(subject: Subject) -> None:
    """Two loads with one seed give the same rows, in the same parts."""
    one, two = (refused(subject, lambda: _loaded(subject).data(7)) for _ in range(2))
    for field in ("inputs", "targets", "train", "valid", "test"):
        same = torch.equal(getattr(one, field), getattr(two, field))
        assert same, f"{field} differ between two loads with seed 7; draw from a generator with that seed"


@promise("can be set up")
def set_up(subject: Subject) -> None:
    """A search can begin on it, or occamkit says what it cannot do yet."""
    task, registry = _loaded(subject), subject.setting.registry
    registry = getattr(task, "registry", registry)
    if not list(unsupported(task.spec, registry)):
        refused(subject, lambda: make_problem(task, registry, 0, "cpu"))
