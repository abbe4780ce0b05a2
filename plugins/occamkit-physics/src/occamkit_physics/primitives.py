"""Ratios that laws of nature are made of. Each takes its scale as an argument, so that it works in any unit."""

from __future__ import annotations

import functools
from typing import Any

import sympy
import torch
from torch import Tensor

from occamkit import Elementwise, units


def _ratio_rule(one: units.Unit, other: units.Unit) -> units.Unit:
    return units.CLASH if units.agree(one, other) is units.CLASH else units.DIMENSIONLESS


RATIO = units.Rule("ratio", _ratio_rule)
"""Two arguments of one unit in, a plain number out."""

_ratio = functools.partial(Elementwise, arity=2, units=RATIO, complexity=2.0, group="physics")


def _lorentz(speed: Tensor, light: Tensor) -> Tensor:
    return torch.rsqrt(1 - (speed / light).square())


def _lorentz_sympy(speed: Any, light: Any) -> Any:
    return 1 / sympy.sqrt(1 - (speed / light) ** 2)


def _lorentz_inverse(factor: Tensor, light: Tensor) -> Tensor:
    return light * torch.sqrt(1 - 1 / factor.square())


def _boltzmann(energy: Tensor, thermal: Tensor) -> Tensor:
    return torch.exp(-energy / thermal)


def _boltzmann_sympy(energy: Any, thermal: Any) -> Any:
    return sympy.exp(-energy / thermal)


def _boltzmann_inverse(factor: Tensor, thermal: Tensor) -> Tensor:
    return -thermal * torch.log(factor)


def _bose(energy: Tensor, thermal: Tensor) -> Tensor:
    return 1 / torch.expm1(energy / thermal)


def _bose_sympy(energy: Any, thermal: Any) -> Any:
    return 1 / (sympy.exp(energy / thermal) - 1)


def _bose_inverse(number: Tensor, thermal: Tensor) -> Tensor:
    return thermal * torch.log1p(1 / number)


def _fermi(energy: Tensor, thermal: Tensor) -> Tensor:
    return 1 / (torch.exp(energy / thermal) + 1)


def _fermi_sympy(energy: Any, thermal: Any) -> Any:
    return 1 / (sympy.exp(energy / thermal) + 1)


def _fermi_inverse(share: Tensor, thermal: Tensor) -> Tensor:
    return thermal * torch.log(1 / share - 1)


def _planck(energy: Tensor, thermal: Tensor) -> Tensor:
    share = energy / thermal
    return share**3 / torch.expm1(share)


def _planck_sympy(energy: Any, thermal: Any) -> Any:
    return (energy / thermal) ** 3 / (sympy.exp(energy / thermal) - 1)


PRIMITIVES = (
    _ratio("lorentz", call=_lorentz, sympy=_lorentz_sympy, inverse=_lorentz_inverse, symbol="γ"),
    _ratio("boltzmann_factor", call=_boltzmann, sympy=_boltzmann_sympy, inverse=_boltzmann_inverse),
    _ratio("bose", call=_bose, sympy=_bose_sympy, inverse=_bose_inverse),
    _ratio("fermi", call=_fermi, sympy=_fermi_sympy, inverse=_fermi_inverse),
    _ratio("planck_shape", call=_planck, sympy=_planck_sympy),
)
