"""`OccamHead`: formulas as a layer."""

from __future__ import annotations

import pytest
import torch

import occamkit
from occamkit import Registry
from occamkit.nn import OccamHead


def test_values_gradients_and_trained_constants(registry: Registry) -> None:
    head = OccamHead(["2.5*a*sin(b) + 0.3", "a if b > 0 else 2*pi"], ["a", "b"], registry)
    features = torch.randn(7, 3, 2, requires_grad=True)
    found = head(features)
    a, b = features.unbind(-1)
    expected = torch.stack([2.5 * a * torch.sin(b) + 0.3, torch.where(b > 0, a, torch.tensor(2 * torch.pi))], -1)
    torch.testing.assert_close(found, expected)
    found.sum().backward()
    assert features.grad is not None
    assert len(head.constants) == 2
    rows = torch.randn(200, 2)
    target = -1.5 * rows[:, 0] * torch.sin(rows[:, 1]) + 0.75
    optimizer = torch.optim.LBFGS(head.parameters(), max_iter=50)

    def closure() -> torch.Tensor:
        optimizer.zero_grad()
        loss = (head(rows)[:, 0] - target).square().mean()
        loss.backward()
        return loss

    optimizer.step(closure)
    torch.testing.assert_close(head.constants.detach(), torch.tensor([-1.5, 0.75]), rtol=1e-3, atol=1e-3)
    assert "sin(b)" in head.expressions()[0]
    torch.testing.assert_close(OccamHead(head.expressions(), ["a", "b"], registry)(rows), head(rows))
    assert "sin(b)" in repr(head)
    with pytest.raises(ValueError, match="features must be"):
        head(torch.zeros(3))


def test_a_head_of_a_result_survives_its_state(registry: Registry) -> None:
    result = occamkit.run("paper/sin-3x-2", device="cpu", registry=registry)
    head = OccamHead.of(result, ["x"], registry)
    x = torch.linspace(-3, 3, 20).unsqueeze(1)
    torch.testing.assert_close(head(x), torch.sin(3 * x + 2))
    other = OccamHead.of(result, ["x"], registry)
    other.load_state_dict(head.state_dict())
    torch.testing.assert_close(other(x), head(x))
