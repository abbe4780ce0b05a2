"""How large the network is: as the task says, or growing from one fresh start to the next."""

from __future__ import annotations

from occamkit.task.spec import Search

GROWN = ((1, 1), (1, 1, 1), (2, 2, 2), (1, 1, 1, 1), (2, 2, 2, 2), (1, 1, 1, 1, 1), (3, 3, 2, 2, 1))
"""The sizes of successive fresh starts when a task gives no depth: how often the primitives stand in each layer.

Both depth and width grow. Shallow networks come first because they are quick and their functions simple; after the
largest the turn begins again.
"""

FIXED_TURNS = (0.0, 1.0, 5.0)
"""The paper's E of successive starts of one size, when the task does not choose: simple functions first."""
GROWING_TURNS = (0.0, 0.0, 1.0, 0.0, 0.0, 5.0)
"""The same while the network grows. With E = 0 it grows from start to start; another E takes the size of the start
before, since nearly all its functions are as large as the network allows, and cost accordingly."""


def sizes_of(search: Search) -> tuple[tuple[int, ...], ...]:
    """Return how often the primitives stand in each layer, for each fresh start of a turn."""
    if search.repeats is not None:
        return (tuple(search.repeats),)
    return GROWN if search.depth is None else ((1,) * search.depth,)


def largest_depth(search: Search) -> int:
    """Return how many layers the largest network has."""
    return max(map(len, sizes_of(search)))


def start_of(search: Search, number: int) -> tuple[tuple[int, ...], float]:
    """Return the size of the network and the paper's E of a fresh start, counted from 0."""
    sizes = sizes_of(search)
    if len(sizes) == 1:
        given = FIXED_TURNS[number % len(FIXED_TURNS)] if search.equalise is None else search.equalise
        return sizes[0], given
    if search.equalise is not None:
        return sizes[number % len(sizes)], search.equalise
    grown = number - number // 3 - (number % 3 == 2)  # the starts with E = 0 before and including this one, less one
    return sizes[grown % len(sizes)], GROWING_TURNS[number % len(GROWING_TURNS)]


def starts_in_turn(search: Search) -> int:
    """Return how many fresh starts it takes until every size has had its turn."""
    sizes = len(sizes_of(search))
    return sizes if search.equalise is not None or sizes == 1 else -(-3 * sizes // 2)
