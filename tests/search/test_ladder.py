"""Sums that foretell rows, and how they are held against formulas that fit rows."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch

from occamkit import OccamRegressor, Registry
from occamkit.archive import Archive
from occamkit.builtins.proposers.ladder.contest import Contest, Rung
from occamkit.builtins.proposers.ladder.ladder import Ladder
from occamkit.builtins.proposers.ladder.terms import lone_terms, plain_factors
from occamkit.builtins.proposers.ladder.weigh import Design, lassoed, prefixes, pursued
from occamkit.graph import Leaf, product, weighted_sum
from occamkit.search import Outcome, search
from occamkit.task.problem import Problem
from tests.problems import archive, kept_in, problem

NAMES = ("a", "b", "c", "d", "e")


def table(registry: Registry, target: str, noise: float = 0.5, **sections: Any) -> Problem:
    given: dict[str, Any] = {
        "data": {"noise": noise, "points": 120, "split": {"valid": 0.25, "test": 0.25}},
        "inputs": [{"name": name, "range": [1, 3]} for name in NAMES],
        "search": {"primitives": ["add", "mul", "exp", "log"], "constants": []},
        "proposers": [{"name": "ladder"}],
        "stop": {"max_steps": 500},
    }
    return problem(registry, target, **{**given, **sections})


def found(outcome: Outcome) -> str:
    best = outcome.best[0]
    assert best is not None
    return best.tree.written()


def rows(task: Problem) -> int:
    return sum(task.dataset.part(part)[1].shape[1] for part in ("train", "valid"))


def test_a_sum_with_a_product_is_found_in_noise_and_foretells_fresh_rows(registry: Registry) -> None:
    task = table(registry, "3*a - 2*b + 2*a*c", noise=0.1)
    best = search(task).best[0]
    assert best is not None
    assert best.proposer == "ladder"
    assert best.refitted
    columns, target = task.dataset.named("test")
    assert 1 - float((best.tree.evaluate(columns) - target[0]).square().mean() / target[0].var()) > 0.8
    assert {"a", "b", "c"} <= set(best.tree.inputs)


def test_the_logarithm_of_the_target_is_summed_where_that_foretells_better(registry: Registry) -> None:
    told = found(search(table(registry, "exp(2*a - b)", noise=0.02)))
    assert "exp(" in told


def test_without_an_exponential_there_are_no_logarithms(registry: Registry) -> None:
    told = found(search(table(registry, "exp(2*a - b)", noise=0.02, search={"primitives": ["add", "mul"]})))
    assert "exp(" not in told


@pytest.mark.parametrize("seed", range(4))
def test_nothing_foretells_noise(registry: Registry, seed: int) -> None:
    task = table(registry, "0*a + 1", noise=1.0, seed=seed)
    assert search(task).best[0].tree.inputs == ()  # type: ignore[union-attr]


@pytest.mark.parametrize("seed", range(3))
def test_what_a_sum_of_noise_misses_rows_by_is_not_flattered(registry: Registry, seed: int) -> None:
    """Of sums that were looked for on all rows and only fitted anew without some, the same figure is far below one."""
    task = table(registry, "0*a + 1", noise=1.0, seed=seed)
    ladder = Ladder(task.search_problem, 0)
    for rung in ladder.rungs():
        assert sum(ladder.climb(rung)) > 0
    spread = float(ladder.target.var())
    longest = max(ladder.contest.contenders, key=lambda one: (one.words, -one.shrinkage))
    assert longest.squares.mean() > spread


def test_pursuit_and_lasso_are_least_squares_where_nothing_is_pulled(registry: Registry) -> None:
    task = table(registry, "3*a - 2*b + c", noise=0.3)
    columns, targets = task.dataset.named("train")
    terms = lone_terms(plain_factors(task.search_problem))
    weights = torch.ones(targets.shape[1], dtype=torch.float64).numpy()
    design = Design.of(terms.values, targets[0].numpy(), weights)
    every = [*prefixes(design, pursued(design, terms, len(NAMES)))][-1]
    one = torch.cat([torch.ones_like(targets), torch.stack([columns[name] for name in NAMES])])
    exact = torch.linalg.lstsq(one.T, targets.T).solution[:, 0]
    told = design.predicted(every.places, every.weights, terms.values[every.places])[0]
    torch.testing.assert_close(torch.from_numpy(told), one.T @ exact, rtol=1e-6, atol=1e-6)
    kept = [len(one.places) for one in lassoed(design, len(NAMES))]
    assert kept[0] < kept[-1] == len(NAMES)


def test_a_rung_without_logarithms_of_nothing_takes_part(registry: Registry) -> None:
    task = table(registry, "3*a - 2*b + c", noise=0.3)
    terms = lone_terms(plain_factors(task.search_problem))
    target = task.search_problem.targets[0].numpy()
    contest = Contest(target, torch.ones(len(target), dtype=torch.float64).numpy(), 0)
    work = sum(contest.enter(Rung("lines", terms), of_logs=False))
    assert work > 0
    best = contest.best()
    assert best is not None
    assert best.words <= 4 * len(NAMES) + 1


def test_of_very_many_rows_some_are_taken_and_nothing_is_foretold(registry: Registry) -> None:
    data = {"noise": 0.1, "points": 12_000, "split": {"valid": 0.25, "test": 0.0}}
    best = search(table(registry, "3*a - 2*b", data=data, stop={"max_steps": 50})).best[0]
    assert best is not None
    assert set(best.tree.inputs) == {"a", "b"}


def judged(task: Problem, fits: float, foretells: float) -> tuple[Archive, str]:
    """Return who is the best of a short formula that misses rows by so much, and of a long one that foretells them."""
    kept = archive(task)
    target = torch.cat([task.dataset.part(part)[1][0] for part in ("train", "valid")])
    spread = float(target.std())
    kept.offer(product(float(target.mean()), []), "mean")
    short = weighted_sum(fits * spread, [(3.0, Leaf("a"))])
    long = weighted_sum(1.1 * fits * spread, [(3.0, Leaf("a")), (0.01, Leaf("b")), (0.01, Leaf("c"))])
    kept.offer(short, "short")
    draw = torch.Generator().manual_seed(1)
    squares = (foretells * spread) ** 2 * (0.5 + torch.rand(rows(task), dtype=torch.float64, generator=draw))
    kept.offer(long, "foretold", foretold=squares.tolist())
    best = kept.best()
    assert best is not None
    return kept, best.proposer


@pytest.mark.parametrize(
    ("fits", "foretells", "best"),
    [(0.0, 0.5, "short"), (0.2, 0.21, "short"), (0.2, 0.08, "foretold"), (0.2, 2.0, "short")],
)
def test_what_fits_is_kept_where_it_is_no_longer_and_hardly_worse(
    registry: Registry, fits: float, foretells: float, best: str
) -> None:
    assert judged(table(registry, "3*a", noise=0.0), fits, foretells)[1] == best


def test_a_restored_archive_decides_alike(registry: Registry) -> None:
    task = table(registry, "3*a", noise=0.0)
    kept, best = judged(task, 0.2, 0.08)
    again = archive(task)
    again.restore(kept.state(), {one.name: one for one in task.primitives})
    restored = again.best()
    assert restored is not None
    assert restored.proposer == best == "foretold"
    assert again.state() == kept.state()


def test_equal_seeds_give_equal_sums(registry: Registry) -> None:
    first, second = (found(search(table(registry, "3*a - 2*b*c"))) for _ in range(2))
    assert first == second


def test_a_run_that_goes_on_ends_as_one_that_did_not_stop(registry: Registry) -> None:
    states: list[Any] = []
    whole = search(table(registry, "3*a - 2*b*c"), (kept_in(states),))
    middle = states[len(states) // 2]
    assert found(search(table(registry, "3*a - 2*b*c"), (), middle)) == found(whole)


@pytest.mark.parametrize(("foretells", "best"), [(0.2, "foretold"), (20.0, "wild")])
def test_what_runs_away_between_rows_gives_way_to_a_sum_that_tells_half(
    registry: Registry, foretells: float, best: str
) -> None:
    task = table(registry, "3*a", noise=0.0)
    kept = archive(task)
    a, b = Leaf("a"), Leaf("b")
    pole = product(1.0, [(weighted_sum(0.0, [(1.0, a), (-1.0, b)]), -1)])
    kept.offer(product(6.0, []), "mean")
    kept.offer(weighted_sum(0.0, [(3.0, a), (0.01, pole)]), "wild")
    squares = (foretells * (0.5 + torch.rand(rows(task), generator=torch.Generator().manual_seed(1)))).square()
    kept.offer(weighted_sum(1.0, [(2.5, a), (0.01, b)]), "foretold", foretold=squares.tolist())
    chosen = kept.best()
    assert chosen is not None
    assert chosen.proposer == best


def fitted(columns: dict[str, np.ndarray], steps: int = 4) -> str:
    """Return what the estimator says of the column y, with the default proposers and some steps."""
    model = OccamRegressor(max_steps=steps, device="cpu")
    frame = pd.DataFrame({name: values for name, values in columns.items() if name != "y"})
    return str(model.fit(frame, columns["y"]).expression_)


def test_a_law_of_inputs_that_go_together_is_not_thrown_away() -> None:
    """v/m is one within a tenth on all rows, and anything where each is drawn by itself."""
    draw = np.random.default_rng(2)
    v = draw.uniform(1, 100, 300)
    m = v * draw.uniform(0.9, 1.1, 300)
    assert fitted({"m": m, "v": v, "y": m / v + 0.02 * draw.normal(size=300)}) in ("m/v", "1.0*m/v")


def test_what_slopes_between_rows_miss_is_not_foretold() -> None:
    """Two kinds of animals whose growth is differences of their numbers, smoothly off by a thousandth."""
    step, x, y, rows = 0.002, 1.2, 0.7, []
    for turn in range(10_000):
        if turn % 25 == 0:
            rows.append((x, y))
        x, y = x + step * (1.1 * x - 0.8 * x * y), y + step * (0.6 * x * y - 0.9 * y)
    hares, foxes = np.array(rows).T
    growth = np.gradient(hares, 25 * step)
    found = fitted({"x": hares[3:-3], "z": foxes[3:-3], "y": growth[3:-3]}, 30)
    assert "x**2" not in found
    assert "z**2" not in found


def test_a_logarithm_that_is_large_is_no_harm(registry: Registry) -> None:
    draw = torch.Generator().manual_seed(3)
    year = torch.linspace(1970, 2020, 80, dtype=torch.float64)
    target = torch.exp(0.35 * (year - 1995) + 0.1 * torch.randn(80, dtype=torch.float64, generator=draw))
    task = table(registry, "a", inputs=[{"name": "a", "range": [1, 2]}]).search_problem
    ladder = Ladder(replace(task, columns=year[None], targets=target[None], held=None), 0)
    for rung in ladder.rungs():
        assert sum(ladder.climb(rung)) > 0
    *_, best = ladder.winner(foretold=True)
    told = best.tree.evaluate({"a": year})
    assert float((told / target).log().abs().max()) < 1.5


def test_columns_that_say_the_same_are_no_harm(registry: Registry) -> None:
    names = [f"x{place}" for place in range(25)]
    task = table(registry, "x0", inputs=[{"name": name, "range": [1, 2]} for name in names]).search_problem
    column = task.columns[:1]
    ladder = Ladder(replace(task, columns=column.expand(25, -1).contiguous(), targets=3 * column, held=None), 0)
    for rung in ladder.rungs():
        assert sum(ladder.climb(rung)) > 0
    *_, best = ladder.winner(foretold=True)
    torch.testing.assert_close(best.tree.evaluate(dict.fromkeys(names, column[0])), 3 * column[0], rtol=1e-3, atol=0)
