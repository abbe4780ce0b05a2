"""Saturation and growth laws.

Those with a capital constant in their table fit it: K the half-saturation or capacity, n Hill's exponent, r a rate.
`saturation`, `logistic_rate` and `gompertz_rate` take everything as arguments and fit nothing.
"""

from __future__ import annotations

import functools
from typing import Any

import sympy
import torch
from torch import Tensor

from occamkit import Constant, Elementwise, units

_enzyme = functools.partial(Elementwise, complexity=2.0, group="enzymes")
_growth = functools.partial(Elementwise, complexity=2.0, group="growth")


def _ratio(one: units.Unit, other: units.Unit, *plain: units.Unit) -> units.Unit:
    fits = units.agree(one, other) is not units.CLASH and units.agree(units.DIMENSIONLESS, *plain) is not units.CLASH
    return units.DIMENSIONLESS if fits else units.CLASH


def _scaled_ratio(one: units.Unit, size: units.Unit, other: units.Unit) -> units.Unit:
    return units.CLASH if units.agree(one, other) is units.CLASH else size


def _clock(time: units.Unit, rate: units.Unit, start: units.Unit) -> units.Unit:
    return units.CLASH if units.agree(time, start) is units.CLASH else _plain_product(time, rate)


def _plain_product(time: units.Unit, rate: units.Unit, *plain: units.Unit) -> units.Unit:
    if isinstance(time, units.Dim) and isinstance(rate, units.Dim) and time * rate != units.DIMENSIONLESS:
        return units.CLASH
    return units.CLASH if units.agree(units.DIMENSIONLESS, *plain) is units.CLASH else units.DIMENSIONLESS


RATIO = units.Rule("ratio", _ratio)
SCALED = units.Rule("scaled ratio", _scaled_ratio)
CLOCK = units.Rule("clock", _clock)
RATE = units.Rule("rate", _plain_product)

_HALF = Constant("K", init=(0.1, 10.0))
_EXPONENT = Constant("n", init=(0.5, 4.0), trivial=((-0.1, 0.1),), unit=units.DIMENSIONLESS)


def _hill(x: Tensor, half: Tensor, exponent: Tensor) -> Tensor:
    return 1 / (1 + torch.pow(half / x, exponent))


def _hill_sympy(x: Any, half: Any, exponent: Any) -> Any:
    return 1 / (1 + (half / x) ** exponent)


def _hill_inverse(share: Tensor, half: Tensor, exponent: Tensor) -> Tensor:
    return half * torch.pow(share / (1 - share), 1 / exponent)


def _share(x: Tensor, half: Tensor) -> Tensor:
    return x / (half + x)


def _share_sympy(x: Any, half: Any) -> Any:
    return x / (half + x)


def _share_inverse(share: Tensor, half: Tensor) -> Tensor:
    return half * share / (1 - share)


def _michaelis(x: Tensor, fastest: Tensor, half: Tensor) -> Tensor:
    return fastest * x / (half + x)


def _michaelis_sympy(x: Any, fastest: Any, half: Any) -> Any:
    return fastest * x / (half + x)


def _logistic(time: Tensor, rate: Tensor, middle: Tensor) -> Tensor:
    return torch.sigmoid(rate * (time - middle))


def _logistic_sympy(time: Any, rate: Any, middle: Any) -> Any:
    return 1 / (1 + sympy.exp(-rate * (time - middle)))


def _logistic_inverse(share: Tensor, rate: Tensor, middle: Tensor) -> Tensor:
    return middle + torch.logit(share) / rate


def _gompertz(time: Tensor, rate: Tensor, delay: Tensor) -> Tensor:
    return torch.exp(-delay * torch.exp(-rate * time))


def _gompertz_sympy(time: Any, rate: Any, delay: Any) -> Any:
    return sympy.exp(-delay * sympy.exp(-rate * time))


def _logistic_rate(size: Tensor, capacity: Tensor) -> Tensor:
    return size * (1 - size / capacity)


def _logistic_rate_sympy(size: Any, capacity: Any) -> Any:
    return size * (1 - size / capacity)


def _gompertz_rate(size: Tensor, capacity: Tensor) -> Tensor:
    return size * torch.log(capacity / size)


def _gompertz_rate_sympy(size: Any, capacity: Any) -> Any:
    return size * sympy.log(capacity / size)


PRIMITIVES = (
    _enzyme("hill", 1, _hill, _hill_sympy, RATIO, constants=(_HALF, _EXPONENT), inverse=_hill_inverse),
    _enzyme("monod", 1, _share, _share_sympy, RATIO, constants=(_HALF,), inverse=_share_inverse),
    _enzyme(
        "michaelis_menten", 1, _michaelis, _michaelis_sympy, SCALED, constants=(Constant("V", init=(0.1, 10.0)), _HALF)
    ),
    _enzyme("saturation", 2, _share, _share_sympy, RATIO, inverse=_share_inverse),
    _growth(
        "logistic",
        1,
        _logistic,
        _logistic_sympy,
        CLOCK,
        constants=(Constant("r", init=(0.1, 2.0)), Constant("middle", init=(0.0, 10.0))),
        inverse=_logistic_inverse,
    ),
    _growth(
        "gompertz",
        1,
        _gompertz,
        _gompertz_sympy,
        RATE,
        constants=(Constant("r", init=(0.1, 2.0)), Constant("b", init=(0.5, 10.0), unit=units.DIMENSIONLESS)),
    ),
    _growth("logistic_rate", 2, _logistic_rate, _logistic_rate_sympy, units.same),
    _growth("gompertz_rate", 2, _gompertz_rate, _gompertz_rate_sympy, units.same),
)
