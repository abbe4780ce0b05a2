"""A fitness whose predictions are scaled to the target before they are judged."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from torch import Tensor

from occamkit.evaluate.monomials import Monomials
from occamkit.evaluate.scaling import Scaling
from occamkit.graph import Expression, Leaf, Product, Sum
from occamkit.graph.closed import Power
from occamkit.protocols import Fitness
from occamkit.task.powers import Powers
from occamkit.task.problem import Problem


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


def scalings(problem: Problem, powers: Powers) -> tuple[Scaling, ...]:
    """Return what is solved for in each output, on the training rows, in float64 on the host."""
    kind = problem.spec.fitness.scale
    if kind != "monomial":
        return (Scaling(kind),) * len(problem.outputs)
    columns, targets = problem.exact_columns("train")[: len(problem.variables)], problem.dataset.part("train")[1]
    return tuple(
        Scaling(kind, Monomials(powers.in_front(output.unit), columns, target, target))
        for output, target in zip(problem.outputs, targets, strict=True)
    )


def closed(
    tree: Expression, columns: dict[str, Tensor], target: Tensor, scaling: Scaling, leaves: Sequence[Leaf]
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
    product = Product(1.0, factors)
    values = product.evaluate(columns).expand_as(target).unsqueeze(0)
    factor, offset = (float(one) for one in scaling.solve(values, target))
    return Sum(offset, ((factor, tree),)) if scaling.kind == "affine" else Product(factor, factors)
