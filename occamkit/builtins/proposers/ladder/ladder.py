"""All rungs in their order, and the winner as a formula."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from occamkit import Expression, Proposal, SearchProblem
from occamkit.builtins.proposers.ladder.contest import Contender, Contest, Rung, level_of
from occamkit.builtins.proposers.ladder.settings import SETTINGS
from occamkit.builtins.proposers.ladder.terms import (
    curved_factors,
    function_of,
    lone_terms,
    plain_factors,
    with_products,
)
from occamkit.builtins.proposers.ladder.weigh import Design, lassoed, pursued
from occamkit.graph import Apply, product, weighted_sum
from occamkit.kernel import Op
from occamkit.units import DIMENSIONLESS


class Ladder:
    """Sums for one output: those of inputs and their products, and of curved functions where these pay."""

    def __init__(self, problem: SearchProblem, output: int) -> None:
        self.output = output
        self.target = problem.targets[output].numpy()
        rows = len(self.target)
        self.weights = np.ones(rows) if problem.weights is None else problem.weights.numpy()
        self._plain = plain_factors(problem)
        self._curved = curved_factors(problem, self._plain)
        units = [problem.outputs[output].unit, *(one.unit for one in problem.inputs)]
        bare = all(unit == DIMENSIONLESS for unit in units)
        self._exp = function_of(problem, Op.EXP) if bare and bool((self.target > 0).all()) else None
        self.contest = Contest(self.target, self.weights, problem.seed)
        self.ready = SETTINGS.fewest_rows <= rows and bool(self._plain)

    def climb(self, rung: Rung) -> Iterator[int]:
        """Let a rung take part; yields what was computed."""
        yield from self.contest.enter(rung, of_logs=False)
        if self._exp is not None:
            yield from self.contest.enter(rung, of_logs=True)

    def rungs(self) -> Iterator[Rung]:
        """Yield all rungs, straight ones first."""
        plain, partners = self._plain, frozenset(self._partners())
        every = [*plain, *(one for one in self._curved if one.column in partners)]
        yield Rung("lasso", lone_terms(plain), lasso=True)
        yield Rung("products", with_products(plain, partners, squares=False))
        yield Rung("squares", with_products(plain, partners, squares=True), base=False)
        if self._curved:
            yield Rung("curved", lone_terms(every), base=False)
            yield Rung("curved products", with_products(every, partners, squares=False), base=False)

    def _partners(self) -> Sequence[int]:
        """Return the columns that products are made of: where there are many, what pursuit and lasso take first."""
        if len(self._plain) <= SETTINGS.partners:
            return [one.column for one in self._plain]
        terms = lone_terms(self._plain)
        design = Design.of(terms.values, self.target, self.weights)
        kept = [one.places for one in lassoed(design, len(self._plain)) if len(one.places) <= SETTINGS.partners]
        first = pursued(design, terms, SETTINGS.partners)
        order = dict.fromkeys(
            int(place) for pair in zip(first, [*(kept[-1] if kept else ()), *first], strict=False) for place in pair
        )
        return [self._plain[place].column for place in list(order)[: SETTINGS.partners]]

    def winner(self, foretold: bool) -> Iterator[Proposal]:
        """Yield the mean, and the sum that foretells rows best; foretold: with the squares by which it missed them."""
        yield Proposal(product(float(np.average(self.target, weights=self.weights)), []), self.output)
        best = self.contest.best()
        if best is not None:
            squares = tuple(best.squares.tolist()) if foretold else ()
            yield Proposal(self.tree(best), self.output, foretold=squares)

    def tree(self, one: Contender) -> Expression:
        """Return a contender as a formula."""
        terms, places = one.rung.terms, one.weighed.places
        wanted = np.log(self.target) if one.of_logs else self.target
        design = Design.of(terms.values[places], wanted, self.weights)
        weights = one.weighed.weights[one.shrinkage] / design.lengths
        level = design.level - float(weights @ design.means)
        shares = [(float(weight), terms.trees[place]) for weight, place in zip(weights, places, strict=True)]
        if not one.of_logs:
            return weighted_sum(level, shares)
        assert self._exp is not None
        logs = level + weights @ terms.values[places]
        level += float(np.log(level_of(logs[None], self.target)[0]))
        return Apply(self._exp, (weighted_sum(level, shares),))
