"""Closed parts spelt out: products, powers and sums as the given primitives and constants, where these suffice.

A primitive is known by its form in sympy, so that anybody's multiplication multiplies. Nothing is invented: a number
must be among the given constants, or be the fitted constant of a primitive that scales or shifts.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

import sympy

from occamkit.graph.closed import Product, Sum
from occamkit.graph.expression import Apply, Expression, Leaf
from occamkit.graph.given import Given
from occamkit.language.functions import CONSTANTS, FUNCTIONS
from occamkit.language.parse import Name, Node, Number
from occamkit.protocols import Primitive

PLAIN = (1.0, 0.0)
"""The conversion of a column whose numbers are the user's own."""

_A, _B = sympy.symbols("a b", real=True)


class Speller:
    """Spells trees with some primitives and constants."""

    def __init__(self, primitives: Sequence[Primitive], constants: Iterable[Leaf]) -> None:
        self._primitives = tuple(primitives)
        self._constants = {one.value: one for one in constants if one.value is not None}
        self._known: dict[Any, tuple[Primitive, bool] | None] = {}

    def spelt(self, tree: Expression) -> Expression | None:
        """Return a tree of the given primitives and constants that is the same function; None if they do not do."""
        if isinstance(tree, Leaf):
            return tree if tree.value is None else self._constants.get(tree.value)
        if isinstance(tree, Given):
            return self._given(tree)
        below = [self.spelt(one) for one in tree.below]
        kept = [one for one in below if one is not None]
        if len(kept) < len(below):
            return None
        if isinstance(tree, Product):
            return self._product(tree.coefficient, [(one, power) for one, (_, power) in zip(kept, tree.factors)])  # noqa: B905 of one length
        if isinstance(tree, Sum):
            return self._sum(tree.offset, [(weight, one) for one, (weight, _) in zip(kept, tree.terms)])  # noqa: B905 of one length
        known = isinstance(tree, Apply) and tree.primitive in self._primitives
        return tree.rebuilt(kept, tree.own_fitted) if known else None

    def _given(self, tree: Given) -> Expression | None:
        plain = tree.output == PLAIN and all(one == PLAIN for _, one in tree.columns)
        return self._written(tree.tree, dict(tree.primitives)) if plain else None

    def _written(self, node: Node, called: Mapping[str, Primitive]) -> Expression | None:
        """Spell a formula that somebody wrote."""
        if isinstance(node, Name):
            return Leaf(node.name)
        if isinstance(node, Number):
            return self._constants.get(CONSTANTS[node.text] if node.text in CONSTANTS else float(node.text))
        below = [self._written(one, called) for one in node.arguments]
        kept = [one for one in below if one is not None]
        named = called.get(node.function)
        if named in self._primitives and len(kept) == named.arity and not named.constants:
            return Apply(named, tuple(kept))
        if node.function not in FUNCTIONS or len(below) > 2:
            return None
        return self._apply(FUNCTIONS[node.function].sympy(*(_A, _B)[: len(below)]), *below)

    def _product(self, coefficient: float, factors: Sequence[tuple[Expression, Any]]) -> Expression | None:
        above = [self._power(one, Fraction(power)) for one, power in factors if power > 0]
        below = [self._power(one, -Fraction(power)) for one, power in factors if power < 0]
        sign, size = (-1 if coefficient < 0 else 1), abs(coefficient)
        if size in self._constants and size != 1:
            above.append(self._constants[size])
        elif size not in (0, 1) and 1 / size in self._constants:
            below.append(self._constants[1 / size])
        elif size != 1:
            inner = self._product(float(sign), factors)
            return self._fitted(_A * _B, inner, size)
        top, bottom = self._joined(_A * _B, above), self._joined(_A * _B, below)
        if any(one is None for one in (*above, *below)) or (above and top is None) or (below and bottom is None):
            return None
        if bottom is not None and top is None:
            top = self._apply(1 / _A, bottom) or self._apply(_A / _B, self._constants.get(1.0), bottom)
        elif bottom is not None:
            top = self._apply(_A / _B, top, bottom)
        top = self._constants.get(1.0) if not factors and top is None else top
        return top if sign > 0 else self._negated(top)

    def _negated(self, tree: Expression | None) -> Expression | None:
        zero, minus = self._constants.get(0.0), self._constants.get(-1.0)
        ways = ((-_A, (tree,)), (_A - _B, (zero, tree)), (_A * _B, (minus, tree)))
        return next((found for form, below in ways if (found := self._apply(form, *below)) is not None), None)

    def _sum(self, offset: float, terms: Sequence[tuple[float, Expression]]) -> Expression | None:
        plus = [self._product(weight, [(one, 1)]) for weight, one in terms if weight > 0]
        minus = [self._product(-weight, [(one, 1)]) for weight, one in terms if weight < 0]
        loose = offset != 0 and abs(offset) not in self._constants
        if offset != 0 and not loose:
            (plus if offset > 0 else minus).append(self._constants[abs(offset)])
        if any(one is None for one in (*plus, *minus)):
            return None
        top, bottom = self._joined(_A + _B, plus), self._joined(_A + _B, minus)
        if (plus and top is None) or (minus and bottom is None):
            return None
        if bottom is not None:
            top = self._negated(bottom) if top is None else self._apply(_A - _B, top, bottom)
        return self._fitted(_A + _B, top, offset) if loose else top

    def _power(self, tree: Expression, power: Fraction) -> Expression | None:
        if power == 1:
            return tree
        direct = self._apply(_A ** sympy.Rational(power), tree)
        if direct is not None:
            return direct
        if power.denominator == 1:
            half = self._power(tree, power / 2) if power % 2 == 0 and power > 2 else None
            return (half and self._power(half, Fraction(2))) or self._joined(_A * _B, [tree] * int(power))
        root = self._apply(_A ** sympy.Rational(1, power.denominator), tree)
        return None if root is None else self._power(root, Fraction(power.numerator))

    def _joined(self, form: Any, parts: Sequence[Expression | None]) -> Expression | None:
        if not parts:
            return None
        whole = parts[0]
        for one in parts[1:]:
            whole = self._apply(form, whole, one)
        return whole

    def _fitted(self, form: Any, tree: Expression | None, value: float) -> Expression | None:
        """Return a primitive over a tree that has this form with its fitted constant in the second place."""
        for primitive in self._primitives:
            alone = primitive.arity == len(primitive.constants) == 1
            if tree is not None and alone and primitive.sympy(_A, _B) == form:
                return Apply(primitive, (tree,), (value,))
        return None

    def _apply(self, form: Any, *below: Expression | None) -> Expression | None:
        if form not in self._known:
            self._known[form] = next(self._with_form(form, len(below)), None)
        found, kept = self._known[form], [one for one in below if one is not None]
        if found is None or len(kept) < len(below):
            return None
        return Apply(found[0], tuple(reversed(kept) if found[1] else kept))

    def _with_form(self, form: Any, arity: int) -> Iterator[tuple[Primitive, bool]]:
        """Yield the primitives of a form, and whether their arguments stand the other way round."""
        for primitive in self._primitives:
            if primitive.arity == arity and not primitive.constants:
                if primitive.sympy(*(_A, _B)[:arity]) == form:
                    yield primitive, False
                elif arity == 2 and primitive.sympy(_B, _A) == form:
                    yield primitive, True
