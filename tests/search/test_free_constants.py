"""The search for formulas with unknown constants, bounded by batches and never by the clock."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from click.testing import CliRunner

from occamkit import (
    Elementwise,
    Expression,
    Milestone,
    Primitive,
    Proposal,
    Registry,
    SearchBudget,
    SearchProblem,
    units,
)
from occamkit.builtins.fitness import RSquared
from occamkit.builtins.proposers.free_constants import race
from occamkit.builtins.proposers.free_constants.plan import FormulaPlan
from occamkit.builtins.proposers.free_constants.proposers import FreeConstants, OutputSearch
from occamkit.builtins.proposers.free_constants.prune import pruned
from occamkit.builtins.proposers.free_constants.race import Runner
from occamkit.builtins.proposers.free_constants.rows import Rows, views
from occamkit.builtins.proposers.free_constants.skeleton import CENTRED, Sum, raised, variable
from occamkit.builtins.proposers.free_constants.view_search import ViewSearch
from occamkit.builtins.proposers.free_constants.waves import frequencies
from occamkit.cli.main import cli
from occamkit.kernel import Effort, Offset
from occamkit.kernel.plain import Plain
from occamkit.units import parse

NAMES = ("add", "sub", "mul", "div", "sin", "cos", "exp", "log", "square", "sqrt")
Law = Callable[..., torch.Tensor]


def primitives(*names: str) -> list[Primitive]:
    registry = Registry.load()
    return [registry.primitives(name)[0].value for name in names or NAMES]


def problem(law: Law, ranges: list[tuple[float, float]], rows: int = 150, **options: Any) -> SearchProblem:
    draw = torch.Generator().manual_seed(1)
    columns = [low + (high - low) * torch.rand(rows, dtype=torch.float64, generator=draw) for low, high in ranges]
    target = law(*columns)
    given = options.pop("primitives", None) or primitives()
    return SearchProblem.of(dict(zip("abcd", columns, strict=False)), {"y": target}, given, RSquared(), **options)


def left(one: SearchProblem, tree: Expression) -> float:
    target = one.targets[0]
    error = tree.evaluate(one.named).expand_as(target) - target
    return float(error.square().mean() / target.var(correction=0))


def best(one: SearchProblem, batches: int) -> tuple[float, Expression]:
    """Return the nearest of what is proposed in some batches, and what it leaves."""
    found = []
    budget = SearchBudget()
    for item in FreeConstants().propose(one, budget):
        if item is None:
            batches -= 1
        elif isinstance(item, Proposal):
            found.append((left(one, item.tree), item.tree))
        if batches == 0 or (found and min(found, key=lambda pair: pair[0])[0] < 1e-22):
            break
    assert budget.spent > 0
    return min(found, key=lambda pair: pair[0])


def noisy(seen: SearchProblem) -> SearchProblem:
    errors = torch.randn(seen.targets.shape, generator=torch.Generator().manual_seed(7), dtype=torch.float64)
    return replace(seen, targets=seen.targets + 0.05 * seen.targets.std() * errors)


def said_first(items: Iterator[Any], count: int) -> list[str]:
    return ["milestone" if isinstance(item, Milestone) else str(item) for item in islice(items, count)]


def one_view(seen: SearchProblem) -> ViewSearch:
    (view, *_) = views(seen, 0)
    rows = Rows.of(seen, 0, view)
    assert rows is not None
    return ViewSearch(seen, rows, SearchBudget().spend, 14)


def runner(search: ViewSearch, formula: Sum, constants: list[float]) -> Runner:
    made = search.grammar.program(formula)
    assert made is not None
    return Runner(formula, *made, np.array(constants))


LAWS: dict[str, tuple[Law, list[tuple[float, float]]]] = {
    "saturation": (lambda a: 7.3 * a / (2.4 + a), [(0.1, 12)]),
    "arrhenius": (lambda a: 1.73 + 412.6 * torch.exp(-1853.2 / a), [(280, 520)]),
    "peak on a slope": (lambda a: 0.53 + 0.021 * a + 4.18 * torch.exp(-((a - 31.5) ** 2) / 41.7), [(10, 60)]),
    "wave": (lambda a: 3.7 * torch.sin(7.43 * a + 0.61) + 11.2, [(0, 5)]),
    "damped wave": (lambda a: 3.2 * torch.exp(-0.35 * a) * torch.cos(4.1 * a), [(0, 8)]),
    "two waves": (lambda a: 1.7 * torch.sin(61.3 * a + 0.2) - 0.64 * torch.cos(23.9 * a), [(0, 3)]),
    "peak of saturation": (lambda a, b: 2.6 * torch.exp(-((a - 4.4) ** 2) / 3.1) * b / (0.9 + b), [(0, 9), (0.1, 6)]),
    "logistic": (lambda a: 9.1 / (1 + torch.exp(-0.83 * (a - 6.2))), [(0, 14)]),
    "product of powers": (lambda a, b: 1.9 * a**0.31 * b**0.66, [(1, 50), (1, 80)]),
    "gas": (lambda a, b: 8.314 * a / (b - 0.0427) - 3.64 / b**2, [(250, 400), (0.1, 1.2)]),
}


@pytest.mark.parametrize("name", LAWS)
def test_a_law_with_unknown_constants_is_found_to_rounding(name: str) -> None:
    error, _ = best(problem(*LAWS[name]), 120)
    assert error < 1e-20


def test_a_function_that_is_defined_near_zero_alone_is_found() -> None:
    law = problem(
        lambda a, b: 1.7 * torch.arccos(0.19 * a / b), [(1, 5), (1, 5)], primitives=primitives(*NAMES, "acos")
    )
    error, tree = best(law, 60)
    assert error < 1e-20
    assert "acos" in str(tree)


def test_a_line_that_is_all_slope_becomes_a_product() -> None:
    seen = problem(lambda a, b, c: 3.1 * a / b / c, [(1, 5)] * 3)
    search = one_view(seen)
    line = raised((Offset.ONE, ((variable(1), variable(2)),)), -4)
    (found,) = search.race.refit([runner(search, (Offset.NONE, ((variable(0), line),)), [1e9])], Effort(0, 0))
    product = (variable(0), variable(1, -4), variable(2, -4))
    assert pruned(search.race, found).formula == (Offset.NONE, (product,))


def test_the_rows_show_their_frequencies() -> None:
    seen = problem(lambda a: 1.7 * torch.sin(61.3 * a + 0.2) - 0.64 * torch.cos(23.9 * a), [(0, 3)])
    rows = Rows.of(seen, 0, next(views(seen, 0)))
    assert rows is not None
    found = list(frequencies(rows.tables[1], rows.tables[1].columns[CENTRED]))
    np.testing.assert_allclose(np.array(found[:2]) / rows.scales[0], [61.3, 23.9], atol=0.6)
    assert list(frequencies(rows.tables[1], np.zeros(len(rows.tables[1].target)))) == []


def test_a_sine_that_needs_no_phase_becomes_a_cosine() -> None:
    search = one_view(problem(lambda a: 1.3 * torch.cos(2.1 * a), [(-3, 3)]))
    for _ in range(4):
        search.batch()
    found = search.race.levels.best
    assert found is not None
    assert found.left < 1e-24
    tree = search.writer.tree(found)
    assert tree is not None
    assert "cos" in str(tree)
    np.testing.assert_allclose(sorted(map(abs, tree.fitted)), [1.3, 2.1], rtol=1e-9)


def test_no_formula_has_more_numbers_than_are_allowed() -> None:
    seen = problem(*LAWS["damped wave"])
    (view, *_) = views(seen, 0)
    rows = Rows.of(seen, 0, view)
    assert rows is not None
    search = ViewSearch(seen, rows, SearchBudget().spend, 3)
    for _ in range(40):
        search.batch()
    assert max(one.program.numbers for one in search.race.levels.all()) == 3


@pytest.mark.parametrize("name", ["saturation", "logistic"])
def test_without_the_library_the_same_is_found(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    native = best(problem(*LAWS[name]), 120)[1]
    monkeypatch.setattr(race, "kernel", Plain)
    plain = best(problem(*LAWS[name]), 120)[1]
    assert plain.with_constants(native.fitted) == native  # the same form
    np.testing.assert_allclose(plain.fitted, native.fitted, rtol=1e-8)


def test_equal_seeds_give_equal_formulas() -> None:
    one, other = (FreeConstants().propose(problem(*LAWS["logistic"]), SearchBudget()) for _ in range(2))
    assert said_first(one, 40) == said_first(other, 40)


@pytest.mark.parametrize("name", ["gas", "wave"])
def test_from_a_milestone_it_goes_on_as_if_nothing_had_been(name: str) -> None:
    budget, file = SearchBudget(), io.BytesIO()
    going = FreeConstants().propose(noisy(problem(*LAWS[name])), budget)
    states = (item.state() for item in going if isinstance(item, Milestone))
    torch.save(next(state for state in states if all_have_begun(state)), file)
    spent = budget.spent
    again = SearchBudget(spent=spent)
    state = torch.load(io.BytesIO(file.getvalue()), weights_only=True)
    resumed = FreeConstants().resume(noisy(problem(*LAWS[name])), again, state)
    assert said_first(resumed, 60) == said_first(going, 60)
    assert again.spent == budget.spent > spent


def all_have_begun(state: dict[str, Any]) -> bool:
    """Whether all sources of the first view that count have given formulas."""
    (first, *_) = state["outputs"][0]["views"]
    return all(source["taken"] for source in first["sources"][:3])


def test_what_is_written_is_what_was_fitted() -> None:
    """Trees over the user's columns have the values that the kernel fitted, whatever the form."""
    for seen in (problem(*LAWS["gas"]), problem(lambda a, b: a * b - 3, [(-4, -1), (-2, 5)])):
        rows = Rows.of(seen, 0, next(views(seen, 0)))
        assert rows is not None
        search = ViewSearch(seen, rows, SearchBudget().spend, 14)
        programs = ((one, search.grammar.program(one)) for one in islice(FormulaPlan(search.grammar, 0), 0, 20_000, 41))
        runners = [Runner(formula, *made) for formula, made in programs if made is not None]
        fits = search.race._fit(0, runners, Effort(starts=12, steps=4), list(range(1, len(runners) + 1)))
        checked = 0
        for runner, fit in zip(runners, fits, strict=True):
            given = Runner(runner.formula, runner.program, runner.cost, fit.constants)
            for fitted in search.race.refit([given], Effort(starts=0, steps=0)) if fit.left < 1 else []:
                tree = search.writer.tree(fitted)
                if tree is not None:
                    checked += 1
                    scale = max(1.0, *(abs(value) for value in tree.fitted)) / abs(rows.level)
                    expected = fitted.left * rows.tables[-1].square / rows.spread
                    assert left(seen, tree) == pytest.approx(expected, rel=1e-6, abs=1e-9 * min(scale, 1e6)), (
                        fitted.formula,
                        fitted.fit,
                        str(tree),
                    )
        assert checked > 100


def test_functions_of_a_pack_take_part() -> None:
    arctan = Elementwise("bend", 1, torch.atan, lambda x: x, units.dimensionless)
    error, tree = best(problem(lambda a: 2 + 0.7 * torch.atan(1.9 * a - 0.4), [(-3, 3)], primitives=[arctan]), 10)
    assert error < 1e-16
    assert "bend" in tree.written()


def test_only_given_functions_are_used() -> None:
    _, tree = best(problem(*LAWS["wave"], primitives=primitives("add", "mul", "exp")), 12)
    assert "sin" not in tree.written()
    assert "cos" not in tree.written()


def test_with_units_groups_come_first() -> None:
    given = {"a": parse("m/s").dim, "b": parse("m/s").dim, "c": parse("kg").dim, "y": parse("kg").dim}
    seen = problem(lambda a, b, c: c / torch.sqrt(1 - 0.81 * a**2 / b**2), [(1, 2), (3, 9), (1, 5)], units=given)
    error, tree = best(seen, 20)
    assert error < 1e-20
    (first, *_) = views(seen, 0)
    assert len(first.inputs) == 1
    assert set(tree.inputs) == {"a", "b", "c"}


def test_the_mean_is_there_before_anything_else() -> None:
    seen = problem(*LAWS["wave"])
    first = next(OutputSearch(seen, 0, SearchBudget(), 14).first())
    assert first.tree.inputs == ()
    assert left(seen, first.tree) == pytest.approx(1.0)


def said(columns: dict[str, np.ndarray], folder: Path, steps: int = 4) -> dict[str, Any]:
    """Return what `occamkit fit` says of a table."""
    file = folder / "table.csv"
    rows = np.column_stack(list(columns.values()))
    np.savetxt(file, rows, delimiter=",", header=",".join(columns), comments="", fmt="%.17g")
    result = CliRunner().invoke(cli, ["fit", str(file), "--target", "y", "--steps", str(steps), "--json", "--quiet"])
    assert result.exit_code == 0, result.output
    return dict(json.loads(result.stdout)["outputs"][0]["best"])


X = np.random.default_rng(0).uniform(-30, 30, 40)
TABLES = {
    "large beside its spread": ({"x": X, "y": 1e12 + X**2}, "x**2 + 1000000000000.0"),
    "inputs large beside their spread": ({"x": 1e12 + np.arange(40.0), "y": 2e12 + 2 * np.arange(40.0)}, "2*x"),
    "tiny": ({"x": X, "y": 3e-200 * X**2}, "3e-200*x**2"),
    "columns that carry the same": ({"cm": X + 40, "inch": (X + 40) / 2.54, "y": (X + 40) ** 2}, "cm**2"),
}


@pytest.mark.parametrize("name", TABLES)
def test_exactness_is_measured_by_the_spread(name: str, tmp_path: Path) -> None:
    columns, expected = TABLES[name]
    assert said(columns, tmp_path)["expression"] == expected


def test_rows_without_a_law_have_none(tmp_path: Path) -> None:
    draw = np.random.default_rng(7)
    for rows in (25, 90):
        best_of = said(
            {"a": draw.normal(size=rows), "b": draw.normal(size=rows), "y": draw.normal(size=rows)}, tmp_path
        )
        assert best_of["inputs"] == []


def test_a_noisy_target_of_two_values_is_told_by_its_inputs(tmp_path: Path) -> None:
    draw = np.random.default_rng(2)
    a, b = draw.uniform(-2, 2, (2, 160))
    found = said({"a": a, "b": b, "y": (a + 0.7 * b + 0.5 * draw.normal(size=160) > 0) * 1.0}, tmp_path)
    assert found["r2"]["train"] > 0.4
