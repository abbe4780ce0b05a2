"""Whether a found relation is the true one, and whether an approximation is good enough."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor

from occamkit.language.folds import evaluate
from occamkit.language.parse import parse
from occamkit.protocols import Primitive, Task
from occamkit.result import Result

TOLERANCE = 1e-6
_OTHER_ROWS = 1_000_003
"""Added to a seed, gives rows that no run has seen."""

TRUTHS: dict[str, tuple[str, float]] = {
    "x0x1": ("x0*x1", 1.0),
    "x0-over-x1": ("x0/x1", 1.0),
    "circle": ("x0**2 + x1**2", 1.0),
    "x0-over-cos": ("x0/cos(x1)", 1.0),
    "momentum": ("m1*v1 - m2*v2", 0.0),
}
"""The paper's relations, by task."""

APPROXIMATIONS: dict[str, str] = {"exp-taylor": "1 + x + x**2/2"}
"""Formulas that a result must be at least as close to the target as, for tasks that have no exact answer."""


def is_relation(result: Result, task: Task, name: str, primitives: Mapping[str, Primitive], seed: int) -> bool:
    """Whether the found relation holds for fresh rows, and for changed ones exactly where the true one does.

    Rows are changed by turning the sign of one column, and by shuffling one: so the square of a relation, which holds
    for more, is told from it.
    """
    found = result.outputs[0].best
    if found is None:
        return False
    (truth, wanted), value = TRUTHS[name], float(found.relation.rpartition("=")[2]) if found.relation else 0.0
    dataset = task.data(seed + _OTHER_ROWS)
    columns = {one.name: column for one, column in zip(dataset.variables, dataset.inputs, strict=True)}
    if not bool(_holds(found.expression, value, columns, primitives).all()):
        return False
    for changed in _changes(columns):
        theirs = _holds(truth, wanted, changed, primitives)
        if not torch.equal(_holds(found.expression, value, changed, primitives), theirs):
            return False
    return True


def is_close(
    result: Result, name: str, target: str, points: Mapping[str, Tensor], primitives: Mapping[str, Primitive]
) -> bool:
    """Whether a result's root mean square error on fresh points is no larger than that of a known approximation."""
    best = result.outputs[0].best
    if best is None:
        return False
    truth, known, found = (
        evaluate(parse(text, points, primitives), points, primitives)
        for text in (target, APPROXIMATIONS[name], best.expression)
    )
    return bool((found - truth).square().mean() <= (known - truth).square().mean())


def _changes(columns: Mapping[str, Tensor]) -> list[dict[str, Tensor]]:
    generator = torch.Generator().manual_seed(_OTHER_ROWS)
    turned = [{**columns, name: -column} for name, column in columns.items()]
    shuffled = [
        {**columns, name: column[torch.randperm(column.numel(), generator=generator)]}
        for name, column in columns.items()
    ]
    return [*turned, *shuffled]


def _holds(text: str, value: float, columns: Mapping[str, Tensor], primitives: Mapping[str, Primitive]) -> Tensor:
    """Return the rows [n] for which a relation holds, up to rounding of its largest part."""
    given = evaluate(parse(text, columns, primitives), columns, primitives)
    size = max([1.0, *(float(column.abs().median()) ** 2 for column in columns.values())])
    return (given - value).abs() <= TOLERANCE * size
