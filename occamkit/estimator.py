"""`OccamRegressor`: a search for one formula, by the conventions of scikit-learn."""

from __future__ import annotations

import html
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from occamkit import typeset
from occamkit.export import Usable
from occamkit.packs.registry import Registry
from occamkit.result import Found, Result
from occamkit.runs.quick import Plan, Wishes, plan_table
from occamkit.solve import run_problem
from occamkit.task.problem import make_problem

OUTPUT = "y"


class OccamRegressor(RegressorMixin, BaseEstimator):  # type: ignore[misc] # scikit-learn has no types
    """Finds a formula for y in the columns of X.

    primitives: names and groups of what formulas are made of; None, the default ones. constants: numbers they may hold.
    start: formulas of your own to start from. seconds: how long to search at most. max_steps: steps in all, in place of
    seconds; then the same data and random_state give the same formula on every machine. functions: how many are drawn
    in each step. proposers: names of those that search; None, all that are of use. random_state: the seed. device:
    auto, cpu, cuda or mps. verbose: show how the search goes.

    After fitting: `expression_` is the formula as text, `front_` the best formula of each complexity, `result_` the
    whole result, `notes_` what was decided on the way; `n_features_in_` and `feature_names_in_` are as always.
    """

    def __init__(
        self,
        *,
        primitives: Sequence[str] | None = None,
        constants: Sequence[float | str] | None = None,
        start: Sequence[str] | None = None,
        seconds: float = 60.0,
        max_steps: int | None = None,
        functions: int = 2000,
        proposers: Sequence[str] | None = None,
        random_state: int | np.random.RandomState | None = 0,
        device: str = "auto",
        verbose: bool = False,
    ) -> None:
        self.primitives = primitives
        self.constants = constants
        self.start = start
        self.seconds = seconds
        self.max_steps = max_steps
        self.functions = functions
        self.proposers = proposers
        self.random_state = random_state
        self.device = device
        self.verbose = verbose

    def fit(self, X: Any, y: Any) -> OccamRegressor:  # noqa: N803 scikit-learn's names
        """Search for a formula; X is [n, u], y is [n]."""
        X, y = validate_data(self, X, y, dtype=np.float64, y_numeric=True, ensure_min_samples=2)  # noqa: N806
        registry = Registry.load()
        seed = self.random_state if isinstance(self.random_state, int) else None
        if seed is None:
            seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        plan = self._plan(X, np.asarray(y, dtype=np.float64), registry, seed)
        problem = make_problem(plan.task, registry, seed, self.device)
        result = run_problem(problem, show=self.verbose)
        best = result.outputs[0].best
        if best is None:
            raise ValueError("no function that is defined on the training rows was found; allow other primitives")
        self.result_: Result = result
        self.notes_ = plan.notes
        self.front_: tuple[Found, ...] = result.outputs[0].front
        self.expression_ = best.expression
        self._usable = Usable.read(best.expression, self._names(), registry)
        return self

    def _plan(self, X: Any, y: Any, registry: Registry, seed: int) -> Plan:  # noqa: N803
        stop = {"max_steps": self.max_steps} if self.max_steps is not None else {"seconds": float(self.seconds)}
        wishes = Wishes(
            primitives=self.primitives,
            constants=self.constants,
            start=list(self.start or ()),
            stop=stop,
            trainer={"functions": self.functions},
            proposers=self.proposers,
        )
        names = self._names()
        output = OUTPUT if OUTPUT not in names else next(f"y{i}" for i in range(10**6) if f"y{i}" not in names)
        return plan_table(np.ascontiguousarray(X.T), y, names, output, registry, wishes, seed)

    def _names(self) -> list[str]:
        given = getattr(self, "feature_names_in_", None)
        return [f"x{place}" for place in range(self.n_features_in_)] if given is None else [str(name) for name in given]

    def predict(self, X: Any) -> Any:  # noqa: N803
        """Return the formula's values [n]; NaN where it is undefined."""
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, reset=False)  # noqa: N806
        columns = dict(zip(self._names(), torch.from_numpy(X.T.copy()), strict=True))
        return self._usable.predict(columns).numpy().copy()

    def sympy(self) -> Any:
        """Return the formula as a sympy expression; its symbols are real and called like the columns."""
        check_is_fitted(self)
        return self._usable.sympy()

    def latex(self) -> str:
        """Return the formula as LaTeX."""
        return typeset.latex(self.sympy())

    def export(self, language: str) -> str:
        """Return the formula as an exporter writes it, such as "python" or "c"."""
        check_is_fitted(self)
        return self._usable.export(language)

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = super().__getstate__()
        return {key: value for key, value in state.items() if key != "_usable"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        if hasattr(self, "expression_"):
            self._usable = Usable.read(self.expression_, self._names(), Registry.load())

    def _repr_html_(self) -> str:
        if not hasattr(self, "expression_"):
            return f"<code>{html.escape(repr(self))}</code>"
        rows = "".join(
            f"<tr><td>{found.complexity:g}</td><td>{_share(found):.4g}</td>"
            f"<td><code>{html.escape(found.expression)}</code></td></tr>"
            for found in self.front_
        )
        head = "<tr><th>complexity</th><th>R²</th><th>formula</th></tr>"
        return f"{typeset.mathml(self.sympy())}<table><thead>{head}</thead><tbody>{rows}</tbody></table>"

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        return {"text/plain": repr(self), "text/html": self._repr_html_()}


def _share(found: Found) -> float:
    return found.r2["valid" if "valid" in found.r2 else "train"]
