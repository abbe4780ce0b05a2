"""Formulas that do nothing, as algebra sees them (Methods, "Regularization": the first part of phi)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import sympy

from occamkit import Stage


@dataclass(frozen=True)
class TrivialOperations:
    """One for a formula that sympy writes otherwise than it stands, such as x/x or 1·x, else nothing."""

    name: ClassVar[str] = "trivial_operations"
    stage: ClassVar[Stage] = Stage.SYMBOLIC
    hereditary: ClassVar[bool] = True
    weight: float = 0.7

    def penalty(self, written: Any, simplified: Any) -> float:
        """Compare the two; sympy may also have drawn out a common factor, which is no fault of the formula."""
        form = canonical(written)
        return float(form != canonical(simplified) and form != canonical(sympy.expand(simplified)))


def canonical(expression: Any) -> Hashable:
    """Return a form that is the same for formulas that differ in the order and grouping of terms and factors only.

    x + x and 2·x have the same form, and so have x·x and x². But nothing is ever cancelled: what is added is kept
    apart from what is taken away, and what multiplies from what divides, so x - x is not 0 and x/x is not 1.
    """
    if not (expression.is_Add or expression.is_Mul or expression.is_Pow):
        return _single(expression)
    terms: Counter[Hashable] = Counter()
    for negative, term in _terms(expression):
        number, factors = _factors(term)
        terms[negative != (number < 0), factors] += abs(number)
    return ("sum", frozenset(terms.items()))


def _single(expression: Any) -> Hashable:
    """Return the form of what is neither a sum nor a product nor a power."""
    if not expression.args:
        return ("leaf", str(expression))
    return (type(expression).__name__, tuple(canonical(argument) for argument in expression.args))


def _terms(expression: Any, negative: bool = False) -> Iterator[tuple[bool, Any]]:
    """Yield the terms of a sum, and whether they are taken away; a lone minus goes to each term of a sum behind it."""
    if expression.is_Add:
        for term in expression.args:
            yield from _terms(term, negative)
    elif expression.is_Mul and len(expression.args) == 2 and -1 in expression.args and _sum_in(expression):
        yield from _terms(_sum_in(expression), not negative)
    else:
        yield negative, expression


def _sum_in(product: Any) -> Any:
    return next((factor for factor in product.args if factor.is_Add), None)


def _factors(term: Any) -> tuple[Any, Hashable]:
    """Return how often a term counts, and its factors: (form, whether it multiplies) and how often each.

    The first number of a product says how often it counts, so that 2·x is x + x. A one says nothing, and is a factor.
    """
    number: Any = None
    factors: Counter[Hashable] = Counter()
    for factor, exponent in _powers(term, 1):
        if factor.is_Number and factor != 1 and exponent == 1 and number is None:
            number = factor
        else:
            form = _single(factor) if factor.is_Number or isinstance(factor, _Opaque) else canonical(factor)
            factors[form, exponent > 0] += abs(exponent)
    return (1 if number is None else number), frozenset(factors.items())


def _powers(expression: Any, exponent: Any) -> Iterator[tuple[Any, Any]]:
    """Yield the factors of a product with their whole exponents."""
    if expression.is_Mul:
        for factor in expression.args:
            yield from _powers(factor, exponent)
    elif expression.is_Pow and expression.exp.is_Integer and expression.exp not in (0, 1):
        yield from _powers(expression.base, exponent * expression.exp)
    elif expression.is_Pow:
        yield _Opaque(expression), exponent
    elif expression.is_Rational and not expression.is_Integer:
        yield from _powers(sympy.Integer(expression.p), exponent) if expression.p != 1 else ()
        yield sympy.Integer(expression.q), -exponent
    else:
        yield expression, exponent


class _Opaque:
    """A power that is no whole one, taken as a single thing."""

    is_Number = is_Add = is_Mul = is_Pow = False  # noqa: N815 sympy's naming

    def __init__(self, power: Any) -> None:
        self.args = (power.base, power.exp)


REGULARIZERS = (TrivialOperations,)
