"""Rows with names, units and splits: what a search reads. Everything is in base units."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor

from occamkit.errors import DataError
from occamkit.protocols import Output, Variable
from occamkit.units import PLAIN, Measure

Part = Literal["train", "valid", "test"]

FEWEST_TRAINING_ROWS = 2


@dataclass(frozen=True)
class Scale:
    """How a column's numbers came from the user's: ours = (theirs - shift) · factor."""

    measure: Measure = PLAIN
    factor: float = 1.0
    shift: float = 0.0

    def declared(self, values: Tensor) -> Tensor:
        """Return values as the user has them."""
        return values / self.factor + self.shift


@dataclass(frozen=True)
class Dataset:
    """Inputs and targets in base units, and which rows are for training, choosing and reporting.

    scales: how the columns came from the user's, inputs first, then outputs.
    lines: the line of the file that each row comes from, if it comes from one.
    """

    inputs: Tensor  # [u, n]
    targets: Tensor  # [v, n]
    variables: tuple[Variable, ...]
    outputs: tuple[Output, ...]
    scales: tuple[Scale, ...]
    train: Tensor  # row indices
    valid: Tensor
    test: Tensor
    lines: tuple[int, ...] | None = None

    @property
    def rows(self) -> int:
        """The number of rows, all parts together."""
        return self.inputs.shape[1]

    def part(self, name: Part) -> tuple[Tensor, Tensor]:
        """Return the inputs [u, m] and targets [v, m] of one part."""
        index: Tensor = getattr(self, name)
        return self.inputs.index_select(1, index), self.targets.index_select(1, index)

    def named(self, *parts: Part) -> tuple[dict[str, Tensor], Tensor]:
        """Return the inputs of some parts by their names, each [m], and the targets [v, m]."""
        inputs, targets = (torch.cat(rows, 1) for rows in zip(*map(self.part, parts), strict=True))
        return dict(zip((one.name for one in self.variables), inputs, strict=True)), targets

    def output_scale(self, output: int) -> Scale:
        """Return the scale of an output; the relation of an implicit task is a plain number."""
        place = len(self.variables) + output
        return self.scales[place] if place < len(self.scales) else Scale()


def split_rows(
    rows: int, valid: float, test: float, seed: int, in_order: bool = False
) -> tuple[Tensor, Tensor, Tensor]:
    """Shuffle row numbers by seed and cut them into training, validation and test rows, each in file order.

    in_order: cut them as they come, without shuffling.
    """
    generator = torch.Generator().manual_seed(seed)
    order = torch.arange(rows) if in_order else torch.randperm(rows, generator=generator)
    held_valid, held_test = round(rows * valid), round(rows * test)
    train = rows - held_valid - held_test
    if train < FEWEST_TRAINING_ROWS:
        raise DataError(
            f"{rows} rows leave {max(train, 0)} for training after split = {{ valid = {valid:g}, test = {test:g} }}; "
            f"at least {FEWEST_TRAINING_ROWS} are needed; with so few rows set both to 0"
        )
    cuts = (order[:train], order[train : train + held_valid], order[train + held_valid :])
    return cuts[0].sort().values, cuts[1].sort().values, cuts[2].sort().values


def standardise(columns: Tensor, names: Sequence[str]) -> tuple[Tensor, list[Scale]]:
    """Shift and scale each row of [c, n] to mean 0 and deviation 1, over all rows as the paper does."""
    deviations, means = columns.std(1, correction=0), columns.mean(1)
    for name, value in zip(names, deviations.tolist(), strict=True):
        if value == 0:
            raise DataError(f"column {name!r} has one value only and cannot be standardised", column=name)
    scales = [
        Scale(factor=1 / deviation, shift=mean)
        for deviation, mean in zip(deviations.tolist(), means.tolist(), strict=True)
    ]
    return (columns - means[:, None]) / deviations[:, None], scales
