"""What every wrapper promises."""

from __future__ import annotations

import torch
from torch import Tensor

from occamkit.testing.promises import Promises, Subject, first

promise = Promises()
promise.add_common()

_MOST = 1000
"""No wrapper yields more states than this."""


def _start(dtype: torch.dtype = torch.float64) -> Tensor:
    """Return states of two values, three functions and five rows: [s, F, n]."""
    return torch.linspace(0.1, 2.0, 30, dtype=dtype).reshape(2, 3, 5)


def _step(state: Tensor) -> Tensor:
    return 0.5 * state + 0.1


def _states(subject: Subject, start: Tensor) -> list[Tensor]:
    states = first(iter(subject.prepared().unroll(_step, start)), _MOST + 1)
    assert len(states) <= _MOST, f"yields more than {_MOST} states; end by itself"
    return states


@promise("yields states")
def yields_states(subject: Subject) -> None:
    """It yields at least one state and comes to an end."""
    assert _states(subject, _start()), "yields nothing; every yielded state is a candidate"


@promise("uses the step")
def uses_the_step(subject: Subject) -> None:
    """It calls the function that it wraps."""
    calls = []

    def step(state: Tensor) -> Tensor:
        calls.append(state)
        return _step(state)

    first(iter(subject.prepared().unroll(step, _start())), _MOST)
    assert calls, "never calls step; a wrapper applies the function it is given"


@promise("keeps shape and dtype")
def keeps_shape(subject: Subject) -> None:
    """Every state has the shape and dtype of the start."""
    for dtype in (torch.float32, torch.float64):
        start = _start(dtype)
        for state in _states(subject, start):
            same = state.shape == start.shape and state.dtype == dtype
            assert same, f"{tuple(start.shape)} {dtype} in, {tuple(state.shape)} {state.dtype} out"


@promise("rows are independent")
def rows_independent(subject: Subject) -> None:
    """Each function and each row is carried on alone: shuffling them shuffles the states."""
    start = _start()
    order = torch.tensor([2, 0, 1])
    for whole, shuffled in zip(_states(subject, start), _states(subject, start[:, order]), strict=True):
        assert torch.allclose(whole[:, order], shuffled, equal_nan=True), "a state depends on other functions or rows"


@promise("deterministic")
def deterministic(subject: Subject) -> None:
    """The same start gives the same states."""
    for one, two in zip(_states(subject, _start()), _states(subject, _start()), strict=True):
        assert torch.equal(one, two), "two equal calls differ; draw nothing at random"


@promise("leaves the start alone")
def leaves_the_start_alone(subject: Subject) -> None:
    """It does not write to what it is given."""
    start = _start()
    _states(subject, start)
    assert torch.equal(start, _start()), "the start was overwritten; use the form without a trailing underscore"
