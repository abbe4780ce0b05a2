"""A relation counts as found when it is the true one, not when it merely holds."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from occamkit_bench.relations import is_relation

from occamkit import Registry
from occamkit.task.file.checks import callable_primitives
from occamkit.task.file.load import load_task


@pytest.mark.parametrize(
    ("expression", "value", "true"),
    [("x0*x1", 1, True), ("1/(x0*x1)", 1, True), ("x0**2*x1**2", 1, False), ("x0/x0", 1, False), ("x0 + x1", 1, False)],
)
def test_squares_and_identities_do_not_count(expression: str, value: float, true: bool) -> None:
    registry = Registry.load()
    best = SimpleNamespace(expression=expression, relation=f"{expression} = {value}")
    result: Any = SimpleNamespace(outputs=[SimpleNamespace(best=best)])
    task = load_task("paper/x0x1", registry)
    assert is_relation(result, task, "x0x1", callable_primitives(registry), 0) is true
