"""The operators and functions that formulas may use besides registered primitives, in torch and in sympy."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

import sympy
import torch
from torch import Tensor

CONSTANTS: Final = {"pi": math.pi, "E": math.e, "e": math.e}
"""Numbers with a name, for formulas and for `search.constants`."""


@dataclass(frozen=True)
class Function:
    """One function in both worlds; arity None takes any number of arguments from `least` on."""

    arity: int | None
    torch: Callable[..., Tensor]
    sympy: Callable[..., Any]
    least: int = 1


def _piecewise(*arguments: Tensor) -> Tensor:
    result = torch.full_like(arguments[0], torch.nan)
    for value, test in reversed(list(zip(arguments[::2], arguments[1::2], strict=True))):
        result = torch.where(test.to(torch.bool), value, result)
    return result


def _piecewise_sympy(*arguments: Any) -> Any:
    return sympy.Piecewise(*zip(arguments[::2], map(_truth, arguments[1::2]), strict=True))


def _truth(test: Any) -> Any:
    return test if isinstance(test, sympy.logic.boolalg.Boolean) else sympy.Ne(test, 0)


def _power_sympy(base: Any, exponent: Any) -> Any:
    # sympy multiplies whole numbers out, however many digits that takes; floats overflow instead.
    if base.is_Integer and exponent.is_Integer and abs(exponent) > 1000:
        return sympy.Float(base) ** sympy.Float(exponent)
    return base**exponent


def _step(x: Tensor, *at_zero: Tensor) -> Tensor:
    return torch.where(torch.isnan(x), x, (x > 0).to(x.dtype))


def _extreme(of: Callable[..., Tensor]) -> Callable[..., Tensor]:
    return lambda *numbers: of(torch.stack(numbers), 0)  # columns all have the same length


def _two(torch_call: Callable[..., Tensor], sympy_call: Callable[..., Any]) -> Function:
    return Function(2, torch_call, sympy_call)


_OPERATORS: Final = {
    "+": _two(torch.add, lambda a, b: a + b),
    "-": _two(torch.sub, lambda a, b: a - b),
    "*": _two(torch.mul, lambda a, b: a * b),
    "/": _two(torch.div, lambda a, b: a / b),
    "**": _two(torch.pow, _power_sympy),
    "<": _two(torch.lt, sympy.Lt),
    "<=": _two(torch.le, sympy.Le),
    ">": _two(torch.gt, sympy.Gt),
    ">=": _two(torch.ge, sympy.Ge),
    "==": _two(torch.eq, sympy.Eq),
    "!=": _two(torch.ne, sympy.Ne),
    "-x": Function(1, torch.neg, lambda a: -a),
}

# torch and sympy agree on these names.
_SHARED: Final = (
    "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh",
    "exp", "log", "sqrt", "sign", "floor", "erf",
)  # fmt: skip

FUNCTIONS: Final[Mapping[str, Function]] = {
    **_OPERATORS,
    **{name: Function(1, getattr(torch, name), getattr(sympy, name)) for name in _SHARED},
    "abs": Function(1, torch.abs, sympy.Abs),
    "ceiling": Function(1, torch.ceil, sympy.ceiling),
    "Max": Function(None, _extreme(torch.amax), sympy.Max),
    "Min": Function(None, _extreme(torch.amin), sympy.Min),
    "Heaviside": Function(None, _step, lambda x, *at_zero: sympy.Heaviside(x, 0)),
    "Piecewise": Function(None, _piecewise, _piecewise_sympy, least=2),
}
"""By the name that a formula uses; operators are not words, so nothing clashes with them."""
