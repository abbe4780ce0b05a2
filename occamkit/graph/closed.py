"""Parts of a formula that are solved for rather than searched: products of powers, and weighted sums.

They are kinds of `Expression` beside `Leaf` and `Apply`. No primitive is needed for them, so a task whose list lacks
multiplication can still have its output scaled.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import torch
from torch import Tensor

from occamkit.graph.expression import Expression, Number
from occamkit.graph.numbers import LARGEST_ROOT
from occamkit.protocols import Primitive

Power = Fraction | float
"""An exponent; a fraction is exact, and is written as one."""


@dataclass(frozen=True)
class Product(Expression):
    """coefficient · Π factor ^ power; exponents that are no fractions are fitted, as the coefficient is."""

    coefficient: float
    factors: tuple[tuple[Expression, Power], ...]

    __hash__ = Expression.__hash__

    @property
    def below(self) -> tuple[Expression, ...]:
        return tuple(factor for factor, _ in self.factors)

    @property
    def own_fitted(self) -> tuple[float, ...]:
        return (self.coefficient, *(power for _, power in self.factors if isinstance(power, float)))

    @property
    def own_complexity(self) -> float:
        powers = sum(power != 1 for _, power in self.factors)
        return float(max(len(self.factors) - 1, 0) + powers + (self.coefficient != 1))

    def written(self) -> str:
        factors = [f"{factor.written()}**{_shown(power)}" for factor, power in self.factors]
        return f"product({', '.join([repr(self.coefficient), *factors])})"

    def compute(self, below: Sequence[Tensor], constants: Sequence[Number], columns: Mapping[str, Tensor]) -> Tensor:
        coefficient, powers = self._own(constants)
        result = _level(coefficient, columns)
        for values, power in zip(below, powers, strict=True):
            exact = power if isinstance(power, Tensor | float) else float(power)
            result = result * (values if isinstance(exact, float) and exact == 1 else torch.pow(values, exact))
        return result

    def _own(self, constants: Sequence[Any]) -> tuple[Any, list[Any]]:
        """Return coefficient and exponents with these constants in place of the fitted ones; none, as they are."""
        coefficient, *fitted = constants or self.own_fitted or (self.coefficient,)
        given = iter(fitted)
        return coefficient, [next(given) if isinstance(power, float) else power for _, power in self.factors]

    def to_dict(self) -> dict[str, Any]:
        factors = [
            {"expression": factor.to_dict(), "power": str(power) if isinstance(power, Fraction) else power}
            for factor, power in self.factors
        ]
        return {"coefficient": self.coefficient, "factors": factors}

    def rebuilt(self, arguments: Sequence[Expression], constants: Sequence[float]) -> Expression:
        coefficient, powers = self._own(constants)
        return Product(coefficient, tuple(zip(arguments, powers, strict=True)))

    def _sympy(self, constants: Iterator[Any]) -> Any:
        import sympy

        coefficient, powers = self._own([next(constants) for _ in range(self.own_constants)])
        factors = [
            factor._sympy(constants) ** (sympy.Rational(power) if isinstance(power, Fraction) else power)
            for (factor, _), power in zip(self.factors, powers, strict=True)
        ]
        return sympy.Mul(coefficient, *factors)


@dataclass(frozen=True)
class Monomial(Product):
    """Π column ^ power, such as a group that the network reads like a column: nothing in it is fitted."""

    coefficient: float = field(default=1.0, init=False)
    factors: tuple[tuple[Expression, Power], ...]

    @property
    def own_fitted(self) -> tuple[float, ...]:
        return ()

    def written(self) -> str:
        return f"monomial({', '.join(f'{factor.written()}**{_shown(power)}' for factor, power in self.factors)})"

    def to_dict(self) -> dict[str, Any]:
        return {"powers": super().to_dict()["factors"]}

    def rebuilt(self, arguments: Sequence[Expression], constants: Sequence[float]) -> Expression:
        return Monomial(tuple(zip(arguments, (power for _, power in self.factors), strict=True)))

    def _sympy(self, constants: Iterator[Any]) -> Any:
        import sympy

        return sympy.Mul(*(factor._sympy(constants) ** sympy.Rational(power) for factor, power in self.factors))


@dataclass(frozen=True)
class Sum(Expression):
    """offset + Σ coefficient · term."""

    offset: float
    terms: tuple[tuple[float, Expression], ...]

    __hash__ = Expression.__hash__

    @property
    def below(self) -> tuple[Expression, ...]:
        return tuple(term for _, term in self.terms)

    @property
    def own_fitted(self) -> tuple[float, ...]:
        return (self.offset, *(coefficient for coefficient, _ in self.terms))

    @property
    def own_complexity(self) -> float:
        scaled = sum(coefficient not in (1, -1) for coefficient, _ in self.terms)
        return float(max(len(self.terms) - 1, 0) + scaled + (self.offset != 0))

    def written(self) -> str:
        terms = [f"{coefficient!r}*{term.written()}" for coefficient, term in self.terms]
        return f"sum({', '.join([repr(self.offset), *terms])})"

    def compute(self, below: Sequence[Tensor], constants: Sequence[Number], columns: Mapping[str, Tensor]) -> Tensor:
        offset, *weights = constants
        result = _level(offset, columns)
        for weight, values in zip(weights, below, strict=True):
            result = result + weight * values
        return result

    def to_dict(self) -> dict[str, Any]:
        terms = [{"expression": term.to_dict(), "coefficient": coefficient} for coefficient, term in self.terms]
        return {"offset": self.offset, "terms": terms}

    def rebuilt(self, arguments: Sequence[Expression], constants: Sequence[float]) -> Expression:
        offset, *coefficients = constants or self.own_fitted
        return Sum(offset, tuple(zip(coefficients, arguments, strict=True)))

    def _sympy(self, constants: Iterator[Any]) -> Any:
        import sympy

        offset, *coefficients = [next(constants) for _ in range(self.own_constants)]
        terms = [
            coefficient * term._sympy(constants)
            for coefficient, (_, term) in zip(coefficients, self.terms, strict=True)
        ]
        return sympy.Add(offset, *terms)


def read_closed(stored: Mapping[str, Any], primitives: Mapping[str, Primitive]) -> Expression:
    """Read what `to_dict` of a product, a monomial or a sum returned."""
    if "terms" in stored:
        terms = ((one["coefficient"], Expression.from_dict(one["expression"], primitives)) for one in stored["terms"])
        return Sum(stored["offset"], tuple(terms))
    factors = (
        (
            Expression.from_dict(one["expression"], primitives),
            Fraction(one["power"]) if isinstance(one["power"], str) else one["power"],
        )
        for one in stored["powers" if "powers" in stored else "factors"]
    )
    return Monomial(tuple(factors)) if "powers" in stored else Product(stored["coefficient"], tuple(factors))


def _level(number: Number, columns: Mapping[str, Tensor]) -> Tensor:
    like = next(iter(columns.values()))
    return number.expand(-1, like.numel()) if isinstance(number, Tensor) else torch.full_like(like, number)


def _shown(power: Power) -> str:
    return f"({power})" if isinstance(power, Fraction) and power.denominator != 1 else str(power)


def with_exact_powers(tree: Expression, places: Container[int]) -> Expression:
    """Return a formula in which the fitted exponents at some places of its constants are fractions."""

    def walk(node: Expression, first: int) -> Expression:
        below, at = [], first + node.own_constants
        for one in node.below:
            below.append(walk(one, at))
            at += one.constant_count
        if not isinstance(node, Product) or isinstance(node, Monomial):
            return node.rebuilt(below, node.own_fitted)
        powers, place = list[Power](), first
        for _, power in node.factors:
            place += isinstance(power, float)
            exact = isinstance(power, float) and place in places
            powers.append(Fraction(power).limit_denominator(LARGEST_ROOT) if exact else power)
        return Product(node.coefficient, tuple(zip(below, powers, strict=True)))

    return walk(tree, 0)


def flattened(tree: Expression) -> Expression:
    """Return a formula without sums right inside sums and products right inside products: every number stands once.

    Only what is equal wherever it is defined is changed.
    """
    if isinstance(tree, Monomial):
        return tree
    below = tuple(flattened(argument) for argument in tree.below)
    tree = tree.rebuilt(below, tree.own_fitted)
    if isinstance(tree, Sum):
        return _flat_sum(tree)
    return _flat_product(tree) if isinstance(tree, Product) else tree


def _flat_sum(tree: Sum) -> Expression:
    offset, terms = tree.offset, list[tuple[float, Expression]]()
    for coefficient, term in tree.terms:
        if isinstance(term, Sum):
            offset += coefficient * term.offset
            terms += [(coefficient * inner, one) for inner, one in term.terms]
        elif isinstance(term, Product):
            terms.append((coefficient * term.coefficient, _flat_product(Product(1.0, term.factors))))
        else:
            terms.append((coefficient, term))
    if offset == 0 and len(terms) == 1:
        return _flat_product(Product(terms[0][0], ((terms[0][1], Fraction(1)),)))
    return Sum(offset, tuple(terms))


def _flat_product(tree: Product) -> Expression:
    coefficient, factors = tree.coefficient, list[tuple[Expression, Power]]()
    for factor, power in tree.factors:
        if isinstance(factor, Product) and power == 1:
            coefficient *= factor.coefficient
            factors += factor.factors
        else:
            factors.append((factor, power))
    if coefficient == 1 and len(factors) == 1 and factors[0][1] == 1:
        return factors[0][0]
    return Product(coefficient, tuple(factors))
