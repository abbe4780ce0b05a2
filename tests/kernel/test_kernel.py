"""The two kernels: each fits what it should, and both come to the same numbers."""

from __future__ import annotations

import math
import shutil
from itertools import islice

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from occamkit import Registry, SearchProblem
from occamkit.builtins.fitness import RSquared
from occamkit.builtins.proposers.free_constants.functions import Called, functions_of
from occamkit.builtins.proposers.free_constants.plan import FormulaPlan
from occamkit.builtins.proposers.free_constants.rows import Rows, views
from occamkit.builtins.proposers.free_constants.skeleton import Grammar
from occamkit.errors import UserError
from occamkit.kernel import Effort, Job, Kernel, Offset, Op, Program, RowTable, sum_of
from occamkit.kernel import kernel as made
from occamkit.kernel.native import Native, load
from occamkit.kernel.plain import Plain

LIBRARY = load()
KERNELS: list[Kernel] = [Plain(), *([Native(LIBRARY)] if LIBRARY is not None else [])]
both = pytest.mark.skipif(LIBRARY is None, reason="the compiled kernel was not built here")
each = pytest.mark.parametrize("kernel", KERNELS, ids=[one.name for one in KERNELS])

EXP = (Op.LOAD, 0, *sum_of(1, Offset.NONE, False), Op.EXP, 0)
WAVE = (Op.LOAD, 0, *sum_of(1, Offset.FREE, False), Op.SIN, 0)
DECAY = Program((*EXP, Op.TERM, 0), 1, 1)
DAMPED = Program((*EXP, *WAVE, Op.MULTIPLY, 0, Op.TERM, 0), 3, 1)


def nothing(which: int, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    raise AssertionError(which)


def table(rows: int = 100, noise: float = 0.0) -> tuple[RowTable, np.ndarray]:
    draw = np.random.default_rng(3)
    x = draw.uniform(-1.7, 1.7, rows)
    y = 1.2 + 3.1 * np.exp(-0.5 * x) * np.sin(3.3 * x + 1.1) + noise * draw.standard_normal(rows)
    return RowTable.of(x[None], y), x


@pytest.mark.skipif(shutil.which("cc") is None, reason="without a C compiler there is no library")
def test_the_library_is_built_where_there_is_a_compiler() -> None:
    assert LIBRARY is not None


@pytest.mark.parametrize(("wanted", "said"), [("native", "native"), ("plain", "plain"), ("", "native")])
def test_a_kernel_is_asked_for_by_name(wanted: str, said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OCCAMKIT_KERNEL", wanted)
    assert made.__wrapped__().name == (said if LIBRARY is not None or wanted == "plain" else "plain")


def test_an_unknown_kernel_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OCCAMKIT_KERNEL", "plian")
    with pytest.raises(UserError, match="OCCAMKIT_KERNEL=plian: no such kernel; did you mean 'plain'"):
        made.__wrapped__()


@each
def test_constants_and_weights_are_found(kernel: Kernel) -> None:
    here, _ = table()
    (fit,), work = kernel.fit(here, [Job(DAMPED, [-0.4, 3.0, 1.0])], Effort(starts=0, steps=30, least=0), nothing)
    assert fit.left < 1e-28
    assert work > 0
    np.testing.assert_allclose(fit.constants, [-0.5, 3.3, 1.1], rtol=1e-10)
    np.testing.assert_allclose(fit.weights, [1.2, 3.1], rtol=1e-10)


@each
def test_starts_that_are_drawn_lead_there_too(kernel: Kernel) -> None:
    here, _ = table()
    fits, _ = kernel.fit(here, [Job(DAMPED, None, seed) for seed in range(1, 9)], Effort(), nothing)
    assert sum(fit.left < 1e-10 for fit in fits) >= 4


@each
def test_only_unknown_constants_are_drawn(kernel: Kernel) -> None:
    here, _ = table()
    known = [math.nan, 3.3, 1.1]
    (fit,), _ = kernel.fit(here, [Job(DAMPED, known, 5)], Effort(starts=8, steps=0), nothing)
    np.testing.assert_array_equal(fit.constants[1:], known[1:])
    assert math.isfinite(fit.constants[0])


@each
def test_weights_of_rows_count(kernel: Kernel) -> None:
    here, x = table()
    spoilt = here.target[: here.rows].copy()
    spoilt[:10] += 100.0
    weights = np.ones(here.rows)
    weights[:10] = 0.0
    (fit,), _ = kernel.fit(
        RowTable.of(x[None], spoilt, weights), [Job(DAMPED, [-0.4, 3.0, 1.0])], Effort(steps=30, least=0), nothing
    )
    np.testing.assert_allclose(fit.constants, [-0.5, 3.3, 1.1], rtol=1e-8)


@each
def test_what_is_undefined_is_told_as_such(kernel: Kernel) -> None:
    here, _ = table()
    log = Program((Op.LOAD, 0, *sum_of(1, Offset.ONE, False), Op.LOG, 0, Op.TERM, 0), 1, 1)
    (fit,), _ = kernel.fit(here, [Job(log, [2.0])], Effort(starts=0, steps=5), nothing)
    assert fit.left == math.inf


@each
def test_functions_from_outside_take_part(kernel: Kernel) -> None:
    _, x = table()
    target = 2.0 + 0.7 * np.arctan(1.9 * x - 0.4)
    program = Program((Op.LOAD, 0, *sum_of(1, Offset.FREE, False), Op.OUTSIDE, 7, Op.TERM, 0), 2, 1)

    def arctan(which: int, at: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        assert which == 7
        return np.arctan(at), 1 / (1 + at * at)

    (fit,), _ = kernel.fit(RowTable.of(x[None], target), [Job(program, [1.0, 0.0])], Effort(steps=40, least=0), arctan)
    np.testing.assert_allclose(fit.constants, [1.9, -0.4], rtol=1e-8)


@each
def test_equal_jobs_give_equal_bits(kernel: Kernel) -> None:
    here, _ = table(noise=0.1)
    jobs = [Job(DAMPED, None, seed) for seed in range(1, 5)]
    first, second = (kernel.fit(here, jobs, Effort(), nothing) for _ in range(2))
    assert first[1] == second[1]
    for one, other in zip(first[0], second[0], strict=True):
        np.testing.assert_array_equal(one.constants, other.constants)


@both
@given(st.floats(-1e5, 1e5) | st.floats(-1e-6, 1e-6), st.sampled_from([Op.EXP, Op.SIN, Op.COS, Op.TANH, Op.LOG]))
@settings(max_examples=300, deadline=None)
def test_functions_of_the_kernel_are_those_of_numpy(value: float, op: Op) -> None:
    known = {Op.EXP: np.exp, Op.SIN: np.sin, Op.COS: np.cos, Op.TANH: np.tanh, Op.LOG: lambda x: np.log(np.abs(x))}
    if (op is Op.EXP and abs(value) > 500) or (op is Op.LOG and abs(value) < 1e-290):
        return
    wanted = known[op](value)
    assert LIBRARY is not None
    # One row beside it whose target is 1, so that the weight of the term is the function's value.
    program = Program((Op.LOAD, 0, Op.SUM, 1 | 1 << 8, op, 0, Op.TERM, 0), 0, 1, offset=False)
    here = RowTable.of(np.full((1, 2), value), np.array([1.0, 1.0 + 1e-9]))
    (fit,), _ = Native(LIBRARY).fit(here, [Job(program)], Effort(starts=0), nothing)
    if abs(wanted) > 1e-8:
        assert fit.weights[1] * wanted == pytest.approx(1.0, abs=1e-8)


@both
@pytest.mark.parametrize("steps", [0, 6])
def test_both_kernels_come_to_the_same(steps: int) -> None:
    """All kinds of formulas, as they come in a search; few steps, for what does not converge drifts apart."""
    draw = np.random.default_rng(0)
    x = torch.from_numpy(draw.uniform(0.3, 4, (2, 90)))
    y = 1.4 * x[0] ** 1.3 * torch.exp(-0.4 * x[1]) + 0.7
    registry = Registry.load()
    primitives = [registry.primitives(name)[0].value for name in ("exp", "log", "sin", "cos", "tanh")]
    problem = SearchProblem.of({"a": x[0], "b": x[1]}, {"y": y}, primitives, RSquared())
    rows = Rows.of(problem, 0, next(views(problem, 0)))
    assert rows is not None
    grammar = Grammar(functions_of(problem), [True, True], [True, True])
    programs = [grammar.program(one) for one in islice(FormulaPlan(grammar, 0), 0, 6_000, 37)]
    jobs = [Job(one[0], None, place + 1) for place, one in enumerate(programs) if one is not None]
    effort = Effort(starts=8, steps=steps)
    assert LIBRARY is not None
    called = Called(grammar.functions)
    native, plain = (one.fit(rows.tables[0], jobs, effort, called)[0] for one in (Native(LIBRARY), Plain()))
    apart = [
        abs(one.left - other.left) > 1e-8 * max(1.0, one.left)
        for one, other in zip(native, plain, strict=True)
        if one.left != other.left
    ]
    assert sum(apart) <= (0 if steps == 0 else 0.05 * len(jobs))
