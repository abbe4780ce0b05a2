"""What torch computes, what sympy writes, and what both say of units: plain numbers in, a plain number out."""

import functools
from typing import Any

import sympy
import torch
from torch import Tensor

from occamkit import Elementwise, units

_special = functools.partial(Elementwise, arity=1, units=units.dimensionless, group="special")


def _gamma(x: Tensor) -> Tensor:
    # lgamma is the logarithm of |gamma|; left of zero the sign changes with every whole number.
    negative = (x < 0) & (torch.remainder(torch.floor(x), 2) == 1)
    size = torch.exp(torch.lgamma(x))
    return torch.where(negative, -size, size)


def _log_gamma_sympy(x: Any) -> Any:
    return sympy.log(sympy.Abs(sympy.gamma(x)))


def _bessel_sympy(x: Any, kind: Any, order: int) -> Any:
    return kind(order, x)


def _inverse_erfc(y: Tensor) -> Tensor:
    return torch.erfinv(1 - y)


def _bessel(name: str, kind: str, order: int) -> Elementwise:
    call = getattr(torch.special, f"{'' if kind in 'jy' else 'modified_'}bessel_{kind}{order}")
    form = functools.partial(_bessel_sympy, kind=getattr(sympy, f"bessel{kind}"), order=order)
    return _special(name, call=call, sympy=form, complexity=2.0)


PRIMITIVES = (
    _special("erf", call=torch.erf, sympy=sympy.erf, inverse=torch.erfinv),
    _special("erfc", call=torch.erfc, sympy=sympy.erfc, inverse=_inverse_erfc),
    _special("gamma", call=_gamma, sympy=sympy.gamma, complexity=2.0),
    _special("log_gamma", call=torch.lgamma, sympy=_log_gamma_sympy, complexity=2.0),
    _special("digamma", call=torch.digamma, sympy=sympy.digamma, complexity=2.0),
    _bessel("bessel_j0", "j", 0),
    _bessel("bessel_j1", "j", 1),
    _bessel("bessel_y0", "y", 0),
    _bessel("bessel_i0", "i", 0),
    _bessel("bessel_i1", "i", 1),
    _bessel("bessel_k0", "k", 0),
)
