"""One search behind every door: the same formula through each, constraints that bind everybody, runs that go on."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sympy
import torch
from click.testing import Result as Shown
from hypothesis import given, settings
from hypothesis import strategies as st

import occamkit
from occamkit import Apply, Expression, Leaf, OccamRegressor, Product, Registry, SearchBudget, SearchProblem, Sum
from occamkit.description import wasted_digits
from occamkit.errors import UserError
from occamkit.export import Usable
from occamkit.fit import solve
from occamkit.graph import product, weighted_sum
from occamkit.result.formulas import formula_of
from occamkit.score import Judge
from occamkit.search import Ended, Event, Improved, Run, Stepped, TurnBegan, TurnEnded, conclude_state, search
from occamkit.task.problem import Problem
from occamkit.train import Learner, Trainer
from tests.problems import archive, kept_in, problem

COLUMNS = {"a": (0.5, 3.0), "b": (1.0, 4.0)}
FORMULAS = ["a*b", "3*a**2/b", "sin(a) + b", "a/(b + 1)", "sqrt(a**2 + b**2)"]


def table(formula: str, noise: float, rows: int = 120) -> dict[str, np.ndarray]:
    draw = np.random.default_rng(3)
    columns = {name: draw.uniform(low, high, rows) for name, (low, high) in COLUMNS.items()}
    symbols = {name: sympy.Symbol(name, real=True) for name in COLUMNS}
    y = sympy.lambdify(list(symbols.values()), sympy.sympify(formula, symbols))(*columns.values())
    return {**columns, "y": y + noise * np.sqrt((y**2).mean()) * draw.normal(size=rows)}


def write(path: Path, columns: dict[str, np.ndarray]) -> Path:
    lines = [",".join(columns), *(",".join(map(repr, map(float, row))) for row in zip(*columns.values(), strict=True))]
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.mark.parametrize("formula", FORMULAS)
@pytest.mark.parametrize("noise", [0.0, 0.02])
def test_the_estimator_finds_what_fit_finds(
    formula: str, noise: float, tmp_path: Path, occamkit: Callable[..., Shown]
) -> None:
    pandas = pytest.importorskip("pandas")
    columns = table(formula, noise)
    file = write(tmp_path / "data.csv", columns)
    arguments = ["--target", "y", "--steps", "12", "--split", "valid=0.2,test=0", "--primitives", "add,mul,sin,sqrt"]
    shown = json.loads(occamkit("fit", str(file), *arguments, "--json", "--quiet").stdout)
    best = shown["outputs"][0]["best"]
    model = OccamRegressor(primitives=["add", "mul", "sin", "sqrt"], max_steps=12)
    model.fit(pandas.DataFrame({name: columns[name] for name in COLUMNS}), columns["y"])
    assert model.expression_ == best["expression"]
    assert model.result_.outputs[0].best.proposer == best["proposer"]
    assert best["r2"]["valid"] > (0.9 if noise else 1 - 1e-12)


def test_every_door_gives_the_same_formula(tmp_path: Path, occamkit: Callable[..., Shown]) -> None:
    import occamkit as toolkit

    file = write(tmp_path / "data.csv", table("a*b + sin(a)", 0.05))
    run = tmp_path / "run"
    first = occamkit("fit", str(file), "--target", "y", "--steps", "2", "--out", str(run), "--quiet").stdout
    task = str(run / "task.toml")
    assert occamkit("run", task, "--quiet").stdout == first
    assert "the same result, bit for bit" in occamkit("rerun", str(run), "--quiet").stdout
    found = toolkit.run(task, device="cpu", out=tmp_path / "python")
    assert first.startswith(f"y = {found.outputs[0].best.expression} ")
    assert (tmp_path / "python" / "trace.jsonl").read_text() == (run / "trace.jsonl").read_text()
    (run / "result.json").unlink()
    assert occamkit("resume", str(run), "--quiet").stdout == first


def test_a_split_is_read_and_mistakes_are_told(tmp_path: Path, occamkit: Callable[..., Shown]) -> None:
    file = write(tmp_path / "data.csv", table("a*b", 0.0))
    mistakes = {"vaild=0.2": "did you mean 'valid'", "valid=x": "got 'x'", "valid=0.6,test=0.5": "no rows"}
    for wrong, words in mistakes.items():
        shown = occamkit("fit", str(file), "--target", "y", "--split", wrong)
        assert (shown.exit_code, words in shown.stderr) == (2, True)


FALLING = """
    from dataclasses import dataclass, replace
    from typing import ClassVar
    import torch
    from occamkit import Stage, hookimpl

    @dataclass(frozen=True)
    class Falling:
        "Refuses all that rises with x."
        name: ClassVar[str] = "falling"
        stage: ClassVar[Stage] = Stage.TREE
        weight: float = 10.0
        def look(self, tree, output):
            x = torch.linspace(1, 5, 50, dtype=torch.float64)
            values = tree.evaluate({"x": x}).expand_as(x)
            return float((values.diff() > 1e-9).double().mean())

    @hookimpl
    def occamkit_regularizers(): return [Falling]
"""


@pytest.mark.parametrize("proposer", ["monomial", "enumerate", "join", "fit", "network"])
def test_a_constraint_of_a_third_party_binds_every_proposer(make_pack: Callable[..., None], proposer: str) -> None:
    make_pack("falls", FALLING)
    registry = Registry.load(only=["falls"])
    sections: dict[str, Any] = {
        "inputs": [{"name": "x", "range": [1, 5]}],
        "proposers": [{"name": proposer}],
        "search": {"primitives": ["add", "mul", "div", "exp", "square"], "constants": [1], "depth": 2},
        "stop": {"max_steps": 60},
    }
    free = search(problem(registry, "2*x**2", **sections)).best[0]
    assert free is not None
    assert free.exact
    bound = problem(registry, "2*x**2", **sections, regularizers=[{"name": "falling"}])
    held = archive(bound)
    rising = held.offer(free.tree, proposer)
    assert rising is not None
    assert rising.score < 0 < free.score
    flat = held.offer(Sum(25.0, ()), "me")
    assert flat is not None
    assert flat.score > rising.score


def test_penalties_bind_what_is_chosen(make_pack: Callable[..., None]) -> None:
    make_pack("falls", FALLING)
    registry = Registry.load(only=["falls"])
    task = problem(
        registry, "3*x**2", inputs=[{"name": "x", "range": [1, 5]}], regularizers=[{"name": "falling"}],
        proposers=[{"name": "monomial"}, {"name": "network"}], stop={"max_steps": 30},
        search={"primitives": ["add", "mul", "div", "neg"], "constants": [1], "depth": 2},
    )  # fmt: skip
    outcome = search(task)
    best = outcome.best[0]
    assert best is not None
    x = torch.linspace(1, 5, 50, dtype=torch.float64)
    assert not bool((best.tree.evaluate({"x": x}).expand_as(x).diff() > 1e-9).any()), best.tree.written()


REGULARIZED: list[tuple[str, dict[str, Any]]] = [
    ("activations", {}), ("constants", {}), ("near_trivia", {}), ("trivial_constants", {}), ("trivial_operations", {}),
    ("units", {}), ("robust:bounds", {"low": -2.0, "high": 0.5}), ("robust:monotone", {"input": "x"}),
    ("robust:symmetry", {"input": "x", "kind": "even"}), ("robust:extrapolation", {}),
]  # fmt: skip


@pytest.mark.parametrize(("name", "options"), REGULARIZED)
@pytest.mark.parametrize("scale", ["none", "affine"])
def test_a_function_scores_the_same_as_a_tree(name: str, options: dict[str, Any], scale: str) -> None:
    registry = Registry.load()
    known = {entry.name for entry in registry.entries("regularizers")} | set(registry.names("regularizers"))
    if name not in known:
        pytest.skip(f"the pack of {name} is not installed")
    plugin = registry.find("regularizers", name).value
    fields = {field: value for field, value in options.items() if field in plugin.__dataclass_fields__}
    task = problem(
        registry, "sin(x)*x", regularizers=[{"name": name, "weight": 0.2, **fields}],
        search={"primitives": ["add", "mul", "sin", "square", "add_c"], "depth": 3},
        fitness={"name": "gaussian", "scale": scale}, trainer={"functions": 120, "dtype": "float64"},
    )  # fmt: skip
    trainer = Trainer(task.search_problem, torch.Generator().manual_seed(1))
    step, judge = trainer.step(), Judge.of(trainer.problem)
    compared = 0
    for place in step.leaders[0].tolist():
        root, score = int(step.roots[0, place]), float(step.scores.score[0, place])
        if math.isfinite(float(step.scores.fitness[0, place])):
            tree = trainer.judge.expression(root, 0)
            assert judge.tree(tree, 0).score == pytest.approx(score, rel=1e-6, abs=1e-6), tree.written()
            compared += 1
    assert compared


def test_every_regularizer_is_held_to_that() -> None:
    entries = Registry.load().entries("regularizers")
    installed = {one.name if one.pack == "occamkit" else f"{one.pack}:{one.name}" for one in entries}
    assert installed <= {name for name, _ in REGULARIZED}


def test_a_killed_run_concludes_as_a_live_one(registry: Registry) -> None:
    states: list[Any] = []
    task = problem(registry, "sin(3*x+2)", data={"noise": 0.1}, stop={"max_steps": 2}, trainer={"functions": 50})
    outcome = search(task, [kept_in(states)])
    killed = conclude_state(task, states[-1])
    assert (killed.best, killed.fronts, killed.likeliest) == (outcome.best, outcome.fronts, outcome.likeliest)
    assert (killed.stop, killed.steps, killed.accounts) == ("steps", outcome.steps, outcome.accounts)


def test_a_run_of_all_proposers_goes_on_where_it_was(registry: Registry) -> None:
    sections: dict[str, Any] = {
        "data": {"noise": 0.1}, "stop": {"max_steps": 6}, "trainer": {"functions": 50},
        "search": {"primitives": ["add", "mul", "sin"], "constants": [1]},
    }  # fmt: skip
    states: list[Any] = []
    whole: list[Event] = []
    outcome = search(problem(registry, "sin(3*x+2)", **sections), [kept_in(states), whole.append])
    for place in (3, len(states) // 2, len(states) - 2):
        again: list[Event] = []
        rest = search(problem(registry, "sin(3*x+2)", **sections), [again.append], states[place])
        assert (rest.best, rest.fronts, rest.likeliest) == (outcome.best, outcome.fronts, outcome.likeliest)
        assert rest.accounts == outcome.accounts
        told = [(one.turn, one.proposer) for one in again if isinstance(one, TurnBegan)]
        expected = [(one.turn, one.proposer) for one in whole if isinstance(one, TurnBegan)]
        assert told == expected[place + 1 :]  # nothing is dealt twice


def test_a_task_without_the_network_builds_none(registry: Registry, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("a network was built")

    monkeypatch.setattr(Learner, "__init__", refuse)
    events: list[Event] = []
    task = problem(registry, "sin(3*x+2)", data={"noise": 0.1}, proposers=[{"name": "fit"}], stop={"max_steps": 4})
    outcome = search(task, [events.append])
    assert outcome.best[0] is not None
    kinds = [type(one) for one in events]
    assert kinds[0] is TurnBegan
    assert kinds[-1] is Ended
    assert Improved in kinds
    assert Stepped not in kinds
    assert kinds.count(TurnBegan) == kinds.count(TurnEnded) == outcome.accounts["fit"].turns


def test_work_is_dealt_by_share(registry: Registry) -> None:
    task = problem(
        registry, "sin(3*x+2)*exp(cos(7*x))", data={"noise": 0.3, "points": 200}, stop={"max_steps": 40},
        proposers=[{"name": "join"}, {"name": "network"}],
    )  # fmt: skip
    accounts = search(task).accounts
    assert all(one.turns and one.work for one in accounts.values())
    joined, drawn = accounts["join"].work, accounts["network"].work
    assert 0.2 < drawn / joined < 2.5


PLAIN = ["add", "mul", "sub", "div", "square", "sqrt", "neg"]


@pytest.fixture(scope="module")
def unclosed() -> Judge:
    inputs = [{"name": name, "range": [1, 5]} for name in "uv"]
    search_for = {"primitives": PLAIN, "constants": [1, 2], "closed": False}
    return Judge.of(problem(Registry.load(only=[]), "u*v", inputs=inputs, search=search_for).search_problem)


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_closed_parts_are_spelt_out_or_refused(unclosed: Judge, data: st.DataObject) -> None:
    x, y = Leaf("u"), Leaf("v")
    powers = st.sampled_from([1, 2, 3, -1, -2, 0.5, 1.5])
    numbers = st.sampled_from([1.0, -1.0, 2.0, 0.5, 3.7])
    tree: Expression = product(data.draw(numbers), [(x, data.draw(powers)), (y, data.draw(powers))])
    tree = weighted_sum(data.draw(st.sampled_from([0.0, 1.0, 2.0, 0.3])), [(data.draw(numbers), tree), (1.0, x)])
    spelt = unclosed.allowed(tree)
    if spelt is None:
        return
    assert not any(isinstance(node, Product | Sum) for node in spelt.nodes())
    assert {node.value for node in spelt.nodes() if isinstance(node, Leaf)} <= {None, 1.0, 2.0}
    columns = {name: torch.linspace(1, 5, 9, dtype=torch.float64) for name in "uv"}
    torch.testing.assert_close(spelt.evaluate(columns), tree.evaluate(columns))


@pytest.mark.parametrize(("target", "found"), [("u*v/(u + v)", True), ("3.7*u*v", False), ("u*v - sqrt(u)", True)])
def test_a_task_without_closed_algebra_gets_its_own_words_alone(registry: Registry, target: str, found: bool) -> None:
    task = problem(
        registry, target, inputs=[{"name": name, "range": [1, 5]} for name in "uv"],
        search={"primitives": PLAIN, "constants": [1, 2], "closed": False, "depth": None},
        stop={"max_steps": 12}, trainer={"functions": 200},
    )  # fmt: skip
    outcome = search(task)
    for candidate in outcome.fronts[0]:
        assert all(isinstance(node, Leaf | Apply) for node in candidate.tree.nodes())
        values = {node.value for node in candidate.tree.nodes() if isinstance(node, Leaf)}
        assert values <= {None, 1.0, 2.0}
    assert outcome.best[0] is not None
    assert outcome.best[0].exact == found


def test_closed_false_and_a_scale_contradict_each_other(registry: Registry) -> None:
    with pytest.raises(UserError, match=r"fitness\.scale: numbers and powers around a function"):
        problem(registry, search={"closed": False}, fitness={"name": "gaussian", "scale": "affine"})


def test_sums_that_cancel_are_no_formulas(registry: Registry) -> None:
    x = torch.linspace(0, 1, 60, dtype=torch.float64)
    powers = torch.stack([x**n for n in range(14)])
    assert solve(powers, torch.exp(x)) is None
    assert solve(powers[:4], torch.exp(x)) is not None
    task = problem(registry, "x + 3", data={"noise": 0.1, "points": 100})
    held, leaf = archive(task), Leaf("x")
    sane = held.offer(Sum(3.0, ((1.0, leaf),)), "me")
    # Nearly the same numbers, with terms a billion times as large that all but cancel.
    bent = Apply(registry.find("primitives", "sin").value, (Product(1e-9, ((leaf, 1),)),))
    wild = held.offer(Sum(3.0, ((1e9, bent), (1e-8, leaf))), "me")
    assert sane is not None
    assert wild is not None
    assert wild.figures.r2["valid"] == pytest.approx(sane.figures.r2["valid"], abs=1e-6)
    assert held.best() is sane
    columns = {"x": x + 1}
    assert wasted_digits(Sum(0.0, ((1e9, leaf), (-1e9 + 1, leaf))), columns) == pytest.approx(
        2 * math.log(1e9), rel=0.01
    )
    assert wasted_digits(Sum(3.0, ((1.0, leaf),)), columns) == 0


def test_a_smooth_curve_gets_no_sum_of_huge_numbers(registry: Registry) -> None:
    task = problem(
        registry, "exp(-0.31*x)*cos(2.7*x + 0.4)", inputs=[{"name": "x", "range": [0, 6]}], data={"points": 150},
        search={"primitives": ["add", "mul", "sin", "cos", "exp"], "constants": [1, 2]}, stop={"max_steps": 4},
        proposers=[{"name": "enumerate"}, {"name": "join"}, {"name": "fit"}],
    )  # fmt: skip
    best = search(task).best[0]
    assert best is not None
    assert max(map(abs, best.tree.fitted), default=0.0) < 1e4, best.tree.written()


def test_a_run_without_time_gives_the_best_line(registry: Registry) -> None:
    columns = [{"name": name, "range": [1, 2]} for name in ("a", "b")]
    task = problem(registry, "3*a + exp(b)", inputs=columns, stop={"max_steps": None, "seconds": 1e-9})
    found = search(task).best[0]
    assert found is not None
    assert (found.proposer, found.tree.inputs) == ("simple", ("a", "b"))


def test_those_that_are_named_search(tmp_path: Path, occamkit: Callable[..., Shown]) -> None:
    file = write(tmp_path / "data.csv", table("a*b + sin(a)", 0.05))
    arguments = ["fit", str(file), "--target", "y", "--steps", "1", "--json", "--quiet"]
    told = json.loads(occamkit(*arguments, "--proposers", "fit,free-constants").stdout)
    assert told["outputs"][0]["best"]["proposer"] in {"fit", "free-constants"}
    wrong = occamkit("fit", str(file), "--target", "y", "--proposers", "nework")
    assert (wrong.exit_code, "did you mean 'network'" in wrong.stderr) == (2, True)


AWKWARD = ["x", "x y", "lambda"]


def _three(inner: Any) -> Any:
    return st.tuples(st.sampled_from("+*s"), inner, inner)


@settings(max_examples=25, deadline=None)
@given(shape=st.recursive(st.sampled_from(AWKWARD), _three, max_leaves=30))
def test_every_expression_reads_back(shape: Any, registry: Registry) -> None:
    known = {name: registry.find("primitives", name).value for name in ("add", "mul", "sin")}

    def tree(part: Any) -> Expression:
        if isinstance(part, str):
            return Leaf(part)
        sign, left, right = part
        if sign == "s":
            return Apply(known["sin"], (Product(1.2345678901234567, ((tree(left), 1),)),))
        return Apply(known["add" if sign == "+" else "mul"], (tree(left), tree(right)))

    task = problem(registry, "x", inputs=[{"name": name, "range": [0.1, 0.9]} for name in AWKWARD])
    whole = Sum(0.1 + 0.2, ((1 / 3, tree(shape)),))
    text = formula_of(task, whole, 0).text
    usable = Usable.read(text, AWKWARD, registry)
    expected = whole.evaluate(task.search_problem.named)
    again = usable.predict(task.search_problem.named).expand_as(expected)
    torch.testing.assert_close(again, expected, rtol=1e-12, atol=1e-13)
    if set(whole.inputs) <= {"x"}:
        read = sympy.lambdify(sympy.Symbol("x", real=True), sympy.sympify(text, {"x": sympy.Symbol("x", real=True)}))
        there = np.broadcast_to(read(task.search_problem.named["x"].numpy()), expected.shape)
        np.testing.assert_allclose(there, expected.numpy(), rtol=1e-12, atol=1e-13)


def test_problems_are_plain_values_and_several_are_searched_at_once(registry: Registry) -> None:
    x = torch.linspace(1, 5, 80, dtype=torch.float64)
    primitives = [registry.find("primitives", name).value for name in ("add", "mul", "sin")]
    fitness = registry.find("fitnesses", "gaussian").value()
    both = [
        SearchProblem.of({"x": x}, {"y": target}, primitives, fitness, weights=torch.ones(80), seed=seed)
        for seed, target in enumerate((3 * x**2, torch.sin(x) + x))
    ]
    proposer = registry.find("proposers", "enumerate").value(most=1000)
    going = [proposer.propose(one, SearchBudget()) for one in both]
    found: list[Expression | None] = [None, None]
    for _ in range(400):
        for place, items in enumerate(going):
            item = next(items, None)
            if isinstance(item, occamkit.Proposal) and found[place] is None:
                found[place] = item.tree
    for one, tree in zip(both, found, strict=True):
        assert tree is not None
        torch.testing.assert_close(tree.evaluate({"x": x}), one.targets[0])


def test_a_run_holds_no_more_than_its_problem(registry: Registry) -> None:
    task: Problem = problem(registry)
    assert task.search_problem is not task.search_problem
    assert Run(task).state()["turns"] == 0
