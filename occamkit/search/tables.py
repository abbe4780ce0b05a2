"""A library over some ingredients, with its rows ready to be matched: as factors and as terms."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass

import torch

from occamkit.graph import Leaf
from occamkit.protocols import Primitive
from occamkit.search.active import active_groups
from occamkit.search.assemble import Factor
from occamkit.search.choice import plain_only
from occamkit.search.library import Ingredient, Library
from occamkit.search.problem import SearchProblem
from occamkit.search.rows import Rows
from occamkit.search.separable import power_inputs
from occamkit.search.view import View, exponential
from occamkit.task.dimensions import Exponents, groups
from occamkit.units import DIMENSIONLESS

MOST_ROWS = 1_000_000
"""Rows that all tables hold together, at some 300 bytes each."""
CHUNK = 20_000
"""Expressions that are projected at once: some hundredths of a second."""
LARGEST_EXPONENT = 700.0
SMALL, MEDIUM, LARGE, HUGE = 3_000, 30_000, 120_000, 200_000
"""Sizes of libraries."""
FEW_INPUTS = 5
"""Products of all inputs are gone through for so many of them."""
FACTOR, EXPONENT, TERM = 0, 1, 2
"""Kinds of rows: an expression to some power, inside an exponential, or as it is."""


class Table:
    """A library and its rows, grown together.

    factors: logarithms of expressions, and expressions as exponents, without what may stand in front.
    terms: expressions without an offset.
    """

    def __init__(self, view: View, ingredients: Sequence[Ingredient], algebraic: bool = False) -> None:
        """Start a library; an algebraic one does without primitives that take plain numbers alone."""
        values = torch.stack([view.evaluate(one.tree) for one in ingredients])[:, view.pick]
        self.view = view
        primitives = [one for one in view.problem.preferred() if not (algebraic and plain_only(one))]
        self.library = Library(ingredients, values, primitives, view.discrete)
        nuisance = view.nuisance()[:, view.pick]
        self.factors = Rows(nuisance)
        self.terms = Rows(torch.ones_like(nuisance[:1]))
        self.raiser: tuple[Primitive, float] | None = next(
            ((one, base) for one in view.problem.primitives if (base := exponential(one)) is not None), None
        )
        self._done = 1

    def __len__(self) -> int:
        return self.library.count + len(self.factors) + len(self.terms)

    def extend(self, most: int) -> Iterator[None]:
        """Grow to so many expressions, with breaths."""
        for _ in self.library.grow(most):
            yield None
        while self._done <= self.library.count:
            last = min(self._done + CHUNK, self.library.count + 1)
            self._project(self._done, last)
            self._done = last
            yield None

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
            small = (values.abs().amax(1) < LARGEST_EXPONENT) & (library.nested[numbers] == 0)
            chosen = torch.nonzero(small).squeeze(1)
            self.factors.add(values.index_select(0, chosen), numbers[chosen], EXPONENT)

    def factor(self, row: int) -> Factor:
        """Return what a row of `factors` stands for."""
        return self.factor_of(int(self.factors.source[row]), int(self.factors.kind[row]))

    def factor_of(self, source: int, kind: int) -> Factor:
        """Return an expression as a factor of some kind."""
        tree = self.library.tree(source)
        if kind == FACTOR or self.raiser is None:
            return Factor(tree)
        return Factor(tree, *self.raiser)


@dataclass(frozen=True)
class Stage:
    """How far to go with one set of ingredients; deep: try also what takes long."""

    view: View
    ingredients: tuple[Exponents, ...]
    most: int
    deep: bool = False


def tables(problem: SearchProblem, stage: Stage) -> Table:
    """Return the table of a stage; proposers that ask for the same share it, and those long unused are dropped."""
    kept: dict[tuple[int, tuple[Exponents, ...]], Table] = problem.shared.setdefault("tables", {})
    key = (stage.view.output, stage.ingredients)
    table = kept.pop(key, None) or Table(stage.view, ingredients(stage.view, stage.ingredients))
    kept[key] = table  # last, as the one used last
    for other in list(kept):
        if sum(map(len, kept.values())) + 3 * stage.most > MOST_ROWS and other != key:
            del kept[other]
    return table


def shared_view(problem: SearchProblem, output: int) -> View:
    """Return the view of an output, made once for all proposers."""
    key = ("view", output)
    if key not in problem.shared:
        problem.shared[key] = View(problem, output)
    view: View = problem.shared[key]
    return view


def ingredients(view: View, monomials: Sequence[Exponents]) -> list[Ingredient]:
    """Return products of powers of the inputs, and the task's plain numbers, as ingredients."""
    found = [Ingredient(view.monomial_tree(one), DIMENSIONLESS) for one in monomials]
    found += [Ingredient(Leaf(one.name, one.value), DIMENSIONLESS, constant=True) for one in view.numbers]
    return found


def input_groups(view: View, most: int) -> tuple[Exponents, ...]:
    """Return the simplest groups of the inputs that carry units, and all plain inputs."""
    plain = [one.unit == DIMENSIONLESS for one in view.plain]
    every = groups(view.plain)
    single = [one for one in every if sum(bool(power) for power in one) == 1 and plain[_place(one)]]
    several = [one for one in every if one not in single]
    able = [one for one in several if all(ok or not power for ok, power in zip(view.loggable, one, strict=True))]
    return (*able[:most], *single)


def _place(exponents: Exponents) -> int:
    return next(place for place, one in enumerate(exponents) if one)


def stages(view: View) -> Iterator[Stage | None]:
    """Yield what to search through, few groups before many and small libraries before large ones, with breaths.

    After the quick ones the output is also divided by the inputs that are nothing but factors of it, if there are any.
    """
    whole = _Plan(view)
    yield from whole.stages(whole.quick)
    rest = yield from divided(view)
    if rest is not None:
        less = _Plan(rest)
        yield from less.stages([*less.quick, *less.slow])
        yield from whole.stages(whole.slow)
        yield from less.stages([(less.few, LARGE), (less.few, 0)])
    yield from whole.stages([*whole.slow, *whole.long])


class _Plan:
    """What to search through for one view: sets of groups, each with the size of a library; zero: the last, deep."""

    def __init__(self, view: View) -> None:
        self.view = view
        self._seen: set[tuple[tuple[Exponents, ...], int]] = set()
        self._grown: dict[tuple[Exponents, ...], int] = {}
        few, more, many = (input_groups(view, most) for most in (4, 14, 30))
        self.few = few
        if any(one.unit != DIMENSIONLESS for one in view.plain):
            self.quick = [(few, SMALL), (few, MEDIUM), (more, MEDIUM)]
            self.slow = [(few, 0), (more, 0)]
            self.long = [
                (few, LARGE),
                (many, LARGE),
                (few, 0),
                (many, 0),
                (few, HUGE),
                (more, HUGE),
                (few, 0),
                (more, 0),
            ]
            return
        shown, low = active_groups(view, 14), tuple(view.low(40))
        low = low if len(view.variables) <= FEW_INPUTS else ()
        four, short = shown[:4], low[:14]
        self.quick = [(few, SMALL), (four, SMALL), (low, MEDIUM), (four, MEDIUM), (few, MEDIUM), (shown, MEDIUM)]
        self.slow = [(few, 0), (four, 0), (low, 0), (shown, 0)]
        self.long = [(short, LARGE), (few, LARGE), (four, LARGE), (few, 0), (short, 0), (four, 0)]
        self.long += [(few, HUGE), (short, HUGE), (shown[:8], HUGE), (few, 0)]

    def stages(self, plan: Sequence[tuple[tuple[Exponents, ...], int]]) -> Iterator[Stage]:
        """Yield the stages of a part of the plan that are new."""
        for chosen, most in plan:
            size = most or self._grown.get(chosen, 0)
            key = (chosen, size if most else -size)
            if chosen and size and key not in self._seen:
                self._seen.add(key)
                self._grown[chosen] = max(size, self._grown.get(chosen, 0))
                yield Stage(self.view, chosen, size, deep=not most)


def divided(view: View) -> Generator[None, None, View | None]:
    """Return the view of an output without the inputs that are nothing but factors of it, found once; None if none."""
    shared, key = view.problem.shared, ("power inputs", view.output)
    if key not in shared:
        shared[key] = yield from power_inputs(view)
    return None if shared[key] is None else view.divided(*shared[key])
