"""Powers solved for in front of functions, and groups that the network reads: from the task file to the result."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import pytest
import torch
from click.testing import Result as Shown

from occamkit import Registry
from occamkit.errors import TaskError, UserError
from occamkit.graph import Apply, Expression, Leaf, Monomial, Product
from occamkit.search import State
from occamkit.task.problem import Problem
from occamkit.train.teach import edges_of, lean_towards
from occamkit.train.trainer import Trainer
from tests.devices import SaysWhere
from tests.problems import kept_in, problem, train

LENGTHS = [{"name": name, "range": [1, 5], "unit": "m"} for name in ("a", "b")]
MOTION = [{"name": "v", "range": [1, 5], "unit": "m/s"}, {"name": "t", "range": [1, 5], "unit": "s"}]
POWERS = {"name": "gaussian", "scale": "monomial"}


def grouped(registry: Registry, target: str = "a*sin(a/b)", **sections: object) -> Problem:
    chosen: dict[str, object] = {
        "inputs": LENGTHS,
        "outputs": [{"name": "y", "unit": "m"}],
        "search": {"primitives": ["sin", "add"], "groups": 2, "depth": 2, "constants": [1]},
        "fitness": POWERS,
    }
    return problem(registry, target, **{**chosen, **sections})


def test_a_formula_that_uses_a_group_is_written_over_the_columns(registry: Registry) -> None:
    task = grouped(registry)
    assert [one.name for one in task.network_inputs] == ["a", "b", "1", "a/b"]  # there is one group only
    outcome = train(task)
    best = outcome.best[0]
    assert best is not None
    assert best.figures.exact
    assert best.tree.inputs == ("a", "b")
    a, b = (torch.linspace(6, 9, 20, dtype=torch.float64) + shift for shift in (0, 1))
    torch.testing.assert_close(best.tree.evaluate({"a": a, "b": b}), a * torch.sin(a / b))


def test_levels_of_the_front_count_what_a_group_costs(registry: Registry) -> None:
    trainer = Trainer(grouped(registry).search_problem, torch.Generator().manual_seed(0))
    roots = trainer.step().roots[0]
    for root in roots[:50].tolist():
        assert float(trainer.graph.complexities[root]) == trainer.judge.read(root).complexity


def test_groups_have_no_zeros_below_and_given_constants_take_part(registry: Registry) -> None:
    search = {"primitives": ["sin"], "constants": ["3 m/s", 2], "groups": 4, "depth": 1}
    inputs = [{"name": "x", "values": [0, 1, 2], "unit": "m"}, {"name": "t", "range": [1, 5], "unit": "s"}]
    task = problem(
        registry,
        "sin(x/(3*t))",
        inputs=inputs,
        outputs=[{"name": "y"}],
        search=search,
        regularizers=[{"name": "units"}],
    )
    assert [one.name for one in task.network_inputs[4:]] == ["x/(t*3 m/s)"]
    columns = task.search_problem.network_columns
    torch.testing.assert_close(columns[4], task.dataset.part("train")[0][0] / columns[1] / 3)
    best = train(task).best[0]
    assert best is not None
    assert best.figures.exact


def test_each_output_has_the_powers_that_its_unit_allows(registry: Registry) -> None:
    task = problem(
        registry,
        {"way": "3*v*t", "push": "v/t*2"},
        inputs=MOTION,
        outputs=[{"name": "way", "unit": "m"}, {"name": "push", "unit": "m/s**2"}],
        search={"primitives": ["sin", "add"], "constants": [1], "depth": 1},
        fitness=POWERS,
    )
    best = train(task).best
    assert [one.tree for one in best if one is not None] == [
        Product(3.0, ((Leaf("v"), Fraction(1)), (Leaf("t"), Fraction(1)), (Leaf("1", 1.0), 1))),
        Product(2.0, ((Leaf("v"), Fraction(1)), (Leaf("t"), Fraction(-1)), (Leaf("1", 1.0), 1))),
    ]


def test_functions_behind_powers_are_plain_numbers(registry: Registry) -> None:
    trainer = Trainer(grouped(registry).search_problem, torch.Generator().manual_seed(0))
    group, column = trainer.judge.leaves[3], trainer.judge.leaves[0]
    roots = torch.tensor([[1 + trainer.judge.leaves.index(one) for one in (group, column)]])
    assert trainer.judge.accepts(roots).tolist() == [[True, False]]


@pytest.mark.parametrize("units", ["free", "dimensionless"])
def test_a_unit_out_of_reach_of_powers_is_left_to_the_factor_or_the_function(registry: Registry, units: str) -> None:
    """Of a column with zeros no power stands in front, so that seconds must come from elsewhere."""
    inputs = [MOTION[0], {"name": "t", "values": [0, 1, 2, 3], "unit": "s"}]
    task = problem(
        registry,
        "2*v*t",
        inputs=inputs,
        outputs=[{"name": "y", "unit": "m"}],
        search={"primitives": ["mul"], "constants": [], "depth": 1},
        fitness=POWERS,
        constants={"units": units},
    )
    trainer = Trainer(task.search_problem, torch.Generator().manual_seed(0))
    assert trainer.judge.accepts(torch.tensor([[1]])).tolist() == [[units == "free"]]
    best = train(task).best[0]
    assert best is not None
    assert best.figures.exact


def test_powers_with_mini_batches_and_fitted_constants(registry: Registry) -> None:
    inputs = [{"name": name, "range": [1, 4]} for name in ("x", "z")]
    task = problem(
        registry,
        "3*x**1.5*sin(1.3*z)/z",
        inputs=inputs,
        search={"primitives": ["sin", "mul_c"], "constants": [], "depth": 2},
        fitness=POWERS,
        trainer={"functions": 100, "batch": 12},
    )
    best = train(task).best[0]
    assert best is not None
    assert best.figures.exact


@pytest.mark.parametrize("batch", [20, None])
def test_a_whole_step_says_where_every_tensor_goes(registry: Registry, batch: int | None) -> None:
    search = {"primitives": ["sin", "mul_c"], "groups": 2, "depth": 2, "constants": [1]}
    sizes = {"functions": 50} if batch is None else {"functions": 50, "batch": batch}
    task = grouped(registry, search=search, trainer=sizes)
    trainer = Trainer(task.search_problem, torch.Generator().manual_seed(0))
    with SaysWhere():
        for _ in range(3):
            trainer.step()


def test_a_run_that_goes_on_finds_the_same(registry: Registry) -> None:
    task = grouped(registry, "a*sin(a/b)+0.1*b", stop={"max_steps": 8})
    states: list[State] = []
    whole = train(task, kept_in(states))
    again = train(task, state=states[3])
    assert [one.tree for one in whole.fronts[0]] == [one.tree for one in again.fronts[0]]
    assert any(isinstance(node, Monomial) for one in whole.fronts[0] for node in one.tree.nodes())


def test_a_group_is_a_tree_without_numbers() -> None:
    tree = Monomial(((Leaf("x"), Fraction(2)), (Leaf("y"), Fraction(-1))))
    assert tree.fitted == ()
    assert tree.constant_count == 0
    assert str(tree.sympy(evaluate=False)) == str(tree.sympy()) == "x**2/y"
    assert Expression.from_dict(tree.to_dict(), {}) == tree
    assert tree.with_constants(()) == tree
    assert tree.complexity == 3


def test_a_formula_over_a_group_is_entered_where_the_network_reads_it(registry: Registry) -> None:
    trainer = Trainer(grouped(registry).search_problem, torch.Generator().manual_seed(0))
    group = trainer.judge.leaves[3]
    tree = Apply(trainer.problem.primitives[0], (group,))
    before = trainer.network.logits.detach().clone()
    assert lean_towards(trainer, tree, 0)
    assert int((trainer.network.logits > before).sum()) == len(edges_of(trainer.layout, tree, trainer.judge.leaves, 0))
    assert trainer.judge.read(int(trainer.nodes_of(trainer.likeliest_edges())[0, 0])) == tree


def test_groups_without_units_are_refused(registry: Registry) -> None:
    with pytest.raises(TaskError, match=r"search\.groups: no column carries a unit"):
        problem(registry, search={"groups": 2})


def test_what_cannot_be_combined_is_refused(registry: Registry) -> None:
    with pytest.raises(UserError, match=r"search\.groups: what 'recurrence' feeds back"):
        problem(
            registry, "a", inputs=LENGTHS, outputs=[{"name": "y", "unit": "m"}], search={"groups": 1},
            wrapper={"name": "recurrence", "depth": 2, "feedback": {"a": "y"}},
        )  # fmt: skip
    with pytest.raises(UserError, match=r"fitness\.scale: powers of the inputs"):
        problem(
            registry, "x", data={"source": "formula", "target": None}, implicit={"value": 1.0}, outputs=[],
            fitness=POWERS,
        )  # fmt: skip


TASK = """
occamkit = 1
name = "grouped"
data = { source = "formula", target = "a*sin(a/b)", points = 60 }
inputs = [{ name = "a", unit = "m", range = [1, 5] }, { name = "b", unit = "m", range = [1, 5] }]
outputs = [{ name = "y", unit = "m" }]
search = { primitives = ["sin", "add"], constants = [1], groups = 3, depth = 1 }
fitness = { name = "gaussian", scale = "monomial" }
proposers = [{ name = "network" }]
stop = { max_steps = 20 }
"""


def test_commands_know_groups(tmp_path: Path, occamkit: Callable[..., Shown]) -> None:
    file = tmp_path / "task.toml"
    file.write_text(TASK)
    assert "groups     a/b\n" in occamkit("check", str(file)).output
    shown = occamkit("run", str(file), "--quiet", "--out", str(tmp_path / "run"))
    assert "y = a*sin(a/b)" in shown.output
    page = occamkit("report", str(tmp_path / "run"), "--format", "html", "--out", str(tmp_path / "page.html"))
    assert page.exit_code == 0, page.output
    assert ">a/b<" in (tmp_path / "page.html").read_text(encoding="utf-8")
    code = occamkit("export", str(tmp_path / "run"), "--to", "python")
    assert code.exit_code == 0, code.output
    assert "sin" in code.output
