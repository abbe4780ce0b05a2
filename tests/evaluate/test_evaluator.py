import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from occamkit.evaluate import Evaluator
from occamkit.graph import Apply, Graph, Leaf, enter_expression, read_expression
from occamkit.network import Layout, Sampler
from occamkit.network.reach import sample_of_edges
from tests.engine_oracle import dense_values, networks, random_edges
from tests.engine_primitives import ADD, AFFINE, CHOOSE, MUL, PAPER, SCALE


class Squares:
    """A fitness for tests: minus the mean squared error, through functions that round at ragged ends."""

    def score(self, predicted, target):
        return -((predicted - target).square().sigmoid()).mean(1)

    def ceiling(self, points):
        return 0.0


def _columns(layout, points, seed, dtype=torch.float64):
    return torch.randn(layout.columns, points, generator=torch.Generator().manual_seed(seed), dtype=dtype)


def _same(one, two):
    return torch.equal(torch.nan_to_num(one, nan=77.0), torch.nan_to_num(two, nan=77.0))


@given(networks(), st.integers(1, 40), st.integers(1, 21), st.integers(0, 1000), st.booleans())
@settings(deadline=None, max_examples=200)
def test_interned_values_are_those_of_dense_evaluation(network, functions, points, seed, drawn):
    layout = network.layout
    if drawn:
        sample = Sampler(network, tile=16).draw(functions, torch.Generator().manual_seed(seed))
        edges = sample.edges(torch.arange(functions))
    else:
        edges = random_edges(layout, functions, seed)
        sample = sample_of_edges(layout, edges, tile=16)
    columns = _columns(layout, points, seed)
    graph = Graph(layout.columns, layout.primitives)
    roots = graph.intern(sample)
    evaluator = Evaluator(graph, columns, block=points * 3, budget=1)
    found = evaluator.values(roots.view(-1)).view(layout.outputs, functions, points)
    expected = dense_values(layout, edges, columns)
    torch.testing.assert_close(found, expected, rtol=1e-12, atol=1e-12, equal_nan=True)


@given(networks(), st.integers(1, 30), st.integers(1, 21), st.integers(0, 1000))
@settings(deadline=None)
def test_scores_depend_neither_on_order_nor_on_blocks_nor_on_company(network, functions, points, seed):
    layout = network.layout
    edges = random_edges(layout, functions, seed)
    columns = _columns(layout, points, seed, torch.float32)
    targets = torch.linspace(-1, 1, layout.outputs * points).view(layout.outputs, points)
    orders = [torch.arange(functions), torch.arange(functions).flip(0)]
    found = []
    for order in orders:
        for block, budget in ((1 << 16, 1 << 27), (points * 2, 1)):
            graph = Graph(layout.columns, layout.primitives)
            roots = graph.intern(sample_of_edges(layout, edges[:, order]))
            evaluator = Evaluator(graph, columns, outputs=layout.outputs, block=block, budget=budget)
            scores = evaluator.score(roots, targets, Squares()).fitness
            again = evaluator.score(roots, targets, Squares()).fitness
            assert _same(scores, again)
            found.append(scores[:, order.argsort()])
    assert all(_same(found[0], other) for other in found[1:])
    alone = []
    for function in range(functions):
        graph = Graph(layout.columns, layout.primitives)
        roots = graph.intern(sample_of_edges(layout, edges[:, function : function + 1]))
        evaluator = Evaluator(graph, columns, outputs=layout.outputs)
        alone.append(evaluator.score(roots, targets, Squares()).fitness)
    assert _same(found[0], torch.cat(alone, 1))


def test_functions_have_their_own_constants():
    graph = Graph(2, (ADD, SCALE, CHOOSE, AFFINE, MUL))
    leaves = [Leaf("x"), Leaf("y")]
    scaled = Apply(SCALE, (leaves[0],))
    plain = Apply(MUL, (leaves[0], leaves[1]))
    trees = [
        Apply(ADD, (scaled, scaled)),
        scaled,
        plain,
        leaves[1],
        Apply(CHOOSE, (scaled, plain, Apply(AFFINE, (Apply(ADD, (scaled, plain)),)), plain)),
        scaled,
    ]
    columns = torch.randn(2, 9, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    roots = torch.tensor([enter_expression(graph, tree, leaves) for tree in trees])
    counts = [int(graph.constants[root]) for root in roots]
    assert counts == [tree.constant_count for tree in trees] == [2, 1, 0, 0, 4, 1]
    constants = torch.arange(1.0, 9.0, dtype=torch.float64)
    found = Evaluator(graph, columns, block=9).values(roots, constants)
    named = {"x": columns[0], "y": columns[1]}
    start = 0
    for tree, root, count, values in zip(trees, roots.tolist(), counts, found, strict=True):
        written = read_expression(graph, root, leaves, constants[start : start + count].tolist())
        assert torch.equal(written.evaluate(named), values), tree
        start += count
    evaluator = Evaluator(graph, columns)
    with pytest.raises(ValueError, match="8 constants, got 7"):
        evaluator.values(roots, constants[:7])
    with pytest.raises(ValueError, match="more than once"):
        evaluator.values(roots[[2, 2]], constants[:0])


def test_scores_of_functions_with_constants_must_be_put_first():
    graph = Graph(1, (SCALE,))
    root = graph.apply(0, [torch.tensor([1])])
    columns, targets = torch.ones(1, 4), torch.ones(1, 4)
    evaluator = Evaluator(graph, columns)
    with pytest.raises(ValueError, match="not fitted yet"):
        evaluator.score(root.unsqueeze(0), targets, Squares())
    evaluator.put(0, root, torch.tensor([-0.25]))
    assert evaluator.score(root.unsqueeze(0), targets, Squares()).fitness.tolist() == [[-0.25]]
    assert evaluator.known(0, torch.tensor([1, int(root)])).tolist() == [False, True]


@given(networks(), st.integers(0, 1000))
@settings(deadline=None)
def test_hooks_are_summed_over_the_written_tree(network, seed):
    layout = network.layout
    graph = Graph(layout.columns, layout.primitives)
    roots = graph.intern(sample_of_edges(layout, random_edges(layout, 15, seed)))
    columns = _columns(layout, 7, seed)
    seen = []

    def hook(batch):
        assert len(batch.arguments) == batch.primitive.arity
        torch.testing.assert_close(batch.primitive.call(*batch.arguments), batch.output, equal_nan=True)
        seen.append(batch.output.shape[0])
        return torch.full((batch.output.shape[0],), batch.primitive.complexity, dtype=torch.float64)

    evaluator = Evaluator(graph, columns, outputs=layout.outputs, hooks=[hook], block=21, budget=1)
    targets = torch.zeros(layout.outputs, 7, dtype=torch.float64)
    found = evaluator.score(roots, targets, Squares()).penalty
    leaves = [Leaf(str(i)) for i in range(layout.columns)]
    for row, penalties in zip(roots.tolist(), found.tolist(), strict=True):
        for root, penalty in zip(row, penalties, strict=True):
            assert penalty == read_expression(graph, root, leaves).complexity
    seen.clear()
    evaluator.score(roots, targets, Squares())
    assert not seen


def test_known_functions_are_not_evaluated_again_and_mini_batches_are():
    calls = []

    class Counting(Squares):
        def score(self, predicted, target):
            calls.append(predicted.shape)
            return super().score(predicted, target)

    graph = Graph(2, PAPER)
    roots = graph.apply(0, [torch.tensor([1, 1]), torch.tensor([2, 1])]).unsqueeze(0)
    columns = torch.linspace(0, 1, 16).view(2, 8)
    targets = torch.zeros(1, 8)
    evaluator = Evaluator(graph, columns)
    first = evaluator.score(roots, targets, Counting())
    assert torch.equal(evaluator.score(roots.flip(1), targets, Counting()).fitness, first.fitness.flip(1))
    assert len(calls) == 1
    rows = torch.tensor([0, 3, 5])
    part = evaluator.on(rows)
    for _ in range(2):
        part.score(roots, targets[:, rows], Counting())
    assert len(calls) == 3
    nothing = evaluator.score(torch.zeros(1, 3, dtype=torch.int64), targets, Counting())
    assert nothing.fitness.isnan().all()


def test_an_emptied_graph_takes_its_scores_along():
    layout = Layout.build(3, [list(PAPER)] * 3)
    graph = Graph(3, layout.primitives, limit=120)
    columns = torch.randn(3, 8, generator=torch.Generator().manual_seed(0))
    targets = torch.zeros(1, 8)
    evaluator = Evaluator(graph, columns)
    for seed in range(12):
        edges = random_edges(layout, 25, seed)
        found = evaluator.score(graph.intern(sample_of_edges(layout, edges)), targets, Squares()).fitness
        other = Graph(3, layout.primitives)
        alone = Evaluator(other, columns)
        expected = alone.score(other.intern(sample_of_edges(layout, edges)), targets, Squares()).fitness
        assert _same(found, expected)
    assert graph.generation > 0


def test_targets_that_do_not_fit_are_refused():
    graph = Graph(1, PAPER)
    evaluator = Evaluator(graph, torch.ones(1, 4), outputs=2)
    roots = torch.ones(2, 3, dtype=torch.int64)
    with pytest.raises(ValueError, match="do not fit"):
        evaluator.score(roots, torch.ones(2, 5), Squares())
    with pytest.raises(ValueError, match="do not fit"):
        evaluator.score(roots[:1], torch.ones(1, 4), Squares())
