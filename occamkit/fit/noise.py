"""What errors of measurement are like: the same on all rows, or a part of the value.

Errors that are parts of values are normal in the logarithms, and as a model of rows they are told by the geometric mean
of the target times the root mean square error of the logarithms: that is what a normal error of the same likelihood
would be, so formulas under either model are compared in one number. Where they are small, they are normal errors with a
factor for each row, of geometric mean one; so numbers are fitted.
"""

from __future__ import annotations

import math

from torch import Tensor

LEAST_RANGE = 0.5
"""The deviation of the logarithms of a target below which both models say nearly the same."""


def size_of(target: Tensor) -> float | None:
    """Return the geometric mean of a target [n] whose errors may be parts of its values, with its sign; else None.

    Nor does it matter where all values are alike.
    """
    if target.numel() < 2 or not (bool((target > 0).all()) or bool((target < 0).all())):
        return None
    logs = target.abs().double().log()
    size = math.copysign(math.exp(float(logs.mean())), float(target[0]))
    return size if float(logs.std(correction=0)) >= LEAST_RANGE else None


def of_values(predicted: Tensor, target: Tensor, size: float) -> float:
    """Return what errors of predictions [n] of a target [n] of this size come to; infinite where a sign is wrong."""
    left = float((predicted / target).log().square().mean()) ** 0.5
    return abs(size) * left if math.isfinite(left) else math.inf


def proportional(target: Tensor) -> Tensor | None:
    """Return the factors [n] of errors that are parts of the values [n]."""
    size = size_of(target)
    return None if size is None else size / target
