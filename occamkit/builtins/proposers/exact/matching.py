"""Matches of a target with a table: one expression, two, a sum, or what is left when a term is taken away.

Every function here yields formulas, and None where others may take a turn.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

import torch
from torch import Tensor

from occamkit import Apply, Expression, Product
from occamkit.builtins.proposers.exact.assemble import relative, solve_product, solve_sum
from occamkit.builtins.proposers.exact.directions import Directions
from occamkit.builtins.proposers.exact.settings import EXACT
from occamkit.builtins.proposers.exact.tables import Found, TableSlice
from occamkit.builtins.proposers.exact.view import Link, OutputView
from occamkit.dimensions import Exponents, PowerProducts, scaling, simple_monomials
from occamkit.graph import SIGNS, Power, product, weighted_sum
from occamkit.units import Dim

DWARFS = 1e4
"""A term so many times as large as the target leaves rounding of it."""


@dataclass(frozen=True)
class Image:
    """The output seen through a power and a product of powers: target = output^power / monomial, a plain number."""

    power: int
    monomial: Exponents
    target: Tensor  # [n]

    def back(self, view: OutputView, inside: Expression) -> Expression:
        """Return the output as a formula, from a formula of the image."""
        whole = product(1.0, [(inside, 1), *view.factors(self.monomial)])
        if self.power == 1:
            return whole
        if self.power % 2:
            return product(1.0, [(whole, Fraction(1, self.power))])
        root = _root(view, whole, Fraction(1, self.power))
        return product(-1.0, [(root, 1)]) if bool((view.target < 0).all()) else root


def _root(view: OutputView, whole: Expression, power: Fraction) -> Expression:
    """Return a fractional power of what is positive, taken of each factor that has one sign on all rows.

    So sqrt((x - y)²) becomes x - y where x is larger, which goes on to be right where it is not.
    """
    factors = whole.factors if isinstance(whole, Product) else ((whole, 1),)
    sign = whole.coefficient if isinstance(whole, Product) else 1.0
    opened: list[tuple[Expression, Power]] = []
    mixed: list[tuple[Expression, Power]] = []
    for factor, exponent in factors:
        values = view.evaluate(factor)
        if bool((values > 0).all()):
            opened.append((factor, exponent * power))
        elif bool((values < 0).all()) and float(exponent).is_integer():
            opened.append((product(-1.0, [(factor, 1)]), exponent * power))
            sign *= -1 if int(exponent) % 2 else 1
        else:
            mixed.append((factor, exponent))
    if mixed or sign <= 0:
        return product(1.0, [*opened, (product(sign, mixed), power)])
    return product(sign ** float(power), opened)


def images(view: OutputView, monomials: int, powers: Sequence[int] = EXACT.powers) -> list[Image]:
    """Return the images of the output under simple powers, divided by the simplest products with their unit."""
    found = []
    unit = view.unit
    size = view.target.abs()
    for power in powers:
        if power < 0 and bool((size < EXACT.rounding * size.max()).any()):
            continue
        if power % 2 == 0 and not (bool((view.target >= 0).all()) or bool((view.target <= 0).all())):
            continue
        raised = torch.pow(view.target, float(power))
        scale = view.scale if power == 1 else _scaling(view, unit**power if isinstance(unit, Dim) else unit)
        if scale is None or not bool(torch.isfinite(raised).all()):
            continue
        for exponents in simple_monomials(scale, monomials):
            target = raised / view.monomial(exponents)
            if bool(torch.isfinite(target).all()):
                found.append(Image(power, exponents, target))
    return found


def _scaling(view: OutputView, unit: object) -> PowerProducts | None:
    if view.free or not isinstance(unit, Dim):
        return view.scale
    start = scaling(view.variables, unit)
    if start is None or any(one and not ok for one, ok in zip(start.start, view.loggable, strict=True)):
        return None
    return PowerProducts(start.start, view.scale.basis)


def monomials(view: OutputView, links: Sequence[Link]) -> Found:
    """Yield the output as a product of powers of the inputs, alone or inside a primitive."""
    for link in links:
        yield _inside(link, solve_product(view, link.target, _start(view, link), []))


def singles(table: TableSlice, links: Sequence[Link]) -> Found:
    """Yield products of powers of the inputs and of one expression."""
    for link, target in _targets(table, links):
        table.view.computed(1, 0, table.factors.rows.numel())
        for row in table.factors.singles(target):
            yield _inside(link, solve_product(table.view, link.target, _start(table.view, link), [table.factor(row)]))
        yield None


def pairs(table: TableSlice, links: Sequence[Link]) -> Found:
    """Yield products of powers of the inputs and of two expressions."""
    for link, target in _targets(table, links):
        _paired(table, table.factors)
        for pair in table.factors.pairs(target):
            factors = [table.factor(row) for row in pair]
            yield _inside(link, solve_product(table.view, link.target, _start(table.view, link), factors))
        yield None


def triples(table: TableSlice, links: Sequence[Link], aside: int) -> Found:
    """Yield products of powers of the inputs and of three expressions, one of them among the first `aside`."""
    for link, target in _targets(table, links):
        for third in range(min(aside, len(table.factors))):
            _paired(table, table.factors)
            for pair in table.factors.pairs(target, table.factors.rows[third]):
                factors = [table.factor(row) for row in (third, *pair)]
                yield _inside(link, solve_product(table.view, link.target, _start(table.view, link), factors))
            yield None


def sums(table: TableSlice, seen: Sequence[Image], aside: int = 0, alone: bool = False) -> Found:
    """Yield sums of one or two expressions and a number, seen through a power and a product of powers.

    aside: how many of the first expressions are tried as a third term. alone: one expression and a number only.
    """
    view, rows = table.view, table.terms
    for image in seen:
        target, left = rows.unit(image.target[view.pick].unsqueeze(0))
        if float(left) < EXACT.rounding:
            continue
        view.computed(1, 0, rows.rows.numel())
        for row in rows.singles(target[0]):
            yield _sum_of(table, image, [row])
        if aside == 0 and not alone:
            _paired(table, rows)
            for pair in rows.pairs(target[0]):
                yield _sum_of(table, image, pair)
        for third in range(min(aside, len(rows))):
            _paired(table, rows)
            for pair in rows.pairs(target[0], rows.rows[third]):
                yield _sum_of(table, image, (third, *pair))
            yield None
        yield None


def peels(table: TableSlice, seen: Sequence[Image], first: int, last: int) -> Found:
    """Yield sums of a simple term, an expression times a usual number, and a product of powers and one expression.

    first, last: which expressions are taken for the term.
    """
    view, library = table.view, table.library
    last = min(last, table.count + 1)
    for image in seen:
        here = image.target[view.pick]
        for start in range(first, last, EXACT.at_once):
            numbers = torch.arange(start, min(start + EXACT.at_once, last))
            terms = library.values.index_select(0, numbers)
            # Beside a term that dwarfs the target, what is left of it is rounding.
            fair = torch.nonzero(terms.abs().amax(1) < DWARFS * here.abs().amax()).squeeze(1)
            numbers, terms = numbers[fair], terms.index_select(0, fair)
            for weight in map(float, EXACT.weights):
                yield from _peeled(table, image, numbers, here - weight * terms, weight)
            yield None


def peeled_pairs(table: TableSlice, seen: Sequence[Image], last: int) -> Found:
    """Yield sums of one of the first expressions, or less it, and a product of powers and two expressions."""
    view, rows = table.view, table.factors
    nothing = view.zero()
    for image, number, weight in itertools.product(seen, range(1, min(last, table.count) + 1), SIGNS):
        term = table.library.tree(number)
        rest = image.target - weight * view.evaluate(term)
        logs = rest[view.pick].abs().log()
        if not bool(torch.isfinite(logs).all()):
            continue
        unit, share = rows.unit(logs.unsqueeze(0))
        _paired(table, rows)
        for pair in rows.pairs(unit[0]) if float(share) > EXACT.cancelled else ():
            solved = solve_product(view, rest, nothing, [table.factor(row) for row in pair])
            if solved is not None:
                yield image.back(view, weighted_sum(0.0, [(weight, term), (1.0, solved)]))
        yield None


def _peeled(table: TableSlice, image: Image, numbers: Tensor, left: Tensor, weight: float) -> Found:
    view, rows = table.view, table.factors
    logs = left.abs().log()
    view.computed(EXACT.more, EXACT.few * left.numel(), 2 * left.numel())
    large = left.abs().amax(1) > EXACT.cancelled * image.target.abs().max()
    places = torch.nonzero(torch.isfinite(logs).all(1) & large).squeeze(1)
    unit, share = rows.unit(logs.index_select(0, places))
    alone = torch.nonzero(share < EXACT.cancelled).squeeze(1)[: EXACT.few].tolist()
    others = torch.nonzero(share >= EXACT.cancelled).squeeze(1)
    hits: list[tuple[int, list[int]]] = [(place, []) for place in alone]
    hits += [(int(others[one]), [row]) for one, row in rows.lookup(unit.index_select(0, others))]
    for place, matched in hits:
        term = table.library.tree(int(numbers[places[place]]))
        rest = image.target - weight * view.evaluate(term)
        nothing = view.zero()
        solved = solve_product(view, rest, nothing, [table.factor(row) for row in matched])
        if solved is not None and relative(view.evaluate(solved), rest) < EXACT.holds * float(
            image.target.abs().max() / rest.abs().max()
        ):
            yield image.back(view, weighted_sum(0.0, [(weight, term), (1.0, solved)]))


def _paired(table: TableSlice, rows: Directions) -> None:
    """Count what pairs of rows take: one product with each, and a few of their projections sorted."""
    table.view.computed(EXACT.more, EXACT.more * rows.source.numel(), rows.rows.numel())


def _sum_of(table: TableSlice, image: Image, rows: Sequence[int]) -> Expression | None:
    terms = [table.library.tree(int(table.terms.source[row])) for row in rows]
    solved = solve_sum(table.view, image.target, terms)
    return None if solved is None else image.back(table.view, solved)


def _targets(table: TableSlice, links: Sequence[Link]) -> Iterator[tuple[Link, Tensor]]:
    view = table.view
    for link in links:
        logs = link.target.abs().log()
        if link.primitive is None:
            logs = logs - view.logs_of(view.scale.start)
        here = logs[view.pick]
        if not bool(torch.isfinite(here).all()):
            continue
        target, left = table.factors.unit(here.unsqueeze(0))
        if float(left) > EXACT.rounding:
            yield link, target[0]


def _start(view: OutputView, link: Link) -> Exponents:
    return view.scale.start if link.primitive is None else view.zero()


def _inside(link: Link, tree: Expression | None) -> Expression | None:
    if tree is None or link.primitive is None:
        return tree
    return Apply(link.primitive, (tree,))
