from dataclasses import replace

import pytest
from hypothesis import given

from occamkit.graph import Graph
from occamkit.network import Layout, OccamNetwork
from occamkit.network.reach import sample_of_edges
from occamkit.network.size import log10_functions
from tests.engine_oracle import all_edges, layouts
from tests.engine_primitives import ADD, CHOOSE, MUL, PAPER, SIN


def test_parameters_follow_the_papers_formula_with_the_output_term_put_right():
    u, v, depth = 6, 2, 4
    layout = Layout.repeated(u, PAPER, [1] * depth, outputs=v)
    n, m = len(PAPER), sum(primitive.arity for primitive in PAPER)
    assert layout.parameters == v * (u + depth * n) + m * sum(u + i * n for i in range(depth))


def test_the_papers_pmlb_network_has_its_sizes():
    layout = Layout.repeated(6, PAPER, (8, 4, 2, 1))
    assert (layout.nodes, layout.arguments) == (126, 181)


def test_without_skip_connections_arguments_see_one_layer():
    layout = Layout.build(3, [[ADD, SIN], [MUL]], outputs=2, skip_connections=False)
    assert [list(sources) for _, sources in layout.argument_layers] == [[0, 1, 2], [3, 4], [5]]
    assert layout.parameters == 3 * 3 + 2 * 2 + 2


def test_nodes_of_a_layer_stand_by_falling_arity():
    layout = Layout.build(2, [[SIN, ADD, CHOOSE, SIN]])
    assert layout.layers[0].arities == (4, 2, 1, 1)
    assert [(run.start, run.stop) for run in layout.layers[0].runs] == [(0, 1), (1, 2), (2, 4)]


@given(layouts())
def test_the_mask_has_as_many_edges_as_there_are_parameters(layout):
    network = OccamNetwork(layout)
    assert int(network.mask.sum()) == layout.parameters
    assert len(layout.owners) == layout.arguments


@pytest.mark.parametrize("skip", [True, False])
def test_the_size_of_a_search_is_a_bound_that_enough_copies_reach(skip):
    layout = Layout.build(2, [[ADD, ADD, SIN, SIN], [ADD, SIN]], skip_connections=skip)
    graph = Graph(2, [replace(primitive, commutative=False) for primitive in layout.primitives])
    plain = Layout.build(2, [[graph.primitives[p] for p in layer.primitives] for layer in layout.layers], 1, skip)
    written = set(graph.intern(sample_of_edges(plain, all_edges(plain))).view(-1).tolist())
    assert len(written) == round(10 ** log10_functions(plain))
