"""Programs from end to end: recurrences with their depth, states of several outputs, growing networks, wrong rows."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

import occamkit
from occamkit import Registry
from occamkit.errors import UserError
from occamkit.result import Result
from occamkit.result.write import make_result
from tests.problems import problem, train

BITS = [{"name": name, "values": [0, 1]} for name in ("a", "b", "c", "d")]


def run(registry: Registry, target: Any, seed: int = 0, **sections: Any) -> Result:
    task = problem(registry, target, seed, **sections)
    return make_result(task, train(task))


def called(text: str | None) -> Callable[..., Any]:
    """Return the function `program` of a program's text."""
    assert text is not None
    namespace: dict[str, Any] = {}
    exec(text, namespace)
    program = namespace["program"]
    assert callable(program)
    return program  # type: ignore[no-any-return]


REPEATED = {
    "data": {"times": 3, "split": {"valid": 0.0, "test": 0.0}},
    "inputs": [{"name": "x", "range": [-8, 8]}],
    "search": {"primitives": ["leq", "mul", "div", "add"], "constants": [1, 2], "depth": 2},
    "wrapper": {"name": "recurrence", "depth": 4},
    "stop": {"max_steps": 300},
}


def test_a_recurrence_is_found_with_its_depth(registry: Registry) -> None:
    result = run(registry, "x/2 if x > 2 else x + 1", **REPEATED)
    best = result.outputs[0].best
    assert best is not None
    assert best.recurrence == 3
    assert best.mse["train"] == pytest.approx(0)
    program = called(result.program)
    for x in (-3.5, 0.25, 1.7, 5.0):
        expected = x
        for _ in range(3):
            expected = expected / 2 if expected > 2 else expected + 1
        assert program(x) == pytest.approx(expected)


def test_the_same_seed_gives_the_same_program(registry: Registry) -> None:
    sections = {**REPEATED, "stop": {"max_steps": 8}}
    one, two = (run(registry, "x/2 if x > 2 else x + 1", **sections).to_dict() for _ in range(2))
    one["seconds"] = two["seconds"] = 0
    assert one == two


def test_outputs_feed_the_inputs_they_are_called_like(registry: Registry) -> None:
    result = run(
        registry,
        {"x": "x + y", "y": "x*k"},
        data={"times": 2, "points": 60},
        inputs=[{"name": name, "range": [-2, 2]} for name in ("x", "y", "k")],
        search={"primitives": ["add", "mul", "sub"], "constants": [], "depth": 2},
        wrapper={"name": "recurrence", "depth": 3},
        stop={"max_steps": 400},
    )
    assert [output.best.recurrence for output in result.outputs if output.best] == [2, 2]
    assert called(result.program)(1.0, 2.0, 3.0) == pytest.approx((3.0 + 3.0, 3.0 * 3.0))


def test_a_wrapper_of_a_pack_may_compute_with_states(
    make_pack: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    make_pack(
        "euler",
        """
        from dataclasses import dataclass
        from typing import ClassVar
        from occamkit import hookimpl

        @dataclass(frozen=True)
        class Euler:
            name: ClassVar[str] = "euler"
            step: float = 0.5

            def unroll(self, step, start):
                state = start
                for _ in range(4):
                    state = state + self.step * step(state)
                    yield state

        @hookimpl
        def occamkit_wrappers():
            return [Euler]
        """,
    )
    registry = Registry.load(only=["euler"])
    # y' = -y², two steps of one half: the right-hand side is to be found.
    once = "(x - x**2/2)"
    result = run(
        registry,
        f"{once} - {once}**2/2",
        data={"split": {"valid": 0.0, "test": 0.0}},
        inputs=[{"name": "x", "range": [0.1, 1.5]}],
        search={"primitives": ["mul", "neg", "add"], "constants": [1], "depth": 2},
        wrapper={"name": "euler"},
        stop={"max_steps": 200},
    )
    best = result.outputs[0].best
    assert best is not None
    assert (best.expression, best.recurrence) == ("-x**2", 2)
    assert "euler" in str(result.program)


@pytest.mark.parametrize(
    ("sections", "reason"),
    [
        ({"trainer": {"batch": 10}}, "batch"),
        ({"inputs": [{"name": "x", "range": [0, 1]}, {"name": "z", "range": [0, 1]}]}, "feeds no input"),
        ({"inputs": [{"name": "x", "range": [0, 1], "unit": "m"}], "regularizers": []}, "units are declared"),
    ],
)
def test_what_cannot_be_repeated_is_refused(registry: Registry, sections: dict[str, Any], reason: str) -> None:
    with pytest.raises(UserError, match=reason):
        problem(registry, "x + 1", wrapper={"name": "recurrence"}, **sections)


def test_a_task_without_depth_grows_it(registry: Registry) -> None:
    search = {"primitives": ["add"], "constants": [1], "depth": None}
    target = "x + x + x + x + x + 5"  # more than two layers of additions
    result = run(registry, target, search=search, stop={"max_steps": 400})
    assert result.outputs[0].best is not None
    assert result.outputs[0].best.expression == "5*x + 5"
    shallow = run(registry, target, search={**search, "depth": 2}, stop={"max_steps": 400})
    assert shallow.outputs[0].best is not None
    assert shallow.outputs[0].best.expression != "5*x + 5"


def test_logic_is_written_as_logic_and_several_outputs_as_one_program(registry: Registry) -> None:
    result = run(
        registry,
        {"total": "xor(a, b)", "carry": "and(a, b)", "neither": "not(or(a, b))"},
        data={"split": None},
        inputs=BITS[:2],
        search={"primitives": ["and", "or", "xor", "not"], "constants": [], "depth": 2},
    )
    assert [output.best.logic for output in result.outputs if output.best] == ["a ^ b", "a and b", "not a and not b"]
    program = called(result.program)
    for a, b in itertools.product((0, 1), repeat=2):
        assert tuple(map(int, program(a, b))) == (a ^ b, a & b, 1 - (a | b))


def test_shared_parts_are_written_once(registry: Registry) -> None:
    result = run(
        registry,
        {"y": "sin(x + 2)*x", "z": "sin(x + 2) + 1"},
        search={"primitives": ["add", "mul", "sin"], "constants": [1, 2], "depth": 3},
        stop={"max_steps": 300},
    )
    assert str(result.program).count("sin(x + 2)") == 1
    y, z = called(result.program)(0.5)
    assert (y, z) == pytest.approx((0.5 * torch.sin(torch.tensor(2.5)).item(), 1 + torch.sin(torch.tensor(2.5)).item()))


@pytest.mark.parametrize("wrong", [0, 6, 15])
def test_a_wrong_row_is_named_and_not_learnt(tmp_path: Path, wrong: int) -> None:
    rows = [[*bits, bits[0] ^ bits[3]] for bits in itertools.product((0, 1), repeat=4)]
    rows[wrong][-1] ^= 1
    table = "".join(",".join(map(str, row)) + "\n" for row in rows)
    (tmp_path / "table.csv").write_text("a,b,c,d,y\n\n" + table)
    (tmp_path / "task.toml").write_text(
        """
        occamkit = 1
        name = "table"
        inputs = [{ name = "a" }, { name = "b" }, { name = "c" }, { name = "d" }]
        outputs = [{ name = "y" }]
        data = { source = "csv", file = "table.csv", split = { valid = 0, test = 0 } }
        search = { primitives = ["and", "or", "xor*2", "not"], constants = [] }
        stop = { max_steps = 200 }
        """
    )
    output = occamkit.run(tmp_path / "task.toml", device="cpu").outputs[0]
    assert output.best is not None
    assert output.best.logic == "a ^ d"
    (row,) = output.disagrees
    assert row.row == wrong + 3  # the header and a blank line come before
    assert (row.expected, row.got) == (rows[wrong][-1], 1 - rows[wrong][-1])
    assert list(row.inputs.values()) == rows[wrong][:-1]


def test_an_exact_program_is_not_given_up_for_a_slightly_shorter_one(registry: Registry) -> None:
    target = "or(and(a, b), and(xor(a, b), and(c, d)))"  # the carry of two-bit numbers
    result = run(
        registry,
        target,
        data={"split": None},
        inputs=BITS,
        search={"primitives": ["and*2", "or", "xor"], "constants": [], "depth": 3},
        trainer={"functions": 2000},
        stop={"max_steps": 300},
    )
    assert result.outputs[0].best is not None
    assert result.outputs[0].best.mse["train"] == 0
    assert result.outputs[0].disagrees == ()
