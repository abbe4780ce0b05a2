"""A library over some ingredients, with its rows ready to be matched: as factors and as terms.

Tables are grown in steps of fixed sizes, and a stage matches the rows up to its own size, whoever has grown the table
further meanwhile: what a stage finds does not depend on who else is at work.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass

import torch

from occamkit import Expression, Leaf, Primitive, SearchProblem, traits
from occamkit.builtins.proposers.exact.active_groups import active_groups
from occamkit.builtins.proposers.exact.assemble import Factor
from occamkit.builtins.proposers.exact.directions import Directions
from occamkit.builtins.proposers.exact.library import Ingredient, Library
from occamkit.builtins.proposers.exact.power_inputs import PowerInputs, power_inputs
from occamkit.builtins.proposers.exact.settings import EXACT
from occamkit.builtins.proposers.exact.view import OutputView
from occamkit.dimensions import Exponents, groups
from occamkit.units import DIMENSIONLESS

FACTOR, EXPONENT, TERM = range(3)
"""Kinds of rows: an expression to some power, inside an exponential, or as it is."""


@dataclass(frozen=True)
class TableSlice:
    """A table up to some size.

    factors: logarithms of expressions, and expressions as exponents, without what may stand in front.
    terms: expressions without an offset. count: expressions by number, from 1 to this.
    """

    view: OutputView
    library: Library
    raiser: tuple[Primitive, float] | None
    factors: Directions
    terms: Directions
    count: int

    def factor(self, row: int) -> Factor:
        """Return what a row of `factors` stands for."""
        tree = self.library.tree(int(self.factors.source[row]))
        if int(self.factors.kind[row]) == FACTOR or self.raiser is None:
            return Factor(tree)
        return Factor(tree, *self.raiser)


class Table:
    """A library and its rows, grown together."""

    def __init__(self, view: OutputView, ingredients: Sequence[Ingredient]) -> None:
        values = torch.stack([view.evaluate(one.tree) for one in ingredients])[:, view.pick]
        self.view = view
        primitives = view.problem.distinct_primitives
        self.library = Library(ingredients, values, primitives, view.discrete, view.spend)
        nuisance = view.nuisance()[:, view.pick]
        self.factors = Directions(nuisance)
        self.terms = Directions(torch.ones_like(nuisance[:1]))
        self.raiser: tuple[Primitive, float] | None = next(
            ((one, base) for one in primitives if (base := traits.exponential(one)) is not None), None
        )
        self._slices: dict[int, TableSlice] = {}
        self._done = 1

    def __len__(self) -> int:
        return self.library.count + len(self.factors) + len(self.terms)

    def grow(self, most: int) -> Generator[None, None, TableSlice]:
        """Return the table up to so many expressions, grown if need be; others may take a turn on the way."""
        for size in sorted({*(one for one in EXACT.sizes if one < most), most}):
            if size in self._slices:
                continue
            yield from self.library.grow(size)
            while self._done <= self.library.count:
                last = min(self._done + EXACT.at_once, self.library.count + 1)
                self._project(self._done, last)
                self._done = last
                yield None
            factors, terms = (one.first(len(one)) for one in (self.factors, self.terms))
            here = TableSlice(self.view, self.library, self.raiser, factors, terms, self.library.count)
            self._slices[size] = here
        return self._slices[most]

    def _project(self, first: int, last: int) -> None:
        library = self.library
        numbers = torch.arange(first, last)
        numbers = numbers[~library.constant[first:last]]
        values = library.values.index_select(0, numbers)
        self.terms.add(values, numbers, TERM)
        logs = values.abs().log()
        defined = torch.nonzero(torch.isfinite(logs).all(1)).squeeze(1)
        self.factors.add(logs.index_select(0, defined), numbers[defined], FACTOR)
        if self.raiser is not None:
            small = (values.abs().amax(1) < EXACT.largest_exponent) & (library.nested[numbers] == 0)
            chosen = torch.nonzero(small).squeeze(1)
            self.factors.add(values.index_select(0, chosen), numbers[chosen], EXPONENT)
        # As a term, a factor and an exponent, each projected and brought to length.
        self.view.computed(EXACT.many, len(EXACT.weights) * (1 + TERM) * values.numel())


class Workbench:
    """What the exact proposers of a problem share: views of its outputs, tables, and inputs that are factors."""

    def __init__(self, problem: SearchProblem) -> None:
        self._problem = problem
        self._views: dict[int, OutputView] = {}
        self._tables: dict[tuple[int, tuple[Exponents, ...]], Table] = {}
        self._powers: dict[int, PowerInputs | None] = {}

    @classmethod
    def of(cls, problem: SearchProblem) -> Workbench:
        """Return the workbench of a problem, made once."""
        return problem.once(cls, lambda: cls(problem))

    def spend(self, numbers: int) -> None:
        """Count numbers for whoever is at work; see `metered`."""

    def view(self, output: int) -> OutputView:
        """Return the view of an output."""
        if output not in self._views:
            self._views[output] = OutputView(self._problem, output, lambda numbers: self.spend(numbers))  # noqa: PLW0108 whose it is changes
        return self._views[output]

    def table(self, stage: SearchStage) -> Table:
        """Return the table of a stage; those long unused are dropped."""
        key = (stage.view.output, stage.ingredients)
        table = self._tables.pop(key, None) or Table(stage.view, ingredients(stage.view, stage.ingredients))
        self._tables[key] = table  # last, as the one used last
        for other in list(self._tables):
            held = sum(one.view.times * len(one) for one in self._tables.values())
            if held + stage.view.times * (1 + TERM) * stage.most > EXACT.held and other != key:
                del self._tables[other]
        return table

    def divided(self, view: OutputView) -> Generator[None, None, OutputView | None]:
        """Return the view of an output without the inputs that are nothing but factors of it, found once, or None."""
        if view.output not in self._powers:
            self._powers[view.output] = yield from power_inputs(view)
        found = self._powers[view.output]
        return None if found is None else view.divided(*found)


@dataclass(frozen=True)
class SearchStage:
    """How far to go with one set of ingredients; deep: try also what takes long."""

    view: OutputView
    ingredients: tuple[Exponents, ...]
    most: int
    deep: bool = False


def ingredients(view: OutputView, monomials: Sequence[Exponents]) -> list[Ingredient]:
    """Return products of powers of the inputs, and the task's plain numbers, as ingredients."""
    found = [Ingredient(view.monomial_tree(one), DIMENSIONLESS) for one in monomials]
    found += [Ingredient(Leaf(one.name, one.value), DIMENSIONLESS, constant=True) for one in view.numbers]
    return found


def input_groups(view: OutputView, most: int) -> tuple[Exponents, ...]:
    """Return the simplest groups of the inputs that carry units, and all plain inputs."""
    plain = [one.unit == DIMENSIONLESS for one in view.plain]
    every = groups(view.plain)
    single = [one for one in every if sum(map(bool, one)) == 1 and plain[list(map(bool, one)).index(True)]]
    several = [one for one in every if one not in single]
    able = [one for one in several if all(ok or not power for ok, power in zip(view.loggable, one, strict=True))]
    return (*able[:most], *single)


def stages(bench: Workbench, view: OutputView) -> Iterator[SearchStage | None]:
    """Yield what to search through, few groups before many and small libraries before large ones; None for a pause.

    After the quick ones the output is also divided by the inputs that are nothing but factors of it, if there are any.
    """
    whole = _Plan(view)
    yield from whole.stages(whole.quick)
    rest = yield from bench.divided(view)
    if rest is not None:
        less = _Plan(rest)
        yield from less.stages([*less.quick, *less.slow])
        yield from whole.stages(whole.slow)
        yield from less.stages([(less.few, less.large), (less.few, 0)])
    yield from whole.stages([*whole.slow, *whole.long])


class _Plan:
    """What to search through for one view: sets of groups, each with the size of a library; zero: the last, deep."""

    def __init__(self, view: OutputView) -> None:
        self.view = view
        self._seen: set[tuple[tuple[Exponents, ...], int]] = set()
        self._grown: dict[tuple[Exponents, ...], int] = {}
        small, medium, self.large, huge = (min(size, int(EXACT.longest / view.times)) for size in EXACT.sizes)
        few, more, many = (input_groups(view, most) for most in (EXACT.few, EXACT.more, EXACT.many))
        self.few = few
        if any(one.unit != DIMENSIONLESS for one in view.plain):
            self.quick = [(few, small), (few, medium), (more, medium)]
            self.slow = [(few, 0), (more, 0)]
            self.long = [(few, self.large), (many, self.large), (few, 0), (many, 0)]
            self.long += [(few, huge), (more, huge), (few, 0), (more, 0)]
            return
        shown = active_groups(view, EXACT.more)
        low = tuple(view.low(EXACT.many)) if len(view.variables) <= EXACT.few_inputs else ()
        four, short = shown[: EXACT.few], low[: EXACT.more]
        self.quick = [(few, small), (four, small), (low, medium), (four, medium), (few, medium), (shown, medium)]
        self.slow = [(few, 0), (four, 0), (low, 0), (shown, 0)]
        self.long = [(short, self.large), (few, self.large), (four, self.large), (few, 0), (short, 0), (four, 0)]
        self.long += [(few, huge), (short, huge), (shown, huge), (few, 0)]

    def stages(self, plan: Sequence[tuple[tuple[Exponents, ...], int]]) -> Iterator[SearchStage]:
        """Yield the stages of a part of the plan that are new."""
        for chosen, most in plan:
            size = most or self._grown.get(chosen, 0)
            key = (chosen, size if most else -size)
            if chosen and size and key not in self._seen:
                self._seen.add(key)
                self._grown[chosen] = max(size, self._grown.get(chosen, 0))
                yield SearchStage(self.view, chosen, size, deep=not most)


Found = Iterator[Expression | None]
"""Formulas, and None where others may take a turn."""
