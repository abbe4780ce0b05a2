"""The rows of one output as tables: few for a first look, more, and all; each holds the one before.

Inputs are divided by their spread, and stand alone about their mean: then constants are of the order of one, whatever
the units of measurement are. Where columns carry units there are two views of the same rows: the output divided by a
product of powers that has its unit, over dimensionless groups, in which no number needs a unit; and columns as they
are.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import torch

from occamkit import Expression, Leaf, SearchProblem, Variable
from occamkit.builtins.proposers.free_constants.settings import SETTINGS
from occamkit.builtins.proposers.free_constants.skeleton import POWERS
from occamkit.dimensions import Exponents, scaling_of_some
from occamkit.graph import Monomial, Power, product
from occamkit.kernel import Numbers, RowTable
from occamkit.units import DIMENSIONLESS


@dataclass(frozen=True)
class View:
    """What formulas are over: inputs as trees with their values [u, n], and what stands in front with its values [n].

    plain: which inputs have no unit, so that a power of them may be fitted. scale: by what the values in front are less
    than they say. inverted: whether formulas stand for one over the output.
    """

    inputs: tuple[Expression, ...]
    columns: Numbers
    plain: tuple[bool, ...]
    front: tuple[tuple[Expression, Power], ...] = ()
    in_front: Numbers | None = None
    scale: float = 1.0
    inverted: bool = False

    def front_alone(self, target: Numbers, factors: Numbers | None) -> Expression | None:
        """Return what stands in front times the best number, for a target [n]; factors: of errors [n]."""
        if self.in_front is None or not self.front:
            return None
        largest = float(np.abs(target).max())
        shown, wanted = (one if factors is None else one * factors for one in (self.in_front, target / largest))
        return product(float(shown @ wanted / (shown @ shown)) * largest * self.scale, self.front)


@dataclass(frozen=True)
class Rows:
    """Tables of nested rows, and how their columns were made.

    means, scales: of each input. signs: of inputs with one sign and no zero, else 0. spread: the sum of squares of the
    output about its mean, on all rows. sample: one row of the inputs. level: what formulas are multiplied by.
    """

    view: View
    tables: tuple[RowTable, ...]
    means: Numbers
    scales: Numbers
    signs: Numbers
    spread: float
    sample: Mapping[str, torch.Tensor]
    level: float

    @property
    def count(self) -> int:
        """How many rows there are in the largest table."""
        return self.tables[-1].rows

    @classmethod
    def of(cls, problem: SearchProblem, output: int, view: View, factors: Numbers | None = None) -> Rows | None:
        """Make the tables of an output in a view; None where there is nothing to be found.

        factors: of the errors of rows [n], of geometric mean one.
        """
        columns, target = view.columns, problem.targets[output].numpy()
        order = torch.randperm(target.shape[0], generator=torch.Generator().manual_seed(problem.seed)).numpy()
        order = order[: SETTINGS.most_rows]
        if len(order) < SETTINGS.fewest_rows or not np.ptp(target[order]) > 0 or not len(columns):
            return None
        means, scales = columns.mean(1), columns.std(1)
        smallest = np.abs(columns).min(1)
        signs = np.where(smallest > SETTINGS.near_zero * scales, np.sign(columns[:, 0]), 0.0)
        signs[(np.sign(columns) != np.sign(columns[:, :1])).any(1)] = 0.0
        weights = np.ones(len(target)) if factors is None else factors
        weights = weights if problem.weights is None else weights * problem.weights.sqrt().numpy()
        level = np.abs(target).max()
        wanted = target / level if view.in_front is None else target / level / view.in_front
        weights = weights if view.in_front is None else weights * np.abs(view.in_front)
        if view.inverted:
            if not (np.abs(wanted) > 0).all():
                return None
            wanted, weights = 1 / wanted, weights * wanted**2  # an error of y is one of 1/y that is less by y²
        tables = []
        for size in (*SETTINGS.rows, len(order)):
            some = order[: min(size, len(order))]
            tables.append(RowTable.of(_columns(columns[:, some], means, scales, signs), wanted[some], weights[some]))
        about = target[order] / level - (target[order] / level).mean()
        sample = {name: column[order[:1].copy()] for name, column in problem.named.items()}
        return cls(view, tuple(tables), means, scales, signs, float(about @ about), sample, float(level * view.scale))


def views(problem: SearchProblem, output: int) -> Iterator[View]:
    """Yield the views of an output: over dimensionless groups where there are units, and over the columns."""
    variables = [one for one in problem.variables if one.value is None or one.unit != DIMENSIONLESS]
    columns = np.stack([_values(problem, one) for one in variables]) if variables else np.zeros((0, 1))
    if any(one.unit != DIMENSIONLESS for one in variables):
        grouped = _grouped(problem, output, variables, columns)
        if grouped is not None:
            yield grouped
    inputs = [place for place, column in enumerate(columns) if np.ptp(column) > 0]
    plain = tuple(variables[place].unit == DIMENSIONLESS for place in inputs)
    yield View(tuple(_leaf(variables[place]) for place in inputs), columns[inputs], plain)


def _grouped(problem: SearchProblem, output: int, variables: Sequence[Variable], columns: Numbers) -> View | None:
    loggable = [bool((np.abs(column) > 0).all()) for column in columns]
    found = scaling_of_some(variables, loggable, problem.outputs[output].unit)
    if found is None:
        return None
    leaves = [_leaf(one) for one in variables]
    trees, values = list[Expression](), list[Numbers]()
    for exponents in found.basis:
        made = _product(columns, exponents)
        if np.ptp(made) > 0:
            trees.append(_tree(leaves, exponents))
            values.append(made)
    for leaf, one, column, able in zip(leaves, variables, columns, loggable, strict=True):
        if not able and one.unit == DIMENSIONLESS and np.ptp(column) > 0:
            trees.append(leaf)
            values.append(column)
    front = tuple((leaf, power) for leaf, power in zip(leaves, found.start, strict=True) if power)
    in_front = _product(columns, found.start)
    made = np.array(values).reshape(len(values), columns.shape[1])
    if not (np.isfinite(made).all() and np.isfinite(in_front).all()):
        return None
    largest = float(np.abs(in_front).max())
    return View(tuple(trees), made, (True,) * len(trees), front, in_front / largest, 1 / largest)


def _leaf(one: Variable) -> Leaf:
    return Leaf(one.name, one.value)


def _values(problem: SearchProblem, one: Variable) -> Numbers:
    rows = problem.columns.shape[1]
    values: Numbers = problem.named[one.name].numpy() if one.value is None else np.full(rows, one.value)
    return values


def _tree(leaves: Sequence[Leaf], exponents: Exponents) -> Expression:
    factors = tuple((leaf, power) for leaf, power in zip(leaves, exponents, strict=True) if power)
    return factors[0][0] if len(factors) == 1 and factors[0][1] == 1 else Monomial(factors)


def _product(columns: Numbers, exponents: Exponents) -> Numbers:
    made = np.ones(columns.shape[1])
    with np.errstate(all="ignore"):
        for column, power in zip(columns, exponents, strict=True):
            if power:
                made = made * column ** float(power)
    return made


def _columns(columns: Numbers, means: Numbers, scales: Numbers, signs: Numbers) -> Numbers:
    """Return for each input its powers, itself about its mean, and its logarithm: [u · width, n]."""
    made = []
    for column, mean, scale, sign in zip(columns, means, scales, signs, strict=True):
        plain = column / scale
        size = np.abs(plain)
        for power in POWERS:
            exponent = Fraction(power, 4)
            if exponent.denominator == 1 and (power > 0 or sign):
                made.append(plain ** float(exponent))
            else:
                made.append(size ** float(exponent) if sign else np.zeros_like(plain))
        made += [(column - mean) / scale, np.log(size) if sign else np.zeros_like(plain)]
    return np.stack(made)
