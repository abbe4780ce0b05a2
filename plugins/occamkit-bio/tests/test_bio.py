"""The laws at points where their values are known, their units, Euler's method, and the tasks."""

from __future__ import annotations

import math

import pytest
import torch
from occamkit_bio.integration import Euler
from occamkit_bio.laws import PRIMITIVES

import occamkit
from occamkit import units

LAWS = {one.name: one for one in PRIMITIVES}
FITTED = ["chemostat", "enzyme", "oxygen", "yeast"]


def value(name: str, *numbers: float) -> float:
    return float(LAWS[name].call(*(torch.tensor(number, dtype=torch.float64) for number in numbers)))


def test_half_of_everything_at_the_half_saturation() -> None:
    assert value("hill", 3.0, 3.0, 2.5) == pytest.approx(0.5)
    assert value("monod", 3.0, 3.0) == value("saturation", 3.0, 3.0) == 0.5
    assert value("michaelis_menten", 3.0, 8.0, 3.0) == 4.0
    assert value("logistic", 7.0, 0.5, 7.0) == 0.5
    assert value("gompertz", 0.0, 0.5, 2.0) == pytest.approx(math.exp(-2))
    assert value("logistic_rate", 8.0, 8.0) == value("gompertz_rate", 8.0, 8.0) == 0.0


def test_units_are_those_of_the_laws() -> None:
    molar, second = units.parse("mol/l").dim, units.parse("s").dim
    assert LAWS["hill"].units(molar, molar, units.DIMENSIONLESS) == units.DIMENSIONLESS
    assert LAWS["hill"].units(molar, second, units.DIMENSIONLESS) is units.CLASH
    assert LAWS["michaelis_menten"].units(molar, molar / second, molar) == molar / second
    assert LAWS["logistic"].units(second, second**-1, second) == units.DIMENSIONLESS
    assert LAWS["logistic"].units(second, second, second) is units.CLASH
    assert LAWS["gompertz_rate"].units(molar, molar) == molar


def test_euler_follows_exponential_growth() -> None:
    states = list(Euler(dt=0.001, steps=1000).unroll(lambda state: state, torch.tensor([1.0], dtype=torch.float64)))
    assert len(states) == 1000
    assert float(states[-1]) == pytest.approx(math.e, rel=1e-3)


@pytest.mark.parametrize("task", ["enzyme-given", "tumour"])
def test_a_law_with_given_constants_is_found(task: str) -> None:
    best = occamkit.run(f"bio/{task}", seed=0, device="cpu").outputs[0].best
    assert best is not None
    assert best.r2["valid"] > 0.99
    assert best.expression == {"enzyme-given": "3*s/(s + 4.2)", "tumour": "0.1*N*log(8/N)"}[task]


@pytest.mark.parametrize("task", FITTED)
def test_a_law_with_fitted_constants_is_found(task: str) -> None:
    best = occamkit.run(f"bio/{task}", seed=0, device="cpu").outputs[0].best
    assert best is not None
    assert best.r2["valid"] > 0.99
