"""`occamkit score` and formulas of one's own to start from."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result as Shown

from occamkit import Registry
from occamkit.graph import Expression
from occamkit.result.write import make_result
from occamkit.train import Learner
from tests.problems import problem, train


@pytest.fixture
def data(tmp_path: Path) -> Path:
    path = tmp_path / "fall.csv"
    path.write_text("t,d,remark\n" + "".join(f"{t},{4.905 * t * t},x\n" for t in range(1, 20)))
    return path


def test_a_formula_is_scored(data: Path, occamkit: Callable[..., Shown]) -> None:
    for arguments in (["--expr", "d = 9.81*t**2/2"], ["--expr", "9.81*t**2/2", "--target", "d"]):
        (line,) = json.loads(occamkit("score", str(data), *arguments, "--json").stdout)
        assert line["r2"] == pytest.approx(1)
        assert (line["whose"], line["complexity"], line["front"]) == ("yours", 3, True)
    shown = occamkit("score", str(data), "--expr", "d = 5*t**2").stdout
    assert "5*t**2" in shown


def test_it_is_put_on_the_front_of_a_run(data: Path, tmp_path: Path, occamkit: Callable[..., Shown]) -> None:
    occamkit("fit", str(data), "--target", "d", "--steps", "5", "--out", str(tmp_path / "run"), "--quiet")
    lines = json.loads(
        occamkit("score", str(data), "--expr", "d = 9.81*t**2/2", "--run", str(tmp_path / "run"), "--json").stdout
    )
    assert {line["whose"] for line in lines} == {"yours", "found"}
    costs, errors = ([line[key] for line in lines if line["front"]] for key in ("complexity", "error"))
    assert costs == sorted(costs)
    assert errors == sorted(errors, reverse=True)
    assert next(line for line in lines if line["whose"] == "yours")["error"] < 1e-9


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--expr", "9.81*t"], "--target is needed"),
        (["--expr", "9.81*q", "--target", "d"], "unknown name 'q'"),
        (["--expr", "t", "--target", "dd"], "did you mean 'd'"),
        (["--expr", "d = t +"], "ends where"),
        (["--expr", "d = remark"], "is not a number"),
    ],
)
def test_mistakes(data: Path, occamkit: Callable[..., Shown], arguments: list[str], words: str) -> None:
    shown = occamkit("score", str(data), *arguments)
    assert (shown.exit_code, words in shown.stderr) == (2, True)


def test_a_given_formula_is_a_function_of_base_units(registry: Registry) -> None:
    task = problem(
        registry,
        "100000*x + 7",
        inputs=[{"name": "x", "range": [1, 10], "unit": "km"}],
        outputs=[{"name": "y", "unit": "cm"}],
        search={"primitives": ["mul", "add"], "constants": ["3 m"], "start": ["100000*x + 7", "x**x"]},
        stop={"max_steps": 2},
    )
    tree = task.given_formula("100000*x + 7", 0)
    values = tree.evaluate({"x": task.dataset.inputs[0]})
    expected = (100_000 * (task.dataset.inputs[0] / 1000) + 7) / 100
    assert values.tolist() == pytest.approx(expected.tolist())
    assert tree.complexity == 2
    again = Expression.from_dict(json.loads(json.dumps(tree.to_dict())), {})
    assert again.evaluate({"x": task.dataset.inputs[0]}).tolist() == values.tolist()
    result = make_result(task, train(task))
    assert ("100000*x + 7", "given") in {(one.expression, one.proposer) for one in result.outputs[0].front}


def test_the_network_begins_near_what_it_can_spell(registry: Registry) -> None:
    task = problem(registry, "x", search={"depth": 3, "start": ["sin(x*x) + x"]})
    trainer = Learner(task.search_problem, "network").trainer
    assert trainer.judge.read(int(trainer.nodes_of(trainer.likeliest_edges()))).written() in {
        "add(x, sin(mul(x, x)))",
        "add(sin(mul(x, x)), x)",
    }


@pytest.mark.parametrize(
    ("search", "words"),
    [
        ({"start": ["x + q"]}, "unknown name 'q'"),
    ],
)
def test_wrong_starts_are_refused(registry: Registry, search: dict[str, object], words: str) -> None:
    with pytest.raises(Exception, match=words):
        problem(registry, "x", search=search)
