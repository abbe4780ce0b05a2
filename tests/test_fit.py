"""`occamkit fit`: from a table to a formula with nothing else said, and a clear line for every kind of bad table."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from click.testing import Result as Shown

from occamkit import Registry, load_task
from occamkit.runs.quick import Wishes, plan_file
from occamkit.task.data.glance import glance, telling


def write(path: Path, columns: dict[str, np.ndarray]) -> Path:
    rows = zip(*(column.tolist() for column in columns.values()), strict=True)
    lines = [",".join(columns), *(",".join(map(repr, row)) for row in rows)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def table(rows: int, inputs: int, seed: int = 0) -> dict[str, np.ndarray]:
    generator = np.random.default_rng(seed)
    return {f"x{place}": generator.uniform(-3, 3, rows) for place in range(inputs)}


def test_a_formula_from_a_table_alone(tmp_path: Path, occamkit: Callable[..., Shown]) -> None:
    columns = table(100, 3)
    path = write(tmp_path / "data.csv", {**columns, "y": columns["x0"] * np.sin(columns["x2"])})
    shown = occamkit("fit", str(path), "--target", "y", "--steps", "400", "--out", str(tmp_path / "run"))
    assert shown.exit_code == 0
    assert shown.stdout.startswith("y = x0*sin(x2) ")
    result = json.loads((tmp_path / "run" / "result.json").read_text())
    assert result["stop"] == "converged"
    assert set(result["outputs"][0]["best"]["mse"]) == {"train", "valid", "test"}
    task = tomllib.loads((tmp_path / "run" / "task.toml").read_text())
    assert [one["name"] for one in task["inputs"]] == ["x0", "x1", "x2"]
    assert occamkit("check", str(tmp_path / "run" / "task.toml")).exit_code == 0


@pytest.mark.parametrize("noise", [0.0, 0.05])
def test_constants_and_distractors(
    tmp_path: Path, occamkit: Callable[..., Shown], registry: Registry, noise: float
) -> None:
    columns = table(500, 5, seed=3)
    a, b, *_ = columns.values()
    y = 2.5 * a * np.sin(b) + 0.3
    y = y + noise * np.sqrt((y**2).mean()) * np.random.default_rng(4).normal(size=len(y))
    path = write(tmp_path / "data.csv", {**columns, "y": y})
    shown = occamkit("fit", str(path), "--target", "y", "--steps", "25", "--json", "--quiet")
    best = json.loads(shown.stdout)["outputs"][0]["best"]
    from occamkit.export import Usable

    usable = Usable.read(best["expression"], list(columns), registry)
    assert set(usable.inputs) == {"x0", "x1"}
    import torch

    grid = {name: torch.linspace(-3, 3, 101, dtype=torch.float64) for name in columns}
    grid["x0"] = torch.linspace(2, -1, 101, dtype=torch.float64)
    truth = 2.5 * grid["x0"] * torch.sin(grid["x1"]) + 0.3
    torch.testing.assert_close(usable.predict(grid), truth, rtol=0, atol=1e-6 if noise == 0 else 0.1)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "is empty"),
        (b"a,y\n", "has a header and no rows"),
        (b"a,y\n1,2\n", "has 1 row; at least 4 are needed"),
        (b"a,y\n1,2\n2,3\n3,4\noops,5\n5,6\n", "data.csv:5: column 'a' is not a number: 'oops'"),
        (b"a,a,y\n1,2,3\n", "column 'a' appears more than once"),
        ("größe,y\n1,2\n".encode("latin-1"), "is not UTF-8 text"),
        (b"a,b\n1,2\n", "no column 'y'"),
        (b"a,y\n1,x\n2,z\n3,w\n4,v\n", "column 'y' does not hold numbers"),
        (b"a,y\nu,1\nv,2\nw,3\nx,4\n", "has no column of numbers besides 'y'"),
        (b"a,y\n1,2\n2,2\n3,2\n4,2\n", "column 'y' has one value only"),
        (b"a,y\n1,2\n2,\n3,4\n4,5\n", "'y' has no value in line 3"),
        (b"a,y\n1,2\n2,3,4\n", "has 3 cells, the header has 2"),
        (b"1,2\n3,4\n", "must name the columns"),
        (b'a,y\n"1,2\n3,4\n', "data.csv"),
    ],
)
def test_a_bad_table_gets_one_clear_line(
    tmp_path: Path, occamkit: Callable[..., Shown], content: bytes, words: str
) -> None:
    path = tmp_path / "data.csv"
    path.write_bytes(content)
    shown = occamkit("fit", str(path), "--target", "y", "--steps", "1")
    assert shown.exit_code == 2
    assert words in shown.stderr
    assert shown.stderr.count("\n") == 1
    assert shown.stdout == ""


def test_ten_thousand_columns_are_screened_and_said_so(tmp_path: Path, occamkit: Callable[..., Shown]) -> None:
    columns = table(100, 10_000)
    path = write(tmp_path / "data.csv", {**columns, "y": 3 * columns["x77"] + columns["x4242"]})
    shown = occamkit("fit", str(path), "--target", "y", "--steps", "1")
    assert "10,000 columns: the search uses the 12 that tell most about y: x77" in shown.stderr
    assert "x4242" in shown.stderr


def test_screening_finds_columns_that_only_stretch_the_target() -> None:
    columns = np.stack(list(table(400, 60, seed=5).values()))
    target = columns[7] * np.sin(3 * columns[11]) + 0.1 * columns[20]
    assert {7} <= set(telling(columns, target, 5))


def test_columns_of_text_and_constants_are_left_out_and_said_so(tmp_path: Path, occamkit: Callable[..., Shown]) -> None:
    rows = "".join(f"n{x},{x},7,{x * x}\n" for x in range(12))
    (tmp_path / "data.csv").write_text(f"name,x,one,y\n{rows}")
    shown = occamkit("fit", str(tmp_path / "data.csv"), "--target", "y", "--steps", "50")
    assert "do not hold numbers: name" in shown.stderr
    assert "have one value only: one" in shown.stderr
    assert shown.stdout.startswith("y = x**2 ")


def test_many_rows_are_sampled_and_all_scored(tmp_path: Path, registry: Registry) -> None:
    columns = table(20_000, 2)
    path = write(tmp_path / "data.csv", {**columns, "y": columns["x0"] + columns["x1"]})
    plan = plan_file(path, "y", registry, Wishes(stop={"max_steps": 1}))
    assert plan.notes == ("20,000 rows: the search uses 5,000 of them, drawn at random; the rest are only scored",)
    dataset = plan.task.data(0)
    assert [len(part) for part in (dataset.train, dataset.valid, dataset.test)] == [2500, 2500, 15_000]
    seen = glance(path, most_cells=3000)
    assert seen.rows == 20_000
    assert seen.sample.shape[1] < 1500


def test_a_million_rows_stay_below_two_gigabytes(tmp_path: Path) -> None:
    generator = np.random.default_rng(0)
    values = generator.uniform(-300, 300, (1000, 4)).tolist()
    rows = "".join(f"{a!r},{b!r},{c!r},{d!r},{a + b!r}\n" for a, b, c, d in values)
    path = tmp_path / "million.csv"
    path.write_text("a,b,c,d,y\n" + rows * 1000)
    program = (
        "import resource, sys; from occamkit.cli.main import cli; "
        f"cli(['fit', {str(path)!r}, '--target', 'y', '--steps', '3', '--quiet'], standalone_mode=False); "
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, "-c", program], stdout=subprocess.PIPE, env=environment, check=True)
    formula, kilobytes = done.stdout.decode().splitlines()
    assert formula.startswith("y = a + b ")
    assert int(kilobytes) < 2_000_000


def test_units_inputs_and_a_formula_to_start_from(tmp_path: Path, occamkit: Callable[..., Shown]) -> None:
    t = np.linspace(1, 10, 40)
    path = write(tmp_path / "fall.csv", {"t": t, "noise": np.cos(t), "d": 9.81 * t**2 / (2 + 0.3 * np.sin(7 * t))})
    arguments = ["fit", str(path), "--target", "d", "--inputs", "t", "--steps", "1", "--json"]
    shown = json.loads(occamkit(*arguments, "--start", "9.81*t**2/(2 + 0.3*sin(7*t))").stdout)["outputs"][0]["best"]
    assert (shown["expression"], shown["proposer"]) == ("9.81*t**2/(2 + 0.3*sin(7*t))", "given")
    for wrong, words in [
        (["--unit", "t"], "takes COLUMN=UNIT"),
        (["--unit", "q=m"], "no column 'q' is used"),
        (["--inputs", "tt"], "did you mean 't'"),
        (["--inputs", "d"], "'d' is the target"),
        (["--primitives", "trgi"], "did you mean 'trig'"),
        (["--start", "9.81*q"], "unknown name 'q'"),
    ]:
        bad = occamkit("fit", str(path), "--target", "d", "--steps", "1", *wrong)
        assert (bad.exit_code, words in bad.stderr) == (2, True), bad.stderr


def test_fit_is_the_same_as_running_its_task(tmp_path: Path, occamkit: Callable[..., Shown]) -> None:
    columns = table(60, 2)
    path = write(tmp_path / "data.csv", {**columns, "y": np.exp(columns["x0"] / 5)})
    fitted = occamkit("fit", str(path), "--target", "y", "--steps", "20", "--out", str(tmp_path / "run"))
    again = occamkit("run", str(tmp_path / "run" / "task.toml"))
    assert again.stdout == fitted.stdout
    assert load_task(tmp_path / "run" / "task.toml").spec.search.depth is None
