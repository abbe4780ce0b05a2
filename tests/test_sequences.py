"""Series as rows of a state and the next one."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

import occamkit as toolkit
from occamkit import Registry
from occamkit.errors import DataError, TaskError
from occamkit.protocols import Task
from occamkit.task.file.load import load_task

TASK = """
occamkit = 1
name = "series"
data = {{ source = "sequence", file = "series.csv", lags = {lags}, split = {{ valid = 0.2, test = 0.2 }} }}
{more}
"""


@pytest.fixture
def load(tmp_path: Path, registry: Registry) -> Callable[..., Task]:
    def load(series: str, lags: int = 1, more: str = "") -> Task:
        (tmp_path / "series.csv").write_text(series)
        path = tmp_path / "task.toml"
        path.write_text(TASK.format(lags=lags, more=more))
        return load_task(path, registry)

    return load


@pytest.mark.parametrize("series", ["1, 2, 3, 5, 8, 13, 21\n", "1\n2\n3\n5\n8\n13\n21", "x\n1\n2\n3\n5\n8\n13\n21\n"])
def test_values_before_are_inputs_and_later_rows_are_held_out(load: Callable[..., Task], series: str) -> None:
    data = load(series, lags=2).data(seed=3)
    assert [one.name for one in data.variables] == ["x_1", "x_2"]
    assert data.inputs.tolist() == [[2, 3, 5, 8, 13], [1, 2, 3, 5, 8]]
    assert data.targets.tolist() == [[3, 5, 8, 13, 21]]
    assert (data.train.tolist(), data.valid.tolist(), data.test.tolist()) == ([0, 1, 2], [3], [4])


def test_several_series_with_units(load: Callable[..., Task]) -> None:
    more = '[[outputs]]\nname = "b"\nunit = "km"\n[[inputs]]\nname = "a_2"\n[[inputs]]\nname = "b_1"\nunit = "km"\n'
    data = load("a,b\n1,10\n2,20\n3,30\n4,40\n5,50\n6,60\n", 2, more).data(0)
    assert data.inputs.tolist() == [[1, 2, 3, 4], [20_000, 30_000, 40_000, 50_000]]
    assert data.targets.tolist() == [[30_000, 40_000, 50_000, 60_000]]
    assert data.lines == (4, 5, 6, 7)


@pytest.mark.parametrize(
    ("more", "key", "message"),
    [
        ('outputs = [{ name = "z" }]', "outputs[0].name", "no series 'z'"),
        ('inputs = [{ name = "x_3" }]', "inputs[0].name", "no value before"),
    ],
)
def test_mistakes(load: Callable[..., Task], more: str, key: str, message: str) -> None:
    with pytest.raises(TaskError) as error:
        load("x\n1\n2\n3\n4\n5\n", 2, more)
    assert [(one.key, message in one.message) for one in error.value.problems] == [(key, True)]


def test_a_series_that_is_too_short_or_no_series(load: Callable[..., Task]) -> None:
    with pytest.raises(DataError, match="too few for lags = 4"):
        load("1 2 3", 4).data(0)
    with pytest.raises(DataError, match=r"series.csv:2: is not a number: 'b'"):
        load("1\nb\n3\n", 1).data(0)
    with pytest.raises(TaskError, match="must name the columns"):
        load("1,2\n3,4\n", 1)


def test_a_recurrence_is_found_in_a_series(load: Callable[..., Task], tmp_path: Path) -> None:
    load("1, 1, 2, 3, 5, 8, 13, 21, 34", lags=2)
    result = toolkit.run(tmp_path / "task.toml", device="cpu", stop__max_steps=100)
    assert result.outputs[0].best is not None
    assert result.outputs[0].best.expression == "x_1 + x_2"


def test_a_series_with_every_second_value_has_a_step_of_its_own(load: Callable[..., Task], tmp_path: Path) -> None:
    more = """
    search = { primitives = ["add", "mul", "div"], constants = [1, 2], depth = 3 }
    wrapper = { name = "recurrence", depth = 2 }
    """
    values = [7.0]
    for _ in range(11):
        values.append(1 + 2 / values[-1])
    series = "\n".join(map(repr, values[::2]))
    load(series, 1, more)
    result = toolkit.run(tmp_path / "task.toml", device="cpu", stop__max_steps=150)
    best = result.outputs[0].best
    assert best is not None
    assert best.recurrence == 2
    assert best.expression in {"1 + 2/x_1", "(x_1 + 2)/x_1"}


def test_check_shows_what_grows(load: Callable[..., Task], tmp_path: Path, occamkit: Callable[..., Result]) -> None:
    load("1, 1, 2, 3, 5, 8, 13, 21, 34", lags=2)
    shown = occamkit("check", str(tmp_path / "task.toml")).output
    assert "inputs     x_1, x_2" in shown
    assert "depth 2 to 5" in shown
