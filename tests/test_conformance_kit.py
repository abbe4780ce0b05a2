"""The kit finds each broken promise, names it, and knows expected failures."""

from __future__ import annotations

import time
import types
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
import sympy
import torch

from occamkit import Constant, Elementwise, hookimpl, units
from occamkit.errors import PackError, UnknownNameError
from occamkit.testing import checks, conformance
from occamkit.testing.primitives import CHECKS

SIN = Elementwise("f", 1, torch.sin, sympy.sin, units.dimensionless)
SUB = Elementwise("f", 2, torch.sub, lambda a, b: a - b, units.same)


def _writes(x: torch.Tensor) -> torch.Tensor:
    return x.mul_(2).sin()


def _noisy(x: torch.Tensor) -> torch.Tensor:
    return x + torch.rand_like(x)


def _through_numpy(x: torch.Tensor) -> torch.Tensor:
    return torch.from_numpy(x.numpy().copy())


def _asks_the_host(x: torch.Tensor) -> torch.Tensor:
    return torch.sin(x) if bool((x > 0).any()) else x


def _raises(x: torch.Tensor) -> torch.Tensor:
    if torch.isnan(x).any():
        raise ValueError("undefined")
    return x


def _dawdles(x: torch.Tensor) -> torch.Tensor:
    time.sleep(0.5)
    return torch.sin(x)


def _never_defined(x: torch.Tensor, c: torch.Tensor) -> torch.Tensor:
    return torch.sqrt(-1 - x.square()) * c


def _needs_equal_shapes(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    return torch.stack([a, b]).sum(0)


BROKEN = [
    ("arity", replace(SIN, arity=2)),
    ("arity", replace(SIN, call=torch.mean)),
    ("elementwise", replace(SIN, call=lambda x: x - x.nanmean() + torch.arange(len(x)))),
    ("broadcasting", replace(SUB, call=_needs_equal_shapes)),
    ("keeps dtype", replace(SIN, call=lambda x: torch.sin(x.double()))),
    ("keeps device", replace(SIN, call=_through_numpy)),
    ("keeps device", replace(SIN, call=_asks_the_host)),
    ("keeps device", replace(SIN, call=lambda x: torch.zeros(x.shape, dtype=x.dtype))),
    ("leaves arguments alone", replace(SIN, call=_writes)),
    ("deterministic", replace(SIN, call=_noisy)),
    ("never raises", replace(SIN, call=_raises)),
    ("never raises", replace(SIN, call=torch.nan_to_num)),
    ("commutes as claimed", replace(SUB, commutative=True)),
    ("sympy agrees", replace(SIN, sympy=sympy.cos)),
    ("units agree with numbers", replace(SIN, units=units.same)),
    ("units agree with numbers", replace(SIN, call=torch.square, units=units.power(3))),
    ("units agree with numbers", replace(SIN, units=lambda *given: units.CLASH)),
    ("units absorb and yield", replace(SIN, units=lambda *given: units.DIMENSIONLESS)),
    ("constants defined", replace(SIN, call=_never_defined, constants=(Constant("c"),))),
    ("constants defined", replace(SIN, call=torch.addcmul, constants=(Constant("c"), Constant("c")))),
    ("constants matter", replace(SIN, call=lambda x, c: torch.sin(x), constants=(Constant("c"),))),
    ("constants matter", replace(SIN, call=torch.mul, constants=(Constant("c", init=(2.0, 2.0)),))),
    ("quick", replace(SIN, call=_dawdles)),
    ("inverse", replace(SIN, inverse=torch.cos)),
    ("exponential as declared", replace(SIN, exponential=1.0)),
    ("truth as declared", replace(SIN, truth=(0, 1))),
    ("picklable", replace(SIN, call=lambda x: torch.sin(x) + 0)),
]


@pytest.mark.parametrize(("promise", "primitive"), BROKEN, ids=[promise for promise, _ in BROKEN])
def test_a_broken_promise_is_found(promise: str, primitive: Elementwise) -> None:
    with pytest.raises((AssertionError, TypeError, RuntimeError)):
        CHECKS[promise](primitive)


def test_every_promise_has_a_primitive_that_breaks_it() -> None:
    assert {promise for promise, _ in BROKEN} == set(CHECKS)


def pack(*primitives: Elementwise) -> types.ModuleType:
    module = types.ModuleType("little_pack")
    module.occamkit_primitives = hookimpl(lambda: primitives, specname="occamkit_primitives")  # type: ignore[attr-defined]
    return module


def test_ids_are_readable() -> None:
    ids = [check.id for check in checks(pack(SIN))]
    assert "f-units agree with numbers" in ids
    assert len(ids) == len(CHECKS)


def cases(test: Callable[..., Any]) -> list[Any]:
    return list(test.pytestmark[0].args[1])  # type: ignore[attr-defined]


def test_expected_failures_carry_their_reason() -> None:
    test = conformance(pack(SIN), expected_failures={"f-inverse": "only one branch"})
    marked = [case for case in cases(test) if case.marks]
    assert [case.id for case in marked] == ["f-inverse"]
    assert marked[0].marks[0].kwargs == {"reason": "only one branch", "strict": True}
    with pytest.raises(UnknownNameError, match="did you mean 'f-inverse'"):
        conformance(pack(SIN), expected_failures={"f-invrse": ""})


def test_a_pack_that_does_not_load_is_no_pack() -> None:
    with pytest.raises(PackError, match="broken"):
        conformance(pack(SIN, SIN))
    with pytest.raises(UnknownNameError, match="did you mean 'occamkit'"):
        conformance("ocamkit")
