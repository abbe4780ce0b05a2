"""Comparisons and Boolean logic on {0, 1}.

A Boolean primitive is undefined (NaN) for any other argument, so a program that misuses one is never taken
for a right one. A comparison with an undefined number is undefined too. Nothing here leaves the device.
"""

from __future__ import annotations

import functools
from typing import Any

import sympy
import torch
from torch import Tensor

from occamkit import Elementwise, units

_primitive = functools.partial(Elementwise, group="logic")


def _where_defined(value: Tensor, *numbers: Tensor) -> Tensor:
    for number in numbers:
        value = torch.where(torch.isnan(number), number, value)
    return value


def _where_boolean(value: Tensor, *bits: Tensor) -> Tensor:
    for bit in bits:
        value = torch.where((bit == 0) | (bit == 1), value, torch.nan)
    return value


def _leq(left: Tensor, right: Tensor, then: Tensor, otherwise: Tensor) -> Tensor:
    return _where_defined(torch.where(left <= right, then, otherwise), left, right)


def _lt(left: Tensor, right: Tensor, then: Tensor, otherwise: Tensor) -> Tensor:
    return _where_defined(torch.where(left < right, then, otherwise), left, right)


def _step(x: Tensor) -> Tensor:
    return _where_defined((x > 0).to(x.dtype), x)


def _and(a: Tensor, b: Tensor) -> Tensor:
    return _where_boolean(a * b, a, b)


def _or(a: Tensor, b: Tensor) -> Tensor:
    return _where_boolean(a + b - a * b, a, b)


def _not(a: Tensor) -> Tensor:
    return _where_boolean(1 - a, a)


def _nand(a: Tensor, b: Tensor) -> Tensor:
    return _where_boolean(1 - a * b, a, b)


def _xor(a: Tensor, b: Tensor) -> Tensor:
    return _where_boolean((a - b).square(), a, b)


def _leq_sympy(left: Any, right: Any, then: Any, otherwise: Any) -> Any:
    return sympy.Piecewise((then, sympy.Le(left, right)), (otherwise, True))


def _lt_sympy(left: Any, right: Any, then: Any, otherwise: Any) -> Any:
    return sympy.Piecewise((then, sympy.Lt(left, right)), (otherwise, True))


def _step_sympy(x: Any) -> Any:
    return sympy.Heaviside(x, 0)


def _or_sympy(a: Any, b: Any) -> Any:
    return a + b - a * b


def _not_sympy(a: Any) -> Any:
    return 1 - a


def _nand_sympy(a: Any, b: Any) -> Any:
    return 1 - a * b


def _xor_sympy(a: Any, b: Any) -> Any:
    return a + b - 2 * a * b


_bits = functools.partial(_primitive, units=units.dimensionless)

PRIMITIVES = (
    _primitive("leq", 4, _leq, _leq_sympy, units.branch, symbol="≤"),
    _primitive("lt", 4, _lt, _lt_sympy, units.branch, symbol="<"),
    _primitive("step", 1, _step, _step_sympy, units.indicator, symbol="step"),
    _bits("and", arity=2, call=_and, sympy=sympy.Mul, commutative=True, symbol="∧", truth=(0, 0, 0, 1)),
    _bits("or", arity=2, call=_or, sympy=_or_sympy, commutative=True, symbol="∨", truth=(0, 1, 1, 1)),
    _bits("not", arity=1, call=_not, sympy=_not_sympy, symbol="¬", inverse=_not, truth=(1, 0)),
    _bits("nand", arity=2, call=_nand, sympy=_nand_sympy, commutative=True, symbol="⊼", truth=(1, 1, 1, 0)),
    _bits("xor", arity=2, call=_xor, sympy=_xor_sympy, commutative=True, symbol="⊕", inverse=_xor, truth=(0, 1, 1, 0)),
)
