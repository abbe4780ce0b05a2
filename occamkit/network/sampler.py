"""Drawing functions from the network (§ Sampling from OccamNet).

Arguments draw independently, so it makes no difference to the distribution whether those that no output
reaches are drawn; and they are most of them. So we go from the outputs down and draw for reached nodes only.
"""

from __future__ import annotations

import torch
from torch import Tensor

from occamkit.network.model import OccamNetwork
from occamkit.network.reach import Walker
from occamkit.network.sample import Sample

FRACTION_BITS = 46
"""Probabilities are drawn as integers of this many bits; the rest of an int64 holds the row."""

GUIDED = 1 << 13
"""From this many functions on it pays to build a guide into the probabilities; draws are the same."""


class Sampler:
    """Draws functions lazily from a network.

    tile: functions drawn together, a power of two. Larger tiles cost memory (about 300 bytes a function for a
    network of a hundred nodes) and save launches; results depend on it, as on the seed.
    """

    def __init__(self, network: OccamNetwork, tile: int = 1 << 14) -> None:
        if tile < 1 or tile & (tile - 1):
            raise ValueError(f"tile must be a power of two, got {tile}")
        widest = max(len(arguments) for arguments, _ in network.layout.argument_layers)
        if widest >= 1 << (63 - FRACTION_BITS):
            raise ValueError(f"a layer with {widest} arguments is larger than the sampler can number")
        self.network = network
        self.tile = tile
        self._walker = Walker(network.layout, network.logits.device)

    @torch.no_grad()
    def draw(self, functions: int, generator: torch.Generator) -> Sample:
        """Draw this many functions; the generator must be on the network's device."""
        choose = _RandomEdges(self.network, generator, functions)
        tiles = [
            self._walker.walk(choose, first, min(self.tile, functions - first))
            for first in range(0, functions, self.tile)
        ]
        return Sample(self.network.layout, functions, tuple(tiles))


class _RandomEdges:
    """Chooses edges with the network's probabilities, by inverting their cumulative sums.

    All rows of a layer are one increasing list of integers, row number in the high bits, so that one search
    serves them all. Integers, because a row number would eat a float's mantissa.
    """

    def __init__(self, network: OccamNetwork, generator: torch.Generator, functions: int) -> None:
        self.generator = generator
        layout = network.layout
        summed = network.probabilities().to(torch.float64).cumsum(1)
        fractions = summed.div_(summed[:, -1:].clone()).mul_(1 << FRACTION_BITS).to(torch.int64)  # [A, S]
        self.layers = []
        for arguments, sources in layout.argument_layers:
            window = fractions[arguments.start : arguments.stop, sources.start : sources.stop]
            offsets = torch.arange(len(arguments), device=fractions.device) << FRACTION_BITS
            cumulative = (window + offsets.unsqueeze(1)).view(-1)
            search = _Guided(cumulative, *window.shape) if functions >= GUIDED else _Plain(cumulative)
            self.layers.append((search, len(sources), sources.start))

    def __call__(self, depth: int, rows: Tensor, functions: Tensor) -> Tensor:
        search, width, first_source = self.layers[depth]
        points = torch.randint(0, 1 << FRACTION_BITS, rows.shape, generator=self.generator, device=rows.device)
        found = search(points.add_(rows << FRACTION_BITS))
        return found.sub_(rows * width).add_(first_source)


class _Plain:
    """Finds the first cumulative sum above each point by binary search."""

    def __init__(self, cumulative: Tensor) -> None:
        self.cumulative = cumulative

    def __call__(self, points: Tensor) -> Tensor:
        return torch.searchsorted(self.cumulative, points, right=True)


class _Guided:
    """Finds the same, from a guide that tells where each of many equal intervals begins.

    Most intervals hold at most one sum, so one comparison usually does; the rest are searched.
    """

    def __init__(self, cumulative: Tensor, rows: int, width: int) -> None:
        bits = (2 * width - 1).bit_length()
        self.shift = FRACTION_BITS - bits
        self.cumulative = cumulative
        starts = torch.arange(rows << bits, device=cumulative.device) << self.shift
        self.guide = torch.searchsorted(cumulative, starts, right=True)

    def __call__(self, points: Tensor) -> Tensor:
        found = self.guide.index_select(0, points >> self.shift)
        found.add_(self.cumulative.index_select(0, found) <= points)
        further = torch.nonzero(self.cumulative.index_select(0, found) <= points).view(-1)  # host read
        searched = torch.searchsorted(self.cumulative, points.index_select(0, further), right=True)
        return found.scatter_(0, further, searched)
