"""Small tables of measurements: is what `occamkit fit` finds the law that the books have?

A formula is the law if one of the law's forms, its numbers fitted to what the formula says of the table's rows, says
the same on every row. So a law in other words counts, and a law with something added does not.
"""

from __future__ import annotations

import tempfile
import time
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import Any

import pandas as pd
import torch
from torch import Tensor

from occamkit.errors import FormulaError, UserError, did_you_mean
from occamkit.language.folds import evaluate
from occamkit.language.parse import parse
from occamkit.packs.registry import Registry
from occamkit.runs.quick import Wishes, plan_file
from occamkit.solve import run
from occamkit.task.file.checks import callable_primitives
from occamkit_bench.clock import one_thread
from occamkit_bench.recovery import FORM_TOLERANCE, Primitives, refitted

SAME = 1e-3
"""The part of a value by which two forms of one law may differ on a row, for the sake of the fit."""

Report = Callable[[str], None]


@dataclass(frozen=True)
class RealTable:
    """A table, where it is from, and the forms of its law; see `tables.toml`."""

    name: str
    source: str
    output: str
    laws: tuple[str, ...]
    rows: str
    units: Mapping[str, str] = field(default_factory=dict)


def real_tables() -> list[RealTable]:
    """Return the tables of `tables.toml`."""
    text = files("occamkit_bench").joinpath("tables.toml").read_text(encoding="utf-8")
    return [RealTable(**{**one, "laws": tuple(one["laws"])}) for one in tomllib.loads(text)["table"]]


def chosen(tables: Sequence[RealTable], only: Sequence[str]) -> list[RealTable]:
    """Return the tables of these names; all without names."""
    known = {one.name: one for one in tables}
    for name in only:
        if name not in known:
            raise UserError(f"--only: there is no table {name!r}{did_you_mean(name, known)}")
    return [one for name, one in known.items() if not only or name in only]


def measure(
    tables: Sequence[RealTable], seconds: float, seed: int, units: bool, report: Report
) -> list[dict[str, Any]]:
    """Search each table as `occamkit fit` does; one row for each."""
    one_thread()
    rows = []
    for place, table in enumerate(tables, 1):
        rows.append(_search(table, seconds, seed, units))
        state = "the law" if rows[-1]["law"] else "not the law"
        report(f"{place}/{len(tables)} {table.name}: {state}, {rows[-1]['seconds']:.1f} s: {rows[-1]['found']}")
    return rows


def _search(table: RealTable, seconds: float, seed: int, units: bool) -> dict[str, Any]:
    registry = Registry.load()
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / f"{table.name}.csv"
        file.write_text(table.rows.strip() + "\n", encoding="utf-8")
        wishes = Wishes(units=table.units if units else {}, stop={"seconds": seconds})
        plan = plan_file(file, table.output, registry, wishes, seed=seed)
        spent = time.process_time()
        result = run(plan.task, seed=seed, device="cpu", registry=registry)
        spent = time.process_time() - spent
        frame = pd.read_csv(file)
    best = result.outputs[0].best
    columns = {name: torch.tensor(frame[name].to_numpy(), dtype=torch.float64) for name in frame.columns}
    del columns[table.output]
    found = best.expression if best is not None and best.inputs else None
    return {
        "name": table.name,
        "source": table.source,
        "law": found is not None and is_law(found, table.laws, columns, callable_primitives(registry)),
        "found": found,
        "form": None if best is None else best.form,
        "proposer": None if best is None else best.proposer,
        "r2": None if best is None else best.r2,
        "seconds": result.seconds,
        "cpu_seconds": round(spent, 3),
    }


def is_law(found: str, laws: Sequence[str], columns: Mapping[str, Tensor], primitives: Primitives) -> bool:
    """Whether a formula says of rows what one of the laws says with other numbers."""
    try:
        tree = parse(found, list(columns), primitives)
    except FormulaError:
        return False
    said = evaluate(tree, columns, primitives)
    if not bool(torch.isfinite(said).all()):
        return False
    size = said.abs() + FORM_TOLERANCE * float(said.abs().max())
    told = (refitted(parse(law, list(columns), primitives), columns, said, primitives) for law in laws)
    return any(bool(((one - said).abs() <= SAME * size).all()) for one in told)
