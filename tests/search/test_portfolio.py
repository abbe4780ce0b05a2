"""Proposers: they take turns, are judged alike, keep the budget, and learn from one another."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from threadpoolctl import threadpool_info, threadpool_limits

import occamkit
from occamkit import Apply, Leaf, Product, Registry, Sum
from occamkit.description import cost
from occamkit.errors import PackError, TaskError
from occamkit.search import Run, SearchBudget, search
from occamkit.task.prepared import PreparedTask
from occamkit.train import Trainer
from occamkit.train.teach import edges_of, teach
from tests.problems import archive, problem


def by(*names: str) -> list[dict[str, str]]:
    return [{"name": name} for name in names]


def test_the_result_says_who_found_it(registry: Registry) -> None:
    alone = search(problem(registry, proposers=by("network")))
    assert [one.proposer for one in alone.best if one is not None] == ["network"]
    outcome = search(problem(registry, "3*x**2", inputs=[{"name": "x", "range": [1, 5]}]))
    best = outcome.best[0]
    assert best is not None
    assert best.proposer == "monomial"
    assert outcome.stop == "converged"
    assert outcome.steps == 0
    assert outcome.likeliest == (None,)


def test_equal_seeds_give_equal_results(registry: Registry) -> None:
    sections: dict[str, Any] = {"data": {"noise": 0.1}, "stop": {"max_steps": 8}, "trainer": {"functions": 50}}
    found = [search(problem(registry, "sin(3*x+2)", **sections)) for _ in range(2)]
    first, second = ([front.tree.written() for front in one.fronts[0]] for one in found)
    assert first == second
    assert first


def test_a_run_takes_one_thread_and_gives_the_others_back(registry: Registry) -> None:
    def threads() -> set[int]:
        return {pool["num_threads"] for pool in threadpool_info()}

    during = []
    with threadpool_limits(2):
        search(problem(registry, "3*x**2"), [lambda event: during.append(threads())])
        assert during
        assert all(found == {1} for found in during)
        assert 2 in threads()


def test_a_run_leaves_nothing_behind(registry: Registry) -> None:
    before = sum(type(one) is Run for one in gc.get_objects())
    outcome = search(problem(registry, "3*x**2", inputs=[{"name": "x", "range": [1, 5]}]))
    assert outcome.best
    assert sum(type(one) is Run for one in gc.get_objects()) <= before


def test_a_task_chooses_its_proposers(registry: Registry) -> None:
    with pytest.raises(TaskError, match="did you mean 'network'"):
        problem(registry, proposers=by("netwrok"))
    with pytest.raises(TaskError, match=r"proposers\[0\]\.most"):
        problem(registry, proposers=[{"name": "join", "most": 1}])
    with pytest.raises(TaskError, match="proposers"):
        problem(registry, proposers=[])
    names = [choice.name for choice in problem(registry).spec.proposers]
    assert names == [
        f"occamkit:{name}"
        for name in ("parity", "monomial", "enumerate", "join", "free-constants", "fit", "ladder", "network")
    ]


PACK = """
    from dataclasses import dataclass
    from typing import ClassVar
    import occamkit
    from occamkit import Proposal, graph, hookimpl

    @dataclass(frozen=True)
    class Guess:
        name: ClassVar[str] = "guess"
        power: int = 2

        def propose(self, problem, budget):
            assert not budget.over()
            yield None
            (name,) = problem.named
            yield Proposal(graph.product(1.0, [(occamkit.Leaf(name), self.power)]))

    @hookimpl
    def occamkit_proposers():
        return [Guess]
"""


def test_a_pack_brings_a_proposer(make_pack: Callable[..., None]) -> None:
    make_pack("guesses", PACK)
    registry = Registry.load(only=["guesses"])
    outcome = search(problem(registry, "x**3", proposers=[{"name": "guess", "power": 3}]))
    best = outcome.best[0]
    assert best is not None
    assert (best.proposer, best.figures.exact) == ("guess", True)


def test_proposals_are_judged_by_the_tasks_regularizers(registry: Registry) -> None:
    units = [{"name": "x", "unit": "m", "range": [1, 5]}, {"name": "t", "unit": "s", "range": [1, 5]}]
    task = problem(
        registry, "x/t", inputs=units, outputs=[{"name": "y", "unit": "m/s"}], search={"primitives": ["mul", "div"]}
    )
    front = archive(task)
    speed = Product(1.0, ((Leaf("x"), 1), (Leaf("t"), -1)))
    assert front.offer(speed, "me") is not None
    assert front.offer(Leaf("x"), "me") is None  # a length is no speed
    assert front.offer(Sum(0.0, ((1.0, Leaf("x")), (1.0, Leaf("t")))), "me") is None
    best = front.best()
    assert best is not None
    assert best.proposer == "me"
    assert best.figures.exact


def test_penalties_of_closed_parts(registry: Registry) -> None:
    counted = problem(registry, "x", regularizers=[{"name": "activations", "weight": 0.1}])
    plain = problem(registry, "x", regularizers=[])
    tree = Product(2.0, ((Leaf("x"), 1), (Leaf("x"), 2)))
    with_penalty, without = (archive(one).offer(tree, "me") for one in (counted, plain))
    assert with_penalty is not None
    assert without is not None
    assert with_penalty.fitness == without.fitness
    assert with_penalty.score < without.score


def test_a_budget_ends_a_search(registry: Registry) -> None:
    outcome = search(problem(registry, "sin(3*x+2)*exp(cos(7*x))", data={"noise": 0.3}, stop={"seconds": 1.0}))
    assert outcome.stop == "seconds"
    assert SearchBudget(time.monotonic() - 1).over()
    assert not SearchBudget(None).over()
    assert SearchBudget(None, lambda: True).over()


def test_the_shortest_description_wins_under_noise(registry: Registry) -> None:
    task = problem(registry, "2*x", data={"noise": 0.05, "points": 200})
    front = archive(task)
    truth = front.offer(Product(2.0, ((Leaf("x"), 1),)), "me")
    longer = front.offer(Sum(0.001, ((2.0, Leaf("x")), (0.0001, Product(1.0, ((Leaf("x"), 2),))))), "me")
    assert truth is not None
    assert longer is not None
    assert cost(truth.tree) < cost(longer.tree)
    assert front.best() is truth


def test_the_network_learns_what_others_found(registry: Registry) -> None:
    task = problem(registry)
    trainer = Trainer(task.search_problem, torch.Generator().manual_seed(0))
    mul, add, sin = trainer.layout.primitives[0], trainer.layout.primitives[1], trainer.layout.primitives[2]
    x = Leaf("x")
    tree = Apply(sin, (Apply(add, (Apply(mul, (x, x)), x)),))
    spelt = edges_of(trainer.layout, tree, trainer.judge.leaves, 0)
    assert spelt is not None
    edges = torch.tensor(trainer.layout.first_sources)
    edges[list(spelt)] = torch.tensor(list(spelt.values()))
    edges = edges.unsqueeze(1)
    root = int(trainer.nodes_of(edges)[0, 0])
    assert trainer.judge.read(root).written() == "sin(add(x, mul(x, x)))"
    before = trainer.log_q(edges, 0)
    for _ in range(5):
        assert teach(trainer, tree, 0)
    assert trainer.log_q(edges, 0) > before
    assert not teach(trainer, Product(2.0, ((x, 1),)), 0)


def test_run_uses_the_portfolio(registry: Registry) -> None:
    task = problem(registry, "3*x**2/(1+x)", inputs=[{"name": "x", "range": [1, 5]}])
    result = occamkit.run(PreparedTask(task.spec, registry, Path()), registry=registry)
    best = result.outputs[0].best
    assert best is not None
    assert best.proposer in {"enumerate", "join"}


FAILS = """
from dataclasses import dataclass
from typing import ClassVar
from occamkit import hookimpl

@dataclass(frozen=True)
class Fails:
    "Fails."
    name: ClassVar[str] = "fails"
    def propose(self, problem, budget):
        raise RuntimeError("no luck")
        yield None

@hookimpl
def occamkit_proposers():
    return [Fails]
"""


def test_a_proposer_that_fails_is_named_and_the_others_go_on(make_pack: Callable[..., None]) -> None:
    make_pack("unlucky", FAILS)
    registry = Registry.load()
    message = "pack 'unlucky': proposer 'fails': failed with RuntimeError: no luck"
    with pytest.warns(RuntimeWarning, match=message):
        outcome = search(problem(registry, proposers=by("fails", "network")))
    assert outcome.best[0] is not None
    assert outcome.best[0].figures.exact
    with pytest.raises(PackError, match=message):
        search(problem(registry, proposers=by("fails")))


@pytest.mark.parametrize(
    "item",
    [
        "'x'",
        "occamkit.Proposal(occamkit.Leaf('x'), 7)",
        "occamkit.Proposal(occamkit.Leaf('x'), foretold=(1.0, 2.0))",
        "occamkit.Proposal(occamkit.Leaf('x'), foretold=(float('nan'),) * 48)",
    ],
)
def test_what_is_no_proposal_is_a_fault_of_the_pack(make_pack: Callable[..., None], item: str) -> None:
    source = FAILS.replace('raise RuntimeError("no luck")', f"yield {item}")
    make_pack("odd", f"import occamkit\n{source}")
    with pytest.raises(
        PackError, match=r"proposer 'fails': yielded .*; yield an occamkit\.Proposal for one of 1 outputs"
    ):
        search(problem(Registry.load(only=["odd"]), proposers=by("fails")))
