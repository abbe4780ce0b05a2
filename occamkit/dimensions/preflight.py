"""Whether any function of a search would pass a regularizer that can veto: the pre-flight of a task.

The regularizer's own fold is run over sets of states instead of single functions: the states that its leaves have, then
layer by layer those that the primitives make of them. It is exact while the sets are small, and says so when not.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from typing import Any

from occamkit.protocols import Output, Primitive, StructureRegularizer, Variable

_MOST_COMBINATIONS = 100_000


def passes(
    regularizer: StructureRegularizer,
    primitives: Iterable[Primitive],
    variables: Sequence[Variable],
    output: Output,
    depth: int,
    skip_connections: bool,
) -> bool | None:
    """Whether some function of at most this depth is not vetoed; None when there are too many to tell.

    Without skip connections functions are of exactly this depth.
    """
    distinct = list(dict.fromkeys(primitives))
    states: set[Any] = {regularizer.leaf(variable) for variable in variables}
    for layer in range(depth + 1):
        counts = skip_connections or layer == depth
        if counts and any(not regularizer.verdict(state, output).veto for state in states):
            return True
        if layer == depth:
            break
        if sum(len(states) ** primitive.arity for primitive in distinct) > _MOST_COMBINATIONS:
            return None
        grown = {
            regularizer.combine(primitive, arguments)
            for primitive in distinct
            for arguments in itertools.product(states, repeat=primitive.arity)
        }
        if skip_connections and grown <= states:
            break
        states = states | grown if skip_connections else grown
    return False
