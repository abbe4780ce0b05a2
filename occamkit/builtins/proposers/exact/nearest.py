"""Expressions of a library that are nearest to noisy rows: nothing is exact there, so what is short and near counts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

import torch
from torch import Tensor

from occamkit import fit
from occamkit.builtins.proposers.exact.pool import Pool
from occamkit.builtins.proposers.exact.settings import EXACT
from occamkit.builtins.proposers.exact.tables import Found, TableSlice
from occamkit.dimensions import simple_monomials
from occamkit.graph import product

Kind = tuple[int, int, bool]  # size and power of an expression, and whether a factor is fitted
Near = tuple[float, int, float, int]  # what is left but for the target's square; expression, factor and front


def nearest(table: TableSlice, proposed: int) -> Found:
    """Yield the shortest descriptions by a power of one expression times a simple product of powers, and a factor.

    Of each kind those are looked into that are nearest on the subsample; all rows decide between them.
    """
    view, pool = table.view, Pool(table.view)
    found: dict[Kind, list[Near]] = {}
    fronts = simple_monomials(view.scale, EXACT.images)
    for power in EXACT.powers:
        for kind, near in _near(table, power, [view.monomial(one)[view.pick] for one in fronts]):
            found.setdefault(kind, []).append(near)
        yield None
    for (_, power, fitted), some in found.items():
        for _, number, factor, place in sorted(some)[: EXACT.images]:
            parts = [(table.library.tree(number), Fraction(1, power)), *view.factors(fronts[place])]
            solved = fit.solve(view.evaluate(product(1.0, parts))[None], view.target, view.weights) if fitted else None
            pool.add(product(factor if solved is None else float(solved), parts))
        yield None
    yield from pool.fresh(proposed)


def _near(table: TableSlice, power: int, fronts: Sequence[Tensor]) -> Iterator[tuple[Kind, Near]]:
    """Yield roots of expressions that come near the target times one of `fronts` [P], with and without a factor."""
    library, target = table.library, table.view.target[table.view.pick]
    numbers = torch.nonzero(~library.constant[: table.count + 1]).squeeze(1)[1:]
    values = torch.pow(library.values.index_select(0, numbers), 1 / power)  # [e, P]
    sizes, squares = library.sizes(numbers), values.square()
    table.view.computed(EXACT.few, EXACT.few * values.numel())
    for place, front in enumerate(fronts):
        table.view.computed(EXACT.more, EXACT.few * numbers.numel(), 2 * values.numel())
        along, own = values @ (front * target), squares @ front.square()
        for fitted in (True, False):
            factors = along / own if fitted else along.sign()
            left = ((own * factors - 2 * along) * factors).nan_to_num(torch.inf, torch.inf)
            for size in range(1, int(sizes.max()) + 1 if numbers.numel() else 1):
                here = torch.nonzero(sizes == size).squeeze(1)
                least, best = left[here].topk(min(EXACT.images, here.numel()), largest=False)
                near = zip(least.tolist(), numbers[here[best]].tolist(), factors[here[best]].tolist(), strict=True)
                yield from (((size, power, fitted), (*one, place)) for one in near if one[0] < 0)
