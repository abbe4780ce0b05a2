import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from occamkit.graph import Graph, GraphFold, Leaf, enter_expression, forest_of, read_expression
from occamkit.graph.table import KeyTable
from occamkit.network import Layout
from occamkit.network.reach import sample_of_edges
from tests.engine_oracle import all_edges, layouts, random_edges, spelled
from tests.engine_primitives import ADD, CHOOSE, EVERY_ARITY, MAX3, MUL, SIN


@given(st.lists(st.lists(st.integers(0, 50), min_size=1, max_size=60), min_size=1, max_size=12), st.booleans())
@settings(deadline=None)
def test_the_table_numbers_keys_as_a_dictionary_would(batches, crowd):
    table = KeyTable(torch.device("cpu"), capacity=4)
    if crowd:
        table._slot = lambda keys: keys & 1  # every key wants one of two slots
    known = {}
    for batch in batches:
        keys = torch.tensor(batch) << 40
        table.reserve(table.count + keys.numel())
        numbers, first = table.numbers(keys)
        for key, number in zip(keys.tolist(), numbers.tolist(), strict=True):
            assert known.setdefault(key, number) == number
            assert int(table.keys[number]) == key
        assert first <= table.count
    assert sorted(known.values()) == list(range(1, len(known) + 1)) == list(range(1, table.count))


@given(layouts(), st.integers(1, 60), st.integers(0, 1000))
@settings(deadline=None)
def test_nodes_are_equal_exactly_when_functions_are(layout, functions, seed):
    edges = random_edges(layout, functions, seed)
    graph = Graph(layout.columns, layout.primitives)
    once = graph.intern(sample_of_edges(layout, edges[:, : functions // 2 + 1], tile=8))
    roots = graph.intern(sample_of_edges(layout, edges, tile=16))
    assert torch.equal(once, roots[:, : functions // 2 + 1])
    named = {}
    for output in range(layout.outputs):
        for function in range(functions):
            named.setdefault(int(roots[output, function]), set()).add(spelled(layout, edges, output, function))
    assert all(len(spellings) == 1 for spellings in named.values())
    assert len(named) == len(set().union(*named.values()))


def test_a_full_graph_is_emptied_and_says_so():
    layout = Layout.build(3, [[ADD, MUL, SIN]] * 3)
    graph = Graph(3, layout.primitives, limit=100)
    for seed in range(20):
        edges = random_edges(layout, 20, seed)
        roots = graph.intern(sample_of_edges(layout, edges))
        fresh = Graph(3, layout.primitives)
        expected = fresh.intern(sample_of_edges(layout, edges))
        leaves = [Leaf(name) for name in "xyz"]
        for one, two in zip(roots[0].tolist(), expected[0].tolist(), strict=True):
            mine, other = read_expression(graph, one, leaves), read_expression(fresh, two, leaves)
            assert mine.complexity == other.complexity
    assert graph.generation > 0
    assert graph.count <= 100


@given(layouts(), st.integers(0, 1000))
@settings(deadline=None)
def test_forests_go_bottom_up_and_hold_each_node_once(layout, seed):
    graph = Graph(layout.columns, layout.primitives)
    roots = graph.intern(sample_of_edges(layout, random_edges(layout, 25, seed))).view(-1)
    forest = forest_of(graph, roots)
    assert torch.equal(forest.nodes.index_select(0, forest.roots), roots)
    assert forest.nodes.unique().numel() == forest.rows
    position = layout.columns
    for group in forest.groups:
        assert group.start == position
        assert len(group.arguments) == group.primitive.arity
        assert all(int(rows.max()) < group.start for rows in group.arguments)
        assert group.start >= forest.tops or group.stop <= forest.tops
        position = group.stop
    assert position == forest.rows
    used = torch.cat([torch.zeros(0, dtype=torch.int64), *(r for g in forest.groups for r in g.arguments)])
    assert (used < forest.tops).all()


@given(layouts(), st.integers(0, 1000))
@settings(deadline=None)
def test_folds_agree_with_the_written_tree(layout, seed):
    graph = Graph(layout.columns, layout.primitives)
    roots = graph.intern(sample_of_edges(layout, random_edges(layout, 12, seed))).view(-1)
    leaves = [Leaf(f"x {i}") for i in range(layout.columns)]
    fold = GraphFold(
        graph, [leaf.name for leaf in leaves], lambda primitive, states: f"{primitive.name}({', '.join(states)})"
    )
    for root, number in zip(roots.tolist(), fold.numbers(roots).tolist(), strict=True):
        tree = read_expression(graph, root, leaves)
        assert tree.complexity == graph.complexities[root]
        assert tree.written() == fold.states[number]
        assert enter_expression(graph, tree, leaves) == root


def test_a_state_fold_asks_for_each_combination_once():
    layout = Layout.build(2, [[ADD, SIN], [MUL]])
    graph = Graph(2, layout.primitives)
    roots = graph.intern(sample_of_edges(layout, all_edges(layout))).view(-1)
    asked = []

    def combine(primitive, states):
        asked.append((primitive.name, *states))
        return max(states)

    fold = GraphFold(graph, [0, 0], combine)
    assert fold.numbers(roots).tolist() == [0] * roots.numel()
    fold.numbers(roots)
    assert sorted(asked) == [("add", 0, 0), ("mul", 0, 0), ("sin", 0)]


def test_a_graph_fold_starts_again_with_an_emptied_graph():
    graph = Graph(2, [ADD, SIN])
    fold = GraphFold(graph, ["a", "b"], lambda primitive, states: f"{primitive.name}({','.join(states)})")
    one, two = torch.tensor([1]), torch.tensor([2])
    node = graph.apply(0, [one, two])
    assert fold.states[int(fold.numbers(node))] == "add(a,b)"
    graph.clear()
    node = graph.apply(1, [two])
    assert fold.states[int(fold.numbers(node))] == "sin(b)"


def test_arguments_of_commutative_primitives_are_sorted_and_others_not():
    graph = Graph(4, EVERY_ARITY)
    one, two, three, four = (torch.tensor([i]) for i in (1, 2, 3, 4))
    index = {primitive.name: i for i, primitive in enumerate(EVERY_ARITY)}
    add, sub, most, choose = (index[name] for name in ("add", "sub", "max3", "choose"))
    assert graph.apply(add, [one, two]) == graph.apply(add, [two, one])
    assert graph.apply(sub, [one, two]) != graph.apply(sub, [two, one])
    assert graph.apply(most, [one, two, three]) == graph.apply(most, [three, one, two])
    assert graph.apply(choose, [one, two, three, four]) != graph.apply(choose, [two, one, three, four])
    with pytest.raises(ValueError, match="takes 2 arguments"):
        graph.apply(add, [one])


def test_other_primitives_than_the_graphs_are_refused():
    layout = Layout.build(2, [[MAX3, CHOOSE]])
    with pytest.raises(ValueError, match="other columns or primitives"):
        Graph(2, [ADD]).intern(sample_of_edges(layout, random_edges(layout, 2, 0)))


def test_applying_never_empties_the_graph():
    graph = Graph(3, [ADD], limit=10)
    node = torch.tensor([1])
    for _ in range(40):
        node = graph.apply(0, [node, torch.tensor([2])])
    assert graph.generation == 0
    leaves = [Leaf(name) for name in "xyz"]
    assert read_expression(graph, int(node), leaves).complexity == 40
