"""The network's weights, as one matrix, and the probabilities that they stand for."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from occamkit.network.equalise import equalised_logits
from occamkit.network.layout import Layout


class OccamNetwork(nn.Module):
    """T-softmax layers over the edges of a layout (§ Temperature-controlled connectivity).

    `logits` is [A, S]: the weight w of the edge from node s to argument a. One padded matrix rather than one
    per layer makes a step one softmax and one optimiser update; `mask` says which edges exist.

    temperature: T of the hidden layers, one for all or one for each. last_temperature: T of the outputs;
    a higher one lets shallow layers be trained before the outputs settle. equalise: the paper's E.
    """

    logits: nn.Parameter
    mask: Tensor
    temperatures: Tensor
    first_sources: Tensor
    owners: Tensor

    def __init__(
        self,
        layout: Layout,
        *,
        temperature: float | Sequence[float] = 1.0,
        last_temperature: float = 1.0,
        equalise: float = 0.0,
        device: torch.device | str | None = None,
        dtype: torch.dtype = torch.float32,
    ) -> None:
        super().__init__()
        self.layout = layout
        depth = len(layout.layers)
        hidden = [float(temperature)] * depth if isinstance(temperature, int | float) else list(temperature)
        if len(hidden) != depth or min(*hidden, last_temperature) <= 0:
            raise ValueError(f"a network of {depth} layers needs {depth} positive temperatures, got {hidden}")
        mask = torch.zeros(layout.arguments, layout.nodes, dtype=torch.bool)
        temperatures = torch.empty(layout.arguments, 1, dtype=torch.float64)
        for (arguments, sources), value in zip(layout.argument_layers, (*hidden, last_temperature), strict=True):
            rows = slice(arguments.start, arguments.stop)
            mask[rows, sources.start : sources.stop] = True
            temperatures[rows] = value
        self.register_buffer("mask", mask.to(device))
        self.register_buffer("temperatures", temperatures.to(device, dtype))
        self.register_buffer("first_sources", torch.tensor(layout.first_sources).to(device))
        self.register_buffer("owners", torch.tensor(layout.owners).to(device))
        self.logits = nn.Parameter(torch.empty(mask.shape, device=device, dtype=dtype))
        self.start(equalise)

    @torch.no_grad()
    def start(self, equalise: float) -> None:
        """Set the weights that training starts from; `equalise` is the paper's E (§ Initialization)."""
        temperatures = self.temperatures.to("cpu", torch.float64)
        self.logits.copy_(equalised_logits(self.layout, temperatures, equalise).to(self.logits))

    def log_probabilities(self, dtype: torch.dtype | None = None) -> Tensor:
        """Return the logarithm of every edge's probability: [A, S], -inf where there is no edge."""
        return torch.log_softmax(self._heated(dtype), dim=1)

    def probabilities(self, dtype: torch.dtype | None = None) -> Tensor:
        """Return every edge's probability p^(l,i)(T): [A, S], 0 where there is no edge."""
        return torch.softmax(self._heated(dtype), dim=1)

    def _heated(self, dtype: torch.dtype | None) -> Tensor:
        """Return the weights divided by temperature, -inf where there is no edge: [A, S]."""
        dtype = dtype or self.logits.dtype
        heated = self.logits.to(dtype) / self.temperatures.to(dtype)
        return heated.masked_fill(~self.mask, float("-inf"))

    def entropy(self) -> Tensor:
        """Return the entropy of each argument's choice, in nats: [A]."""
        logarithms = self.log_probabilities()
        return -(logarithms.exp() * logarithms.masked_fill(~self.mask, 0.0)).sum(1)

    def extra_repr(self) -> str:
        layout = self.layout
        return f"{len(layout.layers)} layers, {layout.arguments} arguments, {layout.parameters} weights"
