"""A fitness whose predictions are scaled to the target before they are judged."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor

from occamkit.evaluate.scaling import Scaling
from occamkit.graph import Expression, Product, Sum
from occamkit.protocols import Fitness


@dataclass(frozen=True)
class Scaled:
    """Judges a·f + b in place of f, with a and b the best for each function."""

    inner: Fitness
    scaling: Scaling

    def score(self, predicted: Tensor, target: Tensor) -> Tensor:
        """Score each row of predicted [F, n], scaled, against target [n]: [F]."""
        return self.inner.score(self.scaling.apply(predicted, target), target)

    def ceiling(self, points: int) -> float:
        """Return the inner fitness's own ceiling."""
        return self.inner.ceiling(points)


def closed(tree: Expression, values: Tensor, target: Tensor, scaling: Scaling) -> Expression:
    """Return the tree with its factor and offset written around it; values [n] are those of the tree."""
    if not scaling:
        return tree
    factor, offset = (float(one) for one in scaling.solve(values.unsqueeze(0), target))
    if scaling.kind == "prefactor":
        return Product(factor, ((tree, 1),))
    return Sum(offset, ((factor, tree),))
