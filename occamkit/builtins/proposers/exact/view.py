"""One output as the exact proposers see it: a subsample of rows, and everything brought to plain numbers.

A target is divided by a product of powers of the inputs that has its unit; what is left is dimensionless, and so are
the ingredients of libraries. In logarithms, constant factors and dimensionless products of powers are linear, and are
projected out on the subsample: what is solved for need not be searched for.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import torch
from torch import Tensor

from occamkit import Expression, Leaf, Primitive, SearchProblem, Variable, traits
from occamkit.builtins.proposers.exact.settings import EXACT
from occamkit.dimensions import Exponents, PowerProducts, low_monomials, scaling_of_some
from occamkit.fit import TINY
from occamkit.graph import Power, product
from occamkit.units import DIMENSIONLESS, Dim

Spend = Callable[[int], None]
"""Counts numbers that were computed, for whoever is at work."""


@dataclass(frozen=True)
class Link:
    """A primitive that the output may be the value of, and the target that is left inside it; None for none."""

    primitive: Primitive | None
    target: Tensor  # [n]


class OutputView:
    """Rows of one output, in float64; `pick` is the subsample."""

    def __init__(self, problem: SearchProblem, output: int, spend: Spend, rows: int = EXACT.rows) -> None:
        self.problem = problem
        self.output = output
        self.spend = spend
        self.unit = problem.outputs[output].unit
        self.front: tuple[tuple[Expression, Power], ...] = ()
        self.variables = tuple(one for one in problem.variables if one.value is None or one.unit != DIMENSIONLESS)
        self.numbers = tuple(one for one in problem.variables if one.value is not None and one.unit == DIMENSIONLESS)
        inputs, target = problem.columns, problem.targets[output]
        given = [inputs.new_full((1, inputs.shape[1]), one.value) for one in self.variables if one.value is not None]
        columns = torch.cat([inputs, *given])  # [u, n]
        self.discrete = bool(target.numel() > EXACT.few_values) and _few_values(inputs, target)
        zero = columns.abs() <= EXACT.last_digits * columns.abs().amax(1, keepdim=True)
        self.loggable = (zero.double().mean(1) <= EXACT.most_zeros).tolist()
        bad = zero[torch.tensor(self.loggable)].any(0) | ~torch.isfinite(target)
        keep = torch.nonzero(~bad).squeeze(1)
        self.columns = columns.index_select(1, keep)
        self.target = target.index_select(0, keep)
        self.weights = None if problem.weights is None else problem.weights.index_select(0, keep).sqrt()
        self.leaves = tuple(Leaf(one.name, one.value) for one in self.variables)
        self.named = {leaf.name: column for leaf, column in zip(self.leaves, self.columns, strict=True)}
        many = EXACT.discrete_rows if keep.numel() <= EXACT.discrete_rows else EXACT.sampled_rows
        wanted = min(many if self.discrete else rows, keep.numel())
        order = torch.randperm(keep.numel(), generator=torch.Generator().manual_seed(problem.seed))
        self.pick = order[:wanted]
        self.times = max(1.0, wanted / rows)  # as many rows of the subsample as usual
        self.free = False
        self.scale = self._scaling()
        self.logs = torch.where(
            torch.tensor(self.loggable)[:, None], self.columns.abs().clamp(min=TINY).log(), 0.0
        )  # [u, n]

    def _scaling(self) -> PowerProducts:
        """Return what may stand in front; a unit that no product of powers gives is left to a fitted number."""
        found = scaling_of_some(self.variables, self.loggable, self.unit)
        if found is None:
            self.free = True
            found = scaling_of_some(self.plain, self.loggable, DIMENSIONLESS)
        assert found is not None  # nothing is in the way of plain numbers
        return found

    def divided(self, powers: Exponents, rest: Sequence[int]) -> OutputView:
        """Return the view of the output divided by a product of powers, that knows the `rest` of the inputs alone."""
        view = copy.copy(self)
        view.front = tuple(self.factors(powers))
        if isinstance(self.unit, Dim):
            for variable, power in zip(self.plain, powers, strict=True):
                if isinstance(variable.unit, Dim) and isinstance(view.unit, Dim):
                    view.unit = view.unit / variable.unit**power
        places = torch.tensor(rest)
        view.target = self.target / self.monomial(powers)
        view.columns, view.logs = self.columns[places], self.logs[places]
        view.variables = tuple(self.variables[place] for place in rest)
        view.leaves = tuple(self.leaves[place] for place in rest)
        view.loggable = [self.loggable[place] for place in rest]
        view.scale = view._scaling()
        return view

    def whole(self, tree: Expression) -> Expression:
        """Return a formula of the output, from one of what is left when it was divided."""
        return product(1.0, [(tree, 1), *self.front]) if self.front else tree

    @property
    def plain(self) -> tuple[Variable, ...]:
        """The variables as the search sees them: without units where these cannot come out right."""
        if not self.free:
            return self.variables
        return tuple(Variable(one.name, DIMENSIONLESS, one.value) for one in self.variables)

    def monomial(self, exponents: Exponents) -> Tensor:
        """Return the values of a product of powers, by size alone where powers are fractional: [n]."""
        values = torch.ones_like(self.target)
        for column, exponent in zip(self.columns, exponents, strict=True):
            if exponent:
                base = column if exponent.denominator == 1 else column.abs()
                values = values * torch.pow(base, float(exponent))
        return values

    def factors(self, exponents: Sequence[Power]) -> list[tuple[Expression, Power]]:
        """Return the factors of a product of powers, without those of power zero."""
        return [(leaf, power) for leaf, power in zip(self.leaves, exponents, strict=True) if power]

    def monomial_tree(self, exponents: Exponents) -> Expression:
        """Return a product of powers as a tree."""
        return product(1.0, self.factors(exponents))

    def evaluate(self, tree: Expression) -> Tensor:
        """Return the values of a tree on all rows of the view: [n]."""
        nodes = sum(1 for _ in tree.nodes())
        self.computed(nodes, nodes * self.target.numel())
        return tree.evaluate(self.named).expand_as(self.target)

    def computed(self, operations: int, numbers: int = 0, multiplications: int = 0) -> None:
        """Count what was done: calls, numbers that came of them, and multiplications of matrices."""
        self.spend(EXACT.operation * operations + numbers + multiplications // EXACT.multiplications)

    def nuisance(self) -> Tensor:
        """Return the logarithms of what is solved for, a constant first, without what follows from the rest: [z, n]."""
        ones = torch.ones_like(self.target)
        return torch.stack([ones, *(self.logs_of(one) for one in self.scale.basis)])

    def logs_of(self, exponents: Exponents) -> Tensor:
        """Return the logarithm of a product of powers: [n]."""
        return self.logs.new_tensor([float(one) for one in exponents]) @ self.logs

    def links(self) -> list[Link]:
        """Return the ways in which the output may be the value of a primitive that declares its inverse.

        Only where the primitive gives the output's unit for a plain number, and where the inverse is one on all rows.
        """
        return [Link(None, self.target), *(link for link in self.inverses() if self._undoes(link))]

    def inverses(self) -> list[Link]:
        """Return all primitives of one argument with an inverse and the right unit, and what would be inside them."""
        found = []
        for primitive in self.problem.distinct_primitives:
            inverse = traits.inverse(primitive)
            if inverse is None or primitive.arity != 1 or primitive.constants:
                continue
            if self.free or primitive.units(DIMENSIONLESS) == self.unit:
                found.append(Link(primitive, inverse(self.target)))
        return [link for link in found if not _is_power(link.target, self.target)]

    def _undoes(self, link: Link) -> bool:
        assert link.primitive is not None
        again, near = link.primitive.call(link.target), EXACT.rounding
        return bool(torch.isfinite(link.target).all() and torch.allclose(again, self.target, near, EXACT.last_digits))

    def low(self, most: int) -> list[Exponents]:
        """Return products of the inputs with exponents -1, 0 and 1."""
        return [
            one
            for one in low_monomials(len(self.variables), most)
            if all(loggable or exponent >= 0 for loggable, exponent in zip(self.loggable, one, strict=True))
        ]

    def zero(self) -> Exponents:
        """Return the exponents of the empty product."""
        return (Fraction(0),) * len(self.variables)


def _few_values(inputs: Tensor, target: Tensor) -> bool:
    return all(torch.unique(column).numel() <= EXACT.few_values for column in (*inputs, target))


def _is_power(inside: Tensor, target: Tensor) -> bool:
    """Whether one is a power of the other: in logarithms they are the same, and nothing is gained."""
    one, other = inside.abs().log(), target.abs().log()
    both = torch.isfinite(one) & torch.isfinite(other)
    if int(both.sum()) <= 2:
        return False
    one, other = one[both] - one[both].mean(), other[both] - other[both].mean()
    cosine = (one @ other) / (one.norm() * other.norm()).clamp(min=TINY)
    return bool(abs(cosine) > 1 - EXACT.rounding)
