"""Tables that nobody has a law for: contenders, rows, ranks, and runs that go on where they ended."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from click.testing import CliRunner
from occamkit_bench import apart, black_box
from occamkit_bench.contenders import contender as room
from occamkit_bench.contenders.contender import Fitted, Values, contenders, hookimpl, named
from occamkit_bench.contenders.size import size_of

from occamkit.cli.main import cli
from occamkit.errors import UserError
from occamkit.task.data.pmlb import data_folder

needs_data = pytest.mark.skipif(data_folder() is None, reason="no folder of public data")


class Mean:
    """Tells the mean."""

    name = "mean"
    needs = ""

    def fit(self, inputs: Values, target: Values, seconds: float, seed: int) -> Fitted:
        return Fitted(lambda fresh: np.full(len(fresh), target.mean()), "the mean", 1)


def row(table: str, contender: str, r2: float | None, split: int = 0) -> dict[str, object]:
    return {"table": table, "split": split, "contender": contender, "r2": r2, "cpu_seconds": 1.0, "size": 5}


def test_ranks_are_those_of_means_over_splits_and_what_is_undefined_counts_as_minus_one() -> None:
    rows = [
        row("a", "one", 0.9), row("a", "one", 0.7, 1), row("b", "one", None), row("b", "one", 0.5, 1),
        row("a", "ridge", 0.6), row("a", "ridge", 0.6, 1), row("b", "ridge", 0.2), row("b", "ridge", 0.2, 1),
    ]  # fmt: skip
    about = black_box.summary(rows)
    assert about["one"]["mean_r2"] == pytest.approx((0.8 - 0.25) / 2)
    assert about["one"]["mean_rank"] == about["ridge"]["mean_rank"] == 1.5
    assert about["one"]["as_good_as_ridge"] == 1
    assert about["one"]["worst_r2"] is None
    assert about["one"]["median_size"] == 5


@needs_data
def test_a_split_has_all_rows_once_and_is_the_same_for_the_same_number() -> None:
    inputs, target, fresh, truth = black_box.rows_of("228_elusage", 0)
    assert (len(inputs), len(fresh)) == (41, 14)
    assert inputs.shape[1] == fresh.shape[1] == 2
    again = black_box.rows_of("228_elusage", 0)
    assert all((one == other).all() for one, other in zip((inputs, target, fresh, truth), again, strict=True))
    assert not (black_box.rows_of("228_elusage", 1)[1] == target).all()


def test_what_is_undefined_explains_nothing() -> None:
    truth = np.array([1.0, 2.0, 3.0])
    assert black_box.explained(truth, truth) == 1
    assert black_box.explained(np.array([1.0, np.inf, 3.0]), truth) == float("-inf")


def test_the_size_of_a_formula_is_its_numbers_names_operators_and_functions() -> None:
    assert size_of("2*x0 + sin(x1)", ["x0", "x1"]) == 6


def test_another_pack_brings_a_contender(monkeypatch: pytest.MonkeyPatch) -> None:
    pack = ModuleType("pack")
    pack.occamkit_bench_contenders = hookimpl(lambda: [Mean()])  # type: ignore[attr-defined]
    load = room.pluggy.PluginManager.load_setuptools_entrypoints
    monkeypatch.setattr(
        room.pluggy.PluginManager,
        "load_setuptools_entrypoints",
        lambda self, group: (self.register(pack), load(self, group))[1],
    )
    assert next(iter(contenders())) == "occamkit"
    assert contenders()["mean"].fit(np.ones((2, 1)), np.array([1.0, 3.0]), 1, 0).predict(np.ones((1, 1)))[0] == 2


def test_a_contender_that_is_not_there_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UserError, match="'ridg'; did you mean 'ridge'"):
        named(["ridg"])
    monkeypatch.setattr(room, "find_spec", lambda name: None)
    with pytest.raises(UserError, match="xgboost needs xgboost: pip install"):
        named(["xgboost"])


@needs_data
def test_the_command_goes_on_where_it_ended(tmp_path: Path) -> None:
    pytest.importorskip("sklearn")
    out = tmp_path / "rows.jsonl"
    command = ["bench", "black-box", "--only", "228_elusage", "--splits", "1", "--contenders", "ridge"]
    done = CliRunner().invoke(cli, [*command, "--out", str(out), "--json"])
    assert done.exit_code == 0, done.output
    document = json.loads(done.stdout)
    assert document["summary"]["ridge"]["mean_r2"] > 0.5
    again = CliRunner().invoke(cli, [*command, "--out", str(out)])
    assert "228_elusage  " in again.stdout
    assert again.stderr == ""
    out.write_text("{}\n")
    wrong = CliRunner().invoke(cli, [*command, "--out", str(out)], standalone_mode=False)
    assert isinstance(wrong.exception, UserError)
    assert "line 1" in str(wrong.exception)


def test_an_unknown_table_is_named() -> None:
    with pytest.raises(UserError, match="'228_elusag'; did you mean '228_elusage'"):
        black_box.chosen(["228_elusag"])


def test_what_goes_wrong_in_another_process_is_told() -> None:
    assert apart.run_apart("math:gcd", {}, 5)["error"].startswith("TypeError")
    assert "error" in apart.run_apart(f"{sys.__name__}:exit", {"code": 3}, 5)
