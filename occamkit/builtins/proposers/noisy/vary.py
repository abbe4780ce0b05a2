"""Numbers inside expressions, fitted: skeletons, and Levenberg-Marquardt over many starts at once.

`fit_constants` is the one door for fitting the numbers of a whole tree; what is behind it may change.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import Tensor

from occamkit import Apply, Expression, Leaf, Product
from occamkit.builtins.proposers.exact.view import OutputView
from occamkit.description import fitted_numbers
from occamkit.fit import TINY, Differences, Scaling, fit, fit_tree
from occamkit.graph import Monomial, is_number

STARTS = (1.0, 0.3, 3.0, 0.1, 0.6, 1.7, 6.0)
"""Factors by which the numbers of inputs are multiplied at first: one of them may be near enough."""
MOST_NUMBERS = 3
COARSE_ROUNDS, ROUNDS = 14, 24
COARSE_ROWS = 48


@dataclass(frozen=True)
class Skeleton:
    """An expression whose numbers are free: one for each input in it, one for each number."""

    tree: Expression
    start: Tensor  # [c]
    scales: Tensor  # [c], which numbers multiply an input


def skeleton_of(tree: Expression) -> Skeleton | None:
    """Free the numbers of an expression; None if there are none, or too many."""
    if isinstance(tree, Product) and tree.coefficient == -1 and len(tree.factors) == 1:
        tree = tree.factors[0][0]
    freed = _freed(tree)
    numbers = [(value, bool(node.below)) for node in freed.nodes() for value in node.own_fitted]
    if not 0 < len(numbers) <= MOST_NUMBERS:
        return None
    values, scales = zip(*numbers, strict=True)
    return Skeleton(freed, torch.tensor(values, dtype=torch.float64), torch.tensor(scales))


def _freed(tree: Expression) -> Expression:
    if is_number(tree):
        like = torch.zeros(1, dtype=torch.float64)
        return Product(float(tree.evaluate({"": like})), ())
    if isinstance(tree, Leaf | Monomial):
        return Product(1.0, ((tree, 1),))
    if isinstance(tree, Apply):
        return Apply(tree.primitive, tuple(map(_freed, tree.arguments)))
    return tree


def blank(tree: Expression) -> str:
    """Return how a tree is written but for its numbers."""
    if is_number(tree):
        return "#"
    if isinstance(tree, Apply):
        below = [blank(one) for one in tree.arguments]
        return f"{tree.primitive.name}({','.join(sorted(below) if tree.primitive.commutative else below)})"
    if isinstance(tree, Product):
        return "*".join(f"{blank(one)}^{power}" for one, power in tree.factors)
    return tree.written()


@dataclass(frozen=True)
class Projected:
    """A target of which weights are solved for: rows weighted, and what may be added projected out."""

    target: Tensor  # [P], projected
    basis: Tensor  # [P, z], orthonormal
    weight: Tensor  # [P]
    columns: Mapping[str, Tensor]  # [P] each
    spanning: Tensor  # [P, z], what is projected out as it was given
    view: OutputView

    def coarse(self) -> Projected:
        """Return the same on a few of the rows."""
        few = slice(0, COARSE_ROWS)
        weight = self.weight[few]
        basis = torch.linalg.qr(self.spanning[few])[0]
        target = self.target[few] - basis @ (basis.T @ self.target[few])
        columns = {name: column[few] for name, column in self.columns.items()}
        return Projected(target, basis, weight, columns, self.spanning[few], self.view)

    def beside(self, rows: Tensor) -> Tensor:
        """Return rows [K, P'] of a finer goal as this one's asides, at unit length."""
        few = rows[:, : self.target.numel()]
        left = few - (few @ self.basis) @ self.basis.T
        unit: Tensor = left / left.norm(dim=1, keepdim=True).clamp(min=TINY)
        return unit

    def residual(self, values: Tensor, aside: Tensor) -> Tensor:
        """Return what the best multiples of values [B, P] and of aside [B, P], or zeros, leave of the target."""
        weighted = values * self.weight
        left = weighted - (weighted @ self.basis) @ self.basis.T
        left = left - (left * aside).sum(1, keepdim=True) * aside
        target = self.target - (aside @ self.target)[:, None] * aside
        length = left.square().sum(1, keepdim=True)
        share = (left * target).sum(1, keepdim=True) / length.clamp(min=1e-30)
        return target - torch.where(length > 1e-24, share, torch.zeros_like(share)) * left


def vary(skeleton: Skeleton, logs: bool, goal: Projected, aside: Tensor) -> tuple[Tensor, Tensor]:
    """Fit the numbers of a skeleton beside each row of aside [K, P], from several starts.

    logs: whether the skeleton takes part by its logarithm. Returns numbers [K, c] and what is left of the target [K].
    """
    many = len(aside)
    starts = torch.tensor(STARTS, dtype=torch.float64)
    numbers = torch.where(skeleton.scales, skeleton.start * starts[:, None], skeleton.start)  # [S, c]
    numbers = numbers.repeat_interleave(many, 0)  # [S·K, c]
    numbers, error = _varied(skeleton, logs, goal, numbers, aside.repeat(len(starts), 1), COARSE_ROUNDS)
    error = error.view(len(starts), many)
    best = error.argmin(0)  # [K]
    chosen = numbers.view(len(starts), many, numbers.shape[1])[best, torch.arange(many)]
    return chosen, error.gather(0, best[None])[0]


def refine(skeleton: Skeleton, logs: bool, goal: Projected, aside: Tensor, numbers: Tensor) -> tuple[Tensor, Tensor]:
    """Fit the numbers of a skeleton further, from where they are [K, c]; return them and what is left [K]."""
    return _varied(skeleton, logs, goal, numbers, aside, ROUNDS)


def _varied(
    skeleton: Skeleton, logs: bool, goal: Projected, numbers: Tensor, aside: Tensor, rounds: int
) -> tuple[Tensor, Tensor]:
    nodes = sum(1 for _ in skeleton.tree.nodes())

    def left(trial: Tensor, members: Tensor) -> Tensor:
        goal.view.computed(nodes + 10, (nodes + 6) * len(trial) * goal.target.numel())
        values = skeleton.tree.evaluate(goal.columns, trial).expand(len(trial), goal.target.numel())
        return -goal.residual(values.abs().log() if logs else values, aside.index_select(0, members))

    every = torch.ones(numbers.shape[1], dtype=torch.bool)
    model = Differences(left, torch.arange(len(numbers)), every)
    found = fit(model, numbers, torch.zeros_like(goal.target), Scaling(), rounds)
    return found.constants, found.error / goal.target.square().sum().clamp(min=TINY)


def fit_constants(tree: Expression, view: OutputView, rounds: int = 12) -> Expression:
    """Fit all numbers of a tree but ones, signs and zeros to the output, from where they are."""
    nodes = sum(1 for _ in tree.nodes()) * rounds * 2 * fitted_numbers(tree)
    view.computed(nodes, nodes * view.target.numel())
    return fit_tree(tree, view.named, view.target, None, rounds)[0]
