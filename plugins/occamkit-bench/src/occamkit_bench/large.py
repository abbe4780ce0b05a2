"""Random formulas of fifteen to thirty nodes, drawn by a seed, that nobody has looked at.

A node is a number, a name, an operator or a function. A formula counts if it is defined on all of its box, does not
run away on it, every input makes a difference, and 300 rows can tell it: no function stands in another of its kind,
and no wave has more than a few turns.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator

import torch
from torch import Tensor

from occamkit.language.folds import evaluate
from occamkit.language.parse import Call, Node, parse
from occamkit.protocols import Primitive
from occamkit_bench.contenders.size import nodes
from occamkit_bench.equations import LAW_POINTS, LAW_PRIMITIVES, Equation
from occamkit_bench.recovery import Ranges, points

SMALLEST, LARGEST = 15, 30
FEWEST_INPUTS, MOST_INPUTS = 2, 5
LOW, HIGH = 0.5, 4.0
"""Where every input is drawn from: away from the poles and branch points at zero."""

BINARY = {"+": 3, "-": 2, "*": 4, "/": 2}
UNARY = {"sin": 2, "cos": 2, "exp": 1, "log": 1, "sqrt": 2, "square": 2}
"""How often each is drawn, beside the others of its kind."""
LEAF_NUMBER, WHOLE = 0.3, 0.6
"""How often a leaf is a number, and how often a number is a whole one."""
ONE_ARGUMENT = 0.3
"""How often a node has one argument."""

KINDS = ({"sin", "cos"}, {"exp", "log"}, {"sqrt", "square"})
"""Functions that do not stand in one another."""
TURNS = 2.0
"""The most turns of a wave over the box."""
RUNAWAY = 100.0
"""The farthest from its middle that a value may be, in deviations of the middle half."""
MATTERS = 0.05
"""The least part of the deviation that mixing up one input must change values by."""


def large(count: int, seed: int, primitives: dict[str, Primitive]) -> list[Equation]:
    """Return so many formulas; the same for the same seed."""
    drawn = random.Random(f"large {seed}")
    found: list[Equation] = []
    while len(found) < count:
        inputs = tuple(f"x{place}" for place in range(1, drawn.randint(FEWEST_INPUTS, MOST_INPUTS) + 1))
        formula = _drawn(drawn, inputs, drawn.randint(SMALLEST, LARGEST))
        one = _equation(f"large_{seed}_{len(found) + 1:02}", formula, inputs)
        if _counts(one, primitives):
            found.append(one)
    return found


def _equation(name: str, formula: str, inputs: tuple[str, ...]) -> Equation:
    bounds = {"low": (LOW,) * len(inputs), "high": (HIGH,) * len(inputs)}
    plain = {"output": "y", "output_unit": "", "variables": inputs, "units": ("",) * len(inputs)}
    return Equation(name=name, formula=formula, **plain, **bounds, points=LAW_POINTS, primitives=LAW_PRIMITIVES)


def _drawn(draw: random.Random, inputs: tuple[str, ...], size: int, around: frozenset[str] = frozenset()) -> str:
    """Draw a formula of about so many nodes; around: the functions that it may not hold."""
    if size == 1:
        return draw.choice(inputs)
    able = {name: often for name, often in UNARY.items() if name not in around}
    if able and (size == 2 or draw.random() < ONE_ARGUMENT):
        function = _one_of(draw, able)
        kind = next(kind for kind in KINDS if function in kind)
        return f"{function}({_drawn(draw, inputs, size - 1, around | kind)})"
    operator = _one_of(draw, BINARY)
    left = draw.randint(1, max(1, size - 2))
    if left == 1 and draw.random() < LEAF_NUMBER:
        # Of a number and nothing else a formula would be a number.
        return f"({_number(draw)} {operator} {_drawn(draw, inputs, max(1, size - 2), around)})"
    one, other = (_drawn(draw, inputs, most, around) for most in (left, max(1, size - 1 - left)))
    return f"({one} {operator} {other})" if one != other else one


def _one_of(draw: random.Random, weights: dict[str, int]) -> str:
    return draw.choices(list(weights), list(weights.values()))[0]


def _number(draw: random.Random) -> str:
    return str(draw.randint(2, 5)) if draw.random() < WHOLE else f"{draw.uniform(0.1, 5):.3f}"


def _counts(one: Equation, primitives: dict[str, Primitive]) -> bool:
    tree = parse(one.formula, list(one.variables), primitives)
    if not isinstance(tree, Call) or not SMALLEST <= nodes(tree) <= LARGEST:
        return False
    inside, beyond = (points(one.ranges, wider=wider) for wider in (False, True))
    if any(float(wave.max() - wave.min()) > TURNS * math.tau for wave in _waves(tree, inside, primitives)):
        return False
    values = evaluate(tree, inside, primitives)
    if values.ndim == 0 or not all(_tame(one) for one in (values, evaluate(tree, beyond, primitives))):
        return False
    return all(_moved(values, evaluate(tree, mixed, primitives)) > MATTERS for mixed in _mixed(inside, one.ranges))


def _waves(tree: Node, columns: dict[str, Tensor], primitives: dict[str, Primitive]) -> Iterator[Tensor]:
    if isinstance(tree, Call):
        if tree.function in ("sin", "cos"):
            yield evaluate(tree.arguments[0], columns, primitives)
        for one in tree.arguments:
            yield from _waves(one, columns, primitives)


def _tame(values: Tensor) -> bool:
    if not bool(torch.isfinite(values).all()):
        return False
    low, middle, high = torch.quantile(values, torch.tensor([0.25, 0.5, 0.75], dtype=values.dtype))
    return bool(high > low) and float((values - middle).abs().max() / (high - low)) < RUNAWAY


def _mixed(columns: dict[str, Tensor], ranges: Ranges) -> Iterator[dict[str, Tensor]]:
    for name in ranges:
        yield {**columns, name: columns[name].roll(1)}


def _moved(values: Tensor, others: Tensor) -> float:
    return float((values - others).std() / values.std())
