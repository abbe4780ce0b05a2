"""A proposer of monomials: products of small powers of the inputs and constants that have the output's unit.

The factor in front is the median of target over monomial on the training rows; where that is a plain 1 it stays out
of the formula.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated, ClassVar

import torch
from annotated_types import Ge, Le

from occamkit import Leaf, Output, Product, Proposal, SearchBudget, SearchProblem, Variable, units

MOST_FACTORS = 4
"""More variables than this in one monomial are not tried."""


@dataclass(frozen=True)
class Monomials:
    """Products of powers of inputs and constants that have the output's unit, simplest first.

    largest: the largest power. halves: whether powers such as 1/2 and 3/2 are tried too.
    """

    name: ClassVar[str] = "monomials"
    largest: Annotated[int, Ge(1), Le(6)] = 3
    halves: bool = True

    def propose(self, problem: SearchProblem, budget: SearchBudget) -> Iterator[Proposal | None]:
        """Yield monomials for each output in turn, until the budget is spent."""
        steps = 2 if self.halves else 1
        powers = [Fraction(n, steps) for n in range(-self.largest * steps, self.largest * steps + 1) if n]
        powers.sort(key=lambda power: (abs(power) * power.denominator, power < 0))
        useful = [one for one in problem.variables if one.value is None or one.unit != units.DIMENSIONLESS]
        for count in range(1, min(MOST_FACTORS, len(useful)) + 1):
            for chosen in itertools.combinations(useful, count):
                for exponents in itertools.product(powers, repeat=count):
                    if budget.over():
                        return
                    for place, output in enumerate(problem.outputs):
                        if _has_unit(chosen, exponents, output):
                            yield Proposal(_monomial(problem, place, chosen, exponents), place)
                yield None


def _has_unit(variables: Sequence[Variable], exponents: Sequence[Fraction], output: Output) -> bool:
    total = units.DIMENSIONLESS
    for variable, exponent in zip(variables, exponents, strict=True):
        if not isinstance(variable.unit, units.Dim):
            return True
        total = total * variable.unit**exponent
    return units.agree(total, output.unit) is not units.CLASH


def _monomial(
    problem: SearchProblem, place: int, variables: Sequence[Variable], exponents: Sequence[Fraction]
) -> Product:
    factors = tuple((Leaf(one.name, one.value), power) for one, power in zip(variables, exponents, strict=True))
    ratio = problem.targets[place] / Product(1.0, factors).evaluate(problem.named)
    ratio = ratio[torch.isfinite(ratio)]
    coefficient = float(ratio.median()) if ratio.numel() else 1.0
    return Product(1.0 if abs(coefficient - 1) < 1e-9 else coefficient, factors)
