"""Everything that a report shows, gathered once from a run folder."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from occamkit._version import __version__
from occamkit.archive import PARTS
from occamkit.errors import FormulaError
from occamkit.export import Usable
from occamkit.fit import proportional
from occamkit.network import Layout
from occamkit.packs.registry import Registry
from occamkit.report.constants import Measured, measured
from occamkit.result import Found, Result
from occamkit.runs.folder import RunFolder
from occamkit.search.trace import read_lines
from occamkit.task.data.dataset import Part
from occamkit.task.growth import largest_depth, sizes_of
from occamkit.task.problem import Problem
from occamkit.train.film import Film

MOST_POINTS = 400
"""Points of each part that are drawn; of more rows, every so-many-th."""
MOST_STEPS = 400


@dataclass(frozen=True)
class ShownRows:
    """Some rows of one part: the inputs, what is true and what the best formula says, as the user has them."""

    part: str
    inputs: dict[str, list[float]]
    actual: list[float]
    predicted: list[float]


@dataclass(frozen=True)
class OutputContent:
    """One output: its formulas, and the best one on the rows; algebra is None where sympy cannot follow."""

    name: str
    best: Found | None
    likeliest: Found | None
    front: tuple[Found, ...]
    algebra: tuple[Any | None, ...]  # of each of the front
    best_algebra: Any | None
    rows: tuple[ShownRows, ...]
    constants: tuple[Measured, ...]
    ties: tuple[Found, ...] = ()


@dataclass(frozen=True)
class Frame:
    """The network after a step: its layout, and the probability of each edge [A, S]."""

    step: int
    start: int
    layout: Layout
    probabilities: Tensor


@dataclass(frozen=True)
class Content:
    """A whole report."""

    result: Result
    outputs: tuple[OutputContent, ...]
    units: dict[str, str]
    trace: tuple[dict[str, Any], ...]
    frames: tuple[Frame, ...]
    leaves: tuple[str, ...]
    task: str
    made: dict[str, str]


def gather(folder: RunFolder, registry: Registry, problem: Problem | None = None) -> Content:
    """Read a run folder; `problem` is what was searched, if it is at hand."""
    checkpoint = folder.checkpoint()
    problem = problem or folder.problem(registry, checkpoint)
    result = folder.result(registry)
    units = {one.name: one.unit for one in problem.spec.inputs if one.unit}
    units |= {one.name: one.unit for one in problem.spec.outputs if one.unit}
    return Content(
        result=result,
        outputs=tuple(_output(problem, result, place) for place in range(len(result.outputs))),
        units=units,
        trace=_trace(folder),
        frames=tuple(_frames(problem, Film.read(checkpoint["film"]))),
        leaves=tuple(variable.name for variable in problem.network_inputs),
        task=(folder.path / "task.toml").read_text(encoding="utf-8"),
        made=_made(folder, problem, result),
    )


def _output(problem: Problem, result: Result, place: int) -> OutputContent:
    found = result.outputs[place]
    usable = _usable(problem, found.best) if found.best is not None and found.best.recurrence is None else None
    return OutputContent(
        name=found.name,
        best=found.best,
        likeliest=found.likeliest,
        front=found.front,
        algebra=tuple(_algebra(problem, one) for one in found.front),
        best_algebra=_algebra(problem, found.best) if found.best is not None else None,
        rows=tuple(_rows(problem, usable, place)) if usable is not None else (),
        constants=_constants(problem, usable, found.best, place)
        if usable is not None and found.best is not None
        else (),
        ties=found.ties,
    )


def _usable(problem: Problem, found: Found) -> Usable | None:
    try:
        return Usable.read(found.expression, [one.name for one in problem.dataset.variables], problem.registry)
    except FormulaError:
        return None


def _algebra(problem: Problem, found: Found) -> Any | None:
    usable = _usable(problem, found)
    try:
        return usable.sympy() if usable is not None else None
    except Exception:  # noqa: BLE001 sympy raises whatever its parts raise on infinities; the text is shown instead
        return None


def _declared(problem: Problem, part: Part, output: int) -> tuple[dict[str, Tensor], Tensor]:
    """Return the columns and the target of one part, as the user has them."""
    inputs, targets = problem.dataset.part(part)
    variables, scales = problem.dataset.variables, problem.dataset.scales
    columns = {one.name: scale.declared(column) for one, scale, column in zip(variables, scales, inputs, strict=False)}
    return columns, problem.dataset.output_scale(output).declared(targets[output])


def _constants(problem: Problem, usable: Usable, found: Found, output: int) -> tuple[Measured, ...]:
    """Return the constants with their errors, from the rows that they were fitted to."""
    columns, target = _declared(problem, "train", output)
    if found.refitted:
        more, besides = _declared(problem, "valid", output)
        columns = {name: torch.cat([column, more[name]]) for name, column in columns.items()}
        target = torch.cat([target, besides])
    return measured(usable, columns, target, proportional(target) if found.relative else None)


def _rows(problem: Problem, usable: Usable, output: int) -> list[ShownRows]:
    found = []
    for part in PARTS:
        columns, actual = _declared(problem, part, output)
        if actual.numel() == 0:
            continue
        chosen = torch.arange(0, actual.numel(), -(-actual.numel() // MOST_POINTS))
        some = {name: column.index_select(0, chosen) for name, column in columns.items()}
        predicted = usable.predict(some).tolist()
        inputs = {name: column.tolist() for name, column in some.items()}
        found.append(ShownRows(part, inputs, actual.index_select(0, chosen).tolist(), predicted))
    return found


def _trace(folder: RunFolder) -> tuple[dict[str, Any], ...]:
    steps = [one for one in map(json.loads, read_lines(folder.path / "trace.jsonl")) if one["event"] == "step"]
    return tuple(steps[:: max(1, -(-len(steps) // MOST_STEPS))])


def _frames(problem: Problem, film: Film) -> list[Frame]:
    """Return the film with the layout of each frame; a network that has grown has several."""
    search = problem.spec.search
    layouts: dict[tuple[int, ...], Layout] = {}
    for repeats in sizes_of(search):
        layout = Layout.repeated(
            len(problem.network_inputs), problem.primitives, repeats, len(problem.outputs), search.skip_connections
        )
        layouts[layout.arguments, layout.nodes] = layout
    return [
        Frame(step, start, layouts[tuple(frame.shape)], frame.to(torch.float32))
        for step, start, frame in zip(film.steps, film.starts, film.frames, strict=True)
    ]


def moments(frames: tuple[Frame, ...]) -> tuple[Frame, ...]:
    """Return the network at the start, in the middle and at the end of the last fresh start that shows all three."""
    if not frames:
        return ()
    for start in sorted({frame.start for frame in frames}, reverse=True):
        some = [frame for frame in frames if frame.start == start]
        if len(some) >= 3:
            return some[0], some[len(some) // 2], some[-1]
    places = sorted({0, len(frames) // 2, len(frames) - 1})
    return tuple(frames[place] for place in places)


def _made(folder: RunFolder, problem: Problem, result: Result) -> dict[str, str]:
    packs = ", ".join(f"{name} {version}" for name, version in result.packs.items())
    sizes = [len(getattr(problem.dataset, part)) for part in PARTS]
    depth = problem.spec.search.depth or f"grown to {largest_depth(problem.spec.search)}"
    return {
        "task": result.task,
        "rows": f"{sizes[0]:,} to train, {sizes[1]:,} to validate, {sizes[2]:,} to test",
        "seed": str(result.seed),
        "device": result.device,
        "ended": f"{result.stop}, after {result.seconds:.1f} s and {result.steps:,} steps",
        "functions": f"{result.functions:,} drawn, {result.unique_functions:,} different ones evaluated",
        "search": f"{', '.join(problem.spec.search.primitives)}; depth {depth}",
        "fitness": problem.spec.fitness.name,
        "penalties": ", ".join(one.name for one in problem.spec.regularizers) or "none",
        "packs": packs,
        "occamkit": f"{result.occamkit} (report by {__version__})",
        "folder": folder.path.name,
    }
