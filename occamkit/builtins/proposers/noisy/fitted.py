"""All of the search on noisy rows in order: products of small expressions, few ingredients first."""

from __future__ import annotations

import math

from occamkit import Primitive, Product, SearchProblem
from occamkit.builtins.proposers.exact.active_groups import active_groups
from occamkit.builtins.proposers.exact.tables import Found, Table, ingredients, input_groups
from occamkit.builtins.proposers.exact.view import Link, OutputView, Spend
from occamkit.builtins.proposers.noisy.drafts import MOST_NUMBERS, Draft, Pool, fit_constants
from occamkit.builtins.proposers.noisy.space import Space, space
from occamkit.builtins.proposers.noisy.tolerant import PAIRED, draft, screen
from occamkit.description import fitted_numbers
from occamkit.graph import product

GROUPS = (4, 14)
WIDE, PAIRED_WIDE = 40_000, 10_000
SHOWN = 8
POLISHED, REFINED, PRUNED, PROPOSED = 12, 30, 6, 20
NEARLY, MOST_ROWS = 0.1, 0.7
"""Under noise, an inverse that is wrong by less than this part of the spread on this part of the rows is one."""
NEARLY_ONE = 0.05
"""A factor so near to one is tried without: a formula with a number less is shorter."""


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
    tables: list[Table] = []
    few, more, shown = input_groups(view, GROUPS[0]), input_groups(view, GROUPS[1]), active_groups(view, SHOWN)
    # Without functions and with one number a library of the same size goes deeper.
    for chosen, algebraic in dict.fromkeys([(few, False), (few, True), (more, False), (shown, False)]):
        parts = ingredients(view, chosen)[: len(chosen) + 1 if algebraic else None]
        if not chosen or not parts:
            continue
        table = Table(view, parts, algebraic)
        yield from table.library.grow(expressions)
        yield from _around(table, pool, None)
        tables.append(table)
    for table in tables:
        for link in links(view)[1:]:
            yield from _around(table, pool, link.primitive)
    for table in tables:
        yield from table.library.grow(WIDE)
        yield from _around(table, pool, None, PAIRED_WIDE)


def _around(table: Table, pool: Pool, primitive: Primitive | None, paired: int = PAIRED) -> Found:
    """Go through the products of a library, outside of all primitives or inside one."""
    here = yield from space(table, primitive)
    if here is not None:
        yield from _products(table, here, pool, paired)
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
