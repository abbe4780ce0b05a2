"""Tables that nobody has a law for: who tells rows best that had no part in the learning?"""

from __future__ import annotations

import json
import statistics
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from occamkit.errors import UserError, did_you_mean
from occamkit_bench.apart import run_apart
from occamkit_bench.contenders.contender import Contender, Values, named

TABLES = (
    "192_vineyard", "228_elusage", "485_analcatdata_vehicle", "1096_FacultySalaries", "1089_USCrime", "210_cloud",
    "195_auto_price", "230_machine_cpu", "229_pwLinear", "1027_ESL", "1028_SWD", "1029_LEV", "1030_ERA",
    "4544_GeographicalOriginalofMusic",
)  # fmt: skip
"""Regression tables of PMLB with 47 to 1,059 rows and 2 to 117 inputs; 207_autoPrice is 195_auto_price again."""
LEARNED = 0.75
"""The part of the rows that is learned from."""
AS_GOOD = 0.01
"""The R² by which one may be below ridge regression and still count as as good."""
FLOOR = -1.0
"""What a worse R² counts as in a mean."""

Report = Callable[[str], None]


@dataclass(frozen=True)
class Duel:
    """One contender on one split of one table."""

    table: str
    split: int
    contender: str

    @property
    def key(self) -> tuple[str, int, str]:
        """What tells it from others."""
        return self.table, self.split, self.contender


def chosen(only: Sequence[str]) -> list[str]:
    """Return the tables of these names, which PMLB must have; the fourteen without names."""
    import pmlb

    for name in only:
        if name not in pmlb.dataset_names:
            raise UserError(f"--only: PMLB has no data set {name!r}{did_you_mean(name, pmlb.dataset_names)}")
    return list(only or TABLES)


def black_box(
    tables: Sequence[str],
    contenders: Sequence[Contender],
    splits: int,
    seconds: float,
    jobs: int,
    out: Path | None,
    report: Report,
) -> list[dict[str, Any]]:
    """Let every contender learn from every split of every table; rows that `out` has already are not made again."""
    duels = [Duel(table, split, one.name) for split in range(splits) for table in tables for one in contenders]
    known = {key: row for key, row in stored(out).items() if row["seconds"] == seconds and "error" not in row}
    left = [one for one in duels if one.key not in known]
    with ThreadPoolExecutor(jobs) as pool:
        made = pool.map(lambda one: _fought(one, seconds), left)
        for place, (duel, row) in enumerate(zip(left, made, strict=True), len(duels) - len(left) + 1):
            known[duel.key] = row
            if out is not None:
                with out.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(row, ensure_ascii=False) + "\n")
            told = f"failed: {row['error']}" if "error" in row else f"R² {row['r2']:.3f} in {row['cpu_seconds']:.1f} s"
            report(f"{place}/{len(duels)} {duel.table}, split {duel.split}, {duel.contender}: {told}")
    return [known[one.key] for one in duels]


def _fought(duel: Duel, seconds: float) -> dict[str, Any]:
    about = {"table": duel.table, "split": duel.split, "contender": duel.contender}
    made = run_apart("occamkit_bench.black_box:fight", {**about, "seconds": seconds}, seconds)
    return {**about, "seconds": seconds, "r2": None, **made}


def fight(given: dict[str, Any]) -> dict[str, Any]:
    """Learn from some rows, and tell the others."""
    from occamkit_bench.clock import peak_megabytes

    (contender,) = named([given["contender"]])
    inputs, target, fresh, truth = rows_of(given["table"], given["split"])
    spent = time.process_time()
    fitted = contender.fit(inputs, target, given["seconds"], given["split"])
    spent = time.process_time() - spent
    r2 = explained(np.asarray(fitted.predict(fresh), dtype=float), truth)
    return {
        "r2": r2 if np.isfinite(r2) else None,
        "cpu_seconds": round(spent, 3),
        "megabytes": round(peak_megabytes()),
        "size": fitted.size,
        "formula": fitted.formula,
    }


def rows_of(table: str, split: int) -> tuple[Values, Values, Values, Values]:
    """Return inputs [n, u] and target [n] to learn from, then those to tell; inputs that do not vary are left out."""
    from occamkit.task.data.pmlb import fetch

    columns = fetch(table)[1].numpy()
    inputs, target = columns[:-1].T, columns[-1]
    order = np.random.default_rng([split, sum(map(ord, table))]).permutation(len(target))
    learned, fresh = np.split(order, [round(LEARNED * len(order))])
    varied = inputs[learned].std(0) > 0
    return inputs[learned][:, varied], target[learned], inputs[fresh][:, varied], target[fresh]


def explained(told: Values, truth: Values) -> float:
    """Return the share of the truth's variance that is told; -inf where anything is undefined."""
    if not np.isfinite(told).all():
        return float("-inf")
    return float(1 - ((told - truth) ** 2).sum() / ((truth - truth.mean()) ** 2).sum())


def summary(rows: Sequence[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """Return for every contender the mean and the worst of R², its mean rank, and on how many tables ridge is matched.

    Ranks are those of the mean over the splits of a table.
    """
    names = list(dict.fromkeys(row["contender"] for row in rows))
    tables = list(dict.fromkeys(row["table"] for row in rows))
    means = {name: [mean_of(rows, table, name) for table in tables] for name in names}
    about = {}
    for name in names:
        own = [row for row in rows if row["contender"] == name]
        sizes = [row["size"] for row in own if row.get("size") is not None]
        ranks = [1 + sum(means[other][place] > mean for other in names) for place, mean in enumerate(means[name])]
        about[name] = {
            "mean_r2": statistics.mean(means[name]),
            "worst_r2": None if any(row["r2"] is None for row in own) else min(row["r2"] for row in own),
            "mean_rank": statistics.mean(ranks),
            "as_good_as_ridge": _as_good(means[name], means.get("ridge")),
            "median_size": statistics.median(sizes) if sizes else None,
            "largest_size": max(sizes, default=None),
            "cpu_seconds": round(statistics.mean(row.get("cpu_seconds") or 0.0 for row in own), 2),
            "peak_megabytes": max((row.get("megabytes") or 0 for row in own), default=0),
        }
    return about


def _as_good(means: Sequence[float], others: Sequence[float] | None) -> int | None:
    if others is None:
        return None
    return sum(one >= other - AS_GOOD for one, other in zip(means, others, strict=True))


def mean_of(rows: Iterable[dict[str, Any]], table: str, contender: str) -> float:
    """Return the mean R² of a contender on a table; what is undefined or runs away counts as -1."""
    own = [row["r2"] for row in rows if row["table"] == table and row["contender"] == contender]
    return statistics.mean(FLOOR if one is None else max(one, FLOOR) for one in own)


def stored(out: Path | None) -> dict[tuple[str, int, str], dict[str, Any]]:
    """Return the rows that a file holds; none if it is not there yet."""
    if out is None:
        return {}
    if not out.parent.is_dir():
        raise UserError(f"--out: there is no folder {str(out.parent)!r}")
    found = {}
    for number, line in enumerate(out.read_text(encoding="utf-8").splitlines() if out.exists() else (), 1):
        try:
            row = json.loads(line)
            found[(row["table"], row["split"], row["contender"])] = row
            row["seconds"], row["r2"]
        except (json.JSONDecodeError, KeyError, TypeError):
            raise UserError(f"--out: line {number} of {str(out)!r} is no row of this command") from None
    return found
