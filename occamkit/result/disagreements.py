"""The rows that a formula does not meet, though it meets nearly all: exceptions, or mistakes in the data."""

from __future__ import annotations

import math

import torch

from occamkit.archive import Candidate
from occamkit.archive.figures import misses
from occamkit.description import MOST_EXCEPTIONS
from occamkit.evaluate import predictions
from occamkit.result.values import Disagreement
from occamkit.task.problem import Problem


def disagreements(problem: Problem, candidate: Candidate, output: int) -> tuple[Disagreement, ...]:
    """Return the rows of all parts that a candidate misses by more than rounding, if they are few."""
    dataset = problem.dataset
    names = [one.name for one in dataset.variables]
    if candidate.whole is not None and candidate.recurrence is not None:
        found = predictions(problem, candidate.whole.trees, candidate.recurrence, names, dataset.inputs)[output]
    else:
        found = candidate.tree.evaluate(dict(zip(names, dataset.inputs, strict=True)))
    scale = dataset.output_scale(output)
    expected = scale.declared(dataset.targets[output])
    got = scale.declared(found.expand_as(dataset.targets[output]))
    wrong = misses(got - expected, float(expected.square().mean().sqrt()))
    if int(wrong.sum()) > max(1, MOST_EXCEPTIONS * dataset.rows):
        return ()
    rows = []
    for row in torch.nonzero(wrong).squeeze(1).tolist():
        inputs = {
            name: float(dataset.scales[place].declared(dataset.inputs[place, row])) for place, name in enumerate(names)
        }
        value = float(got[row])
        number = dataset.lines[row] if dataset.lines is not None else row + 1
        rows.append(Disagreement(number, inputs, float(expected[row]), value if math.isfinite(value) else None))
    return tuple(rows)
