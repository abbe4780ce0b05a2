"""Growth, the million and the pictures, on tiny settings."""

from __future__ import annotations

import pytest
from occamkit_bench.growth import Cell, growth, in_own_process, measure_cell, straight_line
from occamkit_bench.million import million
from occamkit_bench.plot import plot_growth, plot_throughput

TINY = Cell(functions=50, rows=10, depth=2, features=2)


def test_growth_rows_and_lines():
    said: list[str] = []
    sweeps = {"functions": (20, 40), "rows": (5, 10), "depth": (1, 2), "features": (1, 3)}
    document = growth(sweeps, said.append, run=measure_cell, base=TINY, largest=TINY)
    assert [row["varied"] for row in document["rows"]] == [name for name in sweeps for _ in range(2)] + ["largest"]
    assert [row["functions"] for row in document["rows"]][:3] == [20, 40, 50]
    assert all(row["microseconds"] > 0 and row["peak_megabytes"] > 0 for row in document["rows"])
    assert set(document["lines"]) == {"functions", "rows"}
    assert said[:2] == ["functions = 20", "functions = 40"]


def test_a_process_of_its_own_has_its_own_peak():
    found = in_own_process(TINY)
    assert 0 < found["idle_megabytes"] <= found["peak_megabytes"]


def test_straight_line():
    line = straight_line([(1, 5.0), (2, 7.0), (10, 23.0)])
    assert line["fixed_milliseconds"] == pytest.approx(3)
    assert line["milliseconds_each"] == pytest.approx(2)
    assert line["worst_relative"] == pytest.approx(0, abs=1e-9)


def test_million_in_small():
    found = million(functions=100, total=500)
    assert found["functions"] == 500
    assert found["steps_cpu_seconds"] >= 0
    assert 0 < found["steps_new_functions"] <= 500
    assert 0 < found["steps_peak_megabytes"] <= found["run_peak_megabytes"]


def test_pictures(tmp_path):
    pytest.importorskip("matplotlib")
    row = {"functions": 20, "rows": 5, "depth": 2, "features": 2, "microseconds": 1.0, "step_milliseconds": 1.0}
    rows = [{**row, "varied": name, "peak_megabytes": 9.0} for name in ("functions", "depth")]
    line = {"fixed_milliseconds": 1.0, "milliseconds_each": 0.0, "worst_relative": 0.0}
    plot_growth({"rows": rows, "lines": {"functions": line}}, tmp_path / "growth.svg")
    speeds = [{"dataset": "1027_ESL", "functions": 2000, "occamkit": 9e4, "dense": 5e3}]
    plot_throughput(speeds, tmp_path / "speed.png")
    assert (tmp_path / "growth.svg").read_text().startswith("<?xml")
    assert (tmp_path / "speed.png").stat().st_size > 0
