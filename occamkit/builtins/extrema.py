"""The larger and the smaller of two numbers."""

from __future__ import annotations

import functools

import sympy
import torch

from occamkit import Elementwise, units

_primitive = functools.partial(Elementwise, arity=2, units=units.same, commutative=True, group="extrema")

PRIMITIVES = (
    _primitive("max", call=torch.maximum, sympy=sympy.Max, symbol="max"),
    _primitive("min", call=torch.minimum, sympy=sympy.Min, symbol="min"),
)
