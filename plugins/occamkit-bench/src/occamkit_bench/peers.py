"""gplearn and pyoperon on the same rows: how many trees each makes and scores per CPU second.

Neither does what OccamNet does, so this compares the price of looking at one function, not the quality of a search.
Both get the same primitives as far as they have them, and one thread. Their trees are smaller than the network's:
gplearn draws them four deep, pyoperon with at most as many nodes as a full binary tree of that depth.
"""

from __future__ import annotations

import importlib.util
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from occamkit_bench.setting import DEPTH, Bench

PEERS = ("gplearn", "pyoperon")

GENERATIONS = 2
"""Of gplearn: one that is drawn and one that is bred."""
MOST_NODES = 2 ** (DEPTH + 1) - 1
"""The nodes of a full binary tree as deep as the network."""

Turn = Callable[[int], float]
"""Takes a seed, works for a while, and returns functions per CPU second."""


def installed_peers() -> tuple[str, ...]:
    """Return the peers that can be imported here."""
    return tuple(peer for peer in PEERS if importlib.util.find_spec(peer) is not None)


def _rows(bench: Bench) -> tuple[Any, Any]:
    """Return inputs [n, u] and target [n] as numpy arrays, in the precision of the search."""
    inputs, targets = bench.problem.dataset.part("train")
    return inputs.T.contiguous().numpy().astype(np.float32), targets[0].numpy().astype(np.float32)


def _exp(values: Any) -> Any:
    """gplearn has no exp of its own, and its functions must be finite everywhere."""
    return np.exp(np.minimum(values, 80.0))


def gplearn_turn(bench: Bench, total: int) -> Turn:
    """Return a turn of gplearn: draw, breed and score about `total` trees.

    It takes trees one by one, so the size of its population, which is far below R here, makes no difference to speed.
    """
    from gplearn.functions import make_function
    from gplearn.genetic import SymbolicRegressor

    inputs, target = _rows(bench)
    exp = make_function(function=_exp, name="exp", arity=1, wrap=False)
    population = max(100, total // GENERATIONS)

    def turn(seed: int) -> float:
        regressor = SymbolicRegressor(
            population_size=population,
            generations=GENERATIONS,
            function_set=("add", "sub", "mul", "div", "sin", "cos", exp, "log"),
            init_depth=(DEPTH, DEPTH),
            const_range=(1.0, 2.0),
            stopping_criteria=-1.0,
            random_state=seed,
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # overflow in a bred tree is no news
            started = time.process_time()
            regressor.fit(inputs, target)
            spent = time.process_time() - started
        return population * GENERATIONS / spent

    return turn


def pyoperon_turn(bench: Bench, functions: int, generations: int) -> Turn:
    """Return a turn of pyoperon: breed and score generations of R offspring, without local search."""
    from pyoperon.sklearn import SymbolicRegressor

    inputs, target = _rows(bench)

    def turn(seed: int) -> float:
        regressor = SymbolicRegressor(
            allowed_symbols="add,sub,mul,div,sin,cos,exp,logabs,constant,variable",
            objectives=["mse"],
            population_size=functions,
            pool_size=functions,
            generations=generations,
            max_evaluations=10 * functions * (generations + 1),
            max_depth=DEPTH + 1,  # for what is bred; the trees it starts from are limited in nodes alone, and go deeper
            max_length=MOST_NODES,
            initialization_max_length=MOST_NODES,
            optimizer_iterations=0,
            epsilon=0.0,
            n_threads=1,
            random_state=seed,
        )
        started = time.process_time()
        regressor.fit(inputs, target)
        spent = time.process_time() - started
        return float(regressor.stats_["evaluation_count"]) / spent

    return turn
