"""The dense oracle and the engine give the same scores for the same functions."""

from __future__ import annotations

import pytest
import torch
from occamkit_bench.dense import DenseTrainer
from occamkit_bench.setting import synthetic_bench

from occamkit.packs.registry import Registry


@pytest.fixture(scope="module")
def bench():
    return synthetic_bench(rows=40, features=3, functions=500, depth=3, registry=Registry.load(only=[]))


@pytest.mark.parametrize("reuse", [False, True])
def test_same_scores_for_edges_that_the_engine_drew(bench, reuse):
    trainer = bench.trainer(seed=1)
    step = trainer.step()
    edges = step.sample.edges(torch.arange(500))
    oracle = DenseTrainer(bench.problem, seed=1, reuse=reuse, at_once=1 << 20)
    assert oracle.part < 500  # the last part is a smaller one
    torch.testing.assert_close(oracle.scores(edges), step.scores.score, rtol=1e-5, atol=1e-5)


def test_same_scores_for_edges_that_the_oracle_drew(bench):
    trainer = bench.trainer(seed=2)
    oracle = DenseTrainer(bench.problem, seed=2)
    edges = oracle.draw()
    scores = trainer.judge.score(trainer.nodes_of(edges), top=50)
    assert int(torch.isnan(scores.fitness).sum()) > 0  # undefined functions are among them
    torch.testing.assert_close(oracle.scores(edges), scores.score, rtol=1e-5, atol=1e-5)


def test_draws_follow_the_probabilities(bench):
    oracle = DenseTrainer(bench.problem, seed=3)
    probabilities = oracle.network.probabilities()
    counts = torch.zeros_like(probabilities)
    for _ in range(40):
        edges = oracle.draw()
        counts.scatter_add_(1, edges, torch.ones_like(edges, dtype=counts.dtype))
    assert bool((counts[~oracle.network.mask] == 0).all())
    drawn = 40 * 500
    deviation = (probabilities * (1 - probabilities) / drawn).sqrt()
    # A rare edge may come up once or twice; in its own deviations that is far.
    assert bool(((counts / drawn - probabilities).abs() <= 6 * deviation + 3 / drawn).all())


def test_both_learn_the_same_from_the_same_functions(bench):
    oracle, trainer = DenseTrainer(bench.problem, seed=4), bench.trainer(seed=4)
    before = oracle.network.logits.detach().clone()
    torch.testing.assert_close(before, trainer.network.logits.detach())
    sample = trainer.step().sample
    edges = sample.edges(torch.arange(500))
    oracle.draw = lambda: edges  # type: ignore[method-assign]
    oracle.step()
    assert not torch.equal(before, oracle.network.logits)
    torch.testing.assert_close(oracle.network.logits.detach(), trainer.network.logits.detach(), rtol=1e-3, atol=1e-3)
