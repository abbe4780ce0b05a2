"""Draws points from the inputs' ranges and computes the target from its formula."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from occamkit.errors import DataError
from occamkit.language.folds import evaluate
from occamkit.language.parse import parse
from occamkit.protocols import Primitive
from occamkit.task.feedback import Feedback, make_feedback
from occamkit.task.spec import FormulaData, InputSpec

_TRIES = 100

LARGEST_TABLE = 4096
"""Truth tables up to this many rows are made whole unless the task asks for random points."""


class _Repeat(NamedTuple):
    """How often targets are applied, and how they are fed back."""

    times: int
    feedback: Feedback


def draw(
    data: FormulaData,
    inputs: Sequence[InputSpec],
    targets: Mapping[str, str],
    primitives: Mapping[str, Primitive],
    seed: int,
    given: Mapping[str, str] | None = None,
) -> tuple[Tensor, Tensor]:
    """Return inputs [u, n] and targets [v, n] in the declared units; points where anything is undefined are redrawn.

    given: what feeds each input when the targets are applied several times; absent, what is called alike.
    """
    feedback = make_feedback([one.name for one in inputs], list(targets), given or {})
    repeat = _Repeat(data.times, feedback)
    generator = torch.Generator().manual_seed(seed)
    if data.draw == "grid" or is_table(data, inputs):
        columns, outputs = _compute(_grid(data, inputs), inputs, targets, primitives, repeat)
        keep = torch.isfinite(torch.cat([columns, outputs])).all(0)
        columns, outputs = columns[:, keep], outputs[:, keep]
    else:
        columns, outputs = _draw_defined(data.points, inputs, targets, primitives, generator, repeat)
    if columns.shape[1] == 0:
        raise DataError("the formula is undefined at every point of the inputs' ranges")
    if data.noise > 0:
        size = outputs.square().mean(1, keepdim=True).sqrt()
        noise = torch.randn(outputs.shape, dtype=outputs.dtype, generator=generator)
        outputs = outputs + data.noise * size * noise
    return columns, outputs


def is_table(data: FormulaData, inputs: Sequence[InputSpec]) -> bool:
    """Whether the rows are a whole truth table: every input has values, and not too many of them together."""
    domains = [one.values for one in inputs if one.formula is None]
    finite = [len(values) for values in domains if values is not None]
    return data.draw != "uniform" and len(finite) == len(domains) and math.prod(finite) <= LARGEST_TABLE


def _draw_defined(
    points: int,
    inputs: Sequence[InputSpec],
    targets: Mapping[str, str],
    primitives: Mapping[str, Primitive],
    generator: torch.Generator,
    repeat: _Repeat,
) -> tuple[Tensor, Tensor]:
    drawn: list[Tensor] = []
    wanted = points
    split = len(inputs)
    for _ in range(_TRIES):
        free = {one.name: _uniform(one, points, generator) for one in inputs if one.formula is None}
        both = torch.cat(_compute(free, inputs, targets, primitives, repeat))
        kept = both[:, torch.isfinite(both).all(0)][:, :wanted]
        drawn.append(kept)
        wanted -= kept.shape[1]
        if wanted == 0:
            break
    else:
        if wanted == points:
            raise DataError("the formula is undefined at every point drawn from the inputs' ranges")
        raise DataError(f"the formula is undefined on most of its ranges: {points - wanted} of {points} points found")
    rows = torch.cat(drawn, 1)
    return rows[:split], rows[split:]


def _uniform(spec: InputSpec, points: int, generator: torch.Generator) -> Tensor:
    uniform = torch.rand(points, dtype=torch.float64, generator=generator)
    if spec.values is not None:
        values = torch.tensor(spec.values, dtype=torch.float64)
        return values[(uniform * len(values)).long().clamp(max=len(values) - 1)]
    low, high = spec.range or (0.0, 1.0)
    return low + (high - low) * uniform


def _grid(data: FormulaData, inputs: Sequence[InputSpec]) -> dict[str, Tensor]:
    """Every combination: of finite domains as they are, of ranges with as many steps as the points allow."""
    free = [one for one in inputs if one.formula is None]
    ranges = sum(one.values is None for one in free)
    steps = max(2, round(data.points ** (1 / ranges))) if ranges else 0
    axes = [
        torch.tensor(one.values, dtype=torch.float64)
        if one.values is not None
        else torch.linspace(*(one.range or (0.0, 1.0)), steps, dtype=torch.float64)
        for one in free
    ]
    mesh = torch.meshgrid(*axes, indexing="ij")
    return {one.name: axis.flatten() for one, axis in zip(free, mesh, strict=True)}


def _compute(
    free: Mapping[str, Tensor],
    inputs: Sequence[InputSpec],
    targets: Mapping[str, str],
    primitives: Mapping[str, Primitive],
    repeat: _Repeat,
) -> tuple[Tensor, Tensor]:
    columns: dict[str, Tensor] = {}
    for one in inputs:
        if one.formula is None:
            columns[one.name] = free[one.name]
        else:
            known = {**free, **columns}
            columns[one.name] = evaluate(parse(one.formula, known, primitives), known, primitives)
    stacked = torch.stack(list(columns.values()))
    if not targets:
        return stacked, stacked.new_zeros(0, stacked.shape[1])
    formulas = [parse(text, columns, primitives) for text in targets.values()]
    seen, outputs = stacked, stacked[:0]
    for turn in range(repeat.times):
        if turn:
            seen = repeat.feedback.columns(stacked, repeat.feedback.next(seen, outputs))
        named = dict(zip(columns, seen, strict=True))
        outputs = torch.stack([evaluate(formula, named, primitives) for formula in formulas])
    return stacked, outputs
