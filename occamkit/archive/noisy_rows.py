"""What noisy rows ask for at the end: numbers fitted to all of them, and whatever formulas are as good as the best.

A formula is chosen with some rows held back. Once it is chosen, these rows know its numbers as well as the others do.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import torch
from torch import Tensor

from occamkit.archive.archive import Archive, tidied, worse
from occamkit.archive.candidate import Candidate
from occamkit.archive.figures import figures_of
from occamkit.archive.tidy import tidy
from occamkit.protocols import Kind
from occamkit.task.problem import Problem

SAME = 0.1
"""Two formulas say the same if they differ by less than this part of what the better leaves."""
MOST_TIES = 3
MOST_LOOKED_AT = 30


def refitted(problem: Problem, candidate: Candidate, output: int) -> Candidate:
    """Return a formula with its numbers fitted to the rows for choosing too; figures of these stay those before."""
    held = problem.dataset.part("valid")[1].shape[1]
    if problem.kind is not Kind.FUNCTION or candidate.exact or not held or not any(candidate.errors):
        return candidate
    found = tidy(problem, candidate.tree, output, candidate.figures.of_values, parts=("train", "valid"))
    figures = figures_of(problem, found.tree, output)
    if worse(problem, figures, candidate):
        return candidate
    tested = candidate.figures.with_part("test", figures)
    return replace(candidate, tree=found.tree, errors=found.errors, figures=tested, refitted=True)


def ties(archive: Archive, best: Candidate | None) -> tuple[Candidate, ...]:
    """Return other formulas whose descriptions are nearly as short as that of the best, the shortest first."""
    if best is None or best.exact or archive.problem.kind is not Kind.FUNCTION or not best.tree.inputs:
        return ()
    nearly = archive.nearly_best()
    if all(one is not best for one in nearly):
        return ()  # it was not chosen by its description
    best = tidied(archive.problem, best, archive.output)
    left = best.figures.mse["train"] ** 0.5
    found: list[tuple[Candidate, Tensor]] = [(best, _said(archive, best))]
    for rough in nearly[:MOST_LOOKED_AT]:
        one = tidied(archive.problem, rough, archive.output)
        said = _said(archive, one)
        if len(found) <= MOST_TIES and not _same(said, (other for _, other in found), SAME * left):
            found.append((one, said))
    return tuple(one for one, _ in found[1:])


def _said(archive: Archive, candidate: Candidate) -> Tensor:
    """Return what a formula says of the rows for training, in declared units."""
    dataset = archive.problem.dataset
    columns, targets = dataset.named("train")
    values = candidate.tree.evaluate(columns).expand(targets.shape[1])
    return dataset.output_scale(archive.output).declared(values)


def _same(said: Tensor, others: Iterable[Tensor], within: float) -> bool:
    return any(float(torch.square(said - other).mean()) ** 0.5 <= within for other in others)
