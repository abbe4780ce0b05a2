import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from occamkit.network import Sampler, log_gradient, log_probability
from tests.engine_oracle import networks, random_edges, used_arguments


@given(networks(), st.integers(0, 1000))
def test_log_q_is_the_product_of_edge_probabilities(network, seed):
    layout = network.layout
    edges = random_edges(layout, 6, seed)
    outputs = torch.arange(6) % layout.outputs
    exact = log_probability(network, edges, outputs)
    approximate = log_probability(network, edges, outputs, approximate=True)
    probabilities = network.probabilities().detach()
    for function in range(6):
        paths = used_arguments(layout, edges, int(outputs[function]), function)
        for arguments, found in ((set(paths), exact), (paths, approximate)):
            product = sum(probabilities[a, edges[a, function]].log() for a in arguments)
            torch.testing.assert_close(found[function], product)
    assert (approximate <= exact + 1e-12).all()


@given(networks(), st.booleans(), st.integers(0, 1000))
@settings(deadline=None)
def test_the_gradient_is_that_of_autograd(network, approximate, seed):
    layout = network.layout
    edges = Sampler(network).draw(9, torch.Generator().manual_seed(seed)).edges(torch.arange(9))
    outputs = torch.arange(9) % layout.outputs
    weights = torch.randn(9, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))
    logarithms = network.log_probabilities()
    total = torch.zeros((), dtype=torch.float64)
    for function in range(9):
        paths = used_arguments(layout, edges, int(outputs[function]), function)
        for a in paths if approximate else set(paths):
            total = total + weights[function] * logarithms[a, edges[a, function]]
    (expected,) = torch.autograd.grad(total, network.logits)
    found = log_gradient(network, edges, outputs, weights, approximate=approximate)
    torch.testing.assert_close(found, expected)
    assert not found.requires_grad
    assert (found[~network.mask] == 0).all()
