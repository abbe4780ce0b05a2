"""Exponentials, logarithms and the sigmoid made of them."""

from __future__ import annotations

import functools
from typing import Any

import sympy
import torch
from torch import Tensor

from occamkit import Elementwise, units

_primitive = functools.partial(Elementwise, arity=1, units=units.dimensionless, group="exponential")


def _log_abs(x: Tensor) -> Tensor:
    return torch.log(torch.abs(x))


def _log_abs_sympy(x: Any) -> Any:
    return sympy.log(sympy.Abs(x))


def _sigmoid_sympy(x: Any) -> Any:
    return 1 / (1 + sympy.exp(-x))


PRIMITIVES = (
    _primitive("exp", call=torch.exp, sympy=sympy.exp, symbol="exp", inverse=torch.log, exponential=1.0),
    _primitive("log", call=torch.log, sympy=sympy.log, symbol="log", inverse=torch.exp),
    _primitive("log_abs", call=_log_abs, sympy=_log_abs_sympy, symbol="log|x|", inverse=torch.exp),
    _primitive("sigmoid", call=torch.sigmoid, sympy=_sigmoid_sympy, symbol="σ", inverse=torch.logit),
)
