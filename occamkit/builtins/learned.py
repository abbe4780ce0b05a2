"""Primitives that carry a constant to be fitted: x + c, c·x and x^c.

Trivial ranges and the cluster of x^c at 1 are the paper's (Methods, "Regularization").
"""

from __future__ import annotations

import functools

import sympy
import torch
from torch import Tensor

from occamkit import Cluster, Constant, Elementwise, units

_primitive = functools.partial(Elementwise, arity=1, group="learned")

_NEAR_ZERO = (-0.1, 0.1)
_NEAR_ONE = (0.9, 1.1)


def _root(power: Tensor, exponent: Tensor) -> Tensor:
    return torch.pow(power, 1 / exponent)


PRIMITIVES = (
    _primitive(
        "add_c",
        call=torch.add,
        sympy=sympy.Add,
        units=units.same,
        constants=(Constant("c", init=(-1.0, 1.0), trivial=(_NEAR_ZERO,)),),
        symbol="x+c",
        inverse=torch.sub,
    ),
    _primitive(
        "mul_c",
        call=torch.mul,
        sympy=sympy.Mul,
        units=units.product,
        constants=(Constant("c", init=(-2.0, 2.0), trivial=(_NEAR_ZERO, _NEAR_ONE)),),
        symbol="c·x",
        inverse=torch.div,
    ),
    _primitive(
        "pow_c",
        call=torch.pow,
        sympy=sympy.Pow,
        units=units.fitted_power,
        constants=(Constant("c", init=(-3.0, 3.0), trivial=(_NEAR_ZERO, _NEAR_ONE), unit=units.DIMENSIONLESS),),
        clusters=(Cluster(1.0, 0.5),),
        symbol="x^c",
        inverse=_root,
    ),
)
