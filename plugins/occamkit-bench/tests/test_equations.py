"""Known equations: what becomes a task, what counts as recovered, and runs that go on where they ended."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner
from occamkit_bench import equations as room
from occamkit_bench.commands import bench
from occamkit_bench.equations import Equation, with_random_constants, without_units
from occamkit_bench.recovery import judge, points
from occamkit_bench.rediscover import Terms, rediscover, summary

from occamkit.errors import DataError, UserError
from occamkit.packs.registry import Registry
from occamkit.task.file.checks import callable_primitives

PRIMITIVES = callable_primitives(Registry.load(only=[]))
RANGES = {"x": (1.0, 5.0), "y": (-1.0, 1.0), "z": (0.0, 2.0)}
FALL = Equation("fall", "g*t**2/2", "d", "m", ("g", "t"), ("m/s**2", "s"), (1, 1), (5, 5), 100, ("mul", "div"))


def test_points_stay_positive_where_they_were():
    drawn = points(RANGES, wider=True)
    assert float(drawn["x"].min()) >= 1 / 1.5
    assert 5 < float(drawn["x"].max()) <= 6
    assert float(drawn["y"].min()) < -1
    assert float(drawn["z"].min()) >= 0


@pytest.mark.parametrize(
    ("found", "truth", "noisy", "recovered"),
    [
        ("x*(x + z)", "x**2+x*z", False, True),
        ("x*(x + z)*1.00001", "x**2+x*z", False, False),
        ("x*abs(y)", "x*sqrt(y**2)", False, True),
        ("1.02*x*(x + 0.97*z)", "x**2+x*z", True, True),
        ("1.2*x*(x + z)", "x**2+x*z", True, False),  # the form is right, a number is not
        ("1.01*x**2", "x**2+0.1*x*z", True, False),
        ("x**2.1", "x**2", True, False),
        ("nonsense(x)", "x", False, False),
    ],
)
def test_what_counts_as_recovered(found, truth, noisy, recovered):
    assert judge(found, truth, RANGES, PRIMITIVES, noisy).recovered is recovered


def test_random_constants_are_the_same_for_the_same_seed():
    changed = with_random_constants(FALL, 0)
    assert changed.formula == with_random_constants(FALL, 0).formula != with_random_constants(FALL, 1).formula
    assert "t**2)" in changed.formula
    assert not changed.formula.endswith("/2)")


def test_without_units_all_columns_are_plain():
    document = without_units(FALL).task(1.0, 0.0, ())
    assert {one["unit"] for one in (*document["inputs"], *document["outputs"])} == {""}


def test_a_run_goes_on_where_it_ended(tmp_path):
    out = tmp_path / "rows.jsonl"
    said: list[str] = []
    rows = rediscover([FALL], Terms(seconds=5), 1, out, said.append)
    assert rows[0]["recovered"], rows
    assert summary(rows)["recovered"] == 1
    assert len(said) == 1
    assert rediscover([FALL], Terms(seconds=5), 1, out, said.append) == rows
    assert len(said) == 1
    out.write_text("not a row\n")
    with pytest.raises(UserError, match="line 1"):
        rediscover([FALL], Terms(), 1, out, said.append)


def test_runs_are_put_side_by_side(tmp_path):
    found = {"name": "a", "recovered": True, "seconds": 1.5, "megabytes": 300}
    missed = {"name": "b", "recovered": False, "seconds": 9.0, "megabytes": 400}
    (tmp_path / "clean.jsonl").write_text(f"{json.dumps(found)}\n{json.dumps(missed)}\n")
    (tmp_path / "noisy.jsonl").write_text(f"{json.dumps(missed)}\n")
    shown = CliRunner().invoke(bench, ["compare", str(tmp_path / "clean.jsonl"), str(tmp_path / "noisy.jsonl")])
    assert shown.output.splitlines() == [
        "| Equation | clean | noisy |",
        "| --- | --- | --- |",
        "| a | 1.50 | not run |",
        "| b |  |  |",
        "| **recovered** | 1 of 2 | 0 of 1 |",
        "| median s of these | 1.50 | 0.00 |",
        "| most memory, MB | 400 | 400 |",
    ]


def test_what_fails_is_told_and_costs_one_row():
    broken = Equation("broken", "g*(", "d", "m", ("g",), ("m",), (1,), (5,), 100, ("mul",))
    (row,) = rediscover([broken], Terms(seconds=1), 1, None, lambda text: None)
    assert not row["recovered"]
    assert "ends where" in row["error"]


def test_the_command(monkeypatch, tmp_path):
    monkeypatch.setenv("OCCAMKIT_DATA", str(tmp_path))
    missing = CliRunner().invoke(bench, ["feynman"])
    assert isinstance(missing.exception, DataError)
    monkeypatch.setattr(room, "feynman", lambda: [FALL])
    unknown = CliRunner().invoke(bench, ["feynman", "--only", "fal"])
    assert "did you mean 'fall'" in str(unknown.exception)
    done = CliRunner().invoke(bench, ["feynman", "--seconds", "5", "--jobs", "1", "--json"])
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["summary"]["equations"] == 1


def test_groups_are_asked_for_where_there_are_units():
    assert FALL.task(1.0, 0.0, (), 4, "monomial")["search"]["groups"] == 4
    assert FALL.task(1.0, 0.0, (), 4, "monomial")["fitness"]["scale"] == "monomial"
    assert without_units(FALL).task(1.0, 0.0, (), 4)["search"]["groups"] == 0


@pytest.mark.parametrize(
    ("found", "recovered"),
    [
        ("1.3*x**2.1 + 0.4", True),  # numbers and exponents may be anything
        ("1.3*x**2 + 0.4", False),
        ("2*sqrt(x) + 7*x**3", False),
    ],
)
def test_of_a_law_the_form_alone_must_be_right(found, recovered):
    verdict = judge(found, "1.7*x**2.3 + 0.2", RANGES, PRIMITIVES, noisy=True, form_only=True)
    assert verdict.recovered is recovered
    assert verdict.r2 < 1


def test_every_law_is_a_task_with_values():
    laws = room.laws()
    assert len(laws) >= 40
    assert len({one.name for one in laws}) == len(laws)
    for one in laws:
        verdict = judge(one.formula, one.formula, one.ranges, PRIMITIVES, noisy=False)
        assert verdict.inside == 0, one.name
