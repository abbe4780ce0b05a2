"""Interning: every function ever met, as one graph of unique nodes.

A node is a primitive applied to nodes; equal functions have equal node numbers and different ones never do,
so scores, fitted constants and penalties of a function are tensors indexed by the number of its root.
Arguments of commutative primitives are sorted first, so that a + b and b + a are the same node.

Number 0 is no node, 1 … columns are the columns, and the others come in the order of their arrival, so that
arguments have lower numbers than what is made of them. A key packs the primitive and two numbers. A node of
three arguments or more is built from pairs, φ(((a, b), c), d), where a pair is a node of its own without a
primitive; this keeps keys exact for any arity.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from typing import Any

import torch
from torch import Tensor

from occamkit.graph.table import KeyTable
from occamkit.network.layout import ArgumentRun, Layout
from occamkit.network.sample import Sample, Tile, TileLayer
from occamkit.protocols import Primitive

NUMBER_BITS = 27
NUMBER_MASK = (1 << NUMBER_BITS) - 1
PRIMITIVE_SHIFT = 2 * NUMBER_BITS
PAIR = 0
"""The primitive code of a pair; primitive p has code p + 1, and a column has the code after the last."""


class Graph:
    """An append-only graph of unique nodes.

    costs: the complexity of each column; nothing if it is not said.
    limit: how many nodes it may hold, pairs included. When a sample might not fit it is emptied first, and
    `generation` goes up by one: whoever keeps something by node number starts afresh. A sample that is larger
    than the limit by itself is let in. A node costs about 30 bytes here and 20 in each evaluator; small
    graphs are also faster, since they stay in cache.
    """

    def __init__(
        self,
        columns: int,
        primitives: Sequence[Primitive],
        *,
        device: torch.device | str | None = None,
        limit: int = 1 << 20,
        costs: Sequence[float] = (),
    ) -> None:
        if len(primitives) + 2 >= 1 << (63 - PRIMITIVE_SHIFT):
            raise ValueError(f"{len(primitives)} primitives are more than a graph can number")
        if limit > NUMBER_MASK:
            raise ValueError(f"limit must be at most {NUMBER_MASK}, got {limit}")
        self.columns = columns
        self.primitives = tuple(primitives)
        self.device = torch.empty(0, device=device).device
        self.limit = limit
        self.generation = 0
        self._table = KeyTable(self.device)
        self._arities = tuple(primitive.arity for primitive in self.primitives)
        own = [0, *(len(primitive.constants) for primitive in self.primitives), 0]
        self._own_constants = torch.tensor(own, dtype=torch.int32, device=self.device)
        self.has_constants = any(own)
        self.has_pairs = any(arity > 2 for arity in self._arities)
        self.heights = torch.zeros(0, dtype=torch.int16, device=self.device)
        """The height of each node: 0 for columns, else one more than its highest argument."""
        self.constants = torch.zeros(0, dtype=torch.int32, device=self.device)
        """How many fitted constants the written tree of each node holds, every occurrence counted."""
        self.complexities = torch.zeros(0, device=self.device)
        """The summed complexity of the written tree of each node, every occurrence counted."""
        own_costs = [0.0, *(primitive.complexity for primitive in self.primitives), 0.0]
        self._own_complexities = torch.tensor(own_costs, device=self.device)
        self._column_costs = torch.tensor([0.0, *(costs or [0.0] * columns)], device=self.device)
        self._places = torch.empty(0, dtype=torch.int64, device=self.device)
        self._coded: tuple[Layout, Tensor] | None = None
        self._enter_columns()

    @property
    def count(self) -> int:
        """How many node numbers are in use, 0 included."""
        return self._table.count

    @property
    def capacity(self) -> int:
        """How long a tensor indexed by node number must be at present."""
        return self._table.capacity

    @property
    def keys(self) -> Tensor:
        """The packed key of each node."""
        return self._table.keys

    def first_arguments(self, keys: Tensor) -> Tensor:
        """Return the first number in each key: the first argument, or the pair of all but the last."""
        return (keys >> NUMBER_BITS) & NUMBER_MASK

    def second_arguments(self, keys: Tensor) -> Tensor:
        """Return the second number in each key: the last argument, or 0 when there is one only."""
        return keys & NUMBER_MASK

    def codes(self, keys: Tensor) -> Tensor:
        """Return the primitive code of each key."""
        return keys >> PRIMITIVE_SHIFT

    def clear(self) -> None:
        """Forget everything but the columns."""
        self._table.clear()
        self.generation += 1
        self._enter_columns()

    def stored(self) -> dict[str, Any]:
        """Return all that the graph knows, to be kept in a file; node numbers stay what they are."""
        count = self.count
        return {
            "generation": self.generation,
            "keys": self.keys[:count].cpu(),
            "heights": self.heights[:count].cpu(),
            "complexities": self.complexities[:count].cpu(),
            "constants": self.constants[: count if self.has_constants else 1].cpu(),
        }

    def restore(self, stored: Mapping[str, Any]) -> None:
        """Become the graph that `stored` was taken from; it must have the same columns and primitives."""
        self._table.restore(stored["keys"])
        self.generation = stored["generation"]
        for name in ("heights", "complexities", "constants"):
            kept: Tensor = stored[name].to(self.device)
            setattr(self, name, _longer(kept, self.capacity if name != "constants" or self.has_constants else 1))

    def make_room(self, nodes: int) -> None:
        """See to it that this many nodes fit, emptying the graph if they would pass its limit."""
        if self.count + nodes > self.limit and self.count > self.columns + 1:
            self.clear()
        self._table.reserve(self.count + nodes)

    def intern(self, sample: Sample) -> Tensor:
        """Return the root of every output of every function: [v, R].

        The sample's layout must have this graph's columns and primitives.
        """
        if sample.layout.columns != self.columns or sample.layout.primitives != self.primitives:
            raise ValueError("the sample comes from a layout with other columns or primitives")
        self.make_room(sum(layer.children.numel() for tile in sample.tiles for layer in tile.layers))
        return torch.cat([self._intern_tile(sample, tile) for tile in sample.tiles], dim=1)

    def apply(self, primitive: int, arguments: Iterable[Tensor]) -> Tensor:
        """Return the nodes that a primitive makes of these argument nodes: k tensors [m] → [m]."""
        given = list(arguments)
        if len(given) != self._arities[primitive]:
            raise ValueError(f"{self.primitives[primitive].name} takes {self._arities[primitive]} arguments")
        # Never empties the graph, limit or not: the arguments are numbers in it.
        self._table.reserve(self.count + len(given) * given[0].numel())
        if self.primitives[primitive].commutative:
            given = list(torch.stack(given).sort(0).values)
        joined = given[0]
        for argument in given[1:-1]:
            joined = self._nodes((joined << NUMBER_BITS) + argument)
        key = (joined << NUMBER_BITS) + (primitive + 1 << PRIMITIVE_SHIFT)
        return self._nodes(key + given[-1] if len(given) > 1 else key)

    def programs(self, roots: Tensor) -> Tensor:
        """Return one number for each program, a function for every output [v, m]: [m]; 0 where a root is 0.

        A lone output is its own program, several are paired like arguments. Never empties the graph.
        """
        joined = roots[0]
        if len(roots) > 1:
            self.has_pairs = True
            self._table.reserve(self.count + roots.numel())
            for root in roots[1:]:
                joined = self._nodes((joined << NUMBER_BITS) + root)
        return joined.masked_fill((roots == 0).any(0), 0)

    def _intern_tile(self, sample: Sample, tile: Tile) -> Tensor:
        layout = sample.layout
        size = layout.nodes << tile.shift
        if self._places.numel() < size:
            self._places = self._places.new_empty(size)
        places = self._places[:size]  # the node number at each place of the tile
        leaves = torch.arange(1, self.columns + 1, device=self.device)
        places[: self.columns << tile.shift].view(self.columns, -1).copy_(leaves.unsqueeze(1))
        codes = self._codes_of(layout)
        for layer in tile.layers:
            keys = codes.index_select(0, layer.places >> tile.shift)
            places.scatter_(0, layer.places, self._intern_layer(layer, places, keys))
        return places.index_select(0, tile.outputs.view(-1)).view_as(tile.outputs)

    def _codes_of(self, layout: Layout) -> Tensor:
        """Return the primitive part of the key of each of a layout's nodes [S]."""
        if self._coded is None or self._coded[0] is not layout:
            codes = [p + 1 << PRIMITIVE_SHIFT for layer in layout.layers for p in layer.primitives]
            self._coded = layout, torch.tensor([0] * self.columns + codes, device=self.device)
        return self._coded[1]

    def _intern_layer(self, layer: TileLayer, places: Tensor, keys: Tensor) -> Tensor:
        """Return the nodes of one layer of a tile; `keys` come with the primitives already in them."""
        drawn = places.index_select(0, layer.children)
        arguments = [drawn[start:stop] for start, stop in zip(layer.starts, layer.starts[1:], strict=False)]
        self._sort_commutative(layer, arguments)
        joined = arguments[0]
        for position in range(1, len(arguments)):
            last = arguments[position]
            more = arguments[position + 1].numel() if position + 1 < len(arguments) else 0
            if more:
                pairs = self._nodes((joined[:more] << NUMBER_BITS) + last[:more])
                joined[:more] = pairs
            keys[more : last.numel()].add_(last[more:])
        return self._nodes(keys.add_(joined << NUMBER_BITS))

    def _sort_commutative(self, layer: TileLayer, arguments: list[Tensor]) -> None:
        """Sort in place the arguments of each stretch of nodes with commutative primitives of one arity."""
        for (commutative, arity), runs in groupby(layer.runs, key=self._commutative_arity):
            if not commutative or arity == 1:
                continue
            members = list(runs)
            stretch = [argument[members[0].start : members[-1].stop] for argument in arguments[:arity]]
            if arity == 2:
                low, high = stretch
                smaller = torch.minimum(low, high)
                torch.maximum(low, high, out=high)
                low.copy_(smaller)
            else:
                for target, ordered in zip(stretch, torch.stack(stretch).sort(0).values, strict=True):
                    target.copy_(ordered)

    def _commutative_arity(self, run: ArgumentRun) -> tuple[bool, int]:
        primitive = self.primitives[run.primitive]
        return primitive.commutative, primitive.arity

    def _nodes(self, keys: Tensor) -> Tensor:
        """Return the node numbers of keys [m], and enter height and constants of those that are new."""
        numbers, first = self._table.numbers(keys)
        if self.heights.numel() < self.capacity:
            self.heights = _longer(self.heights, self.capacity)
            self.complexities = _longer(self.complexities, self.capacity)
            self.constants = _longer(self.constants, self.capacity if self.has_constants else 1)
        last = self.count
        if first == last:
            return numbers
        new = self.keys[first:last]
        one, two, codes = self.first_arguments(new), self.second_arguments(new), self.codes(new)
        below = torch.maximum(self.heights.index_select(0, one), self.heights.index_select(0, two))
        self.heights[first:last] = below.add_(codes != PAIR)
        costs = self._own_complexities.index_select(0, codes)
        costs.add_(self.complexities.index_select(0, one)).add_(self.complexities.index_select(0, two))
        self.complexities[first:last] = costs
        if self.has_constants:
            counts = self._own_constants.index_select(0, codes)
            counts.add_(self.constants.index_select(0, one)).add_(self.constants.index_select(0, two))
            self.constants[first:last] = counts
        return numbers

    def _enter_columns(self) -> None:
        self._table.reserve(self.columns + 1)
        leaf = len(self.primitives) + 1 << PRIMITIVE_SHIFT
        self._table.numbers(torch.arange(self.columns, device=self.device) + leaf)
        self.heights = _longer(self.heights, self.capacity)
        self.heights[: self.columns + 1] = 0
        self.complexities = _longer(self.complexities, self.capacity)
        self.complexities[: self.columns + 1] = self._column_costs
        self.constants = _longer(self.constants, self.capacity if self.has_constants else 1)
        self.constants[: self.columns + 1] = 0


def _longer(values: Tensor, length: int) -> Tensor:
    """Return the values with zeros after them."""
    if values.numel() >= length:
        return values
    longer = values.new_zeros(length)
    longer[: values.numel()] = values
    return longer
