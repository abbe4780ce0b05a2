"""Data that nobody would choose: a result, or one clear line."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

TASK = """
occamkit = 1
name = "odd"
[data]
source = "csv"
file = "odd.csv"
{more}
[[inputs]]
name = "a"
[[inputs]]
name = "b"
[[outputs]]
name = "y"
[search]
primitives = ["mul", "div", "mul_c", "pow_c"]
depth = 2
[trainer]
functions = 200
[stop]
max_steps = 30
"""

Rows = list[tuple[object, object, object]]


def drawn(count: int, size: float = 1.0) -> list[tuple[float, float]]:
    generator = random.Random(0)
    return [(generator.uniform(1, 5) * size, generator.uniform(1, 5) * size) for _ in range(count)]


@pytest.fixture
def solve(tmp_path: Path, occamkit: Callable[..., Result]) -> Callable[..., Result]:
    def run(rows: Rows, more: str = "") -> Result:
        lines = ["a,b,y", *(",".join(map(str, row)) for row in rows)]
        (tmp_path / "odd.csv").write_text("\n".join(lines))
        (tmp_path / "odd.toml").write_text(TASK.format(more=more))
        return occamkit("run", str(tmp_path / "odd.toml"), "--quiet", "--device", "cpu")

    return run


@pytest.mark.parametrize("size", [1e-30, 1e-10, 1e10, 1e30])
def test_huge_and_tiny_numbers_are_solved(solve: Callable[..., Result], size: float) -> None:
    result = solve([(a, b, a * b) for a, b in drawn(100, size)])
    assert result.exit_code == 0
    assert result.stdout.startswith("y = a*b ")


def test_a_column_of_one_value_is_no_obstacle(solve: Callable[..., Result]) -> None:
    result = solve([(a, 3.0, a * 3) for a, _ in drawn(100)])
    assert result.exit_code == 0
    assert "valid R² 1," in result.stdout


def test_a_target_of_one_value_is_that_value(solve: Callable[..., Result]) -> None:
    result = solve([(a, b, 1.0) for a, b in drawn(100)])
    assert result.exit_code == 0
    assert result.stdout.startswith("y = 1 ")


def test_missing_values_are_named_and_can_be_dropped(solve: Callable[..., Result]) -> None:
    rows: Rows = [(a, b, math.nan if i % 7 == 0 else a * b) for i, (a, b) in enumerate(drawn(100))]
    refused = solve(rows)
    assert refused.exit_code == 2
    assert 'missing = "drop"' in refused.stderr
    assert solve(rows, 'missing = "drop"').stdout.startswith("y = a*b ")


def test_an_infinite_value_is_named(solve: Callable[..., Result]) -> None:
    refused = solve([(a, b, math.inf if i == 3 else a * b) for i, (a, b) in enumerate(drawn(20))])
    assert refused.exit_code == 2
    assert "line 5" in refused.stderr


def test_three_rows_are_too_few_to_hold_any_out(solve: Callable[..., Result]) -> None:
    rows: Rows = [(1, 2, 2), (2, 3, 6), (3, 5, 15)]
    refused = solve(rows)
    assert refused.exit_code == 2
    assert "set both to 0" in refused.stderr
    assert solve(rows, "split = { valid = 0, test = 0 }").stdout.startswith("y = a*b ")


def test_a_hundred_thousand_rows(solve: Callable[..., Result]) -> None:
    result = solve([(a, b, 2.5 * a / b) for a, b in drawn(100_000)])
    assert result.exit_code == 0
    assert result.stdout.startswith("y = 2.5*a/b ")
