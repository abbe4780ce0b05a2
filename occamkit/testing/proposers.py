"""What every proposer promises."""

from __future__ import annotations

import time
from typing import Any

import torch

from occamkit.graph import Expression, Leaf
from occamkit.search import Milestone, Proposal, SearchBudget
from occamkit.testing.promises import Promises, Subject

promise = Promises()
promise.add_common()

SECONDS = 1.0
"""The budget."""

GRACE = 2.0
"""Seconds that a proposer may take beyond it."""

ENOUGH_TO_COMPARE = 20
"""How many first candidates must be the same; later ones may depend on the clock."""

ENOUGH = 200
"""Candidates after which no more are asked for."""


def _trees(subject: Subject) -> list[Expression]:
    """Return the trees that it proposes within the budget."""
    begun = time.monotonic()
    problem = subject.setting.problem.search_problem
    trees: list[Expression] = []
    for proposal in subject.prepared().propose(problem, SearchBudget(begun + SECONDS)):
        spent = time.monotonic() - begun
        message = (
            f"still proposes after {spent:.1f} s with a budget of {SECONDS:g} s; ask budget.over() between candidates"
        )
        assert spent <= SECONDS + GRACE, message
        if proposal is not None and not isinstance(proposal, Milestone):
            trees.append(_tree(proposal))
        if len(trees) == ENOUGH or (not isinstance(proposal, Proposal) and spent > SECONDS):
            break
    spent = time.monotonic() - begun
    assert spent <= SECONDS + GRACE, f"took {spent:.1f} s with a budget of {SECONDS:g} s; ask budget.over() more often"
    return trees


def _tree(proposal: Any) -> Expression:
    message = f"yielded {type(proposal).__name__}; yield an occamkit.Proposal, or None where others may take a turn"
    assert isinstance(proposal, Proposal), message
    return proposal.tree


@promise("keeps to the budget")
def keeps_to_the_budget(subject: Subject) -> None:
    """It ends when its seconds are spent."""
    _trees(subject)


@promise("yields candidates that validate")
def candidates_validate(subject: Subject) -> None:
    """It yields functions of the problem's own columns and constants that have a value for every row."""
    problem = subject.setting.problem
    trees = _trees(subject)
    known = {one.name: one.value for one in problem.variables if one.value is None}
    columns = dict(zip([one.name for one in problem.dataset.variables], problem.dataset.inputs, strict=True))
    for tree in trees:
        strange = [n.name for n in tree.nodes() if isinstance(n, Leaf) and n.value is None and n.name not in known]
        assert not strange, f"{tree} reads {strange[0]!r}, which is no column of the problem"
        if tree.constant_count == len(tree.fitted):
            values = tree.evaluate(columns)
            assert isinstance(values, torch.Tensor), f"{tree} evaluates to {type(values).__name__}"
            assert values.shape[-1:] == (problem.dataset.rows,) or values.dim() == 0, (
                f"{tree} has {tuple(values.shape)}"
            )


@promise("deterministic")
def deterministic(subject: Subject) -> None:
    """The same problem gives the same first candidates."""
    one, two = _trees(subject), _trees(subject)
    both = min(len(one), len(two), ENOUGH_TO_COMPARE)
    assert one[:both] == two[:both], "two equal calls differ; draw from a generator with the problem's seed"
