"""The numbers in a formula, and how sure they are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from occamkit.export import Usable
from occamkit.fit import standard_errors
from occamkit.language.parse import Call, Node, Number


@dataclass(frozen=True)
class Measured:
    """A decimal number of a formula and its standard error, None where the rows do not determine it."""

    text: str
    value: float
    error: float | None


def measured(
    usable: Usable, columns: Mapping[str, Tensor], target: Tensor, weights: Tensor | None = None
) -> tuple[Measured, ...]:
    """Return the decimal numbers of a formula with their standard errors.

    The errors are those of linearised least squares on the rows given; see `occamkit.fit.standard_errors`. weights:
    factors of the errors of rows [n].
    """
    numbers = list(_decimals(usable.tree))
    if not numbers:
        return ()
    factors = torch.ones_like(target) if weights is None else weights
    left = float((factors * (usable.predict(columns) - target)).square().sum())
    slopes = torch.stack([factors * _slope(usable, columns, place) for place in range(len(numbers))])
    found: list[float | None] = [None] * len(numbers)
    determined = target.numel() > len(numbers) and bool(torch.isfinite(slopes).all())
    if determined and int(torch.linalg.matrix_rank(slopes)) == len(numbers):
        found = list(standard_errors(slopes, left).tolist())
    return tuple(Measured(text, float(text), error) for text, error in zip(numbers, found, strict=True))


def _decimals(tree: Node) -> Iterator[str]:
    """Yield the numbers that are not whole, from left to right, every occurrence."""
    if isinstance(tree, Number):
        if tree.text.strip("0123456789") and tree.text[0] in "0123456789.":
            yield tree.text
    elif isinstance(tree, Call):
        for argument in tree.arguments:
            yield from _decimals(argument)


def _slope(usable: Usable, columns: Mapping[str, Tensor], place: int) -> Tensor:
    """Return the derivative of the predictions by one number, from two nearby values."""
    value = float(list(_decimals(usable.tree))[place])
    step = 1e-6 * (abs(value) or 1.0)
    high, low = (
        replace(usable, tree=_with(usable.tree, place, value + sign * step)[0]).predict(columns) for sign in (1, -1)
    )
    return (high - low) / (2 * step)


def _with(tree: Node, place: int, value: float) -> tuple[Node, int]:
    """Return a tree with another value for the so-many-th number, and how many numbers are left to count."""
    if isinstance(tree, Number):
        is_one = next(_decimals(tree), None) is not None
        return (Number(repr(value)) if is_one and place == 0 else tree), place - is_one
    if not isinstance(tree, Call):
        return tree, place
    arguments = []
    for argument in tree.arguments:
        changed, place = _with(argument, place, value)
        arguments.append(changed)
    return Call(tree.function, tuple(arguments)), place
