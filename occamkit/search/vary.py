"""Numbers inside expressions, fitted: skeletons, and Levenberg-Marquardt over many starts at once.

`fit_constants` is the one door for fitting the numbers of a whole tree; what is behind it may change.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import torch
from torch import Tensor

from occamkit.graph import Apply, Expression, Leaf, Monomial, Product, Sum
from occamkit.score.trees import SIGNS
from occamkit.search.algebra import is_number

STARTS = (1.0, 0.3, 3.0, 0.1, 0.6, 1.7, 6.0)
"""Factors by which the numbers of inputs are multiplied at first: one of them may be near enough."""
MOST_NUMBERS = 3
COARSE_ROUNDS, ROUNDS = 14, 24
COARSE_ROWS = 48
STEP = 1e-7
_NONE = 1e300


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


def values_of(tree: Expression, numbers: Tensor, columns: Mapping[str, Tensor]) -> Tensor:
    """Return the values [B, n] of a tree for many choices of its numbers [B, c]."""
    rest = iter(numbers.unbind(1))
    return _values(tree, rest, columns, numbers.shape[0])


def _values(tree: Expression, numbers: Iterator[Tensor], columns: Mapping[str, Tensor], many: int) -> Tensor:
    like = next(iter(columns.values()))
    if isinstance(tree, Leaf | Monomial):
        return tree.evaluate(columns).unsqueeze(0).expand(many, like.numel())
    mine = [next(numbers)[:, None] for _ in range(tree.own_constants)]
    below = [_values(one, numbers, columns, many) for one in tree.below]
    if isinstance(tree, Apply):
        return tree.primitive.call(*below, *mine)
    result = mine[0].expand(many, like.numel())
    if isinstance(tree, Product):
        for values, (_, power) in zip(below, tree.factors, strict=True):
            result = result * (values if power == 1 else torch.pow(values, float(power)))
        return result
    assert isinstance(tree, Sum)
    for values, weight in zip(below, mine[1:], strict=True):
        result = result + weight * values
    return result


@dataclass(frozen=True)
class Projected:
    """A target of which weights are solved for: rows weighted, and what may be added projected out."""

    target: Tensor  # [P], projected
    basis: Tensor  # [P, z], orthonormal
    weight: Tensor  # [P]
    columns: Mapping[str, Tensor]  # [P] each
    spanning: Tensor  # [P, z], what is projected out as it was given

    def coarse(self) -> Projected:
        """Return the same on a few of the rows."""
        few = slice(0, COARSE_ROWS)
        weight = self.weight[few]
        basis = torch.linalg.qr(self.spanning[few])[0]
        target = self.target[few] - basis @ (basis.T @ self.target[few])
        columns = {name: column[few] for name, column in self.columns.items()}
        return Projected(target, basis, weight, columns, self.spanning[few])

    def beside(self, rows: Tensor) -> Tensor:
        """Return rows [K, P'] of a finer goal as this one's asides, at unit length."""
        few = rows[:, : self.target.numel()]
        left = few - (few @ self.basis) @ self.basis.T
        unit: Tensor = left / left.norm(dim=1, keepdim=True).clamp(min=1e-300)
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
    def residual(trial: Tensor, beside: Tensor) -> Tensor:
        values = values_of(skeleton.tree, trial, goal.columns)
        return goal.residual(values.abs().log() if logs else values, beside)

    numbers, error = least_squares(residual, numbers, aside, rounds)
    return numbers, error / goal.target.square().sum().clamp(min=1e-300)


def least_squares(
    residual: Callable[[Tensor, Tensor], Tensor], numbers: Tensor, beside: Tensor, rounds: int
) -> tuple[Tensor, Tensor]:
    """Minimise Σ residual(numbers [B, c], beside [B, P])² for each of B problems; return numbers and sums [B]."""
    many, count = numbers.shape
    damping = torch.full((many,), 1e-2, dtype=torch.float64)
    here = residual(numbers, beside)
    error = _squares(here)
    eye = torch.eye(count, dtype=torch.float64)
    for _ in range(rounds):
        if bool((error < 1e-24).any()) or not bool((error < _NONE).any()):
            break
        step = STEP * numbers.abs().clamp(min=1e-3)  # [B, c]
        moved = (numbers[:, None] + step[:, None] * eye).reshape(many * count, count)
        slopes = residual(moved, beside.repeat_interleave(count, 0)).view(many, count, -1)
        slopes = torch.nan_to_num((slopes - here[:, None]) / step[:, :, None], nan=0.0, posinf=0.0, neginf=0.0)
        normal = slopes @ slopes.transpose(1, 2)  # [B, c, c]
        diagonal = normal.diagonal(dim1=1, dim2=2)
        damped = normal + torch.diag_embed(damping[:, None] * diagonal + 1e-12 * diagonal.amax(1, keepdim=True) + 1e-30)
        gradient = (slopes @ torch.nan_to_num(here).unsqueeze(2)).squeeze(2)
        trial = numbers - torch.linalg.solve_ex(damped, gradient)[0]
        there = residual(trial, beside)
        after = _squares(there)
        better = after < error
        if not bool((after < (1 - 1e-4) * error).any()) and bool((damping > 1e3).all()):
            break
        numbers = torch.where(better[:, None], trial, numbers)
        here = torch.where(better[:, None], there, here)
        error = torch.where(better, after, error)
        damping = torch.where(better, damping / 5, damping * 4).clamp(1e-12, 1e8)
    return numbers, error


def _squares(residual: Tensor) -> Tensor:
    return torch.nan_to_num(residual.square().sum(1), nan=_NONE, posinf=_NONE)


def fit_constants(tree: Expression, columns: Mapping[str, Tensor], target: Tensor, rounds: int = 12) -> Expression:
    """Fit all numbers of a tree but ones, signs and zeros to a target [n], from where they are."""
    given = torch.tensor(tree.fitted, dtype=torch.float64)
    if given.numel() == 0:
        return tree
    free = torch.tensor([value not in (0.0, *SIGNS) for value in tree.fitted])
    if not bool(free.any()):
        return tree
    places = torch.nonzero(free).squeeze(1)
    size = target.square().mean().sqrt()

    def residual(trial: Tensor, _: Tensor) -> Tensor:
        whole = given.expand(len(trial), -1).clone()
        whole[:, places] = trial
        return (values_of(tree, whole, columns) - target) / size

    numbers, _ = least_squares(residual, given[places].unsqueeze(0), target.unsqueeze(0), rounds)
    whole = given.clone()
    whole[places] = numbers[0]
    return tree.with_constants(whole.tolist())
