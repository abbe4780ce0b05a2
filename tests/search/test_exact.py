"""Formulas that are looked up: dimensional analysis, the library, and matches of one, two and more expressions."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest
import torch
from hypothesis import assume, given
from hypothesis import strategies as st

from occamkit import Apply, Leaf, Registry, Variable, traits
from occamkit.builtins.proposers.exact.active_groups import active_groups
from occamkit.builtins.proposers.exact.directions import Directions
from occamkit.builtins.proposers.exact.library import Ingredient, Library
from occamkit.builtins.proposers.exact.view import OutputView
from occamkit.dimensions import groups, scaling
from occamkit.dimensions.products import unit_rows
from occamkit.graph import product, recognised, snapped
from occamkit.search import search
from occamkit.units import DIMENSIONLESS, Dim, parse
from tests.problems import problem

PRIMITIVES = ["add", "sub", "mul", "div", "square", "sqrt", "exp", "log", "sin", "cos"]


def unspent(numbers: int) -> None:
    """Nobody counts."""


EITHER = {"enumerate", "join"}
EXACT = [{"name": name} for name in ("monomial", "enumerate", "join")]


def solved(registry: Registry, target: str, inputs: dict[str, Any], unit: str = "", **sections: Any) -> Any:
    """Search exactly; inputs by name: a range, or a range and a unit."""
    columns = [
        {"name": name, "range": list(given[:2]), "unit": given[2] if len(given) > 2 else ""}
        for name, given in inputs.items()
    ]
    task = problem(
        registry,
        target,
        inputs=columns,
        outputs=[{"name": "y", "unit": unit}],
        proposers=EXACT,
        stop={"max_steps": 3_000},
        data={"points": 300},
        **{"search": {"primitives": PRIMITIVES, "constants": [1, 2, "pi"]}, **sections},
    )
    best = search(task).best[0]
    assert best is not None
    assert best.figures.exact, best.tree.written()
    return best


def dims(*texts: str) -> list[Variable]:
    return [Variable(f"x{place}", parse(text).dim) for place, text in enumerate(texts)]


@given(st.lists(st.sampled_from(["m", "s", "kg", "m/s", "kg*m/s**2", "", "V", "m**2"]), min_size=1, max_size=5))
def test_groups_are_dimensionless_and_coprime(texts: list[str]) -> None:
    variables = dims(*texts)
    for exponents in groups(variables):
        total = DIMENSIONLESS
        for variable, exponent in zip(variables, exponents, strict=True):
            assert isinstance(variable.unit, Dim)
            total = total * variable.unit**exponent
        assert total == DIMENSIONLESS
        assert math.gcd(*(int(one) for one in exponents)) == 1


UNITS = ["m", "s", "kg", "m**3", "kg*m**2/s**5", "V**4", "kg*m/s**2/V**3", "m**7/s"]


@given(st.lists(st.sampled_from(UNITS), min_size=1, max_size=7))
def test_groups_span_all_that_is_dimensionless(texts: list[str]) -> None:
    variables = dims(*texts)
    rows = torch.tensor([[float(one) for one in row] for row in unit_rows(variables)], dtype=torch.float64)
    found = torch.tensor([[float(one) for one in row] for row in groups(variables)], dtype=torch.float64)
    rank = int(torch.linalg.matrix_rank(found)) if len(found) else 0
    assert rank == len(variables) - int(torch.linalg.matrix_rank(rows))


def test_a_group_may_need_a_large_exponent_and_there_may_be_many_inputs() -> None:
    assert groups(dims("m**7", "m**3")) == [(3, -7)] or groups(dims("m**7", "m**3")) == [(-3, 7)]
    assert len(groups(dims(*["m", "s", "kg"] * 6))) >= 15


def test_scaling_has_the_unit_that_is_asked_for() -> None:
    mass_speed = dims("kg", "m/s", "m")
    found = scaling(mass_speed, parse("kg*m**2/s**2").dim)
    assert found is not None
    assert found.start == (1, 2, 0)
    assert found.basis == ()
    assert scaling(mass_speed, parse("V").dim) is None
    half = scaling(dims("m"), parse("m").dim ** Fraction(1, 2))
    assert half is not None
    assert half.start == (Fraction(1, 2),)


def test_a_library_holds_each_function_once(registry: Registry) -> None:
    chosen = [registry.find("primitives", name).value for name in ("add", "mul", "square")]
    x = torch.linspace(0.3, 2.1, 32, dtype=torch.float64)
    library = Library([Ingredient(Leaf("x"), DIMENSIONLESS)], x.unsqueeze(0), chosen)
    for _ in library.grow(500):
        pass
    values = [library.tree(number).evaluate({"x": x}) for number in range(1, 300)]
    for one, other in itertools.combinations(values[:120], 2):
        assert not torch.allclose(one, other, rtol=1e-9)
    torch.testing.assert_close(torch.stack(values), library.values[1:300])
    assert library.tried > library.count >= 500
    written = [library.tree(number).written() for number in range(1, 8)]
    assert written[0] == "x"
    assert "square(x)" in written
    assert "mul(x, x)" not in written


def test_a_library_is_unit_consistent(registry: Registry) -> None:
    chosen = [registry.find("primitives", name).value for name in ("add", "mul", "sin")]
    rows = torch.rand(3, 32, dtype=torch.float64) + 1
    metre, second = parse("m").dim, parse("s").dim
    columns = [Ingredient(Leaf(name), unit) for name, unit in (("x", metre), ("t", second), ("n", DIMENSIONLESS))]
    library = Library(columns, rows, chosen)
    for _ in library.grow(300):
        pass
    written = {library.tree(number).written() for number in range(1, library.count + 1)}
    assert "add(x, x)" in written
    assert "sin(n)" in written
    assert not {"add(x, t)", "sin(x)", "sin(t)"} & written


@given(st.integers(0, 400), st.integers(0, 400), st.floats(0.1, 3), st.floats(-3, -0.1))
def test_any_pair_is_found_by_sorting(one: int, other: int, first: float, second: float) -> None:
    assume(one != other)
    generator = torch.Generator().manual_seed(0)
    rows = Directions(torch.ones(1, 24, dtype=torch.float64))
    values = torch.randn(401, 24, dtype=torch.float64, generator=generator)
    rows.add(values, torch.arange(401), 0)
    target, _ = rows.unit((first * values[one] + second * values[other] + 5).unsqueeze(0))
    assert (min(one, other), max(one, other)) in rows.pairs(target[0])
    assert rows.lookup(rows.unit(3 * values[one : one + 1] - 1)[0]) == [(0, one)]
    assert rows.singles(rows.unit(values[one : one + 1])[0][0]) == [one]


@pytest.mark.parametrize(
    ("target", "inputs", "unit", "proposers"),
    [
        ("q*r**2/(4*pi*t)", {"q": (1, 5), "r": (1, 5), "t": (1, 5)}, "", {"monomial"}),
        ("-3*sqrt(x)/t", {"x": (1, 5, "m"), "t": (1, 5, "s")}, "m**0.5/s", {"monomial"}),
        ("r*F*sin(theta)", {"r": (1, 5, "m"), "F": (1, 5, "kg*m/s**2"), "theta": (0, 5)}, "kg*m**2/s**2", EITHER),
        ("m*c**2/sqrt(1-v**2/c**2)", {"m": (1, 5, "kg"), "v": (1, 2, "m/s"), "c": (3, 10, "m/s")}, "J", EITHER),
        ("2.7*sin(x)*exp(-1.3*x/t)", {"x": (1, 5), "t": (1, 5)}, "", {"join"}),
        ("x**6+x**5+x**4+x**3+x**2+x", {"x": (-1, 1)}, "", EITHER),
        ("log(x+1)+log(x**2+1)", {"x": (0, 2)}, "", {"join"}),
        ("1.7*x**2+0.3*cos(t)-4.2", {"x": (-2, 2), "t": (-3, 3)}, "", {"join"}),
    ],
)
def test_what_is_looked_up(
    registry: Registry, target: str, inputs: dict[str, Any], unit: str, proposers: set[str]
) -> None:
    assert solved(registry, target, inputs, unit).proposer in proposers


ERF = """
    import sympy, torch
    from occamkit import Elementwise, hookimpl, units

    @hookimpl
    def occamkit_primitives():
        return [Elementwise("erf", 1, torch.erf, sympy.erf, units.dimensionless, inverse=torch.erfinv)]
"""


@pytest.mark.parametrize(
    ("target", "proposers"),
    [
        ("3*x*errors:erf(t)", EITHER),  # one expression
        ("x*errors:erf(t)+sin(x)*t", {"join"}),  # two
        ("errors:erf(x/(t+2))", EITHER),  # around what is looked for
    ],
)
def test_a_packs_primitive_takes_part(make_pack: Callable[..., None], target: str, proposers: set[str]) -> None:
    make_pack("errors", ERF)
    registry = Registry.load(only=["errors"])
    names = [*PRIMITIVES, "errors:erf"]
    best = solved(registry, target, {"x": (0.2, 2), "t": (0.3, 2)}, search={"primitives": names, "constants": [1, 2]})
    assert "erf" in best.tree.written()
    assert best.proposer in proposers


def test_programs_are_looked_up_too(registry: Registry) -> None:
    bits = {"values": [0, 1]}
    task = problem(
        registry,
        "xor(xor(a,b),c)",
        data={"draw": "grid", "points": 8, "split": {"valid": 0.0, "test": 0.0}},
        inputs=[{"name": name, **bits} for name in "abc"],
        search={"primitives": ["and", "or", "not", "xor"], "constants": []},
        proposers=EXACT,
        stop={"max_steps": 500},
    )
    best = search(task).best[0]
    assert best is not None
    assert best.figures.exact


def test_groups_that_the_data_show(registry: Registry) -> None:
    task = problem(
        registry,
        "1/(exp(h*w/(k*t))-1)",
        inputs=[{"name": name, "range": [1, 5]} for name in ("h", "w", "k", "t")],
        data={"points": 1000},
    )
    view = OutputView(task.search_problem, 0, unspent)
    assert active_groups(view, 4) == ((1, 1, -1, -1),)
    rough = problem(registry, "x+sin(9*x)", data={"points": 200})
    assert active_groups(OutputView(rough.search_problem, 0, unspent), 4) == ()


def test_exponentials_are_known_by_what_they_do(registry: Registry) -> None:
    known = {entry.name for entry in registry.entries("primitives") if traits.exponential(entry.value) is not None}
    assert known == {"exp"}
    assert traits.exponential(registry.find("primitives", "exp").value) == pytest.approx(1)


def test_numbers_are_recognised() -> None:
    assert recognised(1 / (4 * math.pi) * (1 + 1e-12), 1e-9) == pytest.approx(1 / (4 * math.pi), rel=1e-15)
    assert recognised(-0.5000000000001, 1e-9) == -0.5
    assert recognised(0.123456789, 1e-9) == 0.123456789
    assert snapped(1.50001, 1e-4) == Fraction(3, 2)
    assert snapped(1.37, 1e-4) == 1.37


@given(st.integers(-3, 3), st.integers(-3, 3), st.floats(0.5, 2))
def test_products_are_opened_without_changing_values(outer: int, inner: int, factor: float) -> None:
    x = torch.linspace(0.5, 2, 7, dtype=torch.float64)
    nested = product(2.0, [(product(factor, [(Leaf("x"), inner)]), outer), (Leaf("x"), 1)])
    torch.testing.assert_close(nested.evaluate({"x": x}), 2 * (factor * x**inner) ** outer * x)


def test_links_are_primitives_that_declare_an_inverse(registry: Registry) -> None:
    task = problem(registry, "asin(x/12)", search={"primitives": ["asin", "abs", "square", "exp"]})
    found = OutputView(task.search_problem, 0, unspent).links()
    names = [None if link.primitive is None else link.primitive.name for link in found]
    assert names[0] is None
    assert "asin" in names
    assert not {"abs", "exp", "square"} & set(names)  # no inverse; undefined for negative outputs


def test_a_tree_of_a_library_is_made_of_primitives(registry: Registry) -> None:
    sine = registry.find("primitives", "sin").value
    x = torch.linspace(3.5, 6, 32, dtype=torch.float64)  # where sine is negative
    library = Library([Ingredient(Leaf("x"), DIMENSIONLESS)], x.unsqueeze(0), [sine])
    for _ in library.grow(2):
        pass
    tree = library.tree(2)
    assert tree == product(-1.0, [(Apply(sine, (Leaf("x"),)), 1)])
