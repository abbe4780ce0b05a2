"""The length of a description: what a formula leaves of the rows, and the words that it takes.

    length = (n - k)/2 · log(mean square error) + price · cost + k/2 · log(n/k) + digits that cancel

for n rows and k fitted numbers: what it takes to tell the rows one by one to somebody who fits the formula to those
before. The first k tell the numbers alone; the i-th is foretold worse than it is fitted, by a factor of 1 + k/i. The
error is a part of the target's variance; below `NOTHING_LEFT` it is rounding, and nothing is gained any more.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

from occamkit.description.cost import PRICES

PRICE = 1.5
"""What one unit of cost must gain, in units of log likelihood; set by hand. With 1.25 or 2 as many laws are chosen."""
NOTHING_LEFT = 1e-10
"""Errors below this part of the target's spread are rounding."""


def length(square: float, rows: int, cost: float, numbers: int = 0, digits: float = 0.0) -> float:
    """Return the length for a mean square error, as a part of the target's own; infinite where it is undefined."""
    if not math.isfinite(square):
        return math.inf
    told = max(rows - numbers, 0) / 2 * math.log(max(square, NOTHING_LEFT**2))
    return told + own_length(rows, cost, numbers) + digits


def own_length(rows: int, cost: float, numbers: int) -> float:
    """Return the part of the length that the formula itself takes."""
    foretold = math.log(max(rows / max(numbers, 1), math.e))  # of few rows for each number none is foretold
    return PRICE * cost + numbers / 2 * foretold


def by_heart(target: Tensor) -> float:
    """Return what it takes to tell a target [n] without a formula: each of its values, and which one each row has."""
    values, counts = torch.unique(target, return_counts=True)
    cost = torch.where(values == values.round(), 1.0, PRICES.odd).sum()
    return float(PRICE * cost - (counts * (counts / counts.sum()).log()).sum())
