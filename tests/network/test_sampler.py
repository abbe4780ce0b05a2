import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from occamkit.network import Layout, OccamNetwork, Sampler
from occamkit.network.reach import sample_of_edges
from tests.engine_oracle import networks, random_edges
from tests.engine_primitives import ADD, CHOOSE, MUL, PAPER, SIN


def _generator(seed=0):
    return torch.Generator().manual_seed(seed)


@pytest.mark.parametrize("skip_connections", [True, False])
def test_drawn_edges_follow_the_softmax(skip_connections):
    layout = Layout.build(3, [[ADD, SIN, CHOOSE], [MUL, SIN]], outputs=2, skip_connections=skip_connections)
    network = OccamNetwork(layout, temperature=0.7, last_temperature=2.0)
    with torch.no_grad():
        network.logits.copy_(torch.randn(network.logits.shape, generator=_generator(3)))
    functions = 60_000
    sample = Sampler(network, tile=1 << 13).draw(functions, _generator())
    counts = torch.zeros(layout.arguments, layout.nodes, dtype=torch.float64)
    for tile in sample.tiles:
        for layer in tile.layers:
            counts.index_put_((layer.arguments, layer.children >> tile.shift), torch.ones(1, dtype=torch.float64), True)
        for output in range(2):
            row = layout.first_output + output
            counts[row] += torch.bincount(tile.outputs[output] >> tile.shift, minlength=layout.nodes)
    drawn = counts.sum(1, keepdim=True)
    probabilities = network.probabilities(torch.float64)
    deviation = (counts - drawn * probabilities) / (drawn * probabilities * (1 - probabilities)).sqrt()
    assert (counts[~network.mask] == 0).all()
    scores = deviation[network.mask & (probabilities < 1)]
    assert scores.abs().max() < 5
    assert 0.7 < scores.std() < 1.3


def test_guided_draws_are_those_of_binary_search(monkeypatch):
    network = OccamNetwork(Layout.repeated(4, PAPER, (2, 1)))
    with torch.no_grad():
        network.logits.copy_(5 * torch.randn(network.logits.shape, generator=_generator(3)))
    every, found = torch.arange(3000), []
    for threshold in (1, 1 << 20):
        monkeypatch.setattr("occamkit.network.sampler.GUIDED", threshold)
        found.append(Sampler(network).draw(3000, _generator(7)).edges(every))
    assert torch.equal(*found)


def test_the_same_seed_draws_the_same_functions():
    network = OccamNetwork(Layout.repeated(4, PAPER, (2, 1)), equalise=1.0)
    first, second = (Sampler(network).draw(500, _generator(7)) for _ in range(2))
    every = torch.arange(500)
    assert torch.equal(first.edges(every), second.edges(every))


@given(networks(), st.integers(1, 40), st.integers(0, 1000))
def test_edges_make_the_round_trip_through_a_sample(network, functions, seed):
    layout = network.layout
    edges = random_edges(layout, functions, seed)
    sample = sample_of_edges(layout, edges, tile=16)
    asked = torch.randint(0, functions, (7,), generator=_generator(seed))
    read = sample.edges(asked)
    again = sample_of_edges(layout, read).edges(torch.arange(7))
    assert torch.equal(read, again)
    reached = read != network.first_sources.unsqueeze(1)
    assert torch.equal(read[reached], edges[:, asked][reached])
