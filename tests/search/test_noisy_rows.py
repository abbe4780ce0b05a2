"""What is said of rows with errors: which kind of errors, what else is as good, numbers from all rows, their units."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from occamkit import Registry
from occamkit.builtins.arithmetic import PRIMITIVES as ARITHMETIC
from occamkit.cli.main import cli
from occamkit.description import PRICE, PRICES, by_heart, cost, length, power_cost
from occamkit.fit import noise
from occamkit.graph import Apply, Expression, Leaf, product, weighted_sum
from occamkit.graph.number_units import units_of_constants
from occamkit.search import search
from occamkit.units import DIMENSIONLESS, Dim
from tests.problems import problem

LENGTH, TIME = Dim.of({"length": 1}), Dim.of({"time": 1})
LEAVES = {"x": LENGTH, "t": TIME}
x, t = Leaf("x"), Leaf("t")


def fitted(columns: dict[str, np.ndarray], folder: Path, *options: str, steps: int = 2) -> Any:
    """Return what `occamkit fit` prints of the column y, and its document."""
    file = folder / "table.csv"
    rows = np.column_stack(list(columns.values()))
    np.savetxt(file, rows, delimiter=",", header=",".join(columns), comments="", fmt="%.17g")
    run = folder / "run"
    command = ["fit", str(file), "--target", "y", "--steps", str(steps), "--quiet", "--out", str(run), *options]
    shown = CliRunner().invoke(cli, command)
    assert shown.exit_code == 0, shown.output
    return shown.stdout, json.loads((run / "result.json").read_text(encoding="utf-8"))["outputs"][0]


def test_errors_that_are_parts_of_values_do_not_let_large_rows_decide(tmp_path: Path) -> None:
    draw = np.random.default_rng(5)
    size = np.geomspace(1e-3, 1e5, 24)
    _, found = fitted({"x": size, "y": 70 * size**0.75 * np.exp(0.05 * draw.normal(size=24))}, tmp_path)
    assert found["best"]["expression"].endswith("*x**(3/4)")
    assert found["best"]["relative"] is True
    assert float(found["best"]["expression"].partition("*")[0]) == pytest.approx(70, rel=0.05)


@given(st.floats(0.1, 10), st.integers(0, 50))
def test_both_models_of_errors_are_compared_by_their_likelihoods(scale: float, seed: int) -> None:
    """The number for errors of values is the normal error at which the density of all rows is the same."""
    draw = torch.Generator().manual_seed(seed)
    target = scale * torch.exp(torch.randn(12, dtype=torch.float64, generator=draw))
    predicted = target * torch.exp(0.1 * torch.randn(12, dtype=torch.float64, generator=draw))
    size = noise.size_of(target)
    if size is None:
        return
    logs = (predicted / target).log()
    deviation = float(logs.square().mean().sqrt())
    density = float((-(target.log()) - math.log(deviation) - 0.5 * (logs / deviation) ** 2).sum())
    normal = 12 * (-math.log(noise.of_values(predicted, target, size)) - 0.5)
    assert density == pytest.approx(normal, rel=1e-9)


@pytest.mark.parametrize("target", [[1.0, -1.0, 3.0], [0.0, 1.0, 9.0], [5.0, 5.1, 5.2], [2.0]])
def test_values_that_change_sign_or_hardly_differ_have_one_kind_of_error(target: list[float]) -> None:
    assert noise.proportional(torch.tensor(target)) is None


def test_numbers_are_fitted_to_all_rows_and_figures_say_that_they_are_older(tmp_path: Path) -> None:
    draw = np.random.default_rng(1)
    at = draw.uniform(1, 9, 60)
    shown, found = fitted(
        {"x": at, "y": 3.3 * at + 0.5 * draw.normal(size=60)}, tmp_path, "--split", "valid=0.5,test=0"
    )
    best = found["best"]
    assert best["refitted"] is True
    assert "numbers are fitted to all training and validation rows" in shown
    columns = np.loadtxt(tmp_path / "table.csv", delimiter=",", skiprows=1).T
    everything = float(columns[0] @ columns[1] / (columns[0] @ columns[0]))
    assert best["constants"]["c0"] == pytest.approx(everything, rel=1e-6)
    left = columns[1] - everything * columns[0]
    error = (left @ left / 59 / (columns[0] @ columns[0])) ** 0.5
    assert best["errors"]["c0"] == pytest.approx(error, rel=1e-3)


def test_what_is_as_good_is_told_and_the_simplest_is_the_best(tmp_path: Path) -> None:
    conc = np.array([0.02, 0.02, 0.06, 0.06, 0.11, 0.11, 0.22, 0.22, 0.56, 0.56, 1.1, 1.1])
    rate = np.array([76, 47, 97, 107, 123, 139, 159, 152, 191, 201, 207, 200])
    shown, found = fitted({"conc": conc, "y": rate}, tmp_path, steps=3)
    assert found["ties"]
    assert found["best"]["complexity"] <= min(one["complexity"] for one in found["ties"])
    assert "as good, or nearly: y = " in shown
    texts = [found["best"]["expression"], *(one["expression"] for one in found["ties"])]
    assert len(set(texts)) == len(texts)


@pytest.mark.parametrize("seed", [6, 11])
def test_bits_are_not_learnt_by_heart(seed: int, tmp_path: Path) -> None:
    """With three numbers, eight bits can be met exactly by something like 1/(1 + exp(1834 - 332*a))."""
    draw = np.random.default_rng(seed)
    a, b = draw.uniform(0, 10, (2, 8))
    shown, found = fitted({"a": a, "b": b, "y": draw.integers(0, 2, 8)}, tmp_path, steps=4)
    assert "no formula found" in shown
    assert found["best"]["inputs"] == []


def test_a_law_that_says_more_than_its_rows_is_found_in_few_values(tmp_path: Path) -> None:
    at = np.linspace(0, 9.5, 20)
    _, found = fitted({"x": at, "y": 3.5 * np.abs(at - 4.5)}, tmp_path, "--primitives", "arithmetic,abs", steps=4)
    assert found["best"]["r2"]["train"] == pytest.approx(1, abs=1e-12)
    assert found["best"]["inputs"] == ["x"]


def test_what_is_told_by_heart_takes_a_word_for_each_value_and_a_choice_for_each_row() -> None:
    bits = torch.tensor([0.0, 1.0, 1.0, 0.0])
    assert by_heart(bits) == pytest.approx(PRICE * 2 + 4 * math.log(2))
    assert by_heart(torch.tensor([0.1, 2.7])) == pytest.approx(PRICE * PRICES.odd * 2 + 2 * math.log(2))


def test_the_units_of_numbers_are_said(tmp_path: Path) -> None:
    draw = np.random.default_rng(4)
    at = draw.uniform(1, 9, 40)
    units = ["--unit", "x=km", "--unit", "y=km/s"]
    shown, found = fitted({"x": at, "y": 3.3 * at + 0.5 * draw.normal(size=40)}, tmp_path, *units)
    assert found["best"]["units"] == {"c0": "1/s"}
    assert "1/s" in shown


EXP, SQUARE = (Registry.load().primitives(name)[0].value for name in ("exp", "square"))


@pytest.mark.parametrize(
    ("tree", "output", "expected"),
    [
        (product(3.0, [(x, 1)]), LENGTH / TIME, [DIMENSIONLESS / TIME]),
        (weighted_sum(2.0, [(3.0, Apply(EXP, (product(-0.5, [(t, 1)]),)))]), LENGTH, [LENGTH, LENGTH, TIME**-1]),
        (product(7.0, [(x, 1), (weighted_sum(2.4, [(1.0, x)]), -1)]), TIME, [TIME, LENGTH, DIMENSIONLESS]),
        (Apply(SQUARE, (product(3.0, [(t, 1)]),)), LENGTH**2, [LENGTH / TIME]),
        (product(3.0, [(x, 0.37)]), LENGTH, None),
    ],
    ids=str,
)
def test_a_number_has_the_unit_with_which_the_formula_has_a_meaning(
    tree: Expression, output: Dim, expected: list[Dim] | None
) -> None:
    plain = [place for place, value in enumerate(tree.fitted) if value == 1.0]
    found = units_of_constants(tree, LEAVES, output, plain)
    assert found == (None if expected is None else tuple(expected))


def test_a_pole_near_an_outlier_is_no_law(tmp_path: Path) -> None:
    draw = np.random.default_rng([11, 28])
    at, target = draw.uniform(1, 5, 120), draw.normal(size=120)
    target[[7, 70]] += (400.0, 250.0)
    _, found = fitted({"x": at, "y": target}, tmp_path, steps=8)
    assert found["best"]["inputs"] == []


@given(st.floats(1e-6, 0.5), st.integers(12, 400), st.floats(1, 20), st.integers(0, 8))
def test_a_description_grows_with_words_numbers_and_errors(square: float, rows: int, cost: float, numbers: int) -> None:
    told = length(square, rows, cost, numbers)
    assert told < length(square, rows, cost + 1, numbers)
    assert told < length(square, rows, cost, numbers + 1)
    assert told < length(1.1 * square, rows, cost, numbers)


@given(st.sampled_from([-3, -2, -1, 1, 2, 3]), st.floats(-3, 3).filter(lambda one: abs(one) > 1e-3))
def test_a_product_costs_the_same_whoever_wrote_it(power: int, number: float) -> None:
    arithmetic = {one.name: one for one in ARITHMETIC}
    ratio = Apply(arithmetic["div"], (x, t))
    solved = product(number, [(x, 1), (t, -1)])
    assert cost(Apply(arithmetic["mul"], (ratio, x))) == cost(product(1.0, [(x, 2), (t, -1)]))
    assert cost(Apply(arithmetic["sub"], (Leaf("1", 1.0), ratio))) == cost(weighted_sum(1.0, [(-1.0, solved)]))
    assert cost(product(1.0, [(x, power), (t, -power)])) == cost(x) + cost(t) + power_cost(Fraction(power))


def test_what_has_no_numbers_is_looked_up_though_rows_are_noisy(registry: Registry) -> None:
    task = problem(
        registry, "v/sqrt(1 - u**2)", data={"noise": 0.03}, proposers=[{"name": "enumerate"}], stop={"max_steps": 30},
        inputs=[{"name": "u", "range": [0.1, 0.9]}, {"name": "v", "range": [1, 5]}],
        search={"primitives": ["add", "sub", "mul", "div", "square", "sqrt", "exp"], "constants": [1]},
    )  # fmt: skip
    best = search(task).best[0]
    assert best is not None
    u, v = torch.linspace(0.1, 0.9, 20, dtype=torch.float64), torch.linspace(5, 1, 20, dtype=torch.float64)
    torch.testing.assert_close(best.tree.evaluate({"u": u, "v": v}), v / torch.sqrt(1 - u**2))


def test_two_numbers_that_are_one_are_told_as_one(tmp_path: Path) -> None:
    draw = np.random.default_rng(4)
    at = draw.uniform(0, 12, 200)
    target = 11.7 * (1 - np.exp(-at / 2.9)) + 0.1 * draw.normal(size=200)
    _, found = fitted({"t": at, "y": target}, tmp_path, steps=6)
    assert sorted(map(abs, found["best"]["constants"].values())) == [
        pytest.approx(1 / 2.9, rel=0.05),
        1.0,
        1.0,
        pytest.approx(11.7, rel=0.02),
    ]


def test_what_slopes_between_rows_miss_is_no_law(tmp_path: Path) -> None:
    """A damped pendulum whose speed and acceleration are differences of its angles, 0.3 % off and smoothly so."""
    time = np.linspace(0, 12, 400)
    angle = np.exp(-0.11 * time) * np.cos(2.3 * time)  # angle'' = -0.22 angle' - (2.3² + 0.11²) angle
    speed = np.gradient(angle, time)
    columns = {"angle": angle, "speed": speed, "y": np.gradient(speed, time)}
    _, found = fitted({name: values[3:-3] for name, values in columns.items()}, tmp_path, steps=40)
    terms = dict(reversed(term.split("*")) for term in found["best"]["expression"].replace("- ", "-").split(" "))
    assert {name: float(number) for name, number in terms.items()} == {
        "angle": pytest.approx(-(2.3**2) - 0.11**2, rel=0.01),
        "speed": pytest.approx(-0.22, rel=0.02),
    }
