"""How large a formula is: its numbers, names, operators and functions."""

from __future__ import annotations

from collections.abc import Sequence

from occamkit.language.parse import Call, Node, parse
from occamkit.packs.registry import Registry
from occamkit.task.file.checks import callable_primitives


def size_of(formula: str, names: Sequence[str]) -> int:
    """Return the size of a formula of these inputs."""
    return nodes(parse(formula, list(names), callable_primitives(Registry.load())))


def nodes(tree: Node) -> int:
    """Return how many nodes a formula that was read has."""
    return 1 + sum(map(nodes, tree.arguments)) if isinstance(tree, Call) else 1
