"""Sums of many terms, and inputs that are factors."""

from __future__ import annotations

from collections.abc import Generator
from fractions import Fraction
from typing import Any

import torch
from hypothesis import given
from hypothesis import strategies as st

from occamkit import Registry
from occamkit.archive import Candidate
from occamkit.builtins.proposers.exact.matching import images, peeled_pairs
from occamkit.builtins.proposers.exact.power_inputs import power_inputs
from occamkit.builtins.proposers.exact.tables import Table, TableSlice, ingredients, input_groups
from occamkit.builtins.proposers.exact.view import OutputView
from occamkit.builtins.proposers.sums.polynomials import thinned
from occamkit.graph import Leaf, product
from occamkit.search import search
from occamkit.task.problem import Problem
from tests.problems import problem

PRIMITIVES = ["add", "sub", "mul", "div", "square", "sqrt", "exp", "log", "sin", "cos"]
HALVES = st.integers(-4, 4).map(lambda value: value / 2)


def inputs(**ranges: tuple[float, float]) -> list[dict[str, Any]]:
    return [{"name": name, "range": list(bounds)} for name, bounds in ranges.items()]


def task(
    registry: Registry, target: str, columns: list[dict[str, Any]], noise: float, steps: int, proposer: str = "fit"
) -> Problem:
    return problem(
        registry,
        target,
        inputs=columns,
        proposers=[{"name": proposer}],
        search={"primitives": PRIMITIVES, "constants": [1, 2, "pi"]},
        data={"points": 600, "noise": noise},
        stop={"max_steps": steps},
    )


def found(given_task: Problem) -> Candidate:
    best = search(given_task).best[0]
    assert best is not None
    return best


def grown(table: Table, most: int) -> TableSlice:
    growing = table.grow(most)
    while True:
        try:
            next(growing)
        except StopIteration as end:
            return end.value


def seen(given_task: Problem) -> OutputView:
    return OutputView(given_task.search_problem, 0, lambda _: None)


def returned(steps: Generator[None, None, Any]) -> Any:
    while True:
        try:
            next(steps)
        except StopIteration as end:
            return end.value


@given(st.sets(st.integers(0, 19), min_size=1, max_size=4))
def test_terms_that_are_there_are_what_is_left(places: set[int]) -> None:
    generator = torch.Generator().manual_seed(1)
    rows = torch.rand(20, 200, dtype=torch.float64, generator=generator) + 0.5
    target = rows[sorted(places)].sum(0) + 0.01 * torch.randn(200, dtype=torch.float64, generator=generator)
    assert thinned(rows, target, [2.0] * 20)[0] == sorted(places)


def test_a_sum_of_many_products_is_found_in_noise(registry: Registry) -> None:
    columns = inputs(**dict.fromkeys(("a", "b", "c", "d", "e", "f"), (1.0, 5.0)))
    best = found(task(registry, "a*b + c*d + e*f", columns, noise=0.05, steps=40))
    assert {"a*b", "c*d", "e*f"} <= set(str(best.tree.simplified()).split(" + "))


def test_squares_are_completed(registry: Registry) -> None:
    columns = inputs(**dict.fromkeys(("a", "b", "c", "d"), (1.0, 5.0)))
    best = found(task(registry, "sqrt((a - b)**2 + (c - d)**2)", columns, noise=0.0, steps=400))
    assert best.figures.exact
    assert str(best.tree.simplified()) == "sqrt((a - b)**2 + (c - d)**2)"


def test_an_exponential_is_found_where_most_rows_are_noise(registry: Registry) -> None:
    columns = inputs(n=(1.0, 5.0), x=(0.5, 5.0))
    best = found(task(registry, "n*exp(-x**2)", columns, noise=0.1, steps=20, proposer="free-constants"))
    assert "exp(-" in str(best.tree.simplified())
    assert best.tree.inputs == ("n", "x")


def test_inputs_that_are_factors_are_told_from_the_others(registry: Registry) -> None:
    columns = inputs(m=(1.0, 5.0), v=(1.0, 2.0), c=(3.0, 10.0), nothing=(1.0, 5.0), k=(1.0, 3.0))
    view = seen(task(registry, "m*sqrt(k)/sqrt(1 - v**2/c**2)", columns, noise=0.0, steps=1))
    powers, rest = returned(power_inputs(view))
    assert powers == (1, 0, 0, 0, Fraction(1, 2))
    assert [view.variables[place].name for place in rest] == ["v", "c"]


def test_no_input_is_a_factor_of_a_sum(registry: Registry) -> None:
    columns = inputs(a=(1.0, 5.0), b=(1.0, 5.0), c=(1.0, 5.0))
    assert returned(power_inputs(seen(task(registry, "a*b + b*c + a*c", columns, noise=0.0, steps=1)))) is None


@given(HALVES, HALVES)
def test_a_divided_output_is_put_together_again(registry: Registry, one: float, other: float) -> None:
    view = seen(task(registry, "a*b + c", inputs(a=(1, 2), b=(1, 2), c=(1, 2)), noise=0.0, steps=1))
    rest = view.divided((Fraction(one), Fraction(0), Fraction(other)), [1])
    whole = rest.whole(Leaf("b"))
    wanted = view.named["b"] * view.named["a"] ** one * view.named["c"] ** other
    torch.testing.assert_close(view.evaluate(whole), wanted)
    torch.testing.assert_close(view.evaluate(rest.whole(product(1.0, []))) * rest.target, view.target)


def test_a_term_beside_a_product_of_two_is_found(registry: Registry) -> None:
    columns = inputs(a=(1.0, 3.0), b=(0.2, 1.2))
    view = seen(task(registry, "1 + sqrt(1 + 2*a)*cos(b)", columns, noise=0.0, steps=1))
    table = Table(view, ingredients(view, input_groups(view, 4)))
    trees = [tree for tree in peeled_pairs(grown(table, 3_000), images(view, 1, (1,)), 10) if tree is not None]
    assert trees
    torch.testing.assert_close(view.evaluate(trees[0]), view.target)
