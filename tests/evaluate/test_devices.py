"""Everything must follow the data's device, and there is no GPU here to find out."""

import pytest
import torch
from torch._subclasses.fake_tensor import (
    DataDependentOutputException,
    DynamicOutputShapeException,
    FakeTensorMode,
)
from torch.utils.backend_registration import _setup_privateuseone_for_python_backend

from occamkit.evaluate import Evaluator
from occamkit.evaluate.constant_store import ConstantStore
from occamkit.evaluate.constants import ConstantFitter, Settings
from occamkit.fit import nonlinear
from occamkit.fit.scaling import Scaling
from occamkit.graph import Graph
from occamkit.network import (
    Layout,
    OccamNetwork,
    Sampler,
    argmax_edges,
    likeliest_edges,
    log_gradient,
    log_probability,
)
from occamkit.protocols import NodeBatch
from occamkit.train.adam import Adam
from tests.devices import SaysWhere, StaysThere
from tests.engine_primitives import AFFINE, EVERY_ARITY, SCALE, SIN


@pytest.fixture(scope="module")
def fake_device():
    _setup_privateuseone_for_python_backend("fakegpu")
    return torch.device("fakegpu")


def _fixed_shape_step(network, optimiser, edges, scores):
    top, which = scores.topk(8, dim=1)  # [v, λ]
    outputs = torch.arange(scores.shape[0], device=scores.device).repeat_interleave(8)
    ranks = torch.arange(1, 9, device=scores.device)
    chosen = edges.index_select(1, which.view(-1))
    log_probability(network, chosen, outputs, approximate=True)
    network.entropy()
    likeliest_edges(network)
    argmax_edges(network)
    optimiser.ascend(log_gradient(network, chosen, outputs, (top / ranks).view(-1)))


def test_the_fixed_shape_parts_run_on_a_device_without_reading_back(fake_device):
    layout = Layout.build(3, [list(EVERY_ARITY)] * 2, outputs=2)
    with FakeTensorMode():
        network = OccamNetwork(layout, equalise=1.0, device=fake_device)
        optimiser = Adam(network.logits, 0.1)
        edges = torch.zeros(layout.arguments, 64, dtype=torch.int64, device=fake_device)
        scores = torch.zeros(2, 64, device=fake_device)
        with StaysThere():
            _fixed_shape_step(network, optimiser, edges, scores)
        assert network.logits.device.type == "fakegpu"


def test_the_fake_device_finds_mistakes(fake_device):
    with FakeTensorMode():
        there, here = torch.zeros(4, device=fake_device), torch.zeros(4)
        with pytest.raises(DataDependentOutputException):
            there.sum().item()
        with pytest.raises(DynamicOutputShapeException):
            torch.nonzero(there)
        with pytest.raises(RuntimeError, match="device"):
            there + here
        with StaysThere(), pytest.raises(AssertionError, match="one device to another"):
            there.cpu()


def _count(batch: NodeBatch):
    return torch.ones(batch.output.shape[0], dtype=batch.output.dtype, device=batch.output.device)


class MeanSquares:
    def score(self, predicted, target):
        return -(predicted - target).square().mean(1)

    def ceiling(self, points):
        return 0.0


def test_constants_are_fitted_where_the_columns_are():
    graph = Graph(1, [SCALE, AFFINE, SIN], device="cpu")
    one = torch.tensor([1])
    roots = torch.cat([graph.apply(0, [one]), graph.apply(1, [graph.apply(2, [one])])])
    columns = torch.linspace(-1, 1, 20, dtype=torch.float64).unsqueeze(0)
    fitter = ConstantFitter(graph, columns, Settings())
    store = ConstantStore(graph, 1, columns)
    with SaysWhere():
        constants, defined = fitter.fit(roots, columns[0] * 3, Scaling("affine"))
        store.put(0, roots, constants)
        store.get(0, roots)
    assert defined.all()


def test_a_step_of_least_squares_reads_nothing_back(fake_device):
    with FakeTensorMode():
        values, slopes = torch.zeros(5, 20, device=fake_device), torch.zeros(5, 3, 20, device=fake_device)
        target = torch.zeros(20, device=fake_device)

        class Same:
            def evaluate(self, constants):
                return values, slopes

        for kind in ("none", "prefactor", "affine"):
            with StaysThere():
                start = torch.zeros(5, 3, device=fake_device)
                state = nonlinear._look(Same(), start, target, Scaling(kind))
                nonlinear._step(state, Same(), target, Scaling(kind), 0.0)
            assert state.constants.device.type == "fakegpu"


def test_the_other_parts_say_where_every_tensor_goes():
    layout = Layout.build(3, [list(EVERY_ARITY)] * 2, outputs=2)
    network = OccamNetwork(layout, equalise=1.0, dtype=torch.float64)
    columns = torch.randn(3, 10, dtype=torch.float64)
    targets = torch.randn(2, 10, dtype=torch.float64)
    rows = torch.tensor([1, 2])
    generator = torch.Generator().manual_seed(0)
    with SaysWhere():
        graph = Graph(3, layout.primitives, device=columns.device, limit=2000)
        evaluator = Evaluator(graph, columns, outputs=2, hooks=[_count], budget=1)
        sampler = Sampler(network, tile=64)
        for _ in range(3):
            sample = sampler.draw(200, generator)
            roots = graph.intern(sample)
            scores = evaluator.score(roots, targets, MeanSquares())
            evaluator.on(rows).score(roots, targets[:, rows], MeanSquares())
            evaluator.values(roots[0])
            which = scores.fitness.nan_to_num(-9.0).topk(5, dim=1).indices.view(-1)
            sample.edges(which)
    assert scores.fitness.dtype == torch.float64
    with SaysWhere(), pytest.raises(AssertionError, match="without a device"):
        torch.arange(3)
