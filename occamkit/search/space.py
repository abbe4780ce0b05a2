"""The output of noisy rows in weighted logarithms, where products are sums, beside the expressions of a library.

Noise is taken to be alike on all rows, so a row counts in logarithms by the size of its target.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from fractions import Fraction

import torch
from torch import Tensor

from occamkit.protocols import Primitive
from occamkit.search.choice import PLAIN_ONLY
from occamkit.search.drafts import linked, noise_of
from occamkit.search.rows import Rows
from occamkit.search.tables import EXPONENT, FACTOR, Table
from occamkit.search.vary import Projected
from occamkit.task.dimensions import Exponents

CHUNK = 4_000
"""Expressions that are brought to logarithms at once: a tenth of a second."""
FEWEST, FEWEST_ROWS = 0.15, 8
"""With fewer rows that say something, as a part of all of them or by number, there is nothing to compare."""
SMALL_TARGET = 0.05
"""Rows whose target is below this part of its usual size say nothing in logarithms."""


@dataclass(frozen=True)
class Space:
    """The output in weighted logarithms, perhaps inside a primitive, with the rows of a table."""

    link: Primitive | None
    start: Exponents
    goal: Projected
    logs: Tensor  # [P], weighted
    nuisance: Tensor  # [z, P], weighted
    rows: Rows
    costs: Tensor  # [M]

    @property
    def points(self) -> int:
        """How many rows say something."""
        return int((self.goal.weight > 0).sum())

    @property
    def unit(self) -> Tensor:
        """The target at unit length."""
        unit: Tensor = self.goal.target / self.goal.target.norm().clamp(min=1e-300)
        return unit


def space(table: Table, link: Primitive | None) -> Generator[None, None, Space | None]:
    """Return the space of a table for the output itself or inside a primitive, after some breaths.

    None where logarithms are undefined.
    """
    view, pick = table.view, table.view.pick
    target, weight = (view.target, torch.ones_like(view.target)) if link is None else linked(view, link)
    weight = (weight * target.abs())[pick]
    if link is None:
        # By the median where a few rows are far larger than all others.
        usual = min(float(target.square().mean().sqrt()), 2 * float(target.abs().median()))
        weight = torch.where(weight < max(SMALL_TARGET * usual, noise_of(target)), 0.0, weight)
    positive = weight[weight > 0]
    if positive.numel() < max(FEWEST_ROWS, FEWEST * weight.numel()):
        return None
    weight = weight.clamp(max=20 * float(positive.median()))
    weight = weight / weight.max()
    start = view.scale.start if link is None else (Fraction(0),) * len(view.variables)
    logs = target[pick].abs().clamp(min=1e-300).log() - (
        view.logs.new_tensor([float(one) for one in start]) @ view.logs[:, pick]
    )
    logs = torch.where(weight > 0, logs, 0.0) * weight
    nuisance = view.nuisance()[:, pick] * weight
    rows = Rows(nuisance)
    library = table.library
    numbers = torch.arange(1, library.count + 1)
    numbers = numbers[~library.constant[1:]]
    for some in torch.split(numbers, CHUNK):
        values = library.values.index_select(0, some)
        inner = values.abs().log()
        defined = torch.nonzero(torch.isfinite(inner).all(1)).squeeze(1)
        rows.add(inner[defined] * weight, some[defined], FACTOR)
        if table.raiser is not None:
            small = torch.nonzero((values.abs().amax(1) < 700) & (library.nested[some] == 0)).squeeze(1)
            rows.add(values[small] * weight, some[small], EXPONENT)
        yield None
    rows.sort(rows.source)
    costs = library.sizes(rows.source) + PLAIN_ONLY * (library.nested[rows.source] + (rows.kind == EXPONENT))
    columns = {name: column[pick] for name, column in view.named.items()}
    goal = Projected(rows.project(logs.unsqueeze(0))[0], rows.basis, weight, columns, rows.basis)
    return Space(link, start, goal, logs, nuisance, rows, costs.double())
