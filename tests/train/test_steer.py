"""A fresh network leans towards what no regularizer vetoes, and towards nothing else."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch

from occamkit import Registry
from occamkit.task.file.load import check_document
from occamkit.task.prepared import PreparedTask
from occamkit.task.problem import make_problem
from occamkit.train.trainer import Trainer


def share_accepted(registry: Registry, **search: Any) -> float:
    document = {
        "occamkit": 1, "name": "force", "data": {"source": "formula", "target": "q*(E+B*v*sin(t))"},
        "inputs": [
            {"name": "q", "unit": "C", "range": [1, 5]}, {"name": "E", "unit": "V/m", "range": [1, 5]},
            {"name": "B", "unit": "T", "range": [1, 5]}, {"name": "v", "unit": "m/s", "range": [1, 5]},
            {"name": "t", "range": [1, 5]},
        ],
        "outputs": [{"name": "F", "unit": "N"}],
        "search": {"equalise": 0.0, **search},
    }  # fmt: skip
    problem = make_problem(PreparedTask(check_document(document, registry, Path()), registry, Path()), registry)
    trainer = Trainer(problem.search_problem, torch.Generator().manual_seed(0))
    return 1 - float(trainer.step().scores.vetoed.double().mean())


def test_units_that_come_out_right_are_drawn_far_more_often(registry: Registry) -> None:
    assert share_accepted(registry, steer=True) > 0.2
    assert share_accepted(registry, steer=False) < 0.05


def test_every_edge_stays_possible(registry: Registry) -> None:
    document = {
        "occamkit": 1, "name": "fall", "data": {"source": "formula", "target": "9.81*t**2/2"},
        "inputs": [{"name": "t", "unit": "s", "range": [1, 2]}, {"name": "g", "unit": "m/s**2", "range": [9, 10]}],
        "outputs": [{"name": "d", "unit": "m"}],
    }  # fmt: skip
    problem = make_problem(PreparedTask(check_document(document, registry, Path()), registry, Path()), registry)
    network = Trainer(problem.search_problem, torch.Generator().manual_seed(0)).network
    assert bool((network.probabilities()[network.mask] > 1e-6).all())
