"""The walk from the outputs down to what they reach, whoever chooses the edges."""

from __future__ import annotations

from itertools import pairwise
from typing import Protocol

import torch
from torch import Tensor

from occamkit.network.layout import ArgumentRun, Layer, Layout
from occamkit.network.sample import Sample, Tile, TileLayer


class Chooser(Protocol):
    """Says which node each argument of a layer takes; the outputs are the layer after the last."""

    def __call__(self, depth: int, rows: Tensor, functions: Tensor) -> Tensor:
        """Return a fresh tensor of nodes [d], for rows [d] of the layer and functions [d] of the tile."""
        ...


class Walker:
    """Walks a layout for tiles of functions, and keeps the memory that it needs from one to the next."""

    def __init__(self, layout: Layout, device: torch.device) -> None:
        self.layout = layout
        self.device = device
        self._reached = torch.empty(0, dtype=torch.bool, device=device)
        self._firsts = [torch.tensor(_first_arguments(layer), device=device) for layer in layout.layers]
        self._ends = [torch.tensor([run.stop for run in layer.runs], device=device) for layer in layout.layers]

    def walk(self, choose: Chooser, first: int, count: int) -> Tile:
        """Return the tile of functions `first` to `first + count`."""
        layout = self.layout
        shift = (count - 1).bit_length()
        size = layout.nodes << shift
        if self._reached.numel() < size:
            self._reached = self._reached.new_empty(size)
        reached = self._reached[:size].zero_()
        numbers = torch.arange(count, device=self.device).repeat(layout.outputs)
        rows = torch.arange(layout.outputs, device=self.device).repeat_interleave(count)
        outputs = choose(len(layout.layers), rows, numbers).bitwise_left_shift_(shift).add_(numbers)
        reached.scatter_(0, outputs, True)
        layers = [self._walk_layer(depth, choose, reached, shift) for depth in reversed(range(len(layout.layers)))]
        return Tile(first, count, shift, outputs.view(layout.outputs, count), tuple(reversed(layers)))

    def _walk_layer(self, depth: int, choose: Chooser, reached: Tensor, shift: int) -> TileLayer:
        layer = self.layout.layers[depth]
        window = reached[layer.first_node << shift : layer.nodes.stop << shift]
        places = torch.nonzero(window).squeeze(1)  # host read: how many nodes are reached
        # host read: where each primitive's nodes end, which also tells how many have a j-th argument
        ends: list[int] = torch.searchsorted(places, self._ends[depth] << shift).tolist()
        starts = [0]
        for owners in _owners(layer, ends):
            starts.append(starts[-1] + owners)
        firsts = self._firsts[depth].index_select(0, places >> shift)
        numbers = places & ((1 << shift) - 1)
        rows = torch.cat([firsts[: stop - start] + j for j, (start, stop) in enumerate(pairwise(starts))])
        functions = torch.cat([numbers[: stop - start] for start, stop in pairwise(starts)])
        children = choose(depth, rows, functions).bitwise_left_shift_(shift).add_(functions)
        if depth > 0:
            reached.scatter_(0, children, True)
        places.add_(layer.first_node << shift)
        rows.add_(layer.first_argument)
        return TileLayer(places, rows, children, tuple(starts), _sampled_runs(layer, ends))


def sample_of_edges(layout: Layout, edges: Tensor, tile: int = 1 << 14) -> Sample:
    """Return the functions that these edges [A, F] spell, as if they had been drawn."""
    functions = edges.shape[1]
    walker = Walker(layout, edges.device)
    tiles = []
    for first in range(0, functions, tile):
        count = min(tile, functions - first)
        part = edges[:, first : first + count].contiguous()
        tiles.append(walker.walk(_GivenEdges(layout, part), first, count))
    return Sample(layout, functions, tuple(tiles))


class _GivenEdges:
    """Chooses what is written in a matrix of edges [A, F]."""

    def __init__(self, layout: Layout, edges: Tensor) -> None:
        self.first_arguments = [arguments.start for arguments, _ in layout.argument_layers]
        self.functions = edges.shape[1]
        self.flat = edges.view(-1)

    def __call__(self, depth: int, rows: Tensor, functions: Tensor) -> Tensor:
        return self.flat.index_select(0, (rows + self.first_arguments[depth]) * self.functions + functions)


def _first_arguments(layer: Layer) -> list[int]:
    """Return the first argument of each image node, counted in the layer."""
    return [sum(layer.arities[:node]) for node in range(len(layer.arities))]


def _owners(layer: Layer, ends: list[int]) -> list[int]:
    """Return how many reached nodes have a first argument, how many a second, and so on."""
    arities = [layer.arities[run.start] for run in layer.runs]
    return [
        max((end for end, arity in zip(ends, arities, strict=True) if arity > j), default=0)
        for j in range(max(arities))
    ]


def _sampled_runs(layer: Layer, ends: list[int]) -> tuple[ArgumentRun, ...]:
    """Return the stretches of reached nodes with the same primitive, given where each ends."""
    return tuple(
        ArgumentRun(run.primitive, begin, end)
        for run, begin, end in zip(layer.runs, [0, *ends[:-1]], ends, strict=True)
        if end > begin
    )
