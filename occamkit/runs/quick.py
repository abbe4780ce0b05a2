"""From a table to a task with nothing else said: what `occamkit fit` and `OccamRegressor` run.

Every choice made here is a value in the task that comes out, which can be read, changed and run again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch

from occamkit.errors import DataError, did_you_mean
from occamkit.packs.registry import Registry
from occamkit.protocols import Output, Task, Variable
from occamkit.task.data.dataset import Dataset, Scale, split_rows
from occamkit.task.data.glance import Columns, Glance, glance, telling
from occamkit.task.file.load import check_document
from occamkit.task.prepared import PreparedTask
from occamkit.task.spec import TaskData, TaskSpec
from occamkit.units import DIMENSIONLESS

FEWEST_ROWS = 4
FEW_ROWS = 30
"""Of fewer rows than these none is kept for a test, and a quarter validates."""
SEARCHED_ROWS = 5_000
"""A larger table is searched on this many rows, half to train and half to validate; all others are only scored."""
MOST_INPUTS = 12
"""Of more columns than these, the search gets those that tell most about the target."""


@dataclass(frozen=True)
class Wishes:
    """What may be said besides the table; None is our choice.

    stop: values of [stop]. trainer: values of [trainer]. start: formulas to start from. proposers: names of those that
    search.
    """

    primitives: Sequence[str] | None = None
    constants: Sequence[float | str] | None = None
    units: Mapping[str, str] = field(default_factory=dict)
    start: Sequence[str] = ()
    stop: Mapping[str, Any] = field(default_factory=dict)
    trainer: Mapping[str, Any] = field(default_factory=dict)
    proposers: Sequence[str] | None = None


@dataclass(frozen=True)
class Plan:
    """A task, and a line for each thing that was decided and that its owner should know."""

    task: Task
    notes: tuple[str, ...]


@dataclass(frozen=True)
class TableTask:
    """A task whose rows are in memory."""

    spec: TaskSpec
    inputs: torch.Tensor  # [u, n]
    target: torch.Tensor  # [n]
    shares: tuple[float, float]

    @property
    def name(self) -> str:
        """The task's own name."""
        return self.spec.name

    def data(self, seed: int) -> Dataset:
        """Return the rows, split by seed."""
        train, valid, test = split_rows(self.inputs.shape[1], *self.shares, seed)
        names = [one.name for one in self.spec.inputs]
        return Dataset(
            inputs=self.inputs,
            targets=self.target.unsqueeze(0),
            variables=tuple(Variable(name, DIMENSIONLESS) for name in names),
            outputs=(Output(self.spec.outputs[0].name, DIMENSIONLESS),),
            scales=(Scale(),) * (len(names) + 1),
            train=train,
            valid=valid,
            test=test,
        )


def plan_file(
    path: Path,
    target: str,
    registry: Registry,
    wishes: Wishes,
    inputs: Sequence[str] | None = None,
    missing: str = "error",
    seed: int = 0,
    split: tuple[float, float] | None = None,
) -> Plan:
    """Make the task of finding one column of a CSV file from the others, or from `inputs`.

    split: the parts of the rows that validate and that test, in place of ours.
    """
    seen = glance(path, None if inputs is None else [*inputs, target])
    _require(path, seen, target, inputs)
    given = inputs is not None
    shares = split or _shares(seen.rows, tested=True)
    names = list(inputs) if inputs is not None else [name for name in seen.numbers if name != target]
    notes = [_left_out(seen.texts, "do not hold numbers")] if not given and seen.texts else []
    if not given:
        names, still = _varied(seen, names)
        notes += [_left_out(still, "have one value only")] if still else []
        names, more = _screened(seen, names, target, shares, seed)
        notes += more
    if not names:
        raise DataError(f"{path}: has no column of numbers besides {target!r}")
    _require_units(wishes.units, [*names, target])
    notes += _row_note(seen.rows, shares)
    data = {"source": "csv", "file": path.name, "missing": missing, "split": _split(shares)}
    document = _document(path.stem or "table", data, names, target, registry, wishes)
    spec = check_document(document, registry, path.parent, file="occamkit fit")
    return Plan(PreparedTask(spec, registry, path.parent), tuple(notes))


def plan_table(
    inputs: Columns, target: Columns, names: Sequence[str], output: str, registry: Registry, wishes: Wishes, seed: int
) -> Plan:
    """Make the task of finding a column [n] from others [u, n] that are in memory; nothing is held out as a test."""
    rows = inputs.shape[1]
    shares = _shares(rows, tested=False)
    seen = Glance(rows, (*names, output), (), np.concatenate([inputs, target[None]]), np.arange(rows, dtype=float))
    moving, still = _varied(seen, names)
    notes = [_left_out(still, "have one value only")] if still and moving else []
    chosen, more = _screened(seen, moving or list(names), output, shares, seed)
    notes += more
    # Checked like a task whose rows are drawn from a formula, and then told that they are given.
    drawn = {"source": "formula", "target": "0"}
    document = _document("table", drawn, chosen, output, registry, wishes)
    for one in document["inputs"]:
        one["range"] = [0, 1]
    spec = check_document(document, registry, Path(), file="OccamRegressor")
    plain = [one.model_copy(update={"range": None}) for one in spec.inputs]
    spec = spec.model_copy(update={"data": TaskData(source="table"), "inputs": plain})
    kept = torch.from_numpy(inputs[[list(names).index(name) for name in chosen]].copy())
    notes += _row_note(rows, shares)
    return Plan(TableTask(spec, kept, torch.from_numpy(target.copy()), shares), tuple(notes))


def _document(
    name: str, data: dict[str, Any], inputs: Sequence[str], target: str, registry: Registry, wishes: Wishes
) -> dict[str, Any]:
    """Return a task file with our choices in it."""
    search: dict[str, Any] = {"start": list(wishes.start)}
    search["primitives"] = list(wishes.primitives or registry.defaults()["primitives"])
    if wishes.constants is not None:
        search["constants"] = list(wishes.constants)
    columns = [{"name": one, "unit": wishes.units.get(one, "")} for one in inputs]
    document: dict[str, Any] = {
        "occamkit": 1,
        "name": name,
        "data": data,
        "inputs": columns,
        "outputs": [{"name": target, "unit": wishes.units.get(target, "")}],
        "search": search,
        "trainer": dict(wishes.trainer),
        "stop": {"same_best_restarts": 4, **wishes.stop},
    }
    if wishes.proposers is not None:
        document["proposers"] = [{"name": one} for one in wishes.proposers]
    # Factor and offset of the whole formula are solved for.
    return {**document, "fitness": {**registry.defaults()["fitness"], "scale": "affine"}}


def _require(path: Path, seen: Glance, target: str, inputs: Sequence[str] | None) -> None:
    """Refuse a table in which the target, or an input that was asked for, cannot be used."""
    if target in (inputs or ()):
        raise DataError(f"{path}: column {target!r} is the target and cannot be an input", column=target)
    for name in (target, *(inputs or ())):
        if name in seen.texts:
            raise DataError(f"{path}: column {name!r} does not hold numbers", column=name)
        if name not in seen.numbers:
            raise DataError(f"{path}: no column {name!r}{did_you_mean(name, seen.numbers)}", column=name)
    if seen.rows < FEWEST_ROWS:
        rows = "1 row" if seen.rows == 1 else f"{seen.rows} rows"
        raise DataError(f"{path}: has {rows}; at least {FEWEST_ROWS} are needed")
    if _still(seen.columns([target])[0]):
        raise DataError(f"{path}: column {target!r} has one value only; there is nothing to find", column=target)


def _require_units(units: Mapping[str, str], used: Sequence[str]) -> None:
    for name in units:
        if name not in used:
            raise DataError(f"--unit {name}=...: no column {name!r} is used{did_you_mean(name, used)}", column=name)


def _still(column: Columns) -> bool:
    """Tell whether all values of a column [m] are the same; missing ones do not count."""
    known = column[~np.isnan(column)]
    return bool((known == known[:1]).all())


def _varied(seen: Glance, names: Sequence[str]) -> tuple[list[str], list[str]]:
    """Part columns into those that change and those that never do."""
    still = {name for name, column in zip(names, seen.columns(names), strict=True) if _still(column)}
    return [name for name in names if name not in still], [name for name in names if name in still]


def _screened(
    seen: Glance, names: list[str], target: str, shares: tuple[float, float], seed: int
) -> tuple[list[str], list[str]]:
    """Return the columns that the search gets, and a line that says so when they are not all.

    No test row is read, unless rows with gaps are dropped later: then the parts are cut anew, and some may have been.
    """
    if len(names) <= MOST_INPUTS:
        return names, []
    *_, test = split_rows(seen.rows, *shares, seed)
    output = seen.columns([target])[0]
    read = ~np.isin(seen.places, test.numpy()) & np.isfinite(output)
    inputs = seen.columns(names)[:, read]
    inputs = np.where(np.isfinite(inputs), inputs, np.nanmean(inputs, axis=1, keepdims=True))
    chosen = [names[place] for place in telling(inputs, output[read], MOST_INPUTS)]
    note = f"{len(names):,} columns: the search uses the {MOST_INPUTS} that tell most about {target}: "
    return chosen, [note + ", ".join(chosen)]


def _shares(rows: int, tested: bool) -> tuple[float, float]:
    """Return the parts of the rows that validate and that test."""
    if rows > SEARCHED_ROWS:
        return SEARCHED_ROWS / 2 / rows, 1 - SEARCHED_ROWS / rows
    if rows < FEW_ROWS:
        return 0.25, 0.0
    return 0.2, 0.2 if tested else 0.0


def _split(shares: tuple[float, float]) -> dict[str, float]:
    valid, test = shares
    return {"valid": valid, "test": test}


def _left_out(names: Sequence[str], reason: str) -> str:
    return f"left out, since they {reason}: {', '.join(names)}"


def _row_note(rows: int, shares: tuple[float, float]) -> list[str]:
    """Return a line about the rows when the search does not use them all."""
    if rows <= SEARCHED_ROWS:
        return []
    searched = rows - round(rows * shares[1])
    return [f"{rows:,} rows: the search uses {searched:,} of them, drawn at random; the rest are only scored"]
