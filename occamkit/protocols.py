"""What a pack can provide: the protocols that the core composes, and the small values they exchange.

Members are read-only properties, so frozen dataclasses fulfil them. Letters in shapes:
F candidates, U unique nodes, n rows, k arity, c constants.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from torch import Tensor

from occamkit.primitives import Cluster, Constant
from occamkit.units import Unit, UnitRule

if TYPE_CHECKING:
    from occamkit.graph import Expression
    from occamkit.search.proposal import Milestone, Proposal, SearchBudget
    from occamkit.task.data.dataset import Dataset
    from occamkit.task.search_problem import SearchProblem
    from occamkit.task.spec import TaskSpec


@runtime_checkable
class Primitive(Protocol):
    """A function that expressions are made of; `occamkit.Elementwise` is the class that everyone uses.

    Optional, and described at Elementwise: `inverse`, `group`, `exponential` and `truth`. What a plugin may leave out
    is asked for in `occamkit.traits` alone.
    """

    @property
    def name(self) -> str: ...
    @property
    def arity(self) -> int: ...
    @property
    def call(self) -> Callable[..., Tensor]: ...
    @property
    def sympy(self) -> Callable[..., Any]: ...
    @property
    def units(self) -> UnitRule: ...
    @property
    def commutative(self) -> bool: ...
    @property
    def constants(self) -> tuple[Constant, ...]: ...
    @property
    def clusters(self) -> tuple[Cluster, ...]: ...
    @property
    def complexity(self) -> float: ...
    @property
    def symbol(self) -> str | None: ...


@runtime_checkable
class Fitness(Protocol):
    """How well predictions match the target (the paper's K). A dataclass whose fields are its options.

    Optional: `prepare(problem) → Fitness`, called once before a run with everything that the run reads: rows, units,
    primitives. What it returns is used in its place. `squares = True` for one that ranks good predictions as their mean
    square error does: then formulas are chosen by the length of their description alone.
    """

    def score(self, predicted: Tensor, target: Tensor) -> Tensor:
        """Score each row of predicted [F, n] against target [n]: [F], higher is better."""
        ...

    def ceiling(self, points: int) -> float:
        """Return the score of a perfect prediction of that many points (the paper's s), never exceeded."""
        ...


class Stage(Enum):
    """When a regularizer looks at a candidate, and so which methods it has."""

    STRUCTURE = "structure"
    """Before evaluation: `leaf`, `combine`, `verdict`."""
    FORWARD = "forward"
    """During evaluation: `score_nodes`."""
    SYMBOLIC = "symbolic"
    """After evaluation, in sympy: `penalty`."""
    TREE = "tree"
    """After evaluation, as a tree that can be evaluated anywhere: `look`."""


@runtime_checkable
class Regularizer(Protocol):
    """A penalty that is taken from the fitness as weight · ceiling · penalty (the paper's r).

    A dataclass whose fields are its options; `weight` is one of them. Dispatch is on `stage` alone; the
    methods of each stage are in StructureRegularizer, ForwardRegularizer, SymbolicRegularizer and TreeRegularizer.

    Optional: `prepare(problem) → Regularizer`, called once before a run with everything that the run reads: rows,
    units, primitives. What it returns is used in its place, and has the same stage.
    """

    @property
    def name(self) -> str: ...
    @property
    def stage(self) -> Stage: ...
    @property
    def weight(self) -> float: ...


@dataclass(frozen=True)
class Variable:
    """A leaf of an expression: an input column or a constant column."""

    name: str
    unit: Unit
    value: float | None = None
    """The number, for a constant; None for an input."""


@dataclass(frozen=True)
class Output:
    """What an expression is asked to give."""

    name: str
    unit: Unit


@dataclass(frozen=True)
class Verdict:
    """What a structural regularizer says of a whole expression; a veto spares its evaluation."""

    penalty: float = 0.0
    veto: bool = False


class StructureRegularizer(Regularizer, Protocol):
    """A fold over the written tree, run before anything is evaluated; states are hashable and memoised.

    Optional: `explain(variables, output) → str` says, when every function of a task would be vetoed, what is missing.
    """

    def leaf(self, variable: Variable) -> Any: ...
    def combine(self, primitive: Primitive, args: Sequence[Any]) -> Any: ...
    def verdict(self, root: Any, output: Output) -> Verdict: ...


@dataclass(frozen=True)
class NodeBatch:
    """Nodes of one primitive on their way through evaluation."""

    primitive: Primitive
    arguments: tuple[Tensor, ...]  # k tensors [U, n]
    constants: tuple[Tensor, ...]  # c tensors [U]
    output: Tensor  # [U, n]


class ForwardRegularizer(Regularizer, Protocol):
    """A penalty for each node, read off its values; a candidate pays for every node it uses."""

    def score_nodes(self, batch: NodeBatch) -> Tensor: ...


class SymbolicRegularizer(Regularizer, Protocol):
    """A penalty read off the formula as written and as sympy simplifies it.

    Optional: `hereditary = True` says that a formula is penalised at least as much as any part of it. Then formulas
    with a penalised part, such as x - x, are told from their structure and need not be simplified to be ranked low.
    """

    def penalty(self, written: Any, simplified: Any) -> float: ...


class TreeRegularizer(Regularizer, Protocol):
    """A penalty read off a whole candidate, such as its values on points that are not among the rows.

    Asked like a symbolic one: down the ranking, only as far as matters. A tree has no values before its constants
    are fitted.
    """

    def look(self, tree: Expression, output: Output) -> float: ...


@runtime_checkable
class Wrapper(Protocol):
    """Turns one sampled step into several candidates: every state that it yields is one.

    States are [s, F, n]: a row for each output, then one for each input that takes the value of another input. Any
    arithmetic on them is allowed that treats each of the F candidates alone. Optional: `feedback`, a mapping from each
    input to the output or input that it takes its next value from; without it they are matched by name. And
    `python(depth, state, step)`, the lines of a Python program that bring the names in `state` to that depth by the
    call `step`.
    """

    def unroll(self, step: Callable[[Tensor], Tensor], start: Tensor) -> Iterator[Tensor]: ...


@runtime_checkable
class Task(Protocol):
    """A named problem with its data."""

    @property
    def name(self) -> str: ...
    @property
    def spec(self) -> TaskSpec: ...
    def data(self, seed: int) -> Dataset: ...


@dataclass(frozen=True)
class TaskFile:
    """A task that is a file; its data come from what the file says."""

    name: str
    path: Path


class Kind(Enum):
    """What is searched for, and so what a proposer must be able to serve."""

    FUNCTION = "function"
    """Outputs as functions of the inputs."""
    RELATION = "relation"
    """One function of the inputs that is constant on the rows."""
    PROGRAM = "program"
    """A step for each output that a wrapper repeats."""


@runtime_checkable
class Proposer(Protocol):
    """A source of candidate expressions. A dataclass whose fields are its options.

    Optional: `share`, how much work it is dealt for one share of the others', 1 unless it says so. `opening`, another
    share that it has at first, and for how many turns. `late`, how many turns for each share others have had before its
    first. `serves`, the kinds of problems that it can work on, functions alone unless it says so.
    `resume(problem, budget, state)`, which goes on from the state of a `Milestone` that it yielded; without it, what it
    did is done again when a run is resumed.
    """

    @property
    def name(self) -> str: ...
    def propose(self, problem: SearchProblem, budget: SearchBudget) -> Iterator[Proposal | Milestone | None]:
        """Yield formulas, and None or a milestone where others may take a turn: at least a few times in a second."""
        ...


@runtime_checkable
class Exporter(Protocol):
    """Writes a formula in another language."""

    @property
    def name(self) -> str: ...
    def export(self, expression: Any, inputs: Sequence[str]) -> str: ...
