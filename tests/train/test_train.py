"""Training end to end: it finds, it stops for the right reason, it keeps the best, and a seed decides everything."""

from __future__ import annotations

import dataclasses
import json
import math
import os
import signal
from collections.abc import Callable

import pytest
import torch
from click.testing import Result as Shown
from hypothesis import given
from hypothesis import strategies as st

import occamkit
from occamkit import Registry
from occamkit.errors import TaskError
from occamkit.result.write import make_result
from occamkit.search import Event, Outcome, Stepped
from occamkit.task.spec import Stop
from occamkit.train import Learner, StepRecord
from occamkit.train.adam import Adam
from occamkit.train.stop import Convergence
from occamkit.train.trainer import Trainer
from tests.devices import SaysWhere
from tests.problems import problem, train


def written(outcome: Outcome) -> list[list[str]]:
    return [[candidate.tree.written() for candidate in front] for front in outcome.fronts]


def test_it_finds_a_formula_and_stops_when_it_is_exact(registry: Registry) -> None:
    outcome = train(problem(registry))
    best = outcome.best[0]
    assert best is not None
    assert outcome.stop == "converged"
    assert best.figures.exact
    x = torch.linspace(-100, 100, 50, dtype=torch.float64)
    torch.testing.assert_close(best.tree.evaluate({"x": x}), torch.sin(3 * x + 2))
    assert outcome.functions == outcome.steps * 500
    assert 0 < outcome.unique_functions < outcome.functions


def test_equal_seeds_give_equal_results_to_the_last_bit(registry: Registry) -> None:
    first, second, other = (train(problem(registry, "exp(x/5)", seed=seed)) for seed in (3, 3, 4))
    strip = {"seconds": 0.0}
    assert dataclasses.replace(first, **strip) == dataclasses.replace(second, **strip)
    assert written(first) != written(other)


def test_the_front_is_over_everything_seen(registry: Registry) -> None:
    task = problem(registry, "exp(x/5)")
    seen: dict[int, float] = {}

    original = Trainer.step

    def remember(self: Trainer) -> object:
        step = original(self)
        roots, scores = step.roots[0].tolist(), step.scores
        for root, score, fitness in zip(roots, scores.score[0].tolist(), scores.fitness[0].tolist(), strict=True):
            if math.isfinite(fitness):
                level = math.ceil(self.judge.read(root).complexity)
                seen[level] = max(seen.get(level, -math.inf), score)
        return step

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Trainer, "step", remember)
        outcome = train(dataclasses.replace(task, spec=_steps(task.spec, 8)))
    errors = [candidate.figures.choice for candidate in outcome.fronts[0]]
    costs = [candidate.complexity for candidate in outcome.fronts[0]]
    assert errors == sorted(errors, reverse=True)
    assert costs == sorted(costs)
    for candidate in outcome.fronts[0]:
        assert candidate.score == pytest.approx(seen[math.ceil(candidate.complexity)])


def _steps(spec: object, steps: int) -> object:
    return spec.model_copy(update={"stop": Stop(max_steps=steps)})  # type: ignore[attr-defined]


def test_every_stop_rule(registry: Registry) -> None:
    assert train(problem(registry, "exp(x/5)", stop={"max_steps": 3})).stop == "steps"
    near = train(problem(registry, "exp(x/5)", stop={"max_steps": 50, "score": 0.001}))
    assert (near.stop, near.steps) == ("converged", 1)
    assert train(problem(registry, "exp(x/5)", stop={"max_steps": None, "seconds": 0.2})).stop == "seconds"
    tiny = {"primitives": ["add"], "constants": [], "depth": 1}
    settled = train(
        problem(
            registry, "exp(x/5)", search=tiny, stop={"max_steps": 500, "same_fitness_steps": 3, "same_best_restarts": 2}
        )
    )
    assert (settled.stop, settled.restarts) == ("converged", 2)

    def interrupt(event: Event) -> None:
        if isinstance(event, Stepped) and event.progress.step == 4:
            os.kill(os.getpid(), signal.SIGINT)

    stopped = train(problem(registry, "exp(x/5)"), interrupt)
    assert (stopped.stop, stopped.steps) == ("interrupted", 4)
    assert stopped.best[0] is not None


def test_convergence_counts_steps_in_a_row() -> None:
    rule = Convergence(3)
    same, other, mixed = torch.full((2, 2), 5.0), torch.full((2, 2), 6.0), torch.tensor([[5.0, 4.0], [5.0, 5.0]])
    assert [rule.settled(top) for top in (same, same, other, other, mixed, same, same, same)] == [False] * 7 + [True]


def test_a_budget_without_limits_ends_after_a_minute() -> None:
    assert (Stop().seconds, Stop().max_steps, Stop(max_steps=5).seconds) == (60.0, None, None)


def test_several_outputs_are_selected_each_on_its_own(registry: Registry) -> None:
    outcome = train(problem(registry, {"a": "sin(x+1)", "b": "x*x+x"}, stop={"max_steps": 200}))
    assert [best is not None and best.figures.exact for best in outcome.best] == [True, True]


def test_mini_batches_and_double_precision(registry: Registry) -> None:
    outcome = train(problem(registry, "x*x+x", trainer={"batch": 10, "functions": 500, "dtype": "float64"}))
    assert outcome.stop == "converged"


def test_columns_may_be_called_like_constants(registry: Registry) -> None:
    inputs = [{"name": name, "range": [1, 5]} for name in ("0", "1", "2")]
    task = problem(registry, "`0`*`1` + `2`", inputs=inputs, search={"constants": [1, 2, "pi"]})
    result = make_result(task, train(task))
    assert result.outputs[0].best is not None
    assert result.outputs[0].best.expression == "`0`*`1` + `2`"


def test_constants_that_look_alike_are_told_apart(registry: Registry) -> None:
    search = {"primitives": ["mul"], "constants": [1.00001, 1.00002], "depth": 1}
    task = problem(registry, "1.00002*x", search=search, fitness={"name": "gaussian", "sigma": 1e-4})
    best = make_result(task, train(task)).outputs[0].best
    assert best is not None
    assert best.expression == "1.00002*x"


def test_a_fruitless_end_keeps_the_trained_network(registry: Registry) -> None:
    stop = {"max_steps": 2000, "same_fitness_steps": 5, "same_best_restarts": 1}
    task = problem(registry, "exp(x/5)", search={"primitives": ["mul", "add"], "depth": 2}, stop=stop)
    outcome, untrained = train(task), Trainer(task.search_problem, torch.Generator())
    assert outcome.stop == "converged"
    assert outcome.likeliest[0].log_q > untrained.log_q(untrained.likeliest_edges(), 0) + 0.1


def test_mini_batches_are_judged_on_all_rows(registry: Registry) -> None:
    full, batched = (
        train(problem(registry, "exp(x/5)", trainer={"functions": 500, **trainer}, stop={"max_steps": 40}))
        for trainer in ({}, {"batch": 3})
    )
    scores = [{one.tree: one.score for one in outcome.fronts[0]} for outcome in (full, batched)]
    shared = scores[0].keys() & scores[1].keys()
    assert shared
    assert all(scores[0][tree] == pytest.approx(scores[1][tree], rel=1e-5) for tree in shared)
    near = problem(registry, "x*x", trainer={"batch": 3, "functions": 500}, stop={"max_steps": 50, "score": 0.9})
    assert train(near).stop == "converged"


def test_overrides_of_a_task_object(registry: Registry) -> None:
    task = occamkit.load_task("paper/2x2-3x", registry)
    network = [{"name": "network"}]
    changed = {"stop__max_steps": 1, "trainer__functions": 10, "proposers": network}
    assert occamkit.run(task, registry=registry, device="cpu", **changed).functions == 10
    with pytest.raises(TaskError, match="unknown key"):
        occamkit.run(task, registry=registry, nonsense__key=3)


def test_undefined_functions_lose_and_take_part(registry: Registry) -> None:
    task = problem(registry, "x", search={"primitives": ["log", "add"], "depth": 2}, trainer={"undefined_weight": 0.7})
    trainer = Trainer(task.search_problem, torch.Generator().manual_seed(0))
    step = trainer.step()
    undefined = ~torch.isfinite(step.scores.fitness)
    assert bool(undefined.any())
    expected = torch.tensor(-0.7 * trainer.judge.ceiling, dtype=torch.float32)
    torch.testing.assert_close(step.scores.score[undefined], expected.expand(int(undefined.sum())))


def test_infinite_outputs_are_undefined(registry: Registry) -> None:
    task = problem(registry, "x*x", search={"primitives": ["exp", "mul"], "depth": 3, "constants": []})
    trainer = Trainer(task.search_problem, torch.Generator().manual_seed(0))
    step = trainer.step()
    for root, fitness in zip(step.roots[0].tolist(), step.scores.fitness[0].tolist(), strict=True):
        columns = dict(zip(["x"], task.columns("train"), strict=True))
        defined = bool(torch.isfinite(trainer.judge.read(root).evaluate(columns)).all())
        assert math.isfinite(fitness) == defined


def test_the_likeliest_function_is_learnt(registry: Registry) -> None:
    task = problem(registry, "sin(x)+x", search={"primitives": ["sin", "add"], "constants": [], "depth": 2})
    trainer = Trainer(task.search_problem, torch.Generator().manual_seed(0))
    before = trainer.log_q(trainer.likeliest_edges(), 0)
    for _ in range(150):
        trainer.step()
    edges = trainer.likeliest_edges()
    assert trainer.judge.read(int(trainer.nodes_of(edges))).written() in {"add(x, sin(x))", "add(sin(x), x)"}
    assert trainer.log_q(edges, 0) > before
    trainer.restart()
    assert trainer.log_q(trainer.likeliest_edges(), 0) == pytest.approx(before)


@pytest.mark.parametrize("regularizers", [[], ["activations", "near_trivia", "units"]])
def test_a_whole_step_says_where_every_tensor_goes(registry: Registry, regularizers: list[str]) -> None:
    chosen = [{"name": name} for name in regularizers]
    task = problem(registry, regularizers=chosen, trainer={"functions": 200, "batch": 20})
    learner = Learner(task.search_problem, "network")
    with SaysWhere():
        for _ in range(3):
            list(learner.found(learner.step()))
        learner.likeliest()


def test_the_same_seed_gives_the_same_weights_bit_for_bit(registry: Registry) -> None:
    trainers = [Trainer(problem(registry).search_problem, torch.Generator().manual_seed(5)) for _ in range(2)]
    for trainer in trainers:
        for _ in range(5):
            trainer.step()
    assert torch.equal(trainers[0].network.logits, trainers[1].network.logits)


@given(st.lists(st.lists(st.floats(-2, 2), min_size=6, max_size=6), min_size=1, max_size=5), st.floats(0.001, 1))
def test_adam_is_torchs(gradients: list[list[float]], rate: float) -> None:
    ours = torch.zeros(2, 3, dtype=torch.float64)
    theirs = torch.zeros(2, 3, dtype=torch.float64, requires_grad=True)
    adam, reference = Adam(ours, rate), torch.optim.Adam([theirs], lr=rate)
    for gradient in gradients:
        tensor = torch.tensor(gradient, dtype=torch.float64).view(2, 3)
        adam.ascend(tensor)
        theirs.grad = -tensor
        reference.step()
    torch.testing.assert_close(ours, theirs.detach())


def test_the_result_is_what_the_design_says(registry: Registry) -> None:
    task = problem(registry)
    result = make_result(task, train(task)).to_dict()
    assert set(result) == {
        "occamkit", "task", "seed", "device", "stop", "seconds", "steps", "functions", "unique_functions", "packs",
        "outputs",
    }  # fmt: skip
    output = result["outputs"][0]
    assert set(output) == {"name", "best", "likeliest", "front"}
    assert set(output["best"]) == {
        "expression", "written", "latex", "proposer", "constants", "unit", "recurrence", "fitness", "score", "mse",
        "r2", "complexity", "log_q", "errors", "form", "relation", "solved", "undefined", "inputs",
    }  # fmt: skip
    assert output["best"]["expression"] == "sin(3*x + 2)"
    assert set(output["best"]["mse"]) == {"train", "valid", "test"}
    assert result["packs"]["occamkit"] == occamkit.__version__


def test_run_from_python() -> None:
    result = occamkit.run("paper/2x2-3x", seed=1, device="cpu", stop__max_steps=500)
    assert result.outputs[0].best is not None
    assert result.outputs[0].best.r2["train"] == pytest.approx(1)


TASKS = ["2x2-3x", "sin-3x-2", "sum-sin-nx", "rational", "x02-x15", "half-squares"]


def test_every_steps_best_and_likeliest_are_traced(registry: Registry) -> None:
    records: list[StepRecord] = []
    outcome = train(
        problem(registry, "exp(x/5)", stop={"max_steps": 12}),
        lambda event: records.append(event.progress.record()) if isinstance(event, Stepped) else None,
    )
    assert [one.step for one in records] == list(range(1, 13))
    assert max(one.best_score[0] for one in records) >= max(found.score for found in outcome.fronts[0]) * (1 - 1e-6)
    assert records[-1].likeliest == (outcome.likeliest[0].tree.written(),)
    assert all(0 < one.unique <= 1 and one.entropy > 0 for one in records)
    untraced = train(problem(registry, "exp(x/5)", stop={"max_steps": 12}))
    watched = {"seconds": 0.0}
    assert dataclasses.replace(untraced, **watched) == dataclasses.replace(outcome, **watched)


def test_the_papers_analytic_tasks_are_registered(registry: Registry) -> None:
    assert {f"paper/{name}" for name in TASKS} <= {entry.name for entry in registry.entries("tasks")}
    for name in TASKS:
        assert occamkit.load_task(f"paper/{name}", registry).data(0).rows == 1000


def test_the_run_command(occamkit: Callable[..., Shown], tmp_path: object) -> None:
    shown = occamkit("run", "paper/sin-3x-2", "--device", "cpu", "--json", "--quiet")
    assert shown.exit_code == 0
    assert json.loads(shown.stdout)["outputs"][0]["best"]["expression"] == "sin(3*x + 2)"
    folder = f"{tmp_path}/run"
    plain = occamkit("run", "paper/2x2-3x", "--out", folder, "--set", "trainer.functions=3000", "--seed", "2")
    assert plain.exit_code == 0
    assert "y = " in plain.stdout
    assert "R² 1" in plain.stdout
    with open(f"{folder}/task.toml", encoding="utf-8") as file:
        assert "functions = 3000" in file.read()
    with open(f"{folder}/trace.jsonl", encoding="utf-8") as file:
        lines = list(map(json.loads, file))
    assert [line["turn"] for line in lines if line["event"] == "turn"] == list(range(1, lines[-1]["turn"] + 1))
    assert lines[-1]["event"] == "ended"
    assert sum(account["turns"] for account in lines[-1]["accounts"].values()) == lines[-1]["turn"]
    again = occamkit("run", "paper/2x2-3x", "--out", folder)
    assert (again.exit_code, "never overwritten" in again.stderr) == (2, True)
    assert occamkit("run", "paper/2x2-3x", "--set", "trainer.functions").exit_code == 2
    wrong = occamkit("run", "paper/2x2-3x", "--set", "trainer.functins=3")
    assert (wrong.exit_code, "did you mean 'functions'" in wrong.stderr) == (2, True)
    device = occamkit("run", "paper/2x2-3x", "--device", "cuda:0")
    assert device.exit_code == (0 if torch.cuda.is_available() else 2)
