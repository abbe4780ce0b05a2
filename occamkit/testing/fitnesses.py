"""What every fitness promises."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from occamkit import traits
from occamkit.testing.promises import Promises, Subject

promise = Promises()
promise.add_common()

_POINTS = 12


def _sample(dtype: torch.dtype = torch.float64) -> tuple[Tensor, Tensor]:
    """Return predictions [F, n], the first of them perfect, and a target [n]."""
    generator = torch.Generator().manual_seed(0)
    target = torch.randn(_POINTS, generator=generator, dtype=torch.float64)
    noise = torch.randn(6, _POINTS, generator=generator, dtype=torch.float64)
    sizes = torch.tensor([0.0, 1e-3, 0.1, 1.0, 30.0, 1e6], dtype=torch.float64)
    others = torch.stack([-target, target + 5, 2 * target, torch.zeros_like(target)])
    return torch.cat([target + sizes[:, None] * noise, others]).to(dtype), target.to(dtype)


@promise("one score each")
def one_score_each(subject: Subject) -> None:
    """Predictions of shape [F, n] give scores of shape [F], of the same dtype."""
    fitness = subject.prepared()
    for dtype in (torch.float32, torch.float64):
        predicted, target = _sample(dtype)
        scores = fitness.score(predicted, target)
        assert isinstance(scores, Tensor), f"score must return a tensor, got {type(scores).__name__}"
        expected = (len(predicted),)
        assert tuple(scores.shape) == expected, f"expected {expected}, got {tuple(scores.shape)}; sum over dimension 1"
        assert scores.dtype == dtype, f"{dtype} in, {scores.dtype} out; make new tensors with new_… or …_like"


@promise("perfect reaches the ceiling")
def perfect(subject: Subject) -> None:
    """A perfect prediction scores ceiling(points), which is positive and finite."""
    fitness = subject.prepared()
    predicted, target = _sample()
    ceiling = fitness.ceiling(_POINTS)
    assert 0 < ceiling < math.inf, f"ceiling({_POINTS}) is {ceiling}; penalties are measured in it"
    score = float(fitness.score(predicted[:1], target)[0])
    close = math.isclose(score, ceiling, rel_tol=1e-6)
    assert close, f"a perfect prediction scores {score:.10g}, ceiling({_POINTS}) is {ceiling:.10g}; make them agree"


@promise("nothing exceeds the ceiling")
def ceiling_holds(subject: Subject) -> None:
    """No prediction, near or far, scores more than the ceiling."""
    fitness = subject.prepared()
    scores, ceiling = fitness.score(*_sample()), fitness.ceiling(_POINTS)
    best = float(scores.max())
    assert best <= ceiling * (1 + 1e-6), f"a prediction scores {best:.10g}, above the ceiling {ceiling:.10g}"


@promise("rows are independent")
def rows_independent(subject: Subject) -> None:
    """A prediction scores the same alone and in company."""
    fitness = subject.prepared()
    predicted, target = _sample()
    together = fitness.score(predicted.clone(), target)
    alone = torch.cat([fitness.score(row[None].clone(), target) for row in predicted])
    same = torch.allclose(together, alone, rtol=1e-9, atol=1e-9, equal_nan=True)
    assert same, "a score depends on the other predictions; reduce over dimension 1 alone"


@promise("undefined stays undefined")
def undefined(subject: Subject) -> None:
    """A prediction that is NaN anywhere has a score that is not finite."""
    predicted, target = _sample()
    predicted[1, 3] = torch.nan
    scores = subject.prepared().score(predicted, target)
    assert not torch.isfinite(scores[1]), "a prediction with NaN in it has a finite score; do not skip or replace NaN"
    assert torch.isfinite(scores[0]), "NaN in one prediction makes the score of another undefined"


@promise("ranks by squares if it says so")
def ranks_by_squares(subject: Subject) -> None:
    """What declares `squares` ranks predictions that are near the target as their mean square error does."""
    fitness = subject.prepared()
    if not traits.squares(fitness):
        return
    generator = torch.Generator().manual_seed(1)
    target = torch.randn(_POINTS, generator=generator, dtype=torch.float64)
    errors = 1e-3 * torch.randn(40, _POINTS, generator=generator, dtype=torch.float64)
    scores, squares = fitness.score(target + errors, target), errors.square().sum(1)
    ranked = torch.equal(scores.argsort(descending=True), squares.argsort())
    assert ranked, "it declares squares = True, but ranks good predictions otherwise; leave the declaration out"


@promise("leaves arguments alone")
def leaves_arguments_alone(subject: Subject) -> None:
    """It does not write to predictions or target."""
    predicted, target = _sample()
    copies = predicted.clone(), target.clone()
    subject.prepared().score(predicted, target)
    kept = torch.equal(predicted, copies[0]) and torch.equal(target, copies[1])
    assert kept, "an argument was overwritten; use the form without a trailing underscore"


@promise("deterministic")
def deterministic(subject: Subject) -> None:
    """The same arguments give the same scores."""
    fitness = subject.prepared()
    one, two = (torch.nan_to_num(fitness.score(*_sample())) for _ in range(2))
    assert torch.equal(one, two), "two equal calls differ; draw nothing at random"


@promise("keeps device")
def keeps_device(subject: Subject) -> None:
    """It runs where its arguments are, and never reads their values on the host."""
    predicted, target = (tensor.to("meta") for tensor in _sample())
    try:
        scores = subject.made().score(predicted, target)
    except (RuntimeError, NotImplementedError, TypeError) as error:
        raise AssertionError(f"cannot run away from the host: {error}; avoid item(), float() and numpy") from error
    assert scores.device.type == "meta", f"moved to {scores.device}; create tensors on the arguments' device"
