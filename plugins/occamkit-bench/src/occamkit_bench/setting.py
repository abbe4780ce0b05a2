"""The paper's PMLB setting, as a task document: the network that all speeds are quoted for."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from occamkit.errors import DataError
from occamkit.packs.registry import Registry
from occamkit.task.file.load import check_document
from occamkit.task.prepared import PreparedTask
from occamkit.task.problem import Problem, make_problem
from occamkit.train.trainer import Trainer

PRIMITIVES = ("add", "sub", "mul", "div", "sin", "cos", "exp", "log_abs")
DEPTH = 4
SIGMA = 0.5
TEMPERATURE = 10.0
TOP_SHARE = 10
"""One in so many functions is learnt from."""

_UNIT_SPREAD = 3**0.5
"""A uniform distribution from minus to plus this has deviation 1, as standardised data have."""


@dataclass(frozen=True)
class Shape:
    """How large a data set is: all rows, and inputs."""

    rows: int
    features: int

    @property
    def training(self) -> int:
        """The rows that the paper trains on: 60 %, rounded down."""
        return int(0.6 * self.rows)


DATASETS = {
    "1027_ESL": Shape(488, 4),
    "1089_USCrime": Shape(47, 13),
    "4544_GeographicalOriginalofMusic": Shape(1059, 117),
}
"""A common, a small and the largest data set of the paper's."""


@dataclass(frozen=True)
class Bench:
    """A problem to be measured on; `synthetic` when its rows are made up."""

    problem: Problem
    synthetic: bool

    @property
    def rows(self) -> int:
        """The rows that are trained on."""
        return int(self.problem.dataset.train.numel())

    @property
    def features(self) -> int:
        """The inputs, without constants."""
        return len(self.problem.dataset.variables)

    def trainer(self, seed: int) -> Trainer:
        """Return an untrained trainer, which knows no function yet."""
        return Trainer(self.problem.search_problem, torch.Generator().manual_seed(seed))


def load_bench(dataset: str, functions: int, registry: Registry) -> Bench:
    """Make a problem of a PMLB data set, or of synthetic rows of its shape where the data are not to be had."""
    shape = DATASETS[dataset]
    try:
        return Bench(_problem(dataset, _pmlb(dataset, shape), functions, DEPTH, registry), synthetic=False)
    except DataError:
        return synthetic_bench(shape.training, shape.features, functions, DEPTH, registry)


def synthetic_bench(rows: int, features: int, functions: int, depth: int, registry: Registry) -> Bench:
    """Make a problem of made-up rows, none held out."""
    given = _synthetic(rows, features)
    return Bench(_problem(f"synthetic-{rows}x{features}", given, functions, depth, registry), synthetic=True)


def _problem(name: str, given: dict[str, Any], functions: int, depth: int, registry: Registry) -> Problem:
    here = Path()
    spec = check_document({**_document(name, functions, depth), **given}, registry, here)
    return make_problem(PreparedTask(spec, registry, here), registry, seed=0, device="cpu")


def _document(name: str, functions: int, depth: int) -> dict[str, Any]:
    return {
        "occamkit": 1,
        "name": f"bench/{name}",
        "search": {
            "primitives": list(PRIMITIVES),
            "constants": [1, 2],
            "depth": depth,
            "repeats": [2**times for times in reversed(range(depth))],
            "skip_connections": True,
            "temperature": TEMPERATURE,
            "last_temperature": TEMPERATURE,
            "equalise": 1.0,
        },
        "fitness": {"name": "gaussian", "sigma": SIGMA},
        "regularizers": [],
        "trainer": {
            "functions": functions,
            "top": max(1, functions // TOP_SHARE),
            "learning_rate": 1.0,
            "dtype": "float32",
        },
        "stop": {"max_steps": max(1, 1_000_000 // functions)},
    }


def _pmlb(dataset: str, shape: Shape) -> dict[str, Any]:
    # Shares are made from whole rows, so that as many are left for training as in the paper.
    valid = round(0.2 * shape.rows)
    split = {"valid": valid / shape.rows, "test": (shape.rows - shape.training - valid) / shape.rows}
    return {"data": {"source": "pmlb", "dataset": dataset, "standardise": True, "split": split}}


def _synthetic(rows: int, features: int) -> dict[str, Any]:
    names = [f"x{place}" for place in range(features)]
    return {
        "data": {
            "source": "formula",
            "target": f"x0 + x{features - 1}",
            "noise": 1.0,  # as much as the signal: no function is exact, as with real data
            "points": rows,
            "split": {"valid": 0.0, "test": 0.0},
        },
        "inputs": [{"name": name, "range": [-_UNIT_SPREAD, _UNIT_SPREAD]} for name in names],
        "outputs": [{"name": "y"}],
    }
