"""Products on noisy rows: screened by what they leave in weighted logarithms, then drafted, polished and compared.

Expressions and pairs are ranked by what they leave together with what they cost, never by what they leave alone: else
the longest win.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction

import torch
from torch import Tensor

from occamkit.builtins.proposers.exact.assemble import Factor, solve_product
from occamkit.builtins.proposers.exact.tables import Table
from occamkit.builtins.proposers.exact.view import OutputView
from occamkit.builtins.proposers.noisy.drafts import LARGEST_FACTOR_POWER, LARGEST_POWER, Draft, Pool, linked
from occamkit.builtins.proposers.noisy.pairs import best_pairs
from occamkit.builtins.proposers.noisy.rounding import solve_and_round
from occamkit.builtins.proposers.noisy.shortlist import shortest
from occamkit.builtins.proposers.noisy.space import Space, factor_of
from occamkit.builtins.proposers.noisy.vary import Skeleton, blank, fit_constants, refine, skeleton_of, vary
from occamkit.description import PRICES, lengths, rank

PAIRED = 3_000
TOP_SINGLES, TOP_PAIRS, FIRST = 120, 120, 60
PAIRS = 4_000
"""Pairs that are told from each other by more than what they leave in logarithms."""
CLEAN = 1e-9
FIRST_EXPRESSIONS, LAST_EXPRESSION = 600, 3_000
"""The expressions of a library whose numbers are freed: the first ones first, by what they cost."""
MOST_LEFT = 0.3
"""What fitted numbers leave of a target that is worth a draft, as a part of its square."""


def screen(table: Table, here: Space, paired: int = PAIRED) -> Iterator[tuple[int, ...] | None]:
    """Yield sets of rows worth a draft, and None for a pause: none, the best alone, the first, the best pairs.

    paired: rows of which all pairs are tried.
    """
    yield ()
    rows, points = here.rows, here.points
    if len(rows) == 0:
        return
    along = rows.rows @ here.unit
    ranks = rank(along.square(), points, here.costs)
    for row in dict.fromkeys([*ranks.argsort()[:TOP_SINGLES].tolist(), *range(min(FIRST, len(rows)))]):
        yield (row,)
    yield None
    many = min(paired, len(rows))
    found = []
    for pair in best_pairs(rows.rows[:many], along[:many], here.costs[:many], PAIRS, table.view, points):
        if pair is None:
            yield None
        else:
            found.append(pair)
    yield from shortest(table, here, found, TOP_PAIRS)


def draft(table: Table, here: Space, chosen: Sequence[int]) -> Draft | None:
    """Return the product of some rows, its exponents solved for and rounded to halves."""
    factors = [factor_of(table, int(here.rows.source[row]), int(here.rows.kind[row])) for row in chosen]
    features = [feature_of(table.view, one) * here.goal.weight for one in factors]
    return drafted(table.view, here, factors, features)


def feature_of(view: OutputView, factor: Factor) -> Tensor:
    """Return how a factor takes part in logarithms, on the subsample: [P]."""
    values = view.evaluate(factor.tree)[view.pick]
    return values.abs().log() if factor.inside is None else values


def drafted(view: OutputView, here: Space, factors: Sequence[Factor], features: Sequence[Tensor]) -> Draft | None:
    """Solve for the exponents of a product of factors whose weighted features [P] are given."""
    design = torch.stack([*here.nuisance, *features])
    if not bool(torch.isfinite(design).all()):
        return None
    halves = torch.tensor(
        [[place > 0 for place in range(len(here.nuisance))] + [one.inside is None for one in factors]]
    )
    solved = solve_and_round(design.unsqueeze(0), here.logs, halves)[0].tolist()
    view.computed(10 * len(design), design.numel())
    exponents = here.start
    for weight, row in zip(solved[1 : len(here.nuisance)], view.scale.basis, strict=True):
        exponents = tuple(old + Fraction(weight) * more for old, more in zip(exponents, row, strict=True))
    if any(abs(one) > LARGEST_POWER for one in exponents):
        return None
    powers = []
    for factor, weight in zip(factors, solved[len(here.nuisance) :], strict=True):
        power = Fraction(1) if factor.inside is not None else Fraction(weight)
        if power == 0 or abs(power) > LARGEST_FACTOR_POWER:
            return None
        powers.append((factor, power))
    return Draft(exponents, tuple(powers), here.link)


class Skeletons:
    """The expressions of a table with their numbers freed, cheap ones first, gathered as far as they are asked for."""

    def __init__(self, table: Table) -> None:
        self._table = table
        self._found: list[tuple[Skeleton, bool, float]] = []
        self._seen: set[str] = set()
        self._next = 1

    def upto(self, first: int, last: int) -> Iterator[tuple[Skeleton, bool, float] | None]:
        """Yield skeletons first … last - 1: the skeleton, whether by its logarithm, its cost; None for a pause."""
        for bound in (FIRST_EXPRESSIONS, LAST_EXPRESSION):
            if len(self._found) < last and self._next <= bound:
                yield from self._gather_upto(bound)
        yield from self._found[first:last]

    def _gather_upto(self, bound: int) -> Iterator[None]:
        """Gather the skeletons of the expressions up to a number, and put the new ones in the order of their cost."""
        known = len(self._found)
        while self._next <= min(self._table.library.count, bound):
            self._gather(self._next)
            self._next += 1
            if self._next % 50 == 0:
                yield None
        self._next = bound + 1
        self._found[known:] = sorted(self._found[known:], key=lambda one: one[2])

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
        price = float(library.sizes(torch.tensor([number]))) + PRICES.refuses_units * nested
        if len(skeleton.start) > 1 or nested:
            self._found.append((skeleton, True, price))
        if table.raiser is not None and nested == 0 and len(skeleton.start) > 1:
            self._found.append((skeleton, False, price + 1 + PRICES.refuses_units))


def varied(
    table: Table,
    here: Space,
    pool: Pool,
    chosen: Iterable[tuple[Skeleton, bool, float] | None],
    beside: int,
) -> Iterator[None]:
    """Fit the numbers of skeletons, alone or beside each of the first rows, and draft what comes near."""
    points = here.points
    none = torch.zeros(1, here.logs.numel(), dtype=torch.float64)
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
        ranks = lengths(left, points, price + costs)
        for place in ranks.argsort()[: 2 if beside else 1].tolist():
            if float(left[place]) > MOST_LEFT:
                continue
            here_too = slice(place, place + 1)
            best, rest = refine(skeleton, logs, here.goal, rows[here_too], fitted[here_too])
            if float(rest[0]) < MOST_LEFT:
                tree = skeleton.tree.with_constants(best[0].tolist())
                factors = [Factor(tree) if logs or table.raiser is None else Factor(tree, *table.raiser)]
                if beside:
                    factors.append(factor_of(table, int(here.rows.source[place]), int(here.rows.kind[place])))
                _enter(table.view, here, pool, factors, float(rest[0]))
        yield None


def _enter(view: OutputView, here: Space, pool: Pool, factors: Sequence[Factor], left: float) -> None:
    """Make a formula of factors whose numbers were fitted: exactly where nothing is left, else as a draft."""
    if left < CLEAN:
        target = view.target if here.link is None else linked(view, here.link)[0]
        tree = solve_product(view, target, here.start, factors, fits=1e-3, holds=1e-3)
        if tree is not None and here.link is None:
            pool.add(fit_constants(tree, view, rounds=30))
    made = drafted(view, here, factors, [feature_of(view, one) * here.goal.weight for one in factors])
    if made is not None:
        pool.add_draft(made)
