"""What errors of measurement are like: the same on all rows, or a part of the value.

Such a model is a factor for the error of each row, of geometric mean one. Then the mean square of errors times factors
is all that the likelihoods of two models differ by, and formulas under either are compared in one number.
"""

from __future__ import annotations

import math

from torch import Tensor

LEAST_RANGE = 0.5
"""The deviation of the logarithms of a target below which both models say nearly the same."""


def size_of(target: Tensor) -> float | None:
    """Return the geometric mean of a target [n] whose errors may be parts of its values; None where they cannot be.

    Nor does it matter where all values are alike.
    """
    if target.numel() < 2 or not (bool((target > 0).all()) or bool((target < 0).all())):
        return None
    logs = target.abs().double().log()
    return math.exp(float(logs.mean())) if float(logs.std(correction=0)) >= LEAST_RANGE else None


def proportional(target: Tensor) -> Tensor | None:
    """Return the factors [n] of errors that are parts of the values [n]."""
    size = size_of(target)
    return None if size is None else size / target.abs()
