"""How one language writes numbers, operators and functions; one printer serves all of them."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import reduce
from typing import Any

import sympy

_SUM, _PRODUCT, _SIGN, _POWER, _ATOM = range(5)
"""How tightly a piece of text holds together; what is looser than its surroundings goes in brackets."""

_COMPARISONS = {sympy.Lt: "<", sympy.Le: "<=", sympy.Gt: ">", sympy.Ge: ">=", sympy.Eq: "==", sympy.Ne: "!="}


def _plain_whole(value: int) -> str:
    return str(value)


@dataclass(frozen=True)
class Dialect:
    """A language.

    functions: by their sympy names, as calls. where: test, then, otherwise. power: as a call; None is `a**b`.
    both, either, nothing: and, or, not. number: writes a decimal number that is not negative, whole: an integer.
    lift: makes a number what functions of two arguments accept.
    """

    functions: Mapping[str, str]
    where: str
    both: str
    either: str
    nothing: str
    undefined: str
    infinite: str
    power: str | None = None
    number: Callable[[float], str] = repr
    whole: Callable[[int], str] = _plain_whole
    lift: str = "{}"
    names: Mapping[str, str] = field(default_factory=dict)

    def write(self, expression: Any) -> str:
        """Write an expression; `names` say what the columns are called."""
        return self._write(expression)[0]

    def _write(self, node: Any) -> tuple[str, int]:
        if isinstance(node, sympy.Symbol):
            return self.names[node.name], _ATOM
        if node.is_Number or node.is_NumberSymbol or node in (sympy.zoo, sympy.I):
            return self._number(node)
        if not node.free_symbols and not isinstance(node, sympy.Add | sympy.Mul | sympy.Piecewise | sympy.Pow):
            return self._value(node)
        writers = {
            sympy.Add: self._sum,
            sympy.Mul: self._product,
            sympy.Pow: self._power,
            sympy.Piecewise: self._cases,
            sympy.Max: self._extreme,
            sympy.Min: self._extreme,
        }
        return writers.get(type(node), self._function)(node)

    def _function(self, node: Any) -> tuple[str, int]:
        name = type(node).__name__
        if name not in self.functions:
            raise ValueError(f"{name} has no counterpart in this language")
        return self._call(name, node.args), _ATOM

    def _extreme(self, node: Any) -> tuple[str, int]:
        call = self.functions[type(node).__name__]
        return reduce(lambda left, right: f"{call}({left}, {right})", map(self._lifted, node.args)), _ATOM

    def _call(self, name: str, arguments: Any) -> str:
        return f"{self.functions[name]}({', '.join(self.write(argument) for argument in arguments)})"

    def at_least(self, node: Any, level: int) -> str:
        text, own = self._write(node)
        return text if own >= level else f"({text})"

    def _lifted(self, node: Any) -> str:
        return self.lift.format(self.write(node)) if not node.free_symbols else self.write(node)

    def _value(self, node: Any) -> tuple[str, int]:
        """Write what has no column in it as its value: not every language has functions of plain numbers."""
        value = complex(node.evalf(20))
        return self._number(sympy.Float(value.real) if value.imag == 0 else sympy.nan)

    def _number(self, node: Any) -> tuple[str, int]:
        if node in (sympy.nan, sympy.zoo, sympy.I):
            return self.undefined, _ATOM
        if node in (sympy.oo, -sympy.oo):
            return (self.infinite, _ATOM) if node == sympy.oo else (f"-{self.infinite}", _SIGN)
        if node.is_Integer:
            text = self.whole(int(node))
        elif node.is_Rational:
            return f"{self.whole(int(node.p))}/{self.whole(int(node.q))}", _PRODUCT
        else:
            value = float(node)
            text = self.number(abs(value)) if math.isfinite(value) else self.infinite
            text = f"-{text}" if value < 0 else text
        return text, _SIGN if text.startswith("-") else _ATOM

    def _sum(self, node: Any) -> tuple[str, int]:
        text = ""
        for term in node.as_ordered_terms():
            negative = term.could_extract_minus_sign() and term.as_coeff_Mul()[0].is_negative
            written = self.at_least(-term if negative else term, _PRODUCT)
            sign = (" - " if text else "-") if negative else (" + " if text else "")
            text += sign + written
        return text, _SUM

    def _product(self, node: Any) -> tuple[str, int]:
        coefficient, _ = node.as_coeff_Mul()
        if coefficient.is_negative:
            inside = -node
            return f"-{self.at_least(inside, _PRODUCT)}", _PRODUCT
        above, below = [], []
        for factor in node.as_ordered_factors():
            base, exponent = factor.as_base_exp()
            if factor.is_Rational and not factor.is_Integer:
                above += [sympy.Integer(factor.p)] if factor.p != 1 else []
                below.append(sympy.Integer(factor.q))
            elif isinstance(factor, sympy.Pow) and exponent.is_Rational and exponent < 0:
                below.append(sympy.Pow(base, -exponent, evaluate=False) if exponent != -1 else base)
            else:
                above.append(factor)
        top = "*".join(self.at_least(one, _SIGN) for one in above) or self.whole(1)
        if not below:
            return top, _PRODUCT
        bottom = "*".join(self.at_least(one, _SIGN) for one in below)
        return (f"{top}/({bottom})" if len(below) > 1 else f"{top}/{bottom}"), _PRODUCT

    def _power(self, node: Any) -> tuple[str, int]:
        base, exponent = node.as_base_exp()
        if not (base.free_symbols or exponent.free_symbols):
            return self._value(sympy.Pow(base, exponent))
        if base == sympy.E:
            return self._call("exp", [exponent]), _ATOM
        if exponent == sympy.Rational(1, 2):
            return self._call("sqrt", [base]), _ATOM
        if exponent == -1 or exponent == -sympy.Rational(1, 2):
            return f"{self.whole(1)}/{self.at_least(sympy.Pow(base, -exponent), _POWER)}", _PRODUCT
        if self.power is not None:
            return f"{self.power}({self.write(base)}, {self.write(exponent)})", _ATOM
        return f"{self.at_least(base, _ATOM)}**{self.at_least(exponent, _ATOM)}", _POWER

    def _cases(self, node: Any) -> tuple[str, int]:
        text = self.lift.format(self.undefined)
        for value, test in reversed(node.args):
            written = self._lifted(value)
            text = written if test == sympy.true else self.where.format(self._test(test), written, text)
        return text, _ATOM

    def _test(self, test: Any) -> str:
        if test in (sympy.true, sympy.false):
            return self._test(sympy.Eq(1 if test == sympy.true else 0, 1, evaluate=False))
        if isinstance(test, sympy.And):
            return f"({f' {self.both} '.join(map(self._test, test.args))})"
        if isinstance(test, sympy.Or):
            return f"({f' {self.either} '.join(map(self._test, test.args))})"
        if isinstance(test, sympy.Not):
            return f"{self.nothing}{self._test(test.args[0])}"
        sign = next(text for kind, text in _COMPARISONS.items() if isinstance(test, kind))
        # Two plain numbers would be compared at once, to a truth that is no array.
        left, right = (self.write if test.free_symbols else self._lifted)(test.lhs), self.write(test.rhs)
        return f"({left} {sign} {right})"
