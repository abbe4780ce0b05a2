import pytest
import torch
from hypothesis import given, settings

from occamkit.network import Layout, OccamNetwork, argmax_edges, likeliest_edges, log_probability
from tests.engine_oracle import all_edges, networks
from tests.engine_primitives import ADD, CHOOSE, MUL, SIN

SMALL = [
    Layout.build(2, [[ADD, SIN], [MUL]]),
    Layout.build(2, [[ADD, SIN], [MUL, SIN]], skip_connections=False),
    Layout.build(2, [[SIN], [CHOOSE]], outputs=2),
]


@pytest.mark.parametrize("layout", SMALL)
def test_equalised_weights_make_all_functions_equally_likely(layout):
    network = OccamNetwork(layout, temperature=2.0, last_temperature=5.0, equalise=1.0, dtype=torch.float64)
    edges = all_edges(layout)
    for output in range(layout.outputs):
        asked = torch.full((edges.shape[1],), output)
        found = log_probability(network, edges, asked, approximate=True)
        torch.testing.assert_close(found, found[:1].expand_as(found))


def test_equalise_zero_gives_equal_weights_and_five_a_fifth_of_the_equalising_ones():
    layout = SMALL[0]
    assert (OccamNetwork(layout, equalise=0).logits == 1).all()
    whole, fifth = OccamNetwork(layout, equalise=1.0), OccamNetwork(layout, equalise=5.0)
    torch.testing.assert_close(whole.logits / 5, fifth.logits)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("layout", SMALL)
def test_the_likeliest_function_is_that_of_brute_force(layout, seed):
    network = OccamNetwork(layout, last_temperature=3.0, dtype=torch.float64)
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        network.logits.copy_(3 * torch.randn(network.logits.shape, generator=generator, dtype=torch.float64))
    edges, best = all_edges(layout), likeliest_edges(network)
    for output in range(layout.outputs):
        asked = torch.full((edges.shape[1],), output)
        most = log_probability(network, edges, asked, approximate=True).max()
        found = log_probability(network, best, asked[:1], approximate=True)
        torch.testing.assert_close(found[0], most)


@given(networks())
@settings(deadline=None)
def test_both_choices_are_edges_that_exist(network):
    for edges in (likeliest_edges(network), argmax_edges(network)):
        assert network.mask.gather(1, edges).all()
