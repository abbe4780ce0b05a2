"""Proposers that look formulas up instead of guessing them: exact on rows without noise, and quick."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, ClassVar

from annotated_types import Ge

from occamkit import Proposal, SearchBudget, SearchProblem, search

Proposals = Iterator[Proposal | None]
Most = Annotated[int, Ge(1000)]
END = "end"


@dataclass(frozen=True)
class Monomial:
    """Solves for a factor times powers of the inputs, alone or inside a primitive that declares its inverse."""

    name: ClassVar[str] = "monomial"

    def propose(self, problem: SearchProblem, budget: SearchBudget) -> Proposals:
        """Yield at most one formula for each output and invertible primitive."""
        for output in _outputs(problem):
            view = search.shared_view(problem, output)
            yield from _proposals(view, search.monomials(view, view.links()))


@dataclass(frozen=True)
class Enumerate:
    """Goes through all small expressions, each once, for one that gives the output.

    A factor, powers of the inputs, an offset and an invertible primitive around it are solved for.
    most: expressions in memory, at some 800 bytes each.
    """

    name: ClassVar[str] = "enumerate"
    share: ClassVar[float] = 3.0
    most: Most = 200_000

    def propose(self, problem: SearchProblem, budget: SearchBudget) -> Proposals:
        """Yield what matches, simplest ingredients first."""
        for table, deep in _tables(problem, budget, self.most):
            if table is None or deep:
                yield None
                continue
            links = table.view.links()
            alone = search.sums(table, search.images(table.view, 1, (1,)), alone=True)
            for found in (search.singles(table, links), alone):
                yield from _proposals(table.view, found)


@dataclass(frozen=True)
class Join:
    """Finds formulas that two small expressions make together: products, sums, and what is left without a term.

    most: expressions in memory, at some 800 bytes each.
    """

    name: ClassVar[str] = "join"
    share: ClassVar[float] = 3.0
    most: Most = 200_000

    def propose(self, problem: SearchProblem, budget: SearchBudget) -> Proposals:
        """Yield what matches, cheap combinations first."""
        for table, deep in _tables(problem, budget, self.most):
            if table is None:
                yield None
                continue
            for found in self._deep(table) if deep else self._quick(table):
                yield from _proposals(table.view, found)
                if budget.over():
                    return

    def _quick(self, table: search.Table) -> Iterator[search.Found]:
        odd, even = search.images(table.view, 6, (1, -1)), search.images(table.view, 6, (2, -2))
        yield search.pairs(table, table.view.links())
        for seen in (odd, even):
            yield search.sums(table, seen)
            yield search.peels(table, seen, 1, 2_000)

    def _deep(self, table: search.Table) -> Iterator[search.Found]:
        odd, even = search.images(table.view, 4, (1, -1)), search.images(table.view, 2, (2, -2))
        yield search.peels(table, [*odd, *even], 2_000, 20_000 if table.library.count < 100_000 else 60_000)
        yield search.peeled_pairs(table, [*odd[:2], *even[:1]], 30)
        yield search.triples(table, table.view.links(), 60)
        yield search.sums(table, odd[:2], 60)


def _outputs(problem: SearchProblem) -> Iterator[int]:
    """Yield the outputs that have no exact formula yet."""
    if problem.explicit:
        yield from (output for output in range(len(problem.outputs)) if not problem.solved(output))


def _tables(problem: SearchProblem, budget: SearchBudget, most: int) -> Iterator[tuple[search.Table | None, bool]]:
    """Yield tables of growing size for each output in turn, and None for a breath."""
    plans = {output: search.stages(search.shared_view(problem, output)) for output in _outputs(problem)}
    while plans:
        for output in list(plans):
            stage = next(plans[output], END)
            if isinstance(stage, str) or problem.solved(output):
                del plans[output]
                continue
            if stage is None:
                yield None, False
                continue
            table = search.tables(problem, stage)
            for _ in table.extend(min(stage.most, most)):
                yield None, False
                if budget.over():
                    return
            yield table, stage.deep


def _proposals(view: search.View, found: search.Found) -> Proposals:
    for tree in found:
        yield None if tree is None else Proposal(view.whole(tree), view.output)
