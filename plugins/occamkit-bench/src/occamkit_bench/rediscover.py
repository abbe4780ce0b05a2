"""Runs equations one by one, each in a process of its own, so that a crash or a leak costs one of them only."""

from __future__ import annotations

import json
import math
import statistics
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from occamkit.errors import UserError
from occamkit.protocols import Task
from occamkit.result import Result
from occamkit_bench.apart import run_apart
from occamkit_bench.equations import Equation

Report = Callable[[str], None]


@dataclass(frozen=True)
class Terms:
    """Under what terms equations are searched for; groups and scale are those of a task.

    through: the door, "task" for `occamkit.run` or "estimator" for `OccamRegressor`. form_only: whether, with noise,
    the form alone must be right.
    """

    seconds: float = 60.0
    noise: float = 0.0
    proposers: tuple[str, ...] = ()
    seed: int = 0
    groups: int = 0
    scale: str = "none"
    through: str = "task"
    form_only: bool = False


def rediscover(
    equations: Sequence[Equation], terms: Terms, jobs: int, out: Path | None, report: Report
) -> list[dict[str, Any]]:
    """Search for each equation; one row for each, in order. Rows that `out` has already are not run again."""
    known = stored(out)
    left = [one for one in equations if one.name not in known]
    with ThreadPoolExecutor(jobs) as pool:
        for place, row in enumerate(pool.map(lambda one: _searched(one, terms), left), len(equations) - len(left) + 1):
            known[row["name"]] = row
            if out is not None:
                with out.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(row, ensure_ascii=False) + "\n")
            report(f"{place}/{len(equations)} {describe(row)}")
    return [known[one.name] for one in equations]


def _searched(equation: Equation, terms: Terms) -> dict[str, Any]:
    """Search for one equation in another process; what goes wrong there is told in the row."""
    given = {"equation": equation.to_dict(), "terms": asdict(terms)}
    row = run_apart("occamkit_bench.rediscover:search_apart", given, terms.seconds)
    return _failed(equation, row["error"]) if "error" in row else row


def search_apart(given: dict[str, Any]) -> dict[str, Any]:
    """Search for an equation that came from another process."""
    terms = {**given["terms"], "proposers": tuple(given["terms"]["proposers"])}
    return search(Equation.from_dict(given["equation"]), Terms(**terms))


def search(equation: Equation, terms: Terms) -> dict[str, Any]:
    """Search for one equation and hold the best formula against it."""
    from occamkit.packs.registry import Registry
    from occamkit.solve import run
    from occamkit.task.file.checks import callable_primitives
    from occamkit.task.file.load import check_document
    from occamkit.task.prepared import PreparedTask
    from occamkit_bench.clock import one_thread, peak_megabytes
    from occamkit_bench.recovery import judge

    one_thread()
    registry = Registry.load()
    document = equation.task(terms.seconds, terms.noise, terms.proposers, terms.groups, terms.scale)
    task = PreparedTask(check_document(document, registry, Path()), registry, Path())
    started, spent = time.monotonic(), time.process_time()
    if terms.through == "estimator":
        result = _through_estimator(equation, terms, task)
    else:
        result = run(task, seed=terms.seed, device="cpu", registry=registry)
    wall, cpu = time.monotonic() - started, time.process_time() - spent
    best = result.outputs[0].best
    row: dict[str, Any] = {
        "name": equation.name,
        "formula": equation.formula,
        "seconds": result.seconds,
        "wall_seconds": round(wall, 3),
        "cpu_seconds": round(cpu, 3),
        "stop": result.stop,
    }
    if best is None:
        return {**row, "recovered": False, "found": None, "megabytes": round(peak_megabytes())}
    verdict = judge(
        best.expression,
        equation.formula,
        equation.ranges,
        callable_primitives(registry),
        noisy=terms.noise > 0,
        form_only=terms.form_only,
    )
    return {
        **row,
        "recovered": verdict.recovered,
        "found": best.expression,
        "proposer": best.proposer,
        "complexity": best.complexity,
        "inside": _finite(verdict.inside),
        "outside": _finite(verdict.outside),
        "r2_of_truth": _finite(verdict.r2),
        "megabytes": round(peak_megabytes()),
    }


def _through_estimator(equation: Equation, terms: Terms, task: Task) -> Result:
    """Fit `OccamRegressor` to all points of an equation; it holds out rows of its own to choose by."""
    import pandas as pd

    from occamkit import OccamRegressor

    rows = task.data(terms.seed)
    table = pd.DataFrame(dict(zip(equation.variables, rows.inputs.numpy(), strict=True)))
    names = [f"occamkit:{name}" for name in equation.primitives]
    model = OccamRegressor(primitives=names, seconds=terms.seconds, random_state=terms.seed, device="cpu")
    return model.fit(table, rows.targets[0].numpy()).result_


def summary(rows: Sequence[dict[str, Any]], near: float = 0.999) -> dict[str, Any]:
    """Return how many were recovered and how long those took; near: the share of the truth's variance to explain."""
    solved = [row["seconds"] for row in rows if row["recovered"]]
    return {
        "equations": len(rows),
        "recovered": len(solved),
        "median_seconds_of_recovered": round(statistics.median(solved), 3) if solved else None,
        "mean_seconds": round(statistics.mean(row["seconds"] or 0.0 for row in rows), 3) if rows else None,
        "peak_megabytes": max((row.get("megabytes") or 0 for row in rows), default=0),
        "near": sum((row.get("r2_of_truth") or 0.0) > near for row in rows),
        "missed": [row["name"] for row in rows if not row["recovered"]],
    }


def describe(row: dict[str, Any]) -> str:
    """Return one line about an equation."""
    if "error" in row:
        return f"{row['name']}: failed: {row['error']}"
    state = "recovered" if row["recovered"] else "missed"
    return f"{row['name']}: {state} in {row['seconds']:.2f} s ({row.get('proposer', 'nothing')}): {row['found']}"


def side_by_side(columns: Mapping[str, Mapping[str, dict[str, Any]]]) -> list[str]:
    """Return a table in Markdown: a row for each equation, and the seconds of those that were recovered."""
    names = list(dict.fromkeys(name for rows in columns.values() for name in rows))
    lines = [["Equation", *columns], ["---"] * (len(columns) + 1)]
    lines += [[name, *(_cell(rows.get(name)) for rows in columns.values())] for name in names]
    about = [summary(list(rows.values())) for rows in columns.values()]
    lines.append(["**recovered**", *(f"{one['recovered']} of {one['equations']}" for one in about)])
    lines.append(["median s of these", *(f"{one['median_seconds_of_recovered'] or 0:.2f}" for one in about)])
    lines.append(["most memory, MB", *(str(one["peak_megabytes"]) for one in about)])
    return [f"| {' | '.join(line)} |" for line in lines]


def _cell(row: dict[str, Any] | None) -> str:
    if row is None:
        return "not run"
    return f"{row['seconds']:.2f}" if row["recovered"] else ""


def _failed(equation: Equation, why: str) -> dict[str, Any]:
    return {
        "name": equation.name,
        "formula": equation.formula,
        "seconds": None,
        "recovered": False,
        "found": None,
        "error": why,
    }


def stored(out: Path | None) -> dict[str, dict[str, Any]]:
    """Return the rows that a file holds, by name; none if it is not there yet."""
    if out is None or not out.exists():
        if out is not None and not out.parent.is_dir():
            raise UserError(f"--out: there is no folder {str(out.parent)!r}")
        return {}
    return {row["name"]: row for row in _lines(out)}


def _lines(out: Path) -> Iterator[dict[str, Any]]:
    for number, line in enumerate(out.read_text(encoding="utf-8").splitlines(), 1):
        try:
            row = json.loads(line)
            row["name"], row["recovered"]
        except (json.JSONDecodeError, KeyError, TypeError):
            raise UserError(f"--out: line {number} of {str(out)!r} is no row of this command") from None
        yield row


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
