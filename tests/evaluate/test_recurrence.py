"""Repeated programs: the same as applying trees again and again, whatever the company, and cheap once they diverge."""

from dataclasses import dataclass

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from occamkit import Registry
from occamkit.evaluate import ProgramEvaluator, iterates
from occamkit.graph import Graph, Leaf, read_expression
from occamkit.network import Layout
from occamkit.network.reach import sample_of_edges
from occamkit.task.feedback import Feedback, make_feedback
from tests.engine_oracle import random_edges
from tests.engine_primitives import ADD, CHOOSE, MUL

DEPTH = 3


class Squares:
    """Minus the mean squared error, through a function that rounds at ragged ends."""

    def score(self, predicted, target):
        return -((predicted - target).square().sigmoid()).mean(1)

    def ceiling(self, points):
        return 0.0


@dataclass(frozen=True)
class Euler:
    """x + f(x)/10: arithmetic on states, as a pack may do it."""

    depth: int = DEPTH

    def unroll(self, step, start):
        state = start
        for _ in range(self.depth):
            state = state + 0.1 * step(state)
            yield state


def recurrence(depth=DEPTH):
    return Registry.load(only=[]).find("wrappers", "recurrence").value(depth=depth)


FEEDBACKS = [
    make_feedback(["a", "b"], ["a"], {}),
    make_feedback(["a", "b"], ["b", "a"], {}),
    make_feedback(["a", "b"], ["c"], {"a": "c", "b": "a"}),
]


@st.composite
def cases(draw):
    feedback = draw(st.sampled_from(FEEDBACKS))
    layers = draw(
        st.lists(st.lists(st.sampled_from([ADD, MUL, CHOOSE]), min_size=1, max_size=3), min_size=1, max_size=2)
    )
    layout = Layout.build(3, layers, outputs=feedback.outputs)
    return feedback, layout, draw(st.integers(1, 30)), draw(st.integers(1, 9)), draw(st.integers(0, 1000))


def setting(case, dtype=torch.float64):
    feedback, layout, functions, points, seed = case
    generator = torch.Generator().manual_seed(seed)
    columns = torch.randn(3, points, generator=generator, dtype=dtype)
    columns[2] = 2.0  # a constant
    graph = Graph(3, layout.primitives)
    roots = graph.intern(sample_of_edges(layout, random_edges(layout, functions, seed)))
    targets = torch.randn(feedback.outputs, points, generator=generator, dtype=dtype)
    return graph, columns, roots, targets


def expected(graph, columns, roots, targets, wrapper, feedback):
    """Fitness of every program at every depth, [D, v, F], by applying its trees."""
    leaves = (Leaf("a"), Leaf("b"), Leaf("two", 2.0))
    scores = []
    for program in roots.T.tolist():
        trees = [read_expression(graph, root, leaves) for root in program]
        states = iterates(wrapper, feedback, trees, ["a", "b"], columns[:2])
        worth = [
            torch.cat([Squares().score(one.unsqueeze(0), t) for one, t in zip(state, targets, strict=True)])
            for state in states
        ]
        scores.append(torch.stack(worth))
    return torch.stack(scores, 2)


@given(cases(), st.sampled_from([recurrence(), Euler()]))
@settings(max_examples=100)
def test_scores_are_those_of_repeated_trees(case, wrapper):
    graph, columns, roots, targets = setting(case)
    found = ProgramEvaluator(graph, columns, wrapper, case[0], block=1).score(roots, targets, Squares())
    every = expected(graph, columns, roots, targets, wrapper, case[0])
    torch.testing.assert_close(found.fitness, every.amax(0))
    at = every.gather(0, (found.depth - 1).view(1, 1, -1).expand(1, every.shape[1], -1))[0]
    torch.testing.assert_close(found.together, at)
    torch.testing.assert_close(at.sum(0), every.sum(1).amax(0))


@given(cases())
@settings(max_examples=30)
def test_scores_depend_neither_on_order_nor_on_blocks_nor_on_what_is_known(case):
    graph, columns, roots, targets = setting(case, torch.float32)
    whole = ProgramEvaluator(graph, columns, recurrence(), case[0])
    found = whole.score(roots, targets, Squares()).fitness
    assert torch.equal(whole.score(roots, targets, Squares()).fitness, found)
    small = ProgramEvaluator(graph, columns, recurrence(), case[0], block=1)
    assert torch.equal(small.score(roots.flip(1), targets, Squares()).fitness.flip(1), found)


def test_a_program_that_diverges_is_scored_as_far_as_it_goes_and_not_evaluated_further():
    calls = []

    def counted(a, b):
        calls.append(a.numel())
        return a * b

    square = MUL.__class__("square", 2, counted, MUL.sympy, MUL.units, commutative=True)
    graph = Graph(1, (square,))
    root = graph.apply(0, [torch.tensor([1]), torch.tensor([1])])
    for _ in range(6):
        root = graph.apply(0, [root, root])  # x ** 128
    columns = torch.full((1, 4), 100.0)
    feedback = Feedback(1, (0,))
    deep = ProgramEvaluator(graph, columns, recurrence(50), feedback)
    found = deep.score(root.unsqueeze(0), torch.zeros(1, 4), Squares())
    assert torch.isnan(found.fitness).all()
    assert found.depth.tolist() == [0]
    assert len(calls) == 7  # one step of seven nodes, then no more
    shallow = deep.score(torch.tensor([[1]]), torch.full((1, 4), 100.0), Squares())
    assert shallow.depth.tolist() == [1]


@pytest.mark.parametrize("depth", [1, 2])
def test_a_limit_on_depth_forgets_what_was_deeper(depth):
    graph = Graph(2, (ADD,))
    root = graph.apply(0, [torch.tensor([1]), torch.tensor([2])])
    columns = torch.stack([torch.arange(4.0), torch.ones(4)])
    evaluator = ProgramEvaluator(graph, columns, recurrence(), Feedback(1, (0, None)))
    target = torch.arange(4.0).unsqueeze(0) + 3
    assert evaluator.score(root.unsqueeze(0), target, Squares()).depth.tolist() == [3]
    evaluator.limit_depth(depth)
    assert evaluator.score(root.unsqueeze(0), target, Squares()).depth.tolist() == [depth]
