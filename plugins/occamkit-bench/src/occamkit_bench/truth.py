"""Whether a result is the truth: on fresh points inside and outside the ranges, or on all of a finite domain."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence

import torch
from torch import Tensor

from occamkit.errors import UserError
from occamkit.language.folds import evaluate
from occamkit.language.parse import parse
from occamkit.protocols import Primitive
from occamkit.result import Result
from occamkit.task.feedback import Feedback, given_feedback, make_feedback
from occamkit.task.spec import FormulaData, TaskSpec

POINTS = 1_000
WIDER = 1.5
TOLERANCE = 1e-6
_SMALLEST = 1e-9
"""Relative errors are taken of at least this part of the truth's median size, so that its zeros do no harm."""

Ranges = Mapping[str, tuple[float, float]]
Primitives = Mapping[str, Primitive]


def is_truth(result: Result, spec: TaskSpec, primitives: Primitives, seed: int = 0) -> bool:
    """Whether every output equals its target on fresh points, with its step repeated as often as the target's."""
    if not isinstance(spec.data, FormulaData) or spec.data.target is None:
        raise UserError(f"task {spec.name!r} has no target formula to hold a result against")
    target, names = spec.data.target, [one.name for one in spec.outputs]
    truth = [target if isinstance(target, str) else target[name] for name in names]
    found = [one.best.expression for one in result.outputs if one.best is not None]
    if len(found) < len(names):
        return False
    inputs = [one.name for one in spec.inputs]
    feedback = make_feedback(inputs, names, given_feedback(spec, spec.wrapper))
    for columns in points(spec, seed):
        expected = apply(truth, spec.data.times, feedback, columns, primitives)
        given = apply(found, depth(result), feedback, columns, primitives)
        if not all(equal(one, other) for one, other in zip(given, expected, strict=True)):
            return False
    return depth(result) == spec.data.times


def depth(result: Result) -> int:
    """Return how often the step of a result is repeated; once where it is not."""
    best = result.outputs[0].best
    return best.recurrence or 1 if best is not None else 1


def points(spec: TaskSpec, seed: int) -> list[dict[str, Tensor]]:
    """Return the whole domain of a task if it is finite, else fresh points inside its ranges and outside them."""
    values = {one.name: one.values for one in spec.inputs if one.values is not None}
    if len(values) == len(spec.inputs):
        rows = torch.tensor(list(itertools.product(*values.values())), dtype=torch.float64)
        return [dict(zip(values, rows.T, strict=True))]
    ranges = {one.name: one.range for one in spec.inputs if one.range is not None}
    return [inside(ranges, seed), outside(ranges, seed)]


def apply(
    formulas: Sequence[str], times: int, feedback: Feedback, columns: Mapping[str, Tensor], primitives: Primitives
) -> Tensor:
    """Return formulas [v, n] applied so often, each time to what they gave before."""
    trees = [parse(text, list(columns), primitives) for text in formulas]
    inputs = torch.stack(list(columns.values()))
    seen, outputs = inputs, inputs[:0]
    for turn in range(times):
        if turn:
            seen = feedback.columns(inputs, feedback.next(seen, outputs))
        named = dict(zip(columns, seen, strict=True))
        outputs = torch.stack([evaluate(tree, named, primitives) for tree in trees])
    return outputs


def inside(ranges: Ranges, seed: int) -> dict[str, Tensor]:
    """Draw fresh points from the ranges."""
    # Far from the seeds of the tasks, so that no training point comes again.
    generator = torch.Generator().manual_seed(1_000_003 + seed)
    return {name: _uniform(low, high, generator) for name, (low, high) in ranges.items()}


def outside(ranges: Ranges, seed: int) -> dict[str, Tensor]:
    """Draw points from ranges widened 1.5 times about their middles, and keep those outside the ranges themselves."""
    wider = {}
    for name, (low, high) in ranges.items():
        middle, half = (low + high) / 2, WIDER * (high - low) / 2
        wider[name] = (middle - half, middle + half)
    drawn = [inside(wider, seed + 1_000 * (1 + turn)) for turn in range(8)]  # a third of them at least is outside
    columns = {name: torch.cat([points[name] for points in drawn]) for name in ranges}
    beyond = torch.stack([(columns[name] < low) | (columns[name] > high) for name, (low, high) in ranges.items()])
    keep = torch.nonzero(beyond.any(0)).squeeze(1)[:POINTS]
    return {name: column.index_select(0, keep) for name, column in columns.items()}


def agree(found: str, truth: str, points: Mapping[str, Tensor], primitives: Primitives) -> bool:
    """Whether two formulas are equal wherever the second is defined."""
    names = list(points)
    expected = evaluate(parse(truth, names, primitives), points, primitives)
    return equal(evaluate(parse(found, names, primitives), points, primitives), expected)


def equal(given: Tensor, expected: Tensor) -> bool:
    """Whether values [n] are equal wherever the second are defined."""
    defined = torch.isfinite(expected)
    expected, given = expected[defined], given[defined]
    size = expected.abs().clamp(min=_SMALLEST * float(expected.abs().median()))
    # Written so that an undefined value is no agreement.
    return bool(((given - expected).abs() <= TOLERANCE * size).all())


def _uniform(low: float, high: float, generator: torch.Generator) -> Tensor:
    return low + (high - low) * torch.rand(POINTS, dtype=torch.float64, generator=generator)
