"""The output of noisy rows in weighted logarithms, where products are sums, beside the expressions of a library.

Noise is taken to be alike on all rows, so a row counts in logarithms by the size of its target.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from fractions import Fraction

import torch
from torch import Tensor

from occamkit import Primitive
from occamkit.builtins.proposers.exact.assemble import Factor
from occamkit.builtins.proposers.exact.directions import Directions
from occamkit.builtins.proposers.exact.tables import EXPONENT, FACTOR, Table
from occamkit.builtins.proposers.noisy.drafts import linked, noise_of
from occamkit.description import PRICES
from occamkit.dimensions import Exponents
from occamkit.fit import bounded

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
    target: Tensor  # [P], weighted, and free of what nuisances tell
    weight: Tensor  # [P]
    logs: Tensor  # [P], weighted
    nuisance: Tensor  # [z, P], weighted
    rows: Directions
    costs: Tensor  # [M]

    @property
    def points(self) -> int:
        """How many rows say something."""
        return int((self.weight > 0).sum())

    @property
    def unit(self) -> Tensor:
        """The target at unit length."""
        unit: Tensor = self.target / self.target.norm().clamp(min=1e-300)
        return unit


def space(table: Table, link: Primitive | None) -> Generator[None, None, Space | None]:
    """Return the space of a table for the output itself or inside a primitive, others may take a turn on the way.

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
    weight = bounded(weight)
    weight = weight / weight.max()
    start = view.scale.start if link is None else (Fraction(0),) * len(view.variables)
    logs = target[pick].abs().clamp(min=1e-300).log() - (
        view.logs.new_tensor([float(one) for one in start]) @ view.logs[:, pick]
    )
    logs = torch.where(weight > 0, logs, 0.0) * weight
    nuisance = view.nuisance()[:, pick] * weight
    rows = Directions(nuisance)
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
        view.computed(40, 4 * values.numel(), 4 * values.numel())
        yield None
    rows.sort(rows.source)
    costs = library.sizes(rows.source) + PRICES.turning * (library.nested[rows.source] + (rows.kind == EXPONENT))
    return Space(link, start, rows.project(logs.unsqueeze(0))[0], weight, logs, nuisance, rows, costs.double())


def factor_of(table: Table, source: int, kind: int) -> Factor:
    """Return an expression of a table as a factor of some kind."""
    tree = table.library.tree(source)
    return Factor(tree) if kind == FACTOR or table.raiser is None else Factor(tree, *table.raiser)
