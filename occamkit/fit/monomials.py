"""Products of powers in front of functions, y ≈ a · Π x^p · f, solved in closed form for every function at once.

In logarithms the exponents are linear: log |y| − log |f| ≈ log a + Σ p · log |x|. Noise is alike on all rows, so that
of log |y| goes as 1 / |y|, and rows are weighted by the size of the target. What is linear is read off by products with
vectors that are made once. Exponents are then made halves, or whole numbers for columns with negative values, unless
that makes the fit much worse; and where the start alone fits better than both, it is taken.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import torch
from torch import Tensor

from occamkit.dimensions.powers import InFront

MOST_POWER = 6.0
"""Exponents beyond this are no law but a function that does not fit."""
_EARNED = 4.0
"""How many times the squares that fractional exponents leave must be left by halves. Whatever the function, they fit a
little better, and a search that rewards this ends with functions that are nearly right."""
_ROUNDING = 64.0
"""Roundings of a value, in units of the last place, by which a perfect fit may be off."""
_INDEPENDENT = 1e-7
"""What is left of a row after those before it, as a part of the row; less is rounding."""
_SAME = 1e-9
"""Exponents in double precision that are nearer than this are the same."""

Power = Fraction | float


class Monomials:
    """What may stand in front, on some rows, for functions as one output.

    columns: [u, n] and target: [n], both in float64 on the host. Work is done in the precision and on the device of
    `like`.
    """

    def __init__(self, in_front: InFront, columns: Tensor, target: Tensor, like: Tensor) -> None:
        self.in_front, self._columns, self._target, self._like = in_front, columns, target, like
        used = [any(powers) for powers in zip(in_front.start, *in_front.rows, strict=True)]
        logs = torch.where(torch.tensor(used, device=columns.device).unsqueeze(1), columns.abs().log(), 0.0)
        logs = logs - logs.mean(1, keepdim=True)  # factors are solved for anyway, and so products stay near one
        start, rows = _numbers([in_front.start], columns), _numbers(in_front.rows, columns)  # [1, u], [k, u]
        weight = torch.where(torch.isfinite(target), target.abs(), 0.0)
        reader, self._kept = _reader(rows @ logs, weight)
        rows, pivots = rows[self._kept], [in_front.pivots[place] for place in self._kept]
        signed = [place for place, one in enumerate(in_front.signed) if one and used[place]]
        sizes = torch.where(weight > 0, weight, 1.0).log() - (start @ logs)[0]
        odd = (start[0, signed].unsqueeze(1) * (columns[signed] < 0)).sum(0).remainder(2)
        self._wanted = self._cast(sizes)  # [n]
        self._start = self._cast((start @ logs)[0].exp() * (1 - 2 * odd))  # [n]
        self._rows = self._cast(rows @ logs)  # [k, n]
        self._reader = self._cast(reader)  # [k, n]
        self._pivots = self._cast(start[0, pivots])  # [k]
        self._whole = torch.tensor([place in signed for place in pivots], device=like.device)  # [k]
        self._negative = self._cast(columns[signed] < 0)  # [q, n]
        self._signed = self._cast(rows[:, signed])  # [k, q]
        self._bound = (self._signed != 0).any(1)  # [k], which move exponents that must be whole
        self._floor = (_ROUNDING * torch.finfo(like.dtype).eps) ** 2

    def _cast(self, values: Tensor) -> Tensor:
        return values.to(self._like.device, self._like.dtype)

    def on(self, rows: Tensor) -> Monomials:
        """Return the same on some rows [m]."""
        some = rows.to(self._columns.device)
        return Monomials(self.in_front, self._columns[:, some], self._target[some], self._like)

    def like(self, like: Tensor) -> Monomials:
        """Return the same in another precision or on another device."""
        return Monomials(self.in_front, self._columns, self._target, like)

    def solve(self, values: Tensor, target: Tensor) -> tuple[Tensor, Tensor]:
        """Return the best weights [F, k], and what stands in front [F, n] but for a factor, of functions [F, n].

        Weights are those of the rows that the data can tell from each other.
        """
        start = self._start.expand_as(values)
        nothing = values.new_zeros(values.shape[0], len(self._rows))
        if not len(self._rows):
            return nothing, start
        exact = self._read(values)
        snapped = self._snapped(exact)
        near = (exact - snapped).abs() <= torch.finfo(values.dtype).eps ** 0.5
        exact = torch.where(self._bound | near, snapped, exact)
        simple, loose = self._product(snapped), self._product(exact)  # [F, n]
        errors = [_left(values * front, target) for front in (start, simple, loose)]
        floor = self._floor * target.square().sum()
        worse = errors[1] > _EARNED * errors[2] + floor
        chosen = torch.where(worse, errors[2], errors[1])
        # False where nothing is defined, so that what is undefined stays what it was.
        better = chosen < errors[0]
        weights = torch.where(worse.unsqueeze(1), exact, snapped)
        front = torch.where(worse.unsqueeze(1), loose, simple)
        return torch.where(better.unsqueeze(1), weights, nothing), torch.where(better.unsqueeze(1), front, start)

    def exponents(self, weights: Sequence[float]) -> tuple[Power, ...]:
        """Return the exponent of each column for weights [k]: a fraction wherever the weights that move it are."""
        exponents: list[Power] = list(self.in_front.start)
        for place, weight in zip(self._kept, weights, strict=True):
            pivot = self.in_front.start[self.in_front.pivots[place]]
            half = Fraction(round(2 * (float(pivot) + weight)), 2)
            moved = half - pivot if abs(float(half - pivot) - weight) < _SAME else weight
            for column, step in enumerate(self.in_front.rows[place] if weight else ()):
                if step:
                    exponents[column] = _sum(exponents[column], moved, step)
        return tuple(exponents)

    def _read(self, values: Tensor) -> Tensor:
        """Return the weights [F, k] that are best in logarithms."""
        left = self._wanted - values.abs().clamp_(min=torch.finfo(values.dtype).tiny).log_()  # [F, n]
        # Row by row and not as one product of matrices, whose rounding would depend on how many functions there are.
        return torch.stack([(left * row).sum(-1) for row in self._reader], 1)

    def _snapped(self, weights: Tensor) -> Tensor:
        """Return the weights [F, k] that make pivots halves, or whole numbers."""
        steps = torch.where(self._whole, 1.0, 2.0).to(weights)
        return ((weights + self._pivots) * steps).round() / steps - self._pivots

    def _product(self, weights: Tensor) -> Tensor:
        """Return the products [F, n] of weights [F, k]; NaN where a power is not defined, or beyond reason."""
        beyond = ((weights + self._pivots).abs() > MOST_POWER).any(1)
        logs = torch.zeros_like(self._start).expand(weights.shape[0], -1)
        for weight, row in zip(weights.unbind(1), self._rows, strict=True):
            logs = logs + weight.unsqueeze(1) * row
        front = logs.exp() * self._start
        for place, negative in enumerate(self._negative):
            power = (weights * self._signed[:, place]).sum(1)
            beyond = beyond | ((power - power.round()).abs() > 1e-4)
            front = front * (1 - 2 * power.round().remainder(2).unsqueeze(1) * negative)
        return front.masked_fill(beyond.unsqueeze(1), torch.nan)


def _left(values: Tensor, target: Tensor) -> Tensor:
    """Return the sum of squares [F] that values [F, n] leave with the best factor; infinite where it is undefined."""
    factor = (values * target).sum(-1) / values.square().sum(-1)
    left = (target - factor.unsqueeze(-1) * values).square().sum(-1)
    return torch.where(torch.isfinite(left), left, torch.inf)


def _reader(rows: Tensor, weight: Tensor) -> tuple[Tensor, list[int]]:
    """Return what reads weights of rows [k, n] off rows of logarithms [m, n], and which rows can be told apart.

    The best fit is by squares, weighted by weight² [n], with a constant besides.
    """
    basis = [weight / weight.norm().clamp(min=torch.finfo(weight.dtype).tiny)]
    kept = []
    for place, row in enumerate(rows * weight):
        rest = row
        for _ in range(2):  # the second time for what rounding has left
            for one in basis:
                rest = rest - (rest @ one) * one
        if float(rest.norm()) > _INDEPENDENT * float(row.norm()):
            basis.append(rest / rest.norm())
            kept.append(place)
    if not kept:
        return rows[:0], kept
    design = torch.cat([weight.unsqueeze(0), rows[kept] * weight])
    return torch.linalg.pinv(design.T)[1:] * weight, kept


def _numbers(exponents: Sequence[Sequence[Fraction]], like: Tensor) -> Tensor:
    return like.new_tensor([[float(one) for one in row] for row in exponents]).view(len(exponents), len(like))


def _sum(exponent: Power, moved: Power, step: Fraction) -> Power:
    exact = isinstance(exponent, Fraction) and isinstance(moved, Fraction)
    return exponent + moved * step if exact else float(exponent) + float(moved) * float(step)
