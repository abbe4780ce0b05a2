"""Formulas that a task starts from: they stand on the front from the first step, and the network begins near them.

A formula is matched with the task's primitives by what they are in sympy, so nothing here knows a primitive's name.
What the network cannot spell, for want of a primitive, a number or a layer, stands on the front all the same.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import sympy
import torch

from occamkit.graph import Apply, Expression, Leaf
from occamkit.graph.given import Given
from occamkit.network import Layout
from occamkit.protocols import Primitive
from occamkit.task.checks import callable_primitives
from occamkit.task.formula import Name, Node, Number
from occamkit.task.functions import CONSTANTS, FUNCTIONS
from occamkit.task.problem import Problem
from occamkit.train.figures import figures_of
from occamkit.train.front import MOST_COMPLEX, Candidate, Front
from occamkit.train.trainer import Trainer

HEAD_START = 3.0
"""By how much the weight of an edge is raised that spells a given formula: it becomes e³ times likelier."""


def given_formula(problem: Problem, text: str, output: int) -> Given:
    """Return a formula over the user's columns as a function of ours."""
    dataset = problem.dataset
    columns = tuple(
        (variable.name, (scale.factor, scale.shift))
        for variable, scale in zip(dataset.variables, dataset.scales, strict=False)
    )
    scale = dataset.output_scale(output)
    primitives = tuple(callable_primitives(problem.registry).items())
    return Given(text, columns, (scale.factor, scale.shift), primitives)


def admit(front: Front, tree: Expression, proposer: str) -> Candidate | None:
    """Put a function on a front; None when it is undefined on the training rows."""
    candidate = judged(front.problem, tree, front.output, proposer)
    if candidate is None:
        return None
    level = min(math.ceil(candidate.complexity), MOST_COMPLEX)
    if candidate.score > float(front._bars[level]):
        front._bars[level] = candidate.score
        front._keep(level, candidate)
    return candidate


def judged(problem: Problem, tree: Expression, output: int, proposer: str) -> Candidate | None:
    """Return a function with its fitness on the training rows; None when it is undefined there."""
    inputs, targets = problem.dataset.part("train")
    named = dict(zip((one.name for one in problem.dataset.variables), inputs, strict=True))
    predicted = tree.evaluate(named).expand_as(targets[output])
    fitness = float(problem.fitness.score(predicted.unsqueeze(0).clone(), targets[output]))
    if not (math.isfinite(fitness) and bool(torch.isfinite(predicted).all())):
        return None
    figures = figures_of(problem, tree, output)
    relation = problem.spec.implicit is not None
    return Candidate(tree, fitness, fitness, figures, -math.inf, proposer, by_score=relation)


@torch.no_grad()
def lean_towards(trainer: Trainer, tree: Given, output: int) -> bool:
    """Make the edges likelier that spell a formula; whether the network can spell it."""
    spelt = _spelt(tree.tree, trainer.problem.primitives, trainer.judge.leaves)
    edges = _edges(trainer.layout, spelt, trainer.judge.leaves, output) if spelt is not None else None
    for argument, source in edges or ():
        trainer.network.logits[argument, source] += HEAD_START * trainer.network.temperatures[argument, 0]
    return edges is not None


def _spelt(node: Node, primitives: tuple[Primitive, ...], leaves: Sequence[Expression]) -> Expression | None:
    """Return a formula as a tree of the task's own primitives and columns, if they suffice."""
    if isinstance(node, Name):
        return next((leaf for leaf in leaves if leaf == Leaf(node.name)), None)
    if isinstance(node, Number):
        value = CONSTANTS[node.text] if node.text in CONSTANTS else float(node.text)
        return next((leaf for leaf in leaves if isinstance(leaf, Leaf) and leaf.value == value), None)
    below = [_spelt(argument, primitives, leaves) for argument in node.arguments]
    primitive = next(_matching(node, primitives), None)
    if primitive is None or any(argument is None for argument in below):
        return None
    return Apply(primitive, tuple(argument for argument in below if argument is not None)[: primitive.arity])


def _matching(node: Any, primitives: tuple[Primitive, ...]) -> Iterator[Primitive]:
    """Yield the primitives that do what an operator or a function of a formula does."""
    stand_ins = [sympy.Symbol(f"x{place}", real=True) for place in range(len(node.arguments))]
    wanted = FUNCTIONS[node.function].sympy(*stand_ins) if node.function in FUNCTIONS else None
    for primitive in primitives:
        if primitive.arity != len(stand_ins) or primitive.constants:
            continue
        if primitive.name == node.function or (wanted is not None and primitive.sympy(*stand_ins) == wanted):
            yield primitive


def _edges(layout: Layout, tree: Expression, leaves: Sequence[Expression], output: int) -> list[tuple[int, int]] | None:
    """Return the edges (argument, source) of a tree in a network, or None when it does not fit."""
    placed: dict[Expression, int] = {leaf: place for place, leaf in enumerate(leaves)}
    edges: list[tuple[int, int]] = []
    taken: set[int] = set()
    for node in sorted((one for one in tree.nodes() if isinstance(one, Apply)), key=_height):
        if node in placed:
            continue
        spot = _spot(layout, node, placed, taken)
        if spot is None:
            return None
        number, arguments = spot
        taken.add(number)
        placed[node] = number
        edges += zip(arguments, (placed[below] for below in node.arguments), strict=True)
    root = placed[tree]
    return [*edges, (layout.first_output + output, root)] if root in layout.output_sources else None


def _spot(
    layout: Layout, node: Apply, placed: Mapping[Expression, int], taken: set[int]
) -> tuple[int, list[int]] | None:
    """Return the first free node of the network that can hold a function, with its arguments."""
    for layer in layout.layers:
        if not all(placed[below] in layer.sources for below in node.arguments):
            continue
        for place, primitive in enumerate(layer.primitives):
            number = layer.nodes[place]
            if number not in taken and layout.primitives[primitive] == node.primitive:
                owned = [argument for argument in layer.arguments if layout.owners[argument] == number]
                return number, owned
    return None


def _height(tree: Expression) -> int:
    return 1 + max((_height(below) for below in tree.below), default=0)
