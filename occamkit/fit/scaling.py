"""What is put around a prediction and solved for in closed form, for every function: y ≈ a·f + b, or a·Πx^p·f."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import torch
from torch import Tensor

from occamkit.fit.monomials import Monomials

Kind = Literal["none", "prefactor", "affine", "monomial"]


@dataclass(frozen=True)
class Scaling:
    """What is solved for: nothing, a factor, a factor and an offset, or a factor and powers; by least squares.

    monomials: the powers, which are those of one output on certain rows; only for "monomial".
    """

    kind: Kind = "none"
    monomials: Monomials | None = None

    def __bool__(self) -> bool:
        return self.kind != "none"

    def on(self, rows: Tensor) -> Scaling:
        """Return the same for some rows [m]."""
        return self if self.monomials is None else replace(self, monomials=self.monomials.on(rows))

    def like(self, like: Tensor) -> Scaling:
        """Return the same in another precision or on another device."""
        return self if self.monomials is None else replace(self, monomials=self.monomials.like(like))

    def raised(self, values: Tensor, target: Tensor) -> Tensor:
        """Return values [F, n] with the best powers in front, up to a factor."""
        return values if self.monomials is None else values * self.monomials.solve(values, target)[1]

    def solve(self, values: Tensor, target: Tensor) -> tuple[Tensor, Tensor]:
        """Return factor [F] and offset [F] for values [F, n], powers and all, against target [n].

        A function that is constant has no factor of its own under "affine": it is the offset alone.
        """
        if not self:
            return values.new_ones(values.shape[0]), values.new_zeros(values.shape[0])
        shift, level = self._centre(values), self._centre(target)
        centred, wanted = values - shift.unsqueeze(-1), target - level
        square = centred.square().sum(-1)
        # What is left of a constant after centring is rounding, and must not be blown up to fit.
        flat = square <= (1e-14 if values.dtype == torch.float64 else 1e-7) ** 2 * values.square().sum(-1)
        factor = torch.where(flat, 0.0, (centred * wanted).sum(-1) / torch.where(flat, 1.0, square))
        return factor, level - factor * shift

    def apply(self, values: Tensor, target: Tensor) -> Tensor:
        """Return values [F, n], scaled to fit the target [n] best."""
        if not self:
            return values
        values = self.raised(values, target)
        factor, offset = self.solve(values, target)
        return values * factor.unsqueeze(-1) + offset.unsqueeze(-1)

    def project(self, values: Tensor, slopes: Tensor, target: Tensor) -> tuple[Tensor, Tensor]:
        """Return what is left of the target [F, n], and how the fit moves with each constant [F, c, n].

        Factor and offset follow the constants (variable projection, with Kaufman's simplification), so only that part
        of a slope counts which they cannot make up for. Powers are mostly halves and move in jumps, so they are taken
        as they are at these constants.
        """
        if not self:
            return target - values, slopes
        if self.monomials is not None:
            front = self.monomials.solve(values, target)[1]
            values, slopes = values * front, slopes * front.unsqueeze(1)
        factor, offset = self.solve(values, target)
        residual = target - values * factor.unsqueeze(-1) - offset.unsqueeze(-1)
        centred = (values - self._centre(values).unsqueeze(-1)).unsqueeze(1)  # [F, 1, n]
        slopes = slopes - self._centre(slopes).unsqueeze(-1)
        square = centred.square().sum(-1, keepdim=True)
        share = (slopes * centred).sum(-1, keepdim=True) / torch.where(square > 0, square, 1.0)
        return residual, factor[:, None, None] * (slopes - share * centred)

    def _centre(self, values: Tensor) -> Tensor:
        """Return what an offset takes away: the mean, or nothing."""
        return values.mean(-1) if self.kind == "affine" else values.new_zeros(values.shape[:-1])
