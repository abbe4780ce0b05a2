"""Sampled functions, as compact lists of what they reach.

Functions are kept in tiles. Inside a tile of 2^shift functions the number `node << shift | function` says
which node of which function is meant ("place"). Powers of two because shifts are several times cheaper than
divisions on the hundreds of thousands of places of a step.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from occamkit.network.layout import ArgumentRun, Layout


@dataclass(frozen=True)
class TileLayer:
    """The reached image nodes of one layer, in the order of the layout, hence of falling arity.

    places: [m], which node of which function. arguments: [d], the row of the logits of each drawn argument;
    first all first arguments, then all second ones, and so on. children: [d], the place that each drew.
    starts: where each argument position begins in `arguments` and `children`, and at the end d.
    runs: the stretches of `places` that hold the same primitive.
    """

    places: Tensor
    arguments: Tensor
    children: Tensor
    starts: tuple[int, ...]
    runs: tuple[ArgumentRun, ...]


@dataclass(frozen=True)
class Tile:
    """Some functions of a sample: `functions` of them, from number `first` on."""

    first: int
    functions: int
    shift: int
    outputs: Tensor  # [v, functions], the place that each output drew
    layers: tuple[TileLayer, ...]


@dataclass(frozen=True)
class Sample:
    """Functions drawn from a network. All outputs of one function share the edges below them."""

    layout: Layout
    functions: int
    tiles: tuple[Tile, ...]

    def edges(self, functions: Tensor) -> Tensor:
        """Return the edges [A, F] of some functions [F], as `occamkit.network.probability` wants them.

        Arguments that a function does not reach hold their first source. Reads one size per layer and tile
        back from the device.
        """
        layout, count = self.layout, functions.numel()
        device = functions.device
        edges = torch.tensor(layout.first_sources, device=device).unsqueeze(1).repeat(1, count)
        flat = edges.view(-1)
        columns = torch.full((self.functions,), -1, dtype=torch.int64, device=device)
        columns.scatter_(0, functions, torch.arange(count, device=device))
        for tile in self.tiles:
            mask = (1 << tile.shift) - 1
            inside = columns[tile.first : tile.first + tile.functions]
            for layer in tile.layers:
                column = inside.index_select(0, layer.children & mask)
                wanted = torch.nonzero(column >= 0).squeeze(1)
                cells = layer.arguments.index_select(0, wanted) * count + column.index_select(0, wanted)
                flat.scatter_(0, cells, layer.children.index_select(0, wanted) >> tile.shift)
        edges = edges.index_select(1, columns.index_select(0, functions))
        edges[layout.first_output :] = self._outputs(functions)
        return edges

    def _outputs(self, functions: Tensor) -> Tensor:
        """Return the nodes that the outputs of some functions drew: [v, F]."""
        drawn = torch.cat([tile.outputs >> tile.shift for tile in self.tiles], dim=1)
        return drawn.index_select(1, functions)
