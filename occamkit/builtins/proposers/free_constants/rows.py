"""The rows of one output as tables: few for a first look, more, and all; each holds the one before.

Inputs are divided by their spread, and stand alone about their mean: then constants are of the order of one, whatever
the units of measurement are.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import torch

from occamkit import SearchProblem, Variable
from occamkit.builtins.proposers.free_constants.settings import SETTINGS
from occamkit.builtins.proposers.free_constants.skeleton import POWERS
from occamkit.kernel import Numbers, Table


@dataclass(frozen=True)
class Rows:
    """Tables of nested rows, and how their columns were made.

    means, scales: of each input. signs: of inputs with one sign and no zero, else 0.
    """

    variables: tuple[Variable, ...]
    tables: tuple[Table, ...]
    means: Numbers
    scales: Numbers
    signs: Numbers
    sample: torch.Tensor

    @property
    def count(self) -> int:
        """How many rows there are in the largest table."""
        return self.tables[-1].rows

    @classmethod
    def of(cls, problem: SearchProblem, output: int) -> Rows | None:
        """Make the tables of an output; None where it is the same on all rows."""
        columns, target = problem.columns.numpy(), problem.targets[output].numpy()
        used = [place for place, column in enumerate(columns) if np.ptp(column) > 0]
        columns = columns[used]
        order = torch.randperm(target.shape[0], generator=torch.Generator().manual_seed(problem.seed)).numpy()
        order = order[: SETTINGS.most_rows]
        if target.shape[0] < 3 or not np.ptp(target[order]) > 0:
            return None
        means, scales = columns.mean(1), columns.std(1)
        smallest = np.abs(columns).min(1)
        signs = np.where(smallest > SETTINGS.near_zero * scales, np.sign(columns[:, 0]), 0.0)
        signs[(np.sign(columns) != np.sign(columns[:, :1])).any(1)] = 0.0
        weights = None if problem.weights is None else problem.weights.sqrt().numpy()
        tables = []
        for size in (*SETTINGS.rows, len(order)):
            some = order[: min(size, len(order))]
            made = _columns(columns[:, some], means, scales, signs)
            tables.append(Table.of(made, target[some], None if weights is None else weights[some]))
        variables = tuple(problem.inputs[place] for place in used)
        return cls(variables, tuple(tables), means, scales, signs, torch.from_numpy(columns[:, order[0]].copy())[:, None])


def _columns(columns: Numbers, means: Numbers, scales: Numbers, signs: Numbers) -> Numbers:
    """Return for each input its powers, itself about its mean, and its logarithm: [u · width, n]."""
    made = []
    for column, mean, scale, sign in zip(columns, means, scales, signs, strict=True):
        plain = column / scale
        size = np.abs(plain)
        for power in POWERS:
            exponent = Fraction(power, 4)
            if exponent.denominator == 1 and (power > 0 or sign):
                made.append(plain ** float(exponent))
            else:
                made.append(size ** float(exponent) if sign else np.zeros_like(plain))
        made += [(column - mean) / scale, np.log(size) if sign else np.zeros_like(plain)]
    return np.stack(made) if made else np.zeros((0, columns.shape[1]))
