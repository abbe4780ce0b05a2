"""The proposer for rows with noise: sums of many products, then products of small expressions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, ClassVar

from annotated_types import Ge

from occamkit import Milestone, Primitive, Proposal, SearchBudget, SearchProblem
from occamkit.builtins.proposers.exact.active_groups import active_groups
from occamkit.builtins.proposers.exact.proposers import metered
from occamkit.builtins.proposers.exact.tables import Found, Table, Workbench, ingredients, input_groups
from occamkit.builtins.proposers.exact.view import Link, OutputView, Spend
from occamkit.builtins.proposers.noisy.drafts import MOST_NUMBERS, Draft, Pool, fit_constants
from occamkit.builtins.proposers.noisy.polynomials import polynomials
from occamkit.builtins.proposers.noisy.space import Space, space
from occamkit.builtins.proposers.noisy.tolerant import PAIRED, draft, screen
from occamkit.description import fitted_numbers

GROUPS, WIDE, PAIRED_WIDE = (4, 14), 40_000, 10_000
SHOWN, POLISHED, REFINED, PROPOSED = 8, 12, 30, 20
POLYNOMIAL_POWERS = (1, -1, 2, -2)
NEARLY, MOST_ROWS = 0.1, 0.7
"""Under noise, an inverse that is wrong by less than this part of the spread on this part of the rows is one."""


@dataclass(frozen=True)
class FitProposer:
    """Fits products of small expressions and sums of many products, and weighs error against length.

    rows: rows that expressions are compared on. expressions: size of the library that products are made of.
    """

    name: ClassVar[str] = "fit"
    share: ClassVar[float] = 4.0
    late: ClassVar[float] = 2.0
    rows: Annotated[int, Ge(16)] = 256
    expressions: Annotated[int, Ge(100)] = 8_000

    def propose(self, problem: SearchProblem, budget: SearchBudget) -> Iterator[Proposal | Milestone | None]:
        """Yield the shortest formulas of each output, again whenever there are shorter ones."""
        return metered(Workbench.of(problem), budget, self._items(problem, budget))

    def _items(self, problem: SearchProblem, budget: SearchBudget) -> Iterator[Proposal | None]:
        for output in range(len(problem.outputs)):
            if budget.solved(output):
                continue
            for found in fitted(problem, output, self.rows, self.expressions, budget.spend):
                if budget.over():
                    return
                yield None if found is None else Proposal(found, output)


def links(view: OutputView) -> list[Link]:
    """Return the ways in which the output may be the value of a primitive that declares its inverse.

    Noise may have put rows where the inverse is none: it is asked of most of them, and nearly is enough.
    """
    found = []
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
    rest = yield from Workbench.of(view.problem).divided(view)
    for seen in (view,) if rest is None else (view, rest):
        yield from polynomials(seen, pool, POLYNOMIAL_POWERS)
        yield from _told(view, pool)
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
        for link in links(view):
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
    yield from pool.fresh(PROPOSED)
