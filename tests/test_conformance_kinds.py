"""The kit finds the broken promises of every other kind of part; each promise has something that breaks it."""

from __future__ import annotations

import itertools
import json
import random
import sys
import types
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import click
import pytest
import torch
from torch import Tensor

from occamkit import (
    Leaf,
    NodeBatch,
    Output,
    Primitive,
    Proposal,
    Quantity,
    Stage,
    TaskFile,
    Variable,
    Verdict,
    hookimpl,
)
from occamkit.errors import UnknownNameError
from occamkit.testing import PROMISES, checks

THIS = sys.modules[__name__]


@dataclass(frozen=True)
class Closeness:
    """A fitness that keeps its promises."""

    name: ClassVar[str] = "part"

    def score(self, predicted: Tensor, target: Tensor) -> Tensor:
        return (1 / (1 + (predicted - target).square())).sum(1)

    def ceiling(self, points: int) -> float:
        return float(points)


@dataclass(frozen=True)
class Counts:
    """A structural regularizer that keeps its promises."""

    name: ClassVar[str] = "part"
    stage: ClassVar[Stage] = Stage.STRUCTURE
    weight: float = 0.1

    def leaf(self, variable: Variable) -> Any:
        return 0

    def combine(self, primitive: Primitive, args: Sequence[Any]) -> Any:
        return 1 + sum(args)

    def verdict(self, root: Any, output: Output) -> Verdict:
        return Verdict(float(root))


@dataclass(frozen=True)
class Sees:
    """A forward regularizer that keeps its promises."""

    name: ClassVar[str] = "part"
    stage: ClassVar[Stage] = Stage.FORWARD
    weight: float = 0.1

    def score_nodes(self, batch: NodeBatch) -> Tensor:
        return (batch.output > 1).to(batch.output.dtype).mean(1)


@dataclass(frozen=True)
class Twice:
    """A wrapper that keeps its promises."""

    name: ClassVar[str] = "part"

    def unroll(self, step: Callable[[Tensor], Tensor], start: Tensor) -> Iterator[Tensor]:
        once = step(start)
        yield once
        yield step(once)


@dataclass(frozen=True)
class Columns:
    """A proposer that keeps its promises."""

    name: ClassVar[str] = "part"

    def propose(self, problem: Any, budget: Any) -> Iterator[Any]:
        yield from (Proposal(Leaf(one.name, one.value)) for one in problem.variables)


@dataclass(frozen=True)
class Plain:
    """An exporter that keeps its promises."""

    name: str = "part"

    def export(self, expression: Any, inputs: Sequence[str]) -> str:
        return str(expression)


def like(base: type, doc: str | None = "Broken.", **members: Any) -> type:
    """Return a part like another, with some members replaced, at the top level of this module."""
    name = f"Broken{len([one for one in vars(THIS) if one.startswith('Broken')])}"
    made = dataclass(frozen=True)(type(name, (base,), {"__doc__": doc, "__module__": __name__, **members}))
    setattr(THIS, name, made)
    return made


def _noise(*_: Any) -> float:
    return random.random()


def _overwrites(self: Any, predicted: Tensor, target: Tensor) -> Tensor:
    return Closeness().score(predicted.mul_(1.5), target)


def _forgives_nan(self: Any, predicted: Tensor, target: Tensor) -> Tensor:
    return Closeness().score(torch.nan_to_num(predicted), target)


def _ranks(self: Any, predicted: Tensor, target: Tensor) -> Tensor:
    return Closeness().score(predicted, target) / len(predicted)


def _noisy_score(self: Any, predicted: Tensor, target: Tensor) -> Tensor:
    return Closeness().score(predicted, target) * torch.rand(len(predicted), dtype=predicted.dtype)


def _on_host(self: Any, predicted: Tensor, target: Tensor) -> Tensor:
    return Closeness().score(predicted, target) if float(target.sum()) < 1e9 else predicted[:, 0]


def _one_sum(self: Any, predicted: Tensor, target: Tensor) -> Tensor:
    return Closeness().score(predicted, target).sum()


def _double(self: Any, predicted: Tensor, target: Tensor) -> Tensor:
    return Closeness().score(predicted.double(), target.double())


def _absolute(self: Any, predicted: Tensor, target: Tensor) -> Tensor:
    return (1 / (1 + (predicted - target).abs())).sum(1)


def _needing(base: type) -> type:
    return dataclass(frozen=True)(type("Needing", (base,), {"__doc__": "Needs.", "__annotations__": {"needed": int}}))


def _local(base: type) -> type:
    return type("Local", (base,), {"__doc__": "Local.", "__module__": __name__})


def _negative(self: Any, root: Any, output: Output) -> Verdict:
    return Verdict(-1.0)


def _random_verdict(self: Any, root: Any, output: Output) -> Verdict:
    return Verdict(random.random())


def _list_state(self: Any, variable: Variable) -> Any:
    return [variable.name]


def _whole_batch(self: Any, batch: NodeBatch) -> Tensor:
    return batch.output.new_ones(len(batch.output)) * len(batch.output)


def _column(self: Any, batch: NodeBatch) -> Tensor:
    return batch.output.new_zeros(len(batch.output), 1)


def _nothing(self: Any, *_: Any) -> Iterator[Any]:
    yield from ()


def _endless(self: Any, step: Any, start: Tensor) -> Iterator[Tensor]:
    while True:
        yield step(start)


def _ignores(self: Any, step: Any, start: Tensor) -> Iterator[Tensor]:
    yield start


def _flattens(self: Any, step: Any, start: Tensor) -> Iterator[Tensor]:
    yield step(start).flatten()


def _mixes(self: Any, step: Any, start: Tensor) -> Iterator[Tensor]:
    yield step(start).cumsum(1)


def _trembles(self: Any, step: Any, start: Tensor) -> Iterator[Tensor]:
    yield step(start) + torch.rand_like(start)


def _writes_start(self: Any, step: Any, start: Tensor) -> Iterator[Tensor]:
    yield step(start.mul_(2))


def _lingers(self: Any, problem: Any, budget: Any) -> Iterator[Any]:
    import time

    for number in itertools.count():
        time.sleep(0.4)
        yield Proposal(Leaf(str(number), float(number)))


def _bare(self: Any, problem: Any, budget: Any) -> Iterator[Any]:
    yield Leaf("x")


def _strangers(self: Any, problem: Any, budget: Any) -> Iterator[Any]:
    yield Proposal(Leaf("nobody"))


def _shuffled(self: Any, problem: Any, budget: Any) -> Iterator[Any]:
    yield Proposal(Leaf("c", random.random()))


def _empty(self: Any, expression: Any, inputs: Sequence[str]) -> str:
    return " "


def _anonymous(self: Any, expression: Any, inputs: Sequence[str]) -> str:
    return "f"


def _dated(self: Any, expression: Any, inputs: Sequence[str]) -> str:
    return f"{expression} {random.random()}"


@click.command("part")
def undocumented() -> None:
    click.echo("here")


class Drawn:
    """A task whose rows depend on nobody's seed."""

    name = "part"

    def __init__(self, task: Any, change: Callable[[Any], Any]) -> None:
        self.spec, self._task, self._change = task.spec, task, change

    def data(self, seed: int) -> Any:
        return self._change(self._task.data(seed))


def task_file(folder: Path, **changes: Any) -> TaskFile:
    document = {
        "occamkit": 1, "name": "part", "data": {"source": "formula", "target": "x*x", "points": 20},
        "inputs": [{"name": "x", "range": [-1, 1]}], "outputs": [{"name": "y"}], **changes,
    }  # fmt: skip
    path = folder / "part.json"
    path.write_text(json.dumps(document))
    return TaskFile("part", path)


def drawn(folder: Path, change: Callable[[Any], Any]) -> Drawn:
    from occamkit import load_task

    return Drawn(load_task(task_file(folder).path), change)


def _tremble(dataset: Any) -> Any:
    from dataclasses import replace

    return replace(dataset, targets=dataset.targets + random.random())


def _undefined(dataset: Any) -> Any:
    from dataclasses import replace

    return replace(dataset, targets=dataset.targets * torch.nan)


@dataclass(frozen=True)
class _Needy(Counts):
    """Needs an option."""

    needed: int = field(kw_only=True)


BROKEN: list[tuple[str, str, Any]] = [
    ("fitnesses", "one score each", like(Closeness, score=_one_sum)),
    ("fitnesses", "one score each", like(Closeness, score=_double)),
    ("fitnesses", "perfect reaches the ceiling", like(Closeness, ceiling=lambda self, points: 2.0 * points)),
    ("fitnesses", "nothing exceeds the ceiling", like(Closeness, ceiling=lambda self, points: 0.5 * points)),
    ("fitnesses", "rows are independent", like(Closeness, score=_ranks)),
    ("fitnesses", "undefined stays undefined", like(Closeness, score=_forgives_nan)),
    ("fitnesses", "ranks by squares if it says so", like(Closeness, squares=True, score=_absolute)),
    ("fitnesses", "leaves arguments alone", like(Closeness, score=_overwrites)),
    ("fitnesses", "deterministic", like(Closeness, score=_noisy_score)),
    ("fitnesses", "keeps device", like(Closeness, score=_on_host)),
    ("fitnesses", "has defaults", _needing(Closeness)),
    ("fitnesses", "says what it is", like(Closeness, doc=None)),
    ("fitnesses", "picklable", _local(Closeness)),
    ("regularizers", "methods of its stage", like(Counts, __annotations__={"weight": float}, weight=-0.5)),
    ("regularizers", "finite and not negative", like(Counts, verdict=_negative)),
    ("regularizers", "deterministic", like(Counts, verdict=_random_verdict)),
    ("regularizers", "zero weight means no effect", like(Counts, verdict=_negative)),
    ("regularizers", "a penalty for each node", like(Sees, score_nodes=_whole_batch)),
    ("regularizers", "a penalty for each node", like(Sees, score_nodes=_column)),
    ("regularizers", "states are hashable", like(Counts, leaf=_list_state)),
    ("regularizers", "has defaults", _Needy),
    ("regularizers", "says what it is", like(Counts, doc="")),
    ("regularizers", "picklable", _local(Counts)),
    ("wrappers", "yields states", like(Twice, unroll=_nothing)),
    ("wrappers", "yields states", like(Twice, unroll=_endless)),
    ("wrappers", "uses the step", like(Twice, unroll=_ignores)),
    ("wrappers", "keeps shape and dtype", like(Twice, unroll=_flattens)),
    ("wrappers", "rows are independent", like(Twice, unroll=_mixes)),
    ("wrappers", "deterministic", like(Twice, unroll=_trembles)),
    ("wrappers", "leaves the start alone", like(Twice, unroll=_writes_start)),
    ("wrappers", "has defaults", _needing(Twice)),
    ("wrappers", "says what it is", like(Twice, doc=None)),
    ("wrappers", "picklable", _local(Twice)),
    ("proposers", "keeps to the budget", like(Columns, propose=_lingers)),
    ("proposers", "yields candidates that validate", like(Columns, propose=_strangers)),
    ("proposers", "yields candidates that validate", like(Columns, propose=_bare)),
    ("proposers", "deterministic", like(Columns, propose=_shuffled)),
    ("proposers", "has defaults", _needing(Columns)),
    ("proposers", "says what it is", like(Columns, doc=None)),
    ("proposers", "picklable", _local(Columns)),
    ("exporters", "writes text", like(Plain, export=_empty)()),
    ("exporters", "names every input", like(Plain, export=_anonymous)()),
    ("exporters", "deterministic", like(Plain, export=_dated)()),
    ("exporters", "says what it is", like(Plain, doc=None)()),
    ("exporters", "picklable", _local(Plain)()),
    ("constants", "unit is understood", Quantity("part", 1.0, "furlings", "x")),
    ("constants", "name is free", Quantity("pi", 3.0, "", "x")),
    ("constants", "says where it is from", Quantity("part", 1.0, "m")),
    ("constants", "picklable", type("Odd", (Quantity,), {"__module__": "nowhere"})("part", 1.0, "m", "x")),
    ("commands", "has help", undocumented),
    ("tasks", "validates", lambda folder: task_file(folder, search={"primitives": ["nonesuch"]})),
    ("tasks", "has rows", lambda folder: drawn(folder, _undefined)),
    ("tasks", "same seed, same data", lambda folder: drawn(folder, _tremble)),
    ("tasks", "can be set up", lambda folder: task_file(folder, search={"depth": 0})),
]
GOOD = [
    ("fitnesses", Closeness), ("regularizers", Counts), ("regularizers", Sees), ("wrappers", Twice),
    ("proposers", Columns), ("exporters", Plain()), ("constants", Quantity("part", 1.0, "m", "x")),
    ("tasks", task_file),
]  # fmt: skip


def pack(kind: str, value: Any, **members: Any) -> types.ModuleType:
    module = types.ModuleType("little")
    hook = f"occamkit_{kind}"
    setattr(module, hook, hookimpl(lambda: [value], specname=hook))
    vars(module).update(members)
    return module


@pytest.mark.parametrize(
    ("kind", "promise", "part"), BROKEN, ids=[f"{kind}-{promise}-{n}" for n, (kind, promise, _) in enumerate(BROKEN)]
)
def test_a_broken_promise_is_found_and_named(kind: str, promise: str, part: Any, tmp_path: Path) -> None:
    value = part(tmp_path) if kind == "tasks" else part
    check = next(one for one in checks(pack(kind, value)) if one.promise == promise)
    with pytest.raises(AssertionError, match=f"^pack 'little': {kind.rstrip('s')[:4]}.*: {promise}: .*"):
        check.run()


def test_every_promise_has_a_part_that_breaks_it() -> None:
    promises = {(kind, promise) for kind in PROMISES for promise in PROMISES[kind] if kind != "primitives"}
    assert {(kind, promise) for kind, promise, _ in BROKEN} == promises


@pytest.mark.parametrize(("kind", "part"), GOOD, ids=[f"{kind}-{n}" for n, (kind, _) in enumerate(GOOD)])
def test_a_good_part_keeps_all(kind: str, part: Any, tmp_path: Path) -> None:
    found = list(checks(pack(kind, part(tmp_path) if kind == "tasks" else part)))
    assert len(found) == len(PROMISES[kind])
    for check in found:
        check.run()


def test_a_pack_may_declare_what_it_breaks_on_purpose() -> None:
    reason = "scores are shares of the best"
    declared = {"part-rows are independent": reason}
    module = pack("fitnesses", like(Closeness, score=_ranks), OCCAMKIT_EXPECTED_FAILURES=declared)
    assert {check.id: check.expected for check in checks(module) if check.expected} == declared
    with pytest.raises(UnknownNameError, match="did you mean"):
        list(checks(pack("fitnesses", Closeness, OCCAMKIT_EXPECTED_FAILURES={"part-rows are independant": "x"})))
