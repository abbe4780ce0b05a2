"""Scores of single trees, which need not come from the network: the same fitness, regularizers and vetoes.

A tree may hold products and sums that were solved for. To a structural regularizer they look like primitives: powers,
products and sums with their own unit rules, whose numbers count as fitted constants.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import sympy
import torch
from torch import Tensor

from occamkit.graph import Apply, Expression, Leaf, Product, Sum
from occamkit.primitives import Constant, Elementwise
from occamkit.protocols import (
    ForwardRegularizer,
    NodeBatch,
    Primitive,
    Stage,
    StructureRegularizer,
    SymbolicRegularizer,
    Variable,
)
from occamkit.task.problem import Problem
from occamkit.units import DIMENSIONLESS, Rule, power, product, same

SIGNS = (1.0, -1.0)
"""Coefficients that are no fitted constants."""


@dataclass(frozen=True)
class TreeScore:
    """What a tree is worth as an output; fitness is NaN where it is undefined or vetoed."""

    score: float
    fitness: float


class TreeJudge:
    """Scores trees on the training rows, in float64."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        inputs, self._targets = problem.dataset.part("train")
        self._columns = dict(zip((one.name for one in problem.dataset.variables), inputs, strict=True))
        self._variables = {(one.name, one.value): one for one in problem.variables}
        self._ceiling = problem.fitness.ceiling(inputs.shape[1])

    def score(self, tree: Expression, output: int) -> TreeScore:
        """Return what a tree is worth as an output, on all training rows."""
        penalty, worth = self._structure(tree, output)
        if worth < 0:
            return TreeScore(worth * self._ceiling, math.nan)
        target = self._targets[output]
        values, forward = self._values(tree)
        predicted = values.expand_as(target).unsqueeze(0)
        fitness = float(self.problem.fitness.score(predicted.clone(), target))
        if not math.isfinite(fitness) or not bool(torch.isfinite(predicted).all()):
            return TreeScore(-self.problem.spec.trainer.undefined_weight * self._ceiling, math.nan)
        return TreeScore(fitness - self._ceiling * (penalty + forward + self._symbolic(tree)), fitness)

    def _of_stage(self, stage: Stage) -> list[Any]:
        return [one for one in self.problem.regularizers if one.stage is stage and one.weight > 0]

    def _structure(self, tree: Expression, output: int) -> tuple[float, float]:
        """Return the weighted penalty, and what a veto makes of the tree: negative, or zero without one."""
        penalty, worth = 0.0, 0.0
        for one in cast("list[StructureRegularizer]", self._of_stage(Stage.STRUCTURE)):
            state = fold_tree(tree, self._leaf_of(one), one.combine)
            verdict = one.verdict(state, self.problem.outputs[output])
            penalty += one.weight * verdict.penalty
            worth = min(worth, -one.weight if verdict.veto else 0.0)
        return penalty, worth

    def _leaf_of(self, regularizer: StructureRegularizer) -> Callable[[Leaf], Any]:
        return lambda leaf: regularizer.leaf(self._variable(leaf))

    def _variable(self, leaf: Leaf) -> Variable:
        # A constant that a proposer recognised need not be among the task's own.
        return self._variables.get((leaf.name, leaf.value)) or Variable(leaf.name, DIMENSIONLESS, leaf.value)

    def _values(self, tree: Expression) -> tuple[Tensor, float]:
        """Return the values of a tree, and the weighted penalty of its nodes."""
        regularizers = cast("list[ForwardRegularizer]", self._of_stage(Stage.FORWARD))
        if not regularizers:
            return tree.evaluate(self._columns), 0.0
        penalty = 0.0
        for node in tree.nodes():
            if isinstance(node, Apply):
                batch = _batch(node, self._columns)
                penalty += sum(one.weight * float(one.score_nodes(batch)) for one in regularizers)
        return tree.evaluate(self._columns), penalty

    def _symbolic(self, tree: Expression) -> float:
        regularizers = cast("list[SymbolicRegularizer]", self._of_stage(Stage.SYMBOLIC))
        if not regularizers:
            return 0.0
        try:
            written, simplified = tree.sympy(evaluate=False), tree.simplified()
        except Exception:  # noqa: BLE001 sympy raises whatever its parts raise on infinities
            return sum(one.weight for one in regularizers)  # what algebra cannot follow counts as trivial
        return sum(one.weight * one.penalty(written, simplified) for one in regularizers)


def fold_tree(tree: Expression, leaf: Callable[[Leaf], Any], combine: Callable[[Primitive, Sequence[Any]], Any]) -> Any:
    """Carry a state from the leaves of a tree to its root; closed parts are combined like primitives."""
    if isinstance(tree, Leaf):
        return leaf(tree)
    below = [fold_tree(argument, leaf, combine) for argument in tree.below]
    if isinstance(tree, Apply):
        return combine(tree.primitive, below)
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


def _joined(
    name: str, states: list[Any], rule: Rule, fitted: bool, combine: Callable[[Primitive, Sequence[Any]], Any]
) -> Any:
    if len(states) == 1 and not fitted:
        return states[0]
    return combine(_closed(name, max(len(states), 1), rule, fitted), states)


@functools.cache
def _closed(name: str, arity: int, rule: Rule, fitted: bool) -> Primitive:
    constants = (Constant("c"),) if fitted else ()
    call, written = (_times, sympy.Mul) if name == "product" else (_plus, sympy.Add)
    return Elementwise(f"closed_{name}", arity, call, written, rule, commutative=True, constants=constants)


@functools.cache
def _raised(exponent: float) -> Primitive:
    return Elementwise("closed_power", 1, lambda x: torch.pow(x, float(exponent)), sympy.Pow, power(exponent))


def _times(*values: Tensor) -> Tensor:
    return functools.reduce(torch.mul, values)


def _plus(*values: Tensor) -> Tensor:
    return functools.reduce(torch.add, values)


def _batch(node: Apply, columns: Mapping[str, Tensor]) -> NodeBatch:
    like = next(iter(columns.values()))
    arguments = tuple(one.evaluate(columns).expand_as(like).unsqueeze(0) for one in node.arguments)
    constants = tuple(like.new_tensor([value]) for value in node.constants)
    return NodeBatch(node.primitive, arguments, constants, node.evaluate(columns).expand_as(like).unsqueeze(0))
