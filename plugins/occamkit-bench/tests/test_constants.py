"""The benchmark of constant fitting measures what it says."""

from __future__ import annotations

import json

from click.testing import CliRunner
from occamkit_bench.commands import bench


def test_every_method_is_measured_on_the_same_functions() -> None:
    done = CliRunner().invoke(bench, ["constants", "--functions", "10", "--json"])
    assert done.exit_code == 0
    rows = json.loads(done.stdout)["rows"]
    assert {row["method"] for row in rows} == {"levenberg-marquardt", "adam"}
    assert {row["constants"] for row in rows} == {1, 2, 3}
    assert all(0 <= row["solved"] <= 1 and row["fits_per_second"] > 0 for row in rows)
