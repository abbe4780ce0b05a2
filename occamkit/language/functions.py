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


# What is true or false in sympy; its symbols claim to be, too.
_TRUTHS: Final = (
    sympy.core.relational.Relational,
    sympy.logic.boolalg.BooleanFunction,
    sympy.logic.boolalg.BooleanAtom,
)


@dataclass(frozen=True)
class Function:
    """One function in both worlds; arity None takes any number of arguments from `least` to `most`."""

    arity: int | None
    torch: Callable[..., Tensor]
    sympy: Callable[..., Any]
    least: int = 1
    most: int | None = None


def _piecewise(*arguments: Tensor) -> Tensor:
    result = torch.full_like(arguments[0], torch.nan)
    for value, test in reversed(list(zip(arguments[::2], arguments[1::2], strict=True))):
        result = torch.where(test.to(torch.bool), value, result)
    return result


def _piecewise_sympy(*arguments: Any) -> Any:
    return sympy.Piecewise(*zip(arguments[::2], map(_truth, arguments[1::2]), strict=True))


def _truth(test: Any) -> Any:
    return test if isinstance(test, _TRUTHS) else sympy.Ne(test, 0)


def _true(x: Tensor) -> Tensor:
    """What is not zero is true: 1, or 0; undefined stays so."""
    return torch.where(torch.isnan(x), x, (x != 0).to(x.dtype))


def _both(a: Tensor, b: Tensor) -> Tensor:
    return _true(a) * _true(b)


def _power_sympy(base: Any, exponent: Any) -> Any:
    # sympy multiplies whole numbers out, however many digits that takes; floats overflow instead.
    if base.is_Integer and exponent.is_Integer and abs(exponent) > 1000:
        return sympy.Float(base) ** sympy.Float(exponent)
    return base**exponent


def _step(x: Tensor, *at_zero: Tensor) -> Tensor:
    middle = at_zero[0] if at_zero else torch.full_like(x, 0.5)
    return torch.where(torch.isnan(x), x, torch.where(x == 0, middle, (x > 0).to(x.dtype)))


def _compare(test: Callable[[Tensor, Tensor], Tensor], relation: Callable[..., Any]) -> Function:
    """A comparison is the number 1 or 0, so that it may be added and multiplied."""
    return Function(2, lambda a, b: test(a, b).to(a.dtype), relation)


def as_number(expression: Any) -> Any:
    """Return a comparison as 1 or 0 in sympy, and anything else as it is."""
    return sympy.Piecewise((1, expression), (0, True)) if isinstance(expression, _TRUTHS) else expression


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
    "<": _compare(torch.lt, sympy.Lt),
    "<=": _compare(torch.le, sympy.Le),
    ">": _compare(torch.gt, sympy.Gt),
    ">=": _compare(torch.ge, sympy.Ge),
    "==": _compare(torch.eq, sympy.Eq),
    "!=": _compare(torch.ne, sympy.Ne),
    "&": _two(_both, lambda a, b: sympy.And(_truth(a), _truth(b))),
    "|": _two(lambda a, b: 1 - _both(1 - _true(a), 1 - _true(b)), lambda a, b: sympy.Or(_truth(a), _truth(b))),
    "~": Function(1, lambda a: 1 - _true(a), lambda a: sympy.Not(_truth(a))),
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
    "Heaviside": Function(None, _step, sympy.Heaviside, most=2),
    "Piecewise": Function(None, _piecewise, _piecewise_sympy, least=2),
}
"""By the name that a formula uses; operators are not words, so nothing clashes with them."""
