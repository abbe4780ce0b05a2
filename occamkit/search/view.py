"""One output as the exact proposers see it: a subsample of rows, and everything brought to plain numbers.

A target is divided by a product of powers of the inputs that has its unit; what is left is dimensionless, and so are
the ingredients of libraries. In logarithms, constant factors and dimensionless products of powers are linear, and are
projected out on the subsample: what is solved for need not be searched for.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import torch
from torch import Tensor

from occamkit.graph import Expression, Leaf
from occamkit.protocols import Primitive, Variable
from occamkit.search.algebra import product
from occamkit.search.problem import SearchProblem
from occamkit.task.dimensions import Exponents, Scaling, low_monomials, scaling_of_some
from occamkit.units import DIMENSIONLESS, Dim

ROWS = 32
MOST_DISCRETE = 256
FEW_VALUES = 8
"""A column with at most so many different values, in many rows, is not continuous."""
MOST_ZEROS = 0.2
NEARLY, MOST_ROWS = 0.1, 0.7
"""Under noise, an inverse that is wrong by less than this part of the spread on this part of the rows is one."""
_TINY = 1e-12


@dataclass(frozen=True)
class Link:
    """A primitive that the output may be the value of, and the target that is left inside it; None for none."""

    primitive: Primitive | None
    target: Tensor  # [n]


class View:
    """Rows of one output, in float64; `pick` is the subsample."""

    def __init__(self, problem: SearchProblem, output: int, rows: int = ROWS) -> None:
        self.problem = problem
        self.output = output
        self.unit = problem.outputs[output].unit
        self.front: tuple[tuple[Expression, Fraction | float], ...] = ()
        inputs = problem.columns("train")
        self.variables = tuple(one for one in problem.variables if one.value is None or one.unit != DIMENSIONLESS)
        self.numbers = tuple(one for one in problem.variables if one.value is not None and one.unit == DIMENSIONLESS)
        given = [inputs.new_full((1, inputs.shape[1]), one.value) for one in self.variables if one.value is not None]
        columns = torch.cat([inputs, *given])  # [u, n]
        target = problem.targets("train")[output]
        self.discrete = bool(target.numel() > FEW_VALUES) and _few_values(inputs, target)
        zero = columns.abs() <= _TINY * columns.abs().amax(1, keepdim=True)
        self.loggable = (zero.double().mean(1) <= MOST_ZEROS).tolist()
        bad = zero[torch.tensor(self.loggable)].any(0) | ~torch.isfinite(target)
        keep = torch.nonzero(~bad).squeeze(1)
        self.columns = columns.index_select(1, keep)
        self.target = target.index_select(0, keep)
        self.leaves = tuple(Leaf(one.name, one.value) for one in self.variables)
        self.named = {leaf.name: column for leaf, column in zip(self.leaves, self.columns, strict=True)}
        wanted = min(MOST_DISCRETE if self.discrete else rows, keep.numel())
        order = torch.randperm(keep.numel(), generator=torch.Generator().manual_seed(problem.task.seed))
        self.pick = order[:wanted]
        self.free = False
        self.scale = self._scaling()
        self.logs = torch.where(
            torch.tensor(self.loggable)[:, None], self.columns.abs().clamp(min=1e-300).log(), 0.0
        )  # [u, n]

    def _scaling(self) -> Scaling:
        """Return what may stand in front; a unit that no product of powers gives is left to a fitted number."""
        found = scaling_of_some(self.variables, self.loggable, self.unit)
        if found is None:
            self.free = True
            found = scaling_of_some(self.plain, self.loggable, DIMENSIONLESS)
        assert found is not None  # nothing is in the way of plain numbers
        return found

    def divided(self, powers: Exponents, rest: Sequence[int]) -> View:
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
        """Return the values of a product of powers, by size alone where powers are broken: [n]."""
        values = torch.ones_like(self.target)
        for column, exponent in zip(self.columns, exponents, strict=True):
            if exponent:
                base = column if exponent.denominator == 1 else column.abs()
                values = values * torch.pow(base, float(exponent))
        return values

    def factors(self, exponents: Sequence[Fraction | float]) -> list[tuple[Expression, Fraction | float]]:
        """Return the factors of a product of powers, without those of power zero."""
        return [(leaf, power) for leaf, power in zip(self.leaves, exponents, strict=True) if power]

    def monomial_tree(self, exponents: Exponents) -> Expression:
        """Return a product of powers as a tree."""
        return product(1.0, self.factors(exponents))

    def evaluate(self, tree: Expression) -> Tensor:
        """Return the values of a tree on all rows of the view: [n]."""
        return tree.evaluate(self.named).expand_as(self.target)

    def nuisance(self) -> Tensor:
        """Return the logarithms of what is solved for, a constant first, without what follows from the rest: [z, n]."""
        ones = torch.ones_like(self.target)
        rows = [ones, *(self._logs_of(one) for one in self.scale.basis)]
        return torch.stack(rows)

    def _logs_of(self, exponents: Exponents) -> Tensor:
        return self.logs.new_tensor([float(one) for one in exponents]) @ self.logs

    def log_start(self) -> Tensor:
        """Return the logarithm of the product of powers that has the output's unit: [n]."""
        return self._logs_of(self.scale.start)

    def links(self, noisy: bool = False) -> list[Link]:
        """Return the ways in which the output may be the value of a primitive that declares its inverse.

        Only where the primitive gives the output's unit for a plain number, and where the inverse is one on all rows.
        Noise may have put rows where it is none: `noisy` asks for most of them, and is content with nearly.
        """
        found = [Link(None, self.target)]
        for primitive in self.problem.primitives:
            inverse = getattr(primitive, "inverse", None)
            if inverse is None or primitive.arity != 1 or primitive.constants:
                continue
            if not self.free and primitive.units(DIMENSIONLESS) != self.unit:
                continue
            inside = inverse(self.target)
            again = primitive.call(inside)
            if noisy:
                near = (again - self.target).abs() < NEARLY * self.target.std()
                invertible = float(near.double().mean()) > MOST_ROWS
            else:
                invertible = bool(torch.isfinite(inside).all() and torch.allclose(again, self.target, 1e-9, 1e-12))
            if invertible and not _is_power(inside, self.target):
                found.append(Link(primitive, inside))
        return found

    def low(self, most: int) -> list[Exponents]:
        """Return products of the inputs with exponents -1, 0 and 1."""
        return [
            one
            for one in low_monomials(len(self.variables), most)
            if all(loggable or exponent >= 0 for loggable, exponent in zip(self.loggable, one, strict=True))
        ]


def exponential(primitive: Primitive) -> float | None:
    """Return the logarithm of the base if a primitive turns sums into products, as b^x does; else None."""
    if primitive.arity != 1 or primitive.constants:
        return None
    left = torch.tensor([0.3, -0.7, 1.1, 0.2], dtype=torch.float64)
    right = torch.tensor([0.9, 0.4, -0.6, -1.3], dtype=torch.float64)
    joined = primitive.call(left + right)
    one = primitive.call(torch.ones(1, dtype=torch.float64))
    if not torch.allclose(joined, primitive.call(left) * primitive.call(right), rtol=1e-12) or float(one) <= 0:
        return None
    base = float(one.log())
    return base if abs(base) > 1e-9 else None


def _few_values(inputs: Tensor, target: Tensor) -> bool:
    return all(torch.unique(column).numel() <= FEW_VALUES for column in (*inputs, target))


def _is_power(inside: Tensor, target: Tensor) -> bool:
    """Whether one is a power of the other: in logarithms they are the same, and nothing is gained."""
    one, other = inside.abs().log(), target.abs().log()
    both = torch.isfinite(one) & torch.isfinite(other)
    if int(both.sum()) < 3:
        return False
    one, other = one[both] - one[both].mean(), other[both] - other[both].mean()
    cosine = (one @ other) / (one.norm() * other.norm()).clamp(min=1e-300)
    return bool(abs(cosine) > 1 - 1e-9)
