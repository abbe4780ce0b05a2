"""occamkit, ridge regression, XGBoost and pyoperon. Each takes the settings that its field gives it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from occamkit_bench.contenders.contender import Contender, Fitted, Values, hookimpl

PENALTIES = np.logspace(-2, 4, 19)
FOLDS = 3
FORESTS = ((2, 150, 1), (4, 150, 3), (6, 100, 5), (3, 400, 3))
"""Depth, trees and least weight of a leaf, among which XGBoost chooses by cross-validation."""
SYMBOLS = "add,sub,mul,div,constant,variable,sin,exp,log,sqrt,tanh,square"
POPULATION, LENGTH, TOUCHES = 500, 50, 5
"""Of pyoperon: formulas at a time, nodes of one, and steps of fitting the numbers of each."""


@dataclass(frozen=True)
class Occamkit:
    """`OccamRegressor` as it comes."""

    name: str = "occamkit"
    needs: str = ""

    def fit(self, inputs: Values, target: Values, seconds: float, seed: int) -> Fitted:
        """Fit with the defaults of the estimator."""
        from occamkit import OccamRegressor
        from occamkit_bench.clock import one_thread
        from occamkit_bench.contenders.size import size_of

        one_thread()
        model = OccamRegressor(seconds=seconds, random_state=seed, device="cpu").fit(inputs, target)
        names = [f"x{place}" for place in range(inputs.shape[1])]
        return Fitted(model.predict, model.expression_, size_of(model.expression_, names))


@dataclass(frozen=True)
class Ridge:
    """Linear regression on standardised inputs, its penalty chosen by leaving one row out."""

    name: str = "ridge"
    needs: str = "sklearn"

    def fit(self, inputs: Values, target: Values, seconds: float, seed: int) -> Fitted:
        """Solve for the weights."""
        from sklearn.linear_model import RidgeCV
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import StandardScaler

        model = make_pipeline(StandardScaler(), RidgeCV(PENALTIES)).fit(inputs, target)
        return Fitted(model.predict, size=4 * inputs.shape[1] + 1)


@dataclass(frozen=True)
class XGBoost:
    """Boosted trees, the best of a few settings by cross-validation."""

    name: str = "xgboost"
    needs: str = "xgboost"

    def fit(self, inputs: Values, target: Values, seconds: float, seed: int) -> Fitted:
        """Choose the settings, and grow the trees."""
        from sklearn.model_selection import KFold, cross_val_score
        from xgboost import XGBRegressor

        def forest(depth: int, trees: int, least: int) -> XGBRegressor:
            return XGBRegressor(
                max_depth=depth,
                n_estimators=trees,
                learning_rate=0.05,
                min_child_weight=least,
                subsample=0.8,
                colsample_bytree=0.8,
                n_jobs=1,
                random_state=seed,
            )

        folds = KFold(FOLDS, shuffle=True, random_state=seed)
        scores = [
            cross_val_score(forest(*one), inputs, target, cv=folds, scoring="neg_mean_squared_error").mean()
            for one in FORESTS
        ]
        return Fitted(forest(*FORESTS[int(np.argmax(scores))]).fit(inputs, target).predict)


@dataclass(frozen=True)
class Pyoperon:
    """Genetic programming with fitted numbers; of its front it gives the formula of the shortest description."""

    name: str = "pyoperon"
    needs: str = "pyoperon"

    def fit(self, inputs: Values, target: Values, seconds: float, seed: int) -> Fitted:
        """Breed until the time is over."""
        from pyoperon.sklearn import SymbolicRegressor

        model = SymbolicRegressor(
            allowed_symbols=SYMBOLS,
            population_size=POPULATION,
            pool_size=POPULATION,
            generations=100_000,
            max_evaluations=10**9,
            max_length=LENGTH,
            optimizer_iterations=TOUCHES,
            objectives=["r2", "length"],
            epsilon=1e-4,
            n_threads=1,
            max_time=max(1, round(seconds)),
            random_state=seed + 1,  # nought means another every time
            model_selection_criterion="minimum_description_length",
        )
        model.fit(inputs, target)
        return Fitted(model.predict, model.get_model_string(model.model_), int(model.stats_["model_length"]))


@hookimpl
def occamkit_bench_contenders() -> Iterable[Contender]:
    """Return those that this pack brings."""
    return Occamkit(), Ridge(), XGBoost(), Pyoperon()
