"""All of the search on noisy rows in order: products, sums, free numbers; few ingredients first."""

from __future__ import annotations

import math
from dataclasses import dataclass

from occamkit import Product, SearchProblem
from occamkit.builtins.proposers.exact.active_groups import active_groups
from occamkit.builtins.proposers.exact.matching import images
from occamkit.builtins.proposers.exact.tables import Found, Table, Workbench, ingredients, input_groups
from occamkit.builtins.proposers.exact.view import Link, OutputView, Spend
from occamkit.builtins.proposers.noisy.drafts import MOST_NUMBERS, Draft, Pool
from occamkit.builtins.proposers.noisy.polynomials import polynomials
from occamkit.builtins.proposers.noisy.space import Space, space
from occamkit.builtins.proposers.noisy.terms import add_sum, sums_of, terms_of, varied_sums
from occamkit.builtins.proposers.noisy.tolerant import PAIRED, Skeletons, draft, screen, varied
from occamkit.builtins.proposers.noisy.vary import fit_constants
from occamkit.description import fitted_numbers
from occamkit.graph import product

GROUPS = (4, 14)
WIDE, PAIRED_WIDE = 40_000, 10_000
SHOWN = 8
FIRST_SKELETONS, SKELETONS = 40, 120
BESIDE = 24
POLISHED, REFINED, PRUNED, PROPOSED = 12, 30, 6, 20
SUM_POWERS = (2, -1)
POLYNOMIAL_POWERS = (1, -1, 2, -2)
VARIED_MONOMIALS = 2
NEARLY, MOST_ROWS = 0.1, 0.7
"""Under noise, an inverse that is wrong by less than this part of the spread on this part of the rows is one."""
NEARLY_ONE = 0.05
"""A factor so near to one is tried without: a formula with a number less is shorter."""


@dataclass(frozen=True)
class FittedRound:
    """A library with what is made of it: the output's spaces beside it, and its expressions with free numbers.

    plain: the output as it is, where logarithms are defined. inside: the output inside primitives.
    """

    table: Table
    plain: Space | None
    inside: list[Space]
    free: Skeletons


def links(view: OutputView) -> list[Link]:
    """Return the ways in which the output may be the value of a primitive that declares its inverse.

    Noise may have put rows where the inverse is none: it is asked of most of them, and nearly is enough.
    """
    found = [Link(None, view.target)]
    for link in view.inverses():
        assert link.primitive is not None
        near = (link.primitive.call(link.target) - view.target).abs() < NEARLY * view.target.std()
        if float(near.double().mean()) > MOST_ROWS:
            found.append(link)
    return found


def fitted(problem: SearchProblem, output: int, rows: int, expressions: int, spend: Spend) -> Found:
    """Yield the shortest formulas of an output, and None where others may take a turn."""
    view = OutputView(problem, output, spend, rows)
    pool = Pool(view)
    for found in _fitted(view, pool, expressions):
        yield from pool.urgent()
        yield found


def _fitted(view: OutputView, pool: Pool, expressions: int) -> Found:
    yield from _monomials(view, pool)
    rest = yield from Workbench.of(view.problem).divided(view)
    for seen in (view,) if rest is None else (view, rest):
        yield from polynomials(seen, pool, POLYNOMIAL_POWERS)
        yield from _told(view, pool)
    rounds: list[FittedRound] = []
    few, more, shown = input_groups(view, GROUPS[0]), input_groups(view, GROUPS[1]), active_groups(view, SHOWN)
    # Without functions and with one number a library of the same size goes deeper.
    for chosen, algebraic in dict.fromkeys([(few, False), (few, True), (more, False), (shown, False)]):
        parts = ingredients(view, chosen)[: len(chosen) + 1 if algebraic else None]
        if not chosen or not parts:
            continue
        table = Table(view, parts, algebraic)
        yield from table.library.grow(expressions)
        plain, inside = (yield from space(table, None)), []
        for link in links(view)[1:]:
            inside.append((yield from space(table, link.primitive)))
        here = FittedRound(table, plain, [one for one in inside if one is not None], Skeletons(table))
        rounds.append(here)
        yield from _quick(here, pool, first=len(rounds) == 1)
    for here in rounds:
        for one in here.inside:
            yield from _products(here.table, one, pool)
        yield from _told(view, pool)
    for here in rounds:
        for image in images(view, VARIED_MONOMIALS):
            yield from varied_sums(here.table, pool, image, here.free.upto(0, FIRST_SKELETONS))
        yield from _told(view, pool)
        yield from _wide(here.table, pool)
    for here in rounds:
        yield from _varied(here, pool, FIRST_SKELETONS, SKELETONS)
    for start, end in ((0, FIRST_SKELETONS), (FIRST_SKELETONS, SKELETONS)):
        for here in rounds:
            for one in (*([here.plain] if here.plain is not None else []), *here.inside):
                yield from varied(here.table, one, pool, here.free.upto(start, end), BESIDE)
                yield from _told(view, pool)


def _quick(here: FittedRound, pool: Pool, first: bool) -> Found:
    """Go through what is cheap: products, sums of the first library, a few free numbers."""
    if here.plain is not None:
        yield from _products(here.table, here.plain, pool)
        yield from _told(here.table.view, pool)
    if first:
        yield from _sums(here.table, pool, 1)
        yield from _told(here.table.view, pool)
    yield from _varied(here, pool, 0, FIRST_SKELETONS)
    for power in SUM_POWERS if first else ():
        yield from _sums(here.table, pool, power)


def _varied(here: FittedRound, pool: Pool, start: int, end: int) -> Found:
    """Fit the numbers inside expressions that stand alone, outside of all primitives."""
    if here.plain is not None:
        yield from varied(here.table, here.plain, pool, here.free.upto(start, end), beside=0)
        yield from _told(here.table.view, pool)


def _wide(table: Table, pool: Pool) -> Found:
    """Go through the products of a library that is larger than is usual."""
    yield from table.library.grow(WIDE)
    here = yield from space(table, None)
    if here is not None:
        yield from _products(table, here, pool, PAIRED_WIDE)
        yield from _told(table.view, pool)


def _monomials(view: OutputView, pool: Pool) -> Found:
    """Propose products of powers alone, if there is anything to raise to one."""
    parts = ingredients(view, input_groups(view, 1))
    if not parts:
        return
    table = Table(view, parts)
    for link in links(view):
        here = yield from space(table, link.primitive)
        made = None if here is None else draft(table, here, ())
        if made is not None:
            pool.add_draft(made)
    yield from _told(view, pool)


def _products(table: Table, here: Space, pool: Pool, paired: int = PAIRED) -> Found:
    first: list[Draft] = []
    for place, rows in enumerate(screen(table, here, paired)):
        made = None if rows is None else draft(table, here, rows)
        if made is not None:
            pool.add_draft(made)
            # With exponents as they come they are the best; rounding them wrongly has hidden it.
            first += [made] if place <= POLISHED else []
        if rows is None or place % 20 == 0:
            yield None
    yield from pool.polish_first(first, table.view.scale.basis, POLISHED)


def _sums(table: Table, pool: Pool, power: int) -> Found:
    terms = terms_of(table, power)
    if terms is None:
        return
    yield None
    for place, chosen in enumerate(sums_of(table.view, terms)):
        if chosen is not None:
            add_sum(table, pool, terms, chosen)
        if chosen is None or place % 20 == 0:
            yield None


def _told(view: OutputView, pool: Pool) -> Found:
    """Polish exponents, fit the numbers of the best, and propose what is new among them."""
    yield from pool.polish(view.scale.basis, POLISHED)
    for tree in pool.best(REFINED):
        # The one number in front was solved for; many are the weights of a sum, and so were they.
        if 1 < fitted_numbers(tree) <= MOST_NUMBERS:
            pool.add(fit_constants(tree, view))
            yield None
    for tree in pool.best(REFINED):
        if isinstance(tree, Product) and abs(abs(tree.coefficient) - 1) < NEARLY_ONE:
            pool.add(product(math.copysign(1.0, tree.coefficient), tree.factors))
    yield from pool.prune(PRUNED)
    yield from pool.fresh(PROPOSED)
