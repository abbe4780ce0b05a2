"""Rows with names, units and splits: what a search reads. Everything is in base units."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import torch
from torch import Tensor

from occamkit.errors import DataError
from occamkit.protocols import Output, Variable
from occamkit.units import Measure

Part = Literal["train", "valid", "test"]

FEWEST_TRAINING_ROWS = 2


@dataclass(frozen=True)
class Dataset:
    """Inputs and targets in base units, and which rows are for training, choosing and reporting.

    measures: the units as declared, inputs first; dividing a base-unit value by the factor gives the user's number.
    """

    inputs: Tensor  # [u, n]
    targets: Tensor  # [v, n]
    variables: tuple[Variable, ...]
    outputs: tuple[Output, ...]
    measures: tuple[Measure, ...]
    train: Tensor  # row indices
    valid: Tensor
    test: Tensor

    @property
    def rows(self) -> int:
        """The number of rows, all parts together."""
        return self.inputs.shape[1]

    def part(self, name: Part) -> tuple[Tensor, Tensor]:
        """Return the inputs [u, m] and targets [v, m] of one part."""
        index: Tensor = getattr(self, name)
        return self.inputs.index_select(1, index), self.targets.index_select(1, index)

    def to(self, device: torch.device | str, dtype: torch.dtype) -> Dataset:
        """Return the same rows on another device, in another precision."""
        return replace(
            self,
            inputs=self.inputs.to(device, dtype),
            targets=self.targets.to(device, dtype),
            train=self.train.to(device),
            valid=self.valid.to(device),
            test=self.test.to(device),
        )


def split_rows(rows: int, valid: float, test: float, seed: int) -> tuple[Tensor, Tensor, Tensor]:
    """Shuffle row numbers by seed and cut them into training, validation and test rows, each in file order."""
    generator = torch.Generator().manual_seed(seed)
    order = torch.randperm(rows, generator=generator)
    held_valid, held_test = round(rows * valid), round(rows * test)
    train = rows - held_valid - held_test
    if train < FEWEST_TRAINING_ROWS:
        raise DataError(
            f"{rows} rows leave {max(train, 0)} for training after split = {{ valid = {valid:g}, test = {test:g} }}; "
            f"at least {FEWEST_TRAINING_ROWS} are needed"
        )
    cuts = (order[:train], order[train : train + held_valid], order[train + held_valid :])
    return cuts[0].sort().values, cuts[1].sort().values, cuts[2].sort().values


def standardise(columns: Tensor, names: Sequence[str]) -> Tensor:
    """Shift and scale each row of [c, n] to mean 0 and deviation 1, over all rows."""
    deviation = columns.std(1, correction=0, keepdim=True)
    for name, value in zip(names, deviation.squeeze(1).tolist(), strict=True):
        if value == 0:
            raise DataError(f"column {name!r} has one value only and cannot be standardised", column=name)
    return (columns - columns.mean(1, keepdim=True)) / deviation
