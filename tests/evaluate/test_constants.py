"""Fitting constants: slopes are true, fits find what was hidden, and company changes nothing."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from occamkit import Constant, Elementwise, Registry, units
from occamkit.evaluate.constant_store import ConstantStore
from occamkit.evaluate.constants import METHODS, ConstantFitter, Settings
from occamkit.evaluate.duals import ForestModel
from occamkit.fit.scaling import Scaling
from occamkit.graph import Forester, Graph, Leaf, read_expression
from occamkit.network import Layout, OccamNetwork, Sampler

SMOOTH = ("add", "mul", "div", "sin", "sqrt", "add_c", "mul_c", "pow_c")
EVERY_KIND = (*SMOOTH, "exp", "leq", "max")


def sampled(registry: Registry, names: tuple[str, ...] = EVERY_KIND, functions: int = 2000) -> tuple[Graph, Tensor]:
    """Return a graph over two columns, and distinct functions with constants."""
    primitives = [registry.find("primitives", name).value for name in names]
    layout = Layout.repeated(2, primitives, [1, 1, 1], 1, True)
    network = OccamNetwork(layout)
    graph = Graph(2, layout.primitives)
    roots = graph.intern(Sampler(network).draw(functions, torch.Generator().manual_seed(0)))[0].unique()
    return graph, roots[graph.constants[roots] > 0]


def columns(points: int = 50, seed: int = 1) -> Tensor:
    return torch.rand(2, points, dtype=torch.float64, generator=torch.Generator().manual_seed(seed)) * 2 + 0.3


def values_of(graph: Graph, root: int, constants: Tensor, data: Tensor) -> Tensor:
    tree = read_expression(graph, root, (Leaf("x"), Leaf("y")), constants.tolist())
    return tree.evaluate({"x": data[0], "y": data[1]}).expand_as(data[0])


def test_values_and_slopes_are_those_of_the_tree(registry: Registry) -> None:
    graph, roots = sampled(registry)
    data = columns()
    for count in (1, 2, 3):
        some = roots[graph.constants[roots] == count][:20]
        model = ForestModel(Forester(graph), some, data, data.shape[1])
        given_constants = torch.rand(some.numel(), count, dtype=torch.float64) + 0.5
        values, slopes = model.evaluate(given_constants)
        for i, root in enumerate(some.tolist()):
            torch.testing.assert_close(values[i], values_of(graph, root, given_constants[i], data), equal_nan=True)
            for place in range(count):
                step = torch.zeros(count, dtype=torch.float64)
                step[place] = 1e-6
                ahead = values_of(graph, root, given_constants[i] + step, data)
                behind = values_of(graph, root, given_constants[i] - step, data)
                numeric = (ahead - behind) / 2e-6
                smooth = torch.isfinite(numeric) & (numeric.abs() < 1e4)
                torch.testing.assert_close(slopes[i, place][smooth], numeric[smooth], rtol=1e-4, atol=1e-5)


def test_a_hidden_constant_is_found_again(registry: Registry) -> None:
    graph, roots = sampled(registry, SMOOTH)
    data = columns()
    fitter = ConstantFitter(graph, data, Settings(starts=4))
    found = tried = 0
    for root in roots[:60].tolist():
        hidden = torch.rand(int(graph.constants[root]), dtype=torch.float64) * 2 + 0.5
        target = values_of(graph, root, hidden, data)
        if not torch.isfinite(target).all() or float(target.std()) < 1e-6:
            continue
        constants, defined = fitter.fit(torch.tensor([root]), target)
        assert bool(defined)
        left = (values_of(graph, root, constants, data) - target).square().sum()
        found += bool(left / (target - target.mean()).square().sum() < 1e-8)
        tried += 1
    assert tried > 30
    assert found / tried > 0.8


def test_company_changes_no_fit(registry: Registry) -> None:
    graph, roots = sampled(registry)
    data = columns()
    target = torch.sin(1.7 * data[0]) + data[1] ** 1.3
    fitter = ConstantFitter(graph, data, Settings())
    store = ConstantStore(graph, 1, data)
    together, _ = fitter.fit(roots, target)
    store.put(0, roots, together)
    alone = ConstantFitter(graph, data, Settings())
    for root in roots[::17]:
        single, _ = alone.fit(root.view(1), target)
        assert torch.equal(single, store.get(0, root.view(1)))


@pytest.mark.parametrize("method", METHODS)
def test_each_method_fits_a_line(registry: Registry, method: str) -> None:
    mul_c, add_c = (registry.find("primitives", name).value for name in ("mul_c", "add_c"))
    graph = Graph(1, [mul_c, add_c])
    scaled = graph.apply(0, [torch.tensor([1])])
    root = graph.apply(1, [scaled])
    x = torch.linspace(-1, 1, 40, dtype=torch.float64)
    fitter = ConstantFitter(graph, x.unsqueeze(0), Settings(method=method, iterations=100))
    constants, _ = fitter.fit(root, 1.5 * x - 0.25)
    torch.testing.assert_close(constants, torch.tensor([-0.25, 1.5], dtype=torch.float64), rtol=1e-3, atol=1e-3)


def test_an_undefined_start_is_tried_again(registry: Registry) -> None:
    """x^c with x < 0 has a value for whole c alone."""
    pow_c, add_c = (registry.find("primitives", name).value for name in ("pow_c", "add_c"))
    graph = Graph(1, [pow_c, add_c])
    power = graph.apply(0, [torch.tensor([1])])
    roots = torch.cat([power, graph.apply(1, [power])])
    x = torch.linspace(-2, 2, 40, dtype=torch.float64)
    fitter = ConstantFitter(graph, x.unsqueeze(0), Settings())
    constants, defined = fitter.fit(roots, x**2 + 1)
    assert defined.tolist() == [True, True]
    assert float(constants[0]).is_integer()
    without = ConstantFitter(graph, x.unsqueeze(0), Settings(retries=0))
    assert without.fit(roots, x**2 + 1)[1].tolist() == [False, False]


def test_what_is_undefined_whatever_the_constants_stays_undefined() -> None:
    never = Elementwise(
        "never", 1, lambda x, c: (-1 - x.square() - c.square()).sqrt(), lambda x, c: x + c, units.free,
        constants=(Constant("c"),),
    )  # fmt: skip
    graph = Graph(1, [never])
    root = graph.apply(0, [torch.tensor([1])])
    x = torch.linspace(-2, 2, 40, dtype=torch.float64)
    _, defined = ConstantFitter(graph, x.unsqueeze(0), Settings()).fit(root, x)
    assert defined.tolist() == [False]


@given(st.sampled_from(["prefactor", "affine"]), st.floats(-5, 5), st.floats(-5, 5), st.integers(0, 99))
def test_scaling_is_least_squares(kind: str, factor: float, offset: float, seed: int) -> None:
    generator = torch.Generator().manual_seed(seed)
    values = torch.randn(3, 30, dtype=torch.float64, generator=generator)
    target = factor * values[0] + (offset if kind == "affine" else 0.0)
    scaling = Scaling(kind)  # type: ignore[arg-type]
    fitted = scaling.apply(values, target)
    torch.testing.assert_close(fitted[0], target, rtol=1e-9, atol=1e-9)
    a, b = scaling.solve(values, target)
    for move in (1e-3, -1e-3):
        left = (fitted - target).square().sum(1)
        assert bool(((a + move).unsqueeze(1) * values + b.unsqueeze(1) - target).square().sum(1).ge(left - 1e-12).all())


def test_a_constant_function_is_not_blown_up_by_rounding() -> None:
    values = torch.full((1, 20), 0.1, dtype=torch.float64) + torch.randn(20, dtype=torch.float64) * 1e-17
    fitted = Scaling("affine").apply(values, torch.linspace(0, 1, 20, dtype=torch.float64))
    torch.testing.assert_close(fitted, torch.full_like(values, 0.5))
