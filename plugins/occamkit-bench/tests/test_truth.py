"""What counts as the truth of a program: all of a finite domain, and the right number of repetitions."""

from __future__ import annotations

from dataclasses import replace

from occamkit_bench.programs import lfsr8, sort4
from occamkit_bench.truth import is_truth, points

import occamkit
from occamkit.packs.registry import Registry
from occamkit.task.file.checks import callable_primitives
from occamkit.task.file.load import load_task

REGISTRY = Registry.load(only=[])
PRIMITIVES = callable_primitives(REGISTRY)


def changed(result, place=0, **fields):
    """The result with another best formula for one output."""
    outputs = list(result.outputs)
    outputs[place] = replace(outputs[place], best=replace(outputs[place].best, **fields))
    return replace(result, outputs=tuple(outputs))


def test_a_finite_domain_is_gone_through_whole():
    spec = load_task("paper/lfsr4", REGISTRY).spec
    (columns,) = points(spec, seed=0)
    assert {tuple(row) for row in zip(*(column.tolist() for column in columns.values()), strict=True)} == {
        (a, b, c, d) for a in (0, 1) for b in (0, 1) for c in (0, 1) for d in (0, 1)
    }
    result = occamkit.run("paper/lfsr4", device="cpu", registry=REGISTRY)
    assert is_truth(result, spec, PRIMITIVES)
    assert not is_truth(changed(result, expression="x0 + x3"), spec, PRIMITIVES)  # wrong in one quarter


def test_the_number_of_repetitions_must_be_right():
    spec = load_task("paper/recursion-2", REGISTRY).spec
    result = occamkit.run("paper/recursion-2", device="cpu", registry=REGISTRY, stop__max_steps=1)
    truth = {"expression": "x + 2 if x < 2 else x - 1"}
    assert is_truth(changed(result, **truth, recurrence=2), spec, PRIMITIVES)
    assert not is_truth(changed(result, **truth, recurrence=3), spec, PRIMITIVES)


def test_our_own_tasks_can_be_read():
    assert len(sort4()["outputs"]) == 4
    assert lfsr8(0)["data"]["target"] != lfsr8(1)["data"]["target"]
