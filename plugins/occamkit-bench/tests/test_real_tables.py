"""Small tables of measurements, and what counts as the law behind them."""

from __future__ import annotations

import json

import pytest
import torch
from click.testing import CliRunner
from occamkit_bench.real_tables import is_law, real_tables

from occamkit import Registry
from occamkit.cli.main import cli
from occamkit.language.folds import evaluate
from occamkit.language.parse import parse
from occamkit.task.file.checks import callable_primitives

PRIMITIVES = callable_primitives(Registry.load())
X = {"x": torch.linspace(1, 9, 12, dtype=torch.float64)}


def test_every_table_names_its_source_and_has_rows_for_its_law() -> None:
    tables = real_tables()
    assert len(tables) >= 12
    for table in tables:
        header, *rows = table.rows.strip().splitlines()
        names = header.split(",")
        assert table.source
        assert table.output in names
        assert len(rows) >= 8
        assert all(len(row.split(",")) == len(names) for row in rows)
        values = torch.tensor([[float(cell) for cell in row.split(",")] for row in rows], dtype=torch.float64).T
        columns = dict(zip(names, values, strict=True))
        target = columns.pop(table.output)
        told = [evaluate(parse(law, list(columns), PRIMITIVES), columns, PRIMITIVES) for law in table.laws]
        # The books' numbers tell the rows at least roughly.
        assert min(float((one - target).square().mean() / target.square().mean()) for one in told) < 0.5, table.name


@pytest.mark.parametrize(
    ("found", "is_it"),
    [("7.1/(x + 3)", True), ("1/(0.2*x + 0.6)", True), ("7.1/(x + 3) + 0.1", False), ("7.1/(x + 3)**2", False)],
)
def test_a_law_in_other_words_counts_and_one_with_something_added_does_not(found: str, is_it: bool) -> None:
    assert is_law(found, ["5.0/(x + 2.0)"], X, PRIMITIVES) is is_it


def test_a_formula_that_cannot_be_read_is_no_law() -> None:
    assert not is_law("7.1/(z + 3)", ["5.0/(x + 2.0)"], X, PRIMITIVES)


def test_the_command_says_which_are_the_law() -> None:
    done = CliRunner().invoke(cli, ["bench", "real-tables", "--only", "ptolemy", "--seconds", "20", "--json"])
    assert done.exit_code == 0, done.output
    document = json.loads(done.stdout)
    assert document["laws"] == 1
    assert document["rows"][0]["found"] is not None


def test_an_unknown_table_is_named() -> None:
    done = CliRunner().invoke(cli, ["bench", "real-tables", "--only", "keplr"])
    assert "did you mean 'kepler'" in (done.output + str(done.exception))
