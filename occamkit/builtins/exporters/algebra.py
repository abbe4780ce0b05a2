"""What every program begins with: an expression with only such parts as any language knows."""

from __future__ import annotations

from typing import Any

import sympy
from sympy.logic.boolalg import Boolean, BooleanAtom


def simple(expression: Any) -> Any:
    """Rewrite a sympy expression: steps and signs as cases, logic as and, or and not, truth in sums as 1 and 0."""
    if isinstance(expression, sympy.Piecewise):
        return _cases(*((as_number(simple(value)), test) for value, test in expression.args))
    if _is_truth(expression):
        return _test(expression)
    below = [as_number(simple(argument)) for argument in expression.args]
    if isinstance(expression, sympy.Heaviside):
        at_zero = below[1] if len(below) > 1 else sympy.Rational(1, 2)
        if at_zero == 0:
            return _cases((sympy.Integer(1), below[0] > 0), (sympy.Integer(0), below[0] <= 0))
        return _cases((sympy.Integer(0), below[0] < 0), (at_zero, sympy.Eq(below[0], 0)), (sympy.Integer(1), True))
    if isinstance(expression, sympy.sign):
        zero = sympy.Integer(0)
        return _cases((sympy.Integer(-1), below[0] < 0), (zero, sympy.Eq(below[0], 0)), (sympy.Integer(1), True))
    return expression.func(*below, evaluate=False) if below and tuple(below) != expression.args else expression


def as_number(expression: Any) -> Any:
    """Return a truth as 1 or 0, and a number as it is."""
    return _cases((sympy.Integer(1), expression), (sympy.Integer(0), True)) if _is_truth(expression) else expression


def _cases(*cases: tuple[Any, Any]) -> Any:
    return sympy.Piecewise(*((value, _test(test)) for value, test in cases), evaluate=False)


def _test(test: Any) -> Any:
    """Return a truth made of comparisons, and, or and not."""
    test = sympy.sympify(test)
    if isinstance(test, BooleanAtom):
        return test
    if isinstance(test, sympy.core.relational.Relational):
        return test.func(*(as_number(simple(side)) for side in test.args), evaluate=False)
    if isinstance(test, sympy.And | sympy.Or | sympy.Not):
        return test.func(*map(_test, test.args), evaluate=False)
    if isinstance(test, Boolean) and not isinstance(test, sympy.Symbol):
        plain = test.to_nnf() if hasattr(test, "to_nnf") else test
        if plain == test:
            raise ValueError(f"{test} is a kind of logic that no program can be made of")
        return _test(plain)
    return sympy.Ne(simple(test), 0, evaluate=False)


def _is_truth(expression: Any) -> bool:
    """Whether an expression is true or false; symbols claim to be, too."""
    return isinstance(expression, Boolean) and not isinstance(expression, sympy.Symbol)


def constants_in(expression: Any) -> list[float]:
    """Return the decimal numbers of an expression without their signs, each once, in the order in which they stand."""
    found = [abs(float(node)) for node in sympy.preorder_traversal(expression) if isinstance(node, sympy.Float)]
    return list(dict.fromkeys(found))
