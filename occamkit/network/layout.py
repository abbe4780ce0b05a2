"""Where every node and every argument of the network is, as plain integers.

Nodes are numbered from 0: first the columns (inputs, then constants), then the image nodes layer by layer.
Arguments (the paper's P-nodes) are numbered layer by layer too, the outputs last; each argument is one row
of the network's logits, and each node one column of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, groupby

from occamkit.protocols import Primitive


@dataclass(frozen=True)
class ArgumentRun:
    """Neighbouring image nodes that hold the same primitive; `start` and `stop` count in the layer."""

    primitive: int
    start: int
    stop: int


@dataclass(frozen=True)
class Layer:
    """One hidden layer: an arguments sublayer and the images sublayer that it feeds (§ Layer structure).

    Image nodes stand in the order of falling arity, so that the nodes which have a third argument, say, are
    a prefix of those which have a second; equal primitives are neighbours.
    """

    primitives: tuple[int, ...]
    """For each image node, the index of its primitive in `Layout.primitives`."""
    arities: tuple[int, ...]
    first_node: int
    first_argument: int
    sources: range
    """The nodes that the layer's arguments choose from."""

    @property
    def nodes(self) -> range:
        return range(self.first_node, self.first_node + len(self.primitives))

    @property
    def arguments(self) -> range:
        return range(self.first_argument, self.first_argument + sum(self.arities))

    @cached_property
    def runs(self) -> tuple[ArgumentRun, ...]:
        """The layer's nodes by primitive."""
        found, start = [], 0
        for primitive, members in groupby(self.primitives):
            stop = start + len(list(members))
            found.append(ArgumentRun(primitive, start, stop))
            start = stop
        return tuple(found)


@dataclass(frozen=True)
class Layout:
    """The shape of a network. Use `Layout.build` or `Layout.repeated` to make one.

    columns: u, the number of inputs and constants. outputs: v. skip_connections: whether arguments see the
    images of all earlier layers or of the previous one only (§ Sampling from OccamNet).
    """

    columns: int
    primitives: tuple[Primitive, ...]
    layers: tuple[Layer, ...]
    outputs: int
    skip_connections: bool

    @classmethod
    def build(
        cls,
        columns: int,
        layers: Sequence[Sequence[Primitive]],
        outputs: int = 1,
        skip_connections: bool = True,
    ) -> Layout:
        """Lay out a network whose layers hold these primitives; a primitive may be repeated in a layer."""
        if columns < 1 or outputs < 1 or not layers or not all(layers):
            raise ValueError("a network needs a column, an output, and a primitive in each of its layers")
        distinct: list[Primitive] = []
        for primitive in chain.from_iterable(layers):
            if primitive not in distinct:
                distinct.append(primitive)
        built: list[Layer] = []
        node, argument, sources = columns, 0, range(columns)
        for members in layers:
            order = sorted(
                (distinct.index(primitive) for primitive in members),
                key=lambda index: (-distinct[index].arity, not distinct[index].commutative, index),
            )
            arities = tuple(distinct[index].arity for index in order)
            built.append(Layer(tuple(order), arities, node, argument, sources))
            node += len(order)
            argument += sum(arities)
            sources = range(0 if skip_connections else built[-1].first_node, node)
        return cls(columns, tuple(distinct), tuple(built), outputs, skip_connections)

    @classmethod
    def repeated(
        cls,
        columns: int,
        primitives: Sequence[Primitive],
        repeats: Sequence[int],
        outputs: int = 1,
        skip_connections: bool = True,
    ) -> Layout:
        """Lay out a network with `repeats[l]` copies of all primitives in layer l, such as (8, 4, 2, 1)."""
        return cls.build(columns, [list(primitives) * times for times in repeats], outputs, skip_connections)

    @property
    def nodes(self) -> int:
        """S, the number of columns and image nodes."""
        return self.layers[-1].nodes.stop

    @property
    def arguments(self) -> int:
        """A, the number of arguments, outputs included."""
        return self.first_output + self.outputs

    @property
    def first_output(self) -> int:
        """The argument that is the first output; the others follow."""
        return self.layers[-1].arguments.stop

    @property
    def output_sources(self) -> range:
        """The nodes that the outputs choose from."""
        return range(0 if self.skip_connections else self.layers[-1].first_node, self.nodes)

    @cached_property
    def argument_layers(self) -> tuple[tuple[range, range], ...]:
        """For each layer, and last for the outputs: the arguments and the nodes that they choose from."""
        hidden = tuple((layer.arguments, layer.sources) for layer in self.layers)
        return (*hidden, (range(self.first_output, self.arguments), self.output_sources))

    @property
    def parameters(self) -> int:
        """The number of weights: Σ over layers of arguments times sources.

        With N primitives and M arguments in each of L layers this is v(u + LN) + M Σ_{i<L} (u + iN). The
        paper prints (L + 1)N in the first term, but there are only L image layers for an output to see.
        """
        return sum(len(arguments) * len(sources) for arguments, sources in self.argument_layers)

    @cached_property
    def first_sources(self) -> tuple[int, ...]:
        """For each argument, the lowest node that it can choose."""
        return tuple(sources.start for arguments, sources in self.argument_layers for _ in arguments)

    @cached_property
    def owners(self) -> tuple[int, ...]:
        """For each argument, the image node that it feeds; the outputs feed none and have -1."""
        feeds: list[int] = []
        for layer in self.layers:
            for node, arity in zip(layer.nodes, layer.arities, strict=True):
                feeds.extend([node] * arity)
        return (*feeds, *[-1] * self.outputs)
