"""Products on noisy rows: screened by what they leave in weighted logarithms, then drafted, polished and compared.

Noise is taken to be alike on all rows, so a row counts in logarithms by the size of its target. Expressions and pairs
are ranked by what they leave together with what they cost, never by what they leave alone: else the longest win.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

import torch
from torch import Tensor

from occamkit.protocols import Primitive
from occamkit.search.assemble import Factor, solve_product
from occamkit.search.choice import PLAIN_ONLY, PRICE
from occamkit.search.drafts import LARGEST_FACTOR_POWER, LARGEST_POWER, Draft, Pool, linked
from occamkit.search.rows import Rows, best_pairs
from occamkit.search.tables import EXPONENT, FACTOR, Table
from occamkit.search.vary import Projected, Skeleton, blank, fit_constants, refine, skeleton_of, vary
from occamkit.search.view import View
from occamkit.task.dimensions import Exponents

PAIRED = 3_000
"""Rows of which all pairs are tried."""
TOP_SINGLES, TOP_PAIRS, FIRST = 120, 200, 60
SMALL_TARGET = 0.05
"""Rows whose target is below this part of its usual size say nothing in logarithms."""
CLEAN = 1e-9
LAST_SKELETON = 3_000
"""The last expression of a library whose numbers are freed."""
MOST_LEFT = 0.3
"""What fitted numbers leave of a target that is worth a draft, as a part of its square."""


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
    def unit(self) -> Tensor:
        """The target at unit length."""
        unit: Tensor = self.goal.target / self.goal.target.norm().clamp(min=1e-300)
        return unit


def space(table: Table, link: Primitive | None) -> Space | None:
    """Return the space of a table for the output itself or inside a primitive; None where logarithms are undefined."""
    view, pick = table.view, table.view.pick
    target, weight = (view.target, torch.ones_like(view.target)) if link is None else linked(view, link)
    weight = (weight * target.abs())[pick]
    if link is None:
        # By the median where a few rows are far larger than all others.
        usual = min(float(target.square().mean().sqrt()), 2 * float(target.abs().median()))
        weight = torch.where(weight < SMALL_TARGET * usual, 0.0, weight)
    positive = weight[weight > 0]
    if positive.numel() < 0.6 * weight.numel():
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
    values = library.values.index_select(0, numbers)
    inner = values.abs().log()
    defined = torch.nonzero(torch.isfinite(inner).all(1)).squeeze(1)
    rows.add(inner[defined] * weight, numbers[defined], FACTOR)
    if table.raiser is not None:
        small = torch.nonzero((values.abs().amax(1) < 700) & (library.nested[numbers] == 0)).squeeze(1)
        rows.add(values[small] * weight, numbers[small], EXPONENT)
    rows.sort(rows.source)
    costs = library.sizes(rows.source) + PLAIN_ONLY * (library.nested[rows.source] + (rows.kind == EXPONENT))
    columns = {name: column[pick] for name, column in view.named.items()}
    goal = Projected(rows.project(logs.unsqueeze(0))[0], rows.basis, weight, columns, rows.basis)
    return Space(link, start, goal, logs, nuisance, rows, costs.double())


def screen(here: Space) -> Iterator[tuple[int, ...] | None]:
    """Yield sets of rows worth a draft, with breaths: none, the best alone, the first, the best pairs."""
    yield ()
    rows, points = here.rows, here.logs.numel()
    if len(rows) == 0:
        return
    along = rows.rows @ here.unit
    ranks = points / 2 * (1 - along.square()).clamp(min=1e-13).log() + PRICE * here.costs
    for row in dict.fromkeys([*ranks.argsort()[:TOP_SINGLES].tolist(), *range(min(FIRST, len(rows)))]):
        yield (row,)
    yield None
    many = min(PAIRED, len(rows))
    yield from best_pairs(rows.rows[:many], along[:many], here.costs[:many], TOP_PAIRS)


def draft(table: Table, here: Space, chosen: Sequence[int]) -> Draft | None:
    """Return the product of some rows, its exponents solved for and rounded to halves."""
    factors = [table.factor_of(int(here.rows.source[row]), int(here.rows.kind[row])) for row in chosen]
    features = [feature_of(table.view, one) * here.goal.weight for one in factors]
    return drafted(table.view, here, factors, features)


def feature_of(view: View, factor: Factor) -> Tensor:
    """Return how a factor takes part in logarithms, on the subsample: [P]."""
    values = view.evaluate(factor.tree)[view.pick]
    return values.abs().log() if factor.inside is None else values


def drafted(view: View, here: Space, factors: Sequence[Factor], features: Sequence[Tensor]) -> Draft | None:
    """Solve for the exponents of a product of factors whose weighted features [P] are given."""
    design = torch.stack([*here.nuisance, *features])
    if not bool(torch.isfinite(design).all()):
        return None
    solved = torch.linalg.lstsq(design.T, here.logs, driver="gelsd").solution.tolist()
    exponents = here.start
    for weight, row in zip(solved[1 : len(here.nuisance)], view.scale.basis, strict=True):
        exponents = tuple(old + _half(weight) * more for old, more in zip(exponents, row, strict=True))
    if any(abs(one) > LARGEST_POWER for one in exponents):
        return None
    powers = []
    for factor, weight in zip(factors, solved[len(here.nuisance) :], strict=True):
        power = weight if factor.inside is not None else _half(weight)
        if power == 0 or (factor.inside is None and abs(power) > LARGEST_FACTOR_POWER):
            return None
        powers.append((factor, power))
    return Draft(exponents, tuple(powers), here.link)


class Skeletons:
    """The expressions of a table with their numbers freed, simplest first, gathered as far as they are asked for."""

    def __init__(self, table: Table) -> None:
        self._table = table
        self._found: list[tuple[Skeleton, bool, float]] = []
        self._seen: set[str] = set()
        self._next = 1

    def upto(self, first: int, last: int) -> Iterator[tuple[Skeleton, bool, float] | None]:
        """Yield skeletons first … last - 1 with breaths: the skeleton, whether by its logarithm, and its cost."""
        while len(self._found) < last and self._next <= min(self._table.library.count, LAST_SKELETON):
            self._gather(self._next)
            self._next += 1
            if self._next % 50 == 0:
                yield None
        yield from self._found[first:last]

    def _gather(self, number: int) -> None:
        table, library = self._table, self._table.library
        if bool(library.constant[number]):
            return
        tree = library.tree(number)
        name = blank(tree)
        skeleton = None if name in self._seen else skeleton_of(tree)
        self._seen.add(name)
        if skeleton is None:
            return
        nested = int(library.nested[number])
        price = float(library.sizes(torch.tensor([number]))) + PLAIN_ONLY * nested
        if len(skeleton.start) > 1 or nested:
            self._found.append((skeleton, True, price))
        if table.raiser is not None and nested == 0 and len(skeleton.start) > 1:
            self._found.append((skeleton, False, price + 1 + PLAIN_ONLY))


def varied(
    table: Table,
    here: Space,
    pool: Pool,
    chosen: Iterable[tuple[Skeleton, bool, float] | None],
    beside: int,
) -> Iterator[None]:
    """Fit the numbers of skeletons, alone or beside each of the first rows, and draft what comes near."""
    points = here.logs.numel()
    none = torch.zeros(1, points, dtype=torch.float64)
    rows = here.rows.rows[:beside] if beside else none
    coarse = here.goal.coarse()
    few = coarse.beside(rows) if beside else none[:, : coarse.target.numel()]
    costs = here.costs[:beside] if beside else torch.zeros(1)
    if len(few) == 0:
        return  # nothing to stand beside
    for one in chosen:
        if one is None:
            yield None
            continue
        skeleton, logs, price = one
        fitted, left = vary(skeleton, logs, coarse, few)
        ranks = points / 2 * left.clamp(min=1e-20).log() + PRICE * (price + costs)
        for place in ranks.argsort()[: 2 if beside else 1].tolist():
            if float(left[place]) > MOST_LEFT:
                continue
            here_too = slice(place, place + 1)
            best, rest = refine(skeleton, logs, here.goal, rows[here_too], fitted[here_too])
            if float(rest[0]) < MOST_LEFT:
                tree = skeleton.tree.with_constants(best[0].tolist())
                factors = [Factor(tree) if logs or table.raiser is None else Factor(tree, *table.raiser)]
                if beside:
                    factors.append(table.factor_of(int(here.rows.source[place]), int(here.rows.kind[place])))
                _enter(table.view, here, pool, factors, float(rest[0]))
        yield None


def _enter(view: View, here: Space, pool: Pool, factors: Sequence[Factor], left: float) -> None:
    """Make a formula of factors whose numbers were fitted: exactly where nothing is left, else as a draft."""
    if left < CLEAN:
        target = view.target if here.link is None else linked(view, here.link)[0]
        tree = solve_product(view, target, here.start, factors, fits=1e-3, holds=1e-3)
        if tree is not None and here.link is None:
            pool.add(fit_constants(tree, view.named, view.target, rounds=30))
    made = drafted(view, here, factors, [feature_of(view, one) * here.goal.weight for one in factors])
    if made is not None:
        pool.add_draft(made)


def _half(weight: float) -> Fraction:
    return Fraction(round(2 * weight), 2)
