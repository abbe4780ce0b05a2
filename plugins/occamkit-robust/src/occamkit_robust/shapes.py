"""Penalties for formulas whose shape is known to be wrong, whatever their error on the rows.

Each draws points of its own before the run and evaluates candidates there. A penalty is the share of points, or of
steps, at which the formula is wrong: 0 for none, 1 for all.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

import torch
from annotated_types import Ge, Gt

from occamkit import Expression, Output, Problem, Stage
from occamkit.errors import UserError
from occamkit_robust.points import Box, Columns, Prepared


@dataclass(frozen=True)
class Monotone:
    """Asks that the output rise, or fall, with an input.

    rising, falling: names of inputs. The penalty is the share of small steps along them that go the wrong way.
    """

    name: ClassVar[str] = "monotone"
    stage: ClassVar[Stage] = Stage.TREE
    weight: float = 1.0
    rising: tuple[str, ...] = ()
    falling: tuple[str, ...] = ()

    def prepare(self, problem: Problem) -> Prepared:
        """Draw lines along each input that is named."""
        box, steps = Box(problem), 16
        box.require(self.name, (*self.rising, *self.falling))
        lines = [
            (box.line(name, steps), 1.0 if name in self.rising else -1.0) for name in (*self.rising, *self.falling)
        ]

        def measure(tree: Expression, output: Output) -> float:
            shares = [_wrong_steps(tree, columns, sign, steps) for columns, sign in lines]
            return sum(shares) / max(len(shares), 1)

        return Prepared(self.name, self.weight, measure)


def _wrong_steps(tree: Expression, columns: Columns, sign: float, steps: int) -> float:
    values = tree.evaluate(columns).reshape(-1, steps)
    rises = sign * values.diff(dim=1)
    size = values.abs().nan_to_num(0.0, 0.0, 0.0).amax() * 1e-9  # rounding is no step
    return float((~(rises >= -size)).double().mean())


@dataclass(frozen=True)
class Bounds:
    """Asks that the output stay between two numbers, in its declared unit.

    low, high: either may be absent. beyond: how far outside the data's range to look, in parts of its width.
    """

    name: ClassVar[str] = "bounds"
    stage: ClassVar[Stage] = Stage.TREE
    weight: float = 1.0
    low: float | None = None
    high: float | None = None
    beyond: Annotated[float, Ge(0)] = 0.0

    def prepare(self, problem: Problem) -> Prepared:
        """Draw points in the data's range, and beyond it if asked to."""
        if self.low is not None and self.high is not None and self.low > self.high:
            raise UserError(f"{self.name}: low = {self.low:g} is above high = {self.high:g}")
        box = Box(problem)
        columns = box.drawn(self.beyond)

        def measure(tree: Expression, output: Output) -> float:
            values = box.declared(tree.evaluate(columns), output)
            inside = torch.ones_like(values, dtype=torch.bool)
            if self.low is not None:
                inside &= values >= self.low - 1e-9 * abs(self.low)
            if self.high is not None:
                inside &= values <= self.high + 1e-9 * abs(self.high)
            return float((~inside).double().mean())

        return Prepared(self.name, self.weight, measure)


@dataclass(frozen=True)
class Symmetry:
    """Asks that the output stay the same when an input changes its sign, or two inputs change places.

    even, odd: inputs whose sign does not matter, or carries over. exchange: inputs that may stand for one another.
    The penalty is the mean difference, as a part of the output's size, and at most 1.
    """

    name: ClassVar[str] = "symmetry"
    stage: ClassVar[Stage] = Stage.TREE
    weight: float = 1.0
    even: tuple[str, ...] = ()
    odd: tuple[str, ...] = ()
    exchange: tuple[str, ...] = ()

    def prepare(self, problem: Problem) -> Prepared:
        """Draw points, and their images."""
        box = Box(problem)
        box.require(self.name, (*self.even, *self.odd, *self.exchange))
        columns = box.drawn()
        images: list[tuple[Columns, float]] = [({**columns, name: -columns[name]}, 1.0) for name in self.even]
        images += [({**columns, name: -columns[name]}, -1.0) for name in self.odd]
        for one, other in zip(self.exchange, self.exchange[1:], strict=False):
            images.append(({**columns, one: columns[other], other: columns[one]}, 1.0))

        def measure(tree: Expression, output: Output) -> float:
            values = tree.evaluate(columns)
            shares = [_difference(values, sign * tree.evaluate(image)) for image, sign in images]
            return sum(shares) / max(len(shares), 1)

        return Prepared(self.name, self.weight, measure)


def _difference(values: torch.Tensor, images: torch.Tensor) -> float:
    size = values.abs() + images.abs()
    share = (values - images).abs() / torch.where(size > 0, size, torch.ones_like(size))
    share = torch.where(share < 1e-9, torch.zeros_like(share), share)  # rounding is no difference
    return float(share.nan_to_num(1.0).clamp(max=1.0).mean())


@dataclass(frozen=True)
class Extrapolation:
    """Asks that the output stay tame outside the data's range.

    beyond: how far outside to look, in parts of the range's width. most: how large values may be there, in
    half-widths of the training targets from their middle.
    """

    name: ClassVar[str] = "extrapolation"
    stage: ClassVar[Stage] = Stage.TREE
    weight: float = 0.5
    beyond: Annotated[float, Gt(0)] = 0.5
    most: Annotated[float, Gt(1)] = 20.0

    def prepare(self, problem: Problem) -> Prepared:
        """Draw points outside the data's range."""
        box = Box(problem)
        columns = box.drawn(self.beyond, only_outside=True)

        def measure(tree: Expression, output: Output) -> float:
            middle, half = box.spread(output)
            tame = (tree.evaluate(columns) - middle).abs() <= self.most * half
            return float((~tame).double().mean())

        return Prepared(self.name, self.weight, measure)


REGULARIZERS = (Monotone, Bounds, Symmetry, Extrapolation)
