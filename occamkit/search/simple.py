"""What there is without a search, for a run that ended before it found anything: the mean, and the best line."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import torch

from occamkit.archive import Archive
from occamkit.fit import solve
from occamkit.graph import Expression, Leaf, product, weighted_sum
from occamkit.protocols import Kind
from occamkit.task.search_problem import SearchProblem

SIMPLE = "simple"
"""Who proposed them."""


def offer_simple(problem: SearchProblem, archives: Sequence[Archive]) -> None:
    """Offer simple models wherever there is no formula yet; what the task forbids stays forbidden."""
    if problem.kind is Kind.FUNCTION:
        for output, archive in enumerate(archives):
            if archive.best() is None:
                for tree in _simple(problem, output):
                    archive.offer(tree, SIMPLE)


def _simple(problem: SearchProblem, output: int) -> Iterator[Expression]:
    target = problem.targets[output]
    yield product(float(target.mean()), [])
    weights = solve(torch.cat([torch.ones_like(target).unsqueeze(0), problem.columns]), target)
    if weights is not None:
        level, *slopes = weights.tolist()
        inputs = [Leaf(one.name) for one in problem.variables if one.value is None]
        yield weighted_sum(level, list(zip(slopes, inputs, strict=True)))
