"""Trigonometry: sines, their inverses and the hyperbolic tangent.

Sine and cosine cluster at their extremes, and sine also where it is next to its own argument (the paper's
table of trivial approximations and its test of sin(x) ≈ x).
"""

from __future__ import annotations

import functools

import sympy
import torch

from occamkit import Cluster, Elementwise, units

_primitive = functools.partial(Elementwise, arity=1, units=units.dimensionless, group="trig")

_EXTREMES = (Cluster(1.0, 0.25), Cluster(-1.0, 0.25))
_SMALL_ANGLE = Cluster(0.0, 0.1, scale=0.05, of="residual")

PRIMITIVES = (
    _primitive(
        "sin",
        call=torch.sin,
        sympy=sympy.sin,
        clusters=(*_EXTREMES, _SMALL_ANGLE),
        symbol="sin",
        inverse=torch.asin,
    ),
    _primitive("cos", call=torch.cos, sympy=sympy.cos, clusters=_EXTREMES, symbol="cos", inverse=torch.acos),
    _primitive("tan", call=torch.tan, sympy=sympy.tan, symbol="tan", inverse=torch.atan),
    _primitive("tanh", call=torch.tanh, sympy=sympy.tanh, symbol="tanh", inverse=torch.atanh),
    _primitive("asin", call=torch.asin, sympy=sympy.asin, symbol="asin", inverse=torch.sin),
    _primitive("acos", call=torch.acos, sympy=sympy.acos, symbol="acos", inverse=torch.cos),
    _primitive("atan", call=torch.atan, sympy=sympy.atan, symbol="atan", inverse=torch.tan),
)
