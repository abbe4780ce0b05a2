"""The fold over trees: something is known of the leaves, and follows for every node up to the root.

A tree may hold products and sums that were solved for, and formulas that a person wrote. To whoever folds they look
like primitives: powers, products and sums with their own unit rules, whose numbers count as fitted constants.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import sympy
import torch
from torch import Tensor

from occamkit.graph.closed import Product, Sum
from occamkit.graph.expression import Apply, Expression, Leaf
from occamkit.graph.given import Given
from occamkit.graph.rewrite import SIGNS
from occamkit.language.functions import CONSTANTS, FUNCTIONS
from occamkit.language.parse import Name, Node, Number
from occamkit.primitives import Constant, Elementwise
from occamkit.protocols import Primitive
from occamkit.units import Rule, dimensionless, power, product, quotient, same

Combine = Callable[[Primitive, Sequence[Any]], Any]

_RULES = {"+": same, "-": same, "-x": same, "*": product, "/": quotient}
"""What operators of written formulas do to units; anything else takes and gives plain numbers."""


def fold_tree(tree: Expression, leaf: Callable[[Leaf], Any], combine: Combine) -> Any:
    """Carry a state from the leaves of a tree to its root; closed parts are combined like primitives."""
    if isinstance(tree, Leaf):
        return leaf(tree)
    if isinstance(tree, Given):
        return _fold_given(tree.tree, dict(tree.primitives), leaf, combine)
    below = [fold_tree(argument, leaf, combine) for argument in tree.below]
    if isinstance(tree, Apply):
        return combine(tree.primitive, below)
    if not below:  # a number alone is so many times one
        return combine(_closed("product", 1, product, True), [leaf(Leaf("1", 1.0))])
    if isinstance(tree, Product):
        raised = [
            state if exponent == 1 else combine(_raised(exponent), [state])
            for state, (_, exponent) in zip(below, tree.factors, strict=True)
        ]
        return _joined("product", raised, product, tree.coefficient not in SIGNS, combine)
    if isinstance(tree, Sum):
        scaled = [
            _joined("product", [state], product, coefficient not in SIGNS, combine)
            for state, (coefficient, _) in zip(below, tree.terms, strict=True)
        ]
        return _joined("sum", scaled, same, tree.offset != 0, combine)
    raise TypeError(f"{type(tree).__name__} is no kind of expression that can be folded")


def _fold_given(node: Node, primitives: dict[str, Primitive], leaf: Callable[[Leaf], Any], combine: Combine) -> Any:
    if isinstance(node, Name):
        return leaf(Leaf(node.name))
    if isinstance(node, Number):
        # A number that somebody wrote may carry whatever unit is needed.
        value = CONSTANTS[node.text] if node.text in CONSTANTS else float(node.text)
        return combine(_closed("product", 1, product, True), [leaf(Leaf(node.text, value))])
    base, *rest = node.arguments
    state = _fold_given(base, primitives, leaf, combine)
    if node.function == "**" and isinstance(rest[0], Number) and rest[0].text not in CONSTANTS:
        return combine(_raised(float(rest[0].text)), [state])
    below = [state, *(_fold_given(one, primitives, leaf, combine) for one in rest)]
    if node.function in primitives and node.function not in FUNCTIONS:
        return combine(primitives[node.function], below[: primitives[node.function].arity])
    rule = power(0.5) if node.function == "sqrt" else _RULES.get(node.function, dimensionless)
    return combine(_closed("function", len(below), rule, False), below)


def _joined(name: str, states: list[Any], rule: Rule, fitted: bool, combine: Combine) -> Any:
    if len(states) == 1 and not fitted:
        return states[0]
    return combine(_closed(name, max(len(states), 1), rule, fitted), states)


@functools.cache
def _closed(name: str, arity: int, rule: Rule, fitted: bool) -> Primitive:
    constants = (Constant("c"),) if fitted else ()
    call, written = (_plus, sympy.Add) if name == "sum" else (_times, sympy.Mul)
    return Elementwise(f"closed_{name}", arity, call, written, rule, commutative=True, constants=constants)


@functools.cache
def _raised(exponent: float) -> Primitive:
    return Elementwise("closed_power", 1, lambda x: torch.pow(x, float(exponent)), sympy.Pow, power(exponent))


def _times(*values: Tensor) -> Tensor:
    return functools.reduce(torch.mul, values)


def _plus(*values: Tensor) -> Tensor:
    return functools.reduce(torch.add, values)
