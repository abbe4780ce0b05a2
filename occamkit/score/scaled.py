"""A fitness whose predictions are scaled to the target before they are judged, and what that makes of trees."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from torch import Tensor

from occamkit.fit.monomials import Monomials
from occamkit.fit.scaling import Scaling
from occamkit.graph import Expression, Leaf, Product, Sum, product
from occamkit.graph.closed import Power
from occamkit.protocols import Fitness
from occamkit.task.search_problem import SearchProblem


@dataclass(frozen=True)
class Scaled:
    """Judges a·f + b, or a·Πx^p·f, in place of f, with a, b and p the best for each function."""

    inner: Fitness
    scaling: Scaling

    def score(self, predicted: Tensor, target: Tensor) -> Tensor:
        """Score each row of predicted [F, n], scaled, against target [n]: [F]."""
        return self.inner.score(self.scaling.apply(predicted, target), target)

    def ceiling(self, points: int) -> float:
        """Return the inner fitness's own ceiling."""
        return self.inner.ceiling(points)

    def on(self, rows: Tensor) -> Scaled:
        """Return the same for some of the rows [m]."""
        return replace(self, scaling=self.scaling.on(rows))


def scalings(problem: SearchProblem) -> tuple[Scaling, ...]:
    """Return what is solved for in each output, in float64 on the host."""
    kind = problem.settings.scale
    if kind != "monomial":
        return (Scaling(kind),) * len(problem.outputs)
    columns = problem.network_columns[: len(problem.variables)]
    return tuple(
        Scaling(kind, Monomials(problem.powers.in_front(output.unit), columns, target, target))
        for output, target in zip(problem.outputs, problem.targets, strict=True)
    )


def closed(
    tree: Expression, columns: Mapping[str, Tensor], target: Tensor, scaling: Scaling, leaves: Sequence[Leaf]
) -> Expression:
    """Return the tree with what was solved for written around it.

    columns: the inputs [n] by name, in float64, and target [n]. leaves: the variables whose powers may stand in front.
    """
    if not scaling:
        return tree
    factors: tuple[tuple[Expression, Power], ...] = ((tree, 1),)
    if scaling.monomials is not None:
        values = tree.evaluate(columns).expand_as(target).unsqueeze(0)
        exponents = scaling.monomials.exponents(scaling.monomials.solve(values, target)[0][0].tolist())
        factors = (*((leaf, power) for leaf, power in zip(leaves, exponents, strict=True) if power), *factors)
    values = Product(1.0, factors).evaluate(columns).expand_as(target).unsqueeze(0)
    factor, offset = (float(one) for one in scaling.solve(values, target))
    return Sum(offset, ((factor, tree),)) if scaling.kind == "affine" else Product(factor, factors)


def bare(tree: Expression, scaling: Scaling) -> Expression:
    """Return the function inside what `closed` writes around one: what is solved for anyway costs nobody anything."""
    if scaling and isinstance(tree, Sum) and scaling.kind == "affine" and tree.terms:
        first = tree.terms[0][0] or 1.0
        kept = tuple((weight / first, term) for weight, term in tree.terms)
        return bare(kept[0][1], scaling) if len(kept) == 1 else Sum(0.0, kept)
    if scaling and isinstance(tree, Product) and tree.factors:
        powers = scaling.monomials is not None
        factors = [one for one in tree.factors if not (powers and isinstance(one[0], Leaf))] or [tree.factors[-1]]
        return product(1.0, [(one, Fraction(1)) if powers and len(factors) == 1 else (one, p) for one, p in factors])
    return tree
