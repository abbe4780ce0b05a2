"""Arithmetic: sums, products, powers and roots.

The square and the cube cluster at zero, as in the paper's table of trivial approximations.
"""

from __future__ import annotations

import functools
from fractions import Fraction
from typing import Any

import sympy
import torch
from torch import Tensor

from occamkit import Cluster, Elementwise, units

_primitive = functools.partial(Elementwise, group="arithmetic")


def _cube(x: Tensor) -> Tensor:
    return x * x * x


def _signed_cube_root(y: Tensor) -> Tensor:
    return torch.sign(y) * torch.abs(y) ** (1 / 3)


def _sub_sympy(a: Any, b: Any) -> Any:
    return a - b


def _div_sympy(a: Any, b: Any) -> Any:
    return a / b


def _neg_sympy(x: Any) -> Any:
    return -x


def _inv_sympy(x: Any) -> Any:
    return 1 / x


def _square_sympy(x: Any) -> Any:
    return x**2


def _cube_sympy(x: Any) -> Any:
    return x**3


PRIMITIVES = (
    _primitive("add", 2, torch.add, sympy.Add, units.same, commutative=True, symbol="+", inverse=torch.sub),
    _primitive("sub", 2, torch.sub, _sub_sympy, units.same, symbol="−", inverse=torch.add),
    _primitive("mul", 2, torch.mul, sympy.Mul, units.product, commutative=True, symbol="×", inverse=torch.div),
    _primitive("div", 2, torch.div, _div_sympy, units.quotient, symbol="÷", inverse=torch.mul),
    _primitive("neg", 1, torch.neg, _neg_sympy, units.same, symbol="−x", inverse=torch.neg),
    _primitive("inv", 1, torch.reciprocal, _inv_sympy, units.power(-1), symbol="1/x", inverse=torch.reciprocal),
    _primitive(
        "square",
        1,
        torch.square,
        _square_sympy,
        units.power(2),
        clusters=(Cluster(0.0, 0.25),),
        symbol="x²",
        inverse=torch.sqrt,
    ),
    _primitive(
        "cube",
        1,
        _cube,
        _cube_sympy,
        units.power(3),
        clusters=(Cluster(0.0, 0.25),),
        symbol="x³",
        inverse=_signed_cube_root,
    ),
    _primitive("sqrt", 1, torch.sqrt, sympy.sqrt, units.power(Fraction(1, 2)), symbol="√", inverse=torch.square),
    _primitive("abs", 1, torch.abs, sympy.Abs, units.same, symbol="|x|"),
)
