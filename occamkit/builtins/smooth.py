"""The layers of the paper's pattern-recognition set: steep sigmoids, and the identity that passes a value on."""

from __future__ import annotations

import functools
from typing import Any

import sympy
import torch
from torch import Tensor

from occamkit import Elementwise, units

_primitive = functools.partial(Elementwise, arity=1, group="smooth")


def _sigmoid10(x: Tensor) -> Tensor:
    return torch.sigmoid(10 * x)


def _tanh10(x: Tensor) -> Tensor:
    return torch.tanh(10 * x)


def _sigmoid10_sympy(x: Any) -> Any:
    return 1 / (1 + sympy.exp(-10 * x))


def _tanh10_sympy(x: Any) -> Any:
    return sympy.tanh(10 * x)


def _same(x: Any) -> Any:
    return x


PRIMITIVES = (
    _primitive("sigmoid10", call=_sigmoid10, sympy=_sigmoid10_sympy, units=units.dimensionless, symbol="σ₁₀"),
    _primitive("tanh10", call=_tanh10, sympy=_tanh10_sympy, units=units.dimensionless, symbol="tanh₁₀"),
    _primitive("identity", call=torch.clone, sympy=_same, units=units.same, symbol="x", inverse=torch.clone),
)
