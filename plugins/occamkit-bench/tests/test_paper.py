"""The paper's tasks: what counts as found."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner
from occamkit_bench.commands import bench
from occamkit_bench.paper import PREFIX, PUBLISHED, chosen_tasks
from occamkit_bench.truth import POINTS, agree, inside, outside

from occamkit.packs.registry import Registry
from occamkit.task.file.checks import callable_primitives

REGISTRY = Registry.load(only=[])
PRIMITIVES = callable_primitives(REGISTRY)
RANGES = {"x": (-2.0, 4.0), "y": (1.0, 2.0)}


def test_every_published_task_is_registered():
    assert {PREFIX + name for name in PUBLISHED} <= set(chosen_tasks((), REGISTRY))


def test_points_inside_and_outside():
    points = inside(RANGES, seed=0)
    assert all(len(points[name]) == POINTS for name in RANGES)
    assert all(bool(((points[name] >= low) & (points[name] <= high)).all()) for name, (low, high) in RANGES.items())
    beyond = outside(RANGES, seed=0)
    assert len(beyond["x"]) == POINTS
    assert float(beyond["x"].min()) >= -3.5
    assert float(beyond["x"].max()) <= 5.5
    within = [(beyond[name] >= low) & (beyond[name] <= high) for name, (low, high) in RANGES.items()]
    assert not bool((within[0] & within[1]).any())


@pytest.mark.parametrize(
    ("found", "truth", "equal"),
    [
        ("x*(2*x + 3)", "2*x**2+3*x", True),
        ("2*x**2 + 3*x + 1e-5*y", "2*x**2+3*x", False),
        ("sin(x)", "sin(x) if x < 4 else 0", False),  # right inside the range alone
        ("log(x)", "x", False),  # undefined where the truth is not
        ("x", "x*sqrt(x)/sqrt(x)", True),  # where the truth is undefined does not count
    ],
)
def test_what_counts_as_found(found, truth, equal):
    points = (inside(RANGES, seed=0), outside(RANGES, seed=0))
    assert all(agree(found, truth, one, PRIMITIVES) for one in points) is equal


def test_paper_as_json():
    done = CliRunner().invoke(bench, ["paper", "--task", "2x2-3x", "--seeds", "2", "--json"])
    assert done.exit_code == 0, done.output
    (row,) = json.loads(done.stdout)["rows"]
    assert row["task"] == "paper/2x2-3x"
    assert (row["seeds"], row["paper_rate"], row["paper_seconds"]) == (2, 1.0, 5)
    assert row["successes"] + len(row["missed"]) == 2
    assert 0 <= row["mean_seconds"] <= row["max_seconds"]
    assert "seed 1" in done.stderr
