"""What every regularizer promises, whichever stage it looks at."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from occamkit.graph import Apply, Expression, Leaf
from occamkit.packs.shapes import STAGE_METHODS
from occamkit.packs.trial import constant_draws, sample_points
from occamkit.protocols import NodeBatch, Stage, Variable, Verdict
from occamkit.testing.promises import Promises, Subject
from occamkit.train.trainer import Trainer

promise = Promises()
promise.add_common()


def _penalties(subject: Subject, regularizer: Any) -> Iterator[tuple[str, float]]:
    """Yield penalties of all that the stage lets the regularizer see, each with a name for it."""
    stage = regularizer.stage
    if stage is Stage.FORWARD:
        for batch in _batches(subject):
            nodes = regularizer.score_nodes(batch)
            yield from ((batch.primitive.name, float(node)) for node in nodes)
        return
    for tree in subject.setting.trees:
        if stage is Stage.STRUCTURE:
            for output in subject.setting.problem.outputs:
                verdict = regularizer.verdict(_fold(subject, regularizer, tree), output)
                assert isinstance(verdict, Verdict), f"verdict must return a Verdict, got {type(verdict).__name__}"
                yield str(tree), verdict.penalty
        elif stage is Stage.SYMBOLIC:
            yield str(tree), regularizer.penalty(tree.sympy(evaluate=False), tree.sympy())
        else:
            yield from ((str(tree), regularizer.look(tree, one)) for one in subject.setting.problem.outputs)


def _fold(subject: Subject, regularizer: Any, tree: Expression) -> Any:
    if isinstance(tree, Apply):
        state = regularizer.combine(tree.primitive, [_fold(subject, regularizer, one) for one in tree.arguments])
    else:
        assert isinstance(tree, Leaf)
        state = regularizer.leaf(_variable(subject, tree))
    hash(state)
    return state


def _variable(subject: Subject, leaf: Leaf) -> Variable:
    return next(one for one in subject.setting.problem.variables if one.name == leaf.name)


def _batches(subject: Subject, rows: int = 7, dtype: torch.dtype = torch.float64) -> Iterator[NodeBatch]:
    """Yield three nodes of each registered primitive: shifted points, other constants."""
    for entry in subject.setting.registry.entries("primitives"):
        primitive = entry.value
        points = [column[:rows].to(dtype) for column in sample_points(primitive.arity)]
        arguments = tuple(torch.stack([column + shift for shift in (0.0, 0.5, 2.0)]) for column in points)
        draws = list(constant_draws(primitive, draws=3))
        constants = tuple(torch.stack(values).to(dtype) for values in zip(*draws, strict=True))
        output = primitive.call(*arguments, *(values[:, None] for values in constants))
        yield NodeBatch(primitive, arguments, constants, output)


@promise("methods of its stage")
def methods(subject: Subject) -> None:
    """It has a stage, a weight of at least 0, and the methods of that stage."""
    made = subject.made()
    assert isinstance(made.stage, Stage), f"stage must be a Stage, got {made.stage!r}"
    assert made.weight >= 0, f"weight must not be negative, got {made.weight}"
    missing = [name for name in STAGE_METHODS[made.stage] if not callable(getattr(subject.prepared(), name, None))]
    assert not missing, f"a regularizer of {made.stage} has {', '.join(missing)}"


@promise("finite and not negative")
def finite(subject: Subject) -> None:
    """Every penalty is a finite number and at least 0."""
    for name, penalty in _penalties(subject, subject.prepared()):
        number = isinstance(penalty, int | float)
        assert number, f"the penalty of {name} is a {type(penalty).__name__}; return a number"
        assert 0 <= penalty < math.inf, f"the penalty of {name} is {penalty}; return a finite number >= 0"


@promise("deterministic")
def deterministic(subject: Subject) -> None:
    """The same function has the same penalty, also after another `prepare`."""
    one, two = (list(_penalties(subject, subject.prepared())) for _ in range(2))
    assert one == two, "two equal calls differ; draw points from a generator with a seed of its own"


@promise("zero weight means no effect")
def zero_weight(subject: Subject) -> None:
    """With weight 0 scores are those without it; with any other weight none is higher."""
    plain = replace(subject.setting.problem, regularizers=())
    without = _scores(plain)
    with_zero = _scores(replace(plain, regularizers=(subject.prepared(weight=0.0),)))
    assert torch.equal(without, with_zero), "weight 0 changes scores; leave the weighing to the core"
    weighed = _scores(replace(plain, regularizers=(subject.prepared(weight=0.5),)))
    higher = weighed > without + 1e-6 * without.abs()
    undefined = without <= -plain.spec.trainer.undefined_weight * plain.fitness.ceiling(len(plain.dataset.train))
    assert not bool((higher & ~undefined).any()), "a score is higher with it than without; penalties are never negative"


def _scores(problem: Any) -> Tensor:
    """Return the scores of the first functions that a run would draw."""
    trainer, search = problem.spec.trainer, problem.spec.search
    spec = problem.spec.model_copy(
        update={
            "trainer": trainer.model_copy(update={"functions": 60}),
            "search": search.model_copy(update={"steer": False}),  # or a regularizer would change what is drawn
        }
    )
    return Trainer(replace(problem, spec=spec).search_problem, torch.Generator().manual_seed(0)).step().scores.score


@promise("a penalty for each node")
def each_node(subject: Subject) -> None:
    """At the forward stage, [U, n] in gives [U] out, of the same dtype, each node on its own, nothing written to."""
    regularizer = subject.prepared()
    if regularizer.stage is not Stage.FORWARD:
        return
    for batch in (one for dtype in (torch.float32, torch.float64) for one in _batches(subject, dtype=dtype)):
        before = batch.output.clone()
        nodes = regularizer.score_nodes(batch)
        expected = (batch.output.shape[0],)
        name = batch.primitive.name
        assert tuple(nodes.shape) == expected, f"{name}: expected {expected}, got {tuple(nodes.shape)}"
        assert nodes.dtype == batch.output.dtype, f"{name}: {batch.output.dtype} in, {nodes.dtype} out"
        assert torch.equal(torch.nan_to_num(before), torch.nan_to_num(batch.output)), (
            f"{name}: the batch was written to"
        )
        for place in range(len(nodes)):
            alone = regularizer.score_nodes(_node(batch, place))
            same = torch.allclose(alone, nodes[place : place + 1], equal_nan=True)
            assert same, f"{name}: a node's penalty depends on other nodes; reduce over dimension 1 alone"


def _node(batch: NodeBatch, place: int) -> NodeBatch:
    one = slice(place, place + 1)
    return NodeBatch(
        batch.primitive,
        tuple(argument[one] for argument in batch.arguments),
        tuple(constant[one] for constant in batch.constants),
        batch.output[one],
    )


@promise("states are hashable")
def hashable(subject: Subject) -> None:
    """At the structure stage, `leaf` and `combine` give states that can be remembered."""
    regularizer = subject.prepared()
    if regularizer.stage is not Stage.STRUCTURE:
        return
    for tree in subject.setting.trees:
        try:
            _fold(subject, regularizer, tree)
        except TypeError as error:
            raise AssertionError(f"{error}; states are numbers, texts, tuples or frozen dataclasses") from error
