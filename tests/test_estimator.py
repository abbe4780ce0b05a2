"""`OccamRegressor` by the conventions of scikit-learn."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
import sympy

pytest.importorskip("sklearn")

from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils.estimator_checks import parametrize_with_checks

from occamkit import OccamRegressor


@parametrize_with_checks([OccamRegressor(max_steps=2, functions=100, proposers=["network"])])
def test_the_conventions_of_scikit_learn(estimator: Any, check: Any) -> None:
    check(estimator)


@pytest.fixture(scope="module")
def data() -> tuple[np.ndarray, np.ndarray]:
    inputs = np.random.default_rng(0).uniform(1, 4, (80, 2))
    return inputs, inputs[:, 0] * inputs[:, 1] + inputs[:, 0]


@pytest.fixture(scope="module")
def fitted(data: tuple[np.ndarray, np.ndarray]) -> OccamRegressor:
    return OccamRegressor(primitives=["add", "mul"], max_steps=300).fit(*data)


def test_it_finds_a_formula(fitted: OccamRegressor, data: tuple[np.ndarray, np.ndarray]) -> None:
    assert fitted.score(*data) == pytest.approx(1)
    x0, x1 = (sympy.Symbol(name, real=True) for name in ("x0", "x1"))
    assert sympy.simplify(fitted.sympy() - (x0 * x1 + x0)) == 0
    assert sympy.simplify(fitted.sympy() - sympy.sympify(fitted.expression_, {"x0": x0, "x1": x1})) == 0
    assert fitted.front_[-1].expression == fitted.expression_
    assert "x_{0}" in fitted.latex()
    assert "def predict(" in fitted.export("python")
    assert "<math" in fitted._repr_html_()
    assert "text/html" in fitted._repr_mimebundle_()
    assert "OccamRegressor" in OccamRegressor()._repr_html_()


def test_copies_and_pickles(fitted: OccamRegressor, data: tuple[np.ndarray, np.ndarray]) -> None:
    again = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(again.predict(data[0]), fitted.predict(data[0]))
    assert clone(fitted).get_params() == fitted.get_params()
    assert not hasattr(clone(fitted), "expression_")
    assert clone(fitted).fit(*data).expression_ == fitted.expression_


def test_inside_others(data: tuple[np.ndarray, np.ndarray]) -> None:
    model = OccamRegressor(primitives=["add", "mul"], max_steps=60, functions=500)
    assert cross_val_score(model, *data, cv=2).min() > 0.99
    pipeline = make_pipeline(FunctionTransformer(np.log), model)
    assert pipeline.fit(data[0], np.log(data[0]).sum(1)).score(data[0], np.log(data[0]).sum(1)) > 0.99
    grid = GridSearchCV(model, {"primitives": [["add"], ["add", "sin"]]}, cv=2)
    grid.fit(data[0], np.sin(3 * data[0][:, 0]) + data[0][:, 1])
    assert grid.best_params_ == {"primitives": ["add", "sin"]}


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_names_come_from_tables(library: str, data: tuple[np.ndarray, np.ndarray]) -> None:
    frames = pytest.importorskip(library)
    table = frames.DataFrame({"x y": data[0][:, 0], "lambda": data[0][:, 1]})
    model = OccamRegressor(primitives=["add", "mul"], max_steps=300).fit(table, data[1])
    assert list(model.feature_names_in_) == ["x y", "lambda"]
    assert model.expression_ in {"`x y`*(lambda + 1)", "lambda*`x y` + `x y`", "`x y`*lambda + `x y`"}
    np.testing.assert_allclose(model.predict(table), data[1])


def test_a_start_a_screen_and_a_running_view(capsys: pytest.CaptureFixture[str]) -> None:
    inputs = np.random.default_rng(1).uniform(1, 2, (100, 40))
    target = 3.25 * inputs[:, 7] + inputs[:, 30]
    model = OccamRegressor(start=["3.25*x7 + x30"], max_steps=2, verbose=True).fit(inputs, target)
    assert model.expression_ == "3.25*x7 + x30"
    assert "40 columns" in model.notes_[0]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("occamkit.runs.live.EVERY_PIPE", 0.0)
        noise = np.random.default_rng(2).normal(size=100)
        OccamRegressor(max_steps=2, functions=100, verbose=True).fit(inputs[:, :3], target + noise)
    shown = capsys.readouterr().err
    assert "functions/s" in shown
    assert "complexity" in shown
