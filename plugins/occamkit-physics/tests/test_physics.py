"""Constants against another source, laws recovered, monomials that dimensions allow, and text that Fortran reads."""

from __future__ import annotations

from fractions import Fraction

import pytest
import sympy
import torch
from occamkit_physics.fortran import Fortran
from occamkit_physics.monomials import Monomials
from occamkit_physics.primitives import PRIMITIVES

import occamkit
from occamkit import Registry, SearchBudget, units


@pytest.fixture(scope="module")
def registry() -> Registry:
    return Registry.load()


@pytest.mark.parametrize(
    ("name", "other"),
    [
        ("speed_of_light", "speed_of_light"),
        ("planck", "planck_constant"),
        ("boltzmann", "boltzmann_constant"),
        ("elementary_charge", "elementary_charge"),
        ("avogadro", "avogadro_constant"),
        ("gravitation", "newtonian_constant_of_gravitation"),
        ("electron_mass", "electron_mass"),
    ],
)
def test_the_numbers_are_those_of_another_source(registry: Registry, name: str, other: str) -> None:
    ours, theirs = registry.find("constants", f"physics:{name}").value, units.parse(other)
    measure = units.parse(ours.unit)
    assert measure.dim == theirs.dim
    assert float(Fraction(ours.value) * measure.factor) == pytest.approx(float(theirs.factor), rel=1e-8)


@pytest.mark.parametrize("task", ["time-dilation", "moving-mass", "thermal-population", "kepler"])
def test_the_law_is_found(task: str) -> None:
    best = occamkit.run(f"physics/{task}", seed=0, device="cpu").outputs[0].best
    assert best is not None
    assert best.r2["valid"] > 1 - (1e-6 if task == "kepler" else 1e-12)


def test_a_slow_particle_has_no_factor() -> None:
    factors = {one.name: one for one in PRIMITIVES}
    still, light = torch.tensor([0.0, 0.6]), torch.tensor(1.0)
    torch.testing.assert_close(factors["lorentz"].call(still, light), torch.tensor([1.0, 1.25]))
    metre, second = units.parse("m").dim, units.parse("s").dim
    assert factors["lorentz"].units(metre / second, metre / second) == units.DIMENSIONLESS
    assert factors["lorentz"].units(metre, second) is units.CLASH


def test_monomials_find_a_law_by_its_units_alone() -> None:

    from occamkit.task.file.load import load_task
    from occamkit.task.problem import make_problem

    registry = Registry.load()
    task = load_task("physics/kepler", registry)
    problem = make_problem(task, registry, 0, "cpu")
    proposals = Monomials().propose(problem.search_problem, SearchBudget())
    trees = [one.tree for one in proposals if one is not None]
    assert trees
    distance, gm = (next(one for one in problem.variables if word in one.name) for word in ("distance", "m**3"))
    powers = [{leaf.name: power for leaf, power in tree.factors} for tree in trees]
    assert {distance.name: Fraction(3, 2), gm.name: Fraction(-1, 2)} in powers
    law = trees[powers.index({distance.name: Fraction(3, 2), gm.name: Fraction(-1, 2)})]
    assert law.coefficient == pytest.approx(2 * torch.pi, rel=1e-3)
    for tree in trees:
        total = units.DIMENSIONLESS
        for leaf, power in tree.factors:
            total = total * next(one for one in problem.variables if one.name == leaf.name).unit ** power
        assert total == problem.outputs[0].unit


def test_fortran_is_a_whole_function() -> None:
    x, y = sympy.symbols("x y", real=True)
    text = Fortran().export(x**2 + sympy.exp(-y), ["x", "y"])
    assert text.splitlines()[0] == "pure function f(x, y) result(value)"
    assert "value = x**2 + exp(-y)" in text
    value = sympy.Symbol("value", real=True)
    assert "result(value_)" in Fortran().export(2 * value, ["value"])
