"""What a proposer is given, and what it gives back."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from torch import Tensor

from occamkit.graph import Expression
from occamkit.protocols import Output, Primitive, Variable
from occamkit.search.choice import plain
from occamkit.task.dataset import Part
from occamkit.task.problem import Problem
from occamkit.train.front import Candidate
from occamkit.train.run import Training
from occamkit.train.teach import preferences, teach


@dataclass(frozen=True)
class Proposal:
    """A formula that somebody proposes for an output; it is scored like any other."""

    tree: Expression
    output: int = 0


@dataclass(frozen=True)
class SearchBudget:
    """How long a proposer may go on. It asks often, and yields None at least a few times in a second."""

    deadline: float | None = None
    """On the clock of `time.monotonic`; None for no limit in seconds."""
    interrupted: Callable[[], bool] = field(default=lambda: False)

    @property
    def seconds_left(self) -> float:
        """Seconds until the deadline; infinite without one."""
        return float("inf") if self.deadline is None else self.deadline - time.monotonic()

    def over(self) -> bool:
        """Whether it is time to stop."""
        return self.seconds_left <= 0 or self.interrupted()


@dataclass(frozen=True)
class SearchProblem:
    """A task as proposers see it: the rows in float64 and base units, what may be used, and what is known so far.

    shared: what one proposer makes and others can use, such as a library; it lives as long as the run.
    """

    task: Problem
    training: Training
    shared: dict[Any, Any] = field(default_factory=dict)

    @property
    def outputs(self) -> tuple[Output, ...]:
        """What is asked for."""
        return self.task.outputs

    @property
    def variables(self) -> tuple[Variable, ...]:
        """Inputs, then given constants."""
        return self.task.variables

    @property
    def primitives(self) -> tuple[Primitive, ...]:
        """What formulas are made of, each once."""
        return tuple(dict.fromkeys(self.task.primitives))

    @property
    def explicit(self) -> bool:
        """Whether the outputs are plain functions of the inputs: no relation, and no wrapper around them."""
        return self.task.spec.implicit is None and self.task.spec.wrapper is None

    def columns(self, part: Part) -> Tensor:
        """Return the inputs of one part of the rows, without constants: [u, n]."""
        return self.task.dataset.part(part)[0]

    def targets(self, part: Part) -> Tensor:
        """Return the targets of one part of the rows: [v, n]."""
        return self.task.dataset.part(part)[1]

    def best(self, output: int) -> Candidate | None:
        """Return the best formula that anybody has found for an output."""
        return self.training.fronts[output].best()

    def front(self, output: int) -> list[Candidate]:
        """Return the best formulas of growing complexity for an output."""
        return list(self.training.fronts[output].candidates())

    def solved(self, output: int) -> bool:
        """Whether an exact formula is known for an output that no simpler one is likely to stand behind."""
        return any(one.figures.exact and plain(one.tree) for one in self.front(output))

    def teach(self, tree: Expression, output: int) -> bool:
        """Make a formula likelier in the network; whether the network can express it."""
        return teach(self.training.trainer, tree, output)

    def preferred(self) -> tuple[Primitive, ...]:
        """Return the primitives, those first that the network has learnt to use; in the task's order before it has."""
        if self.training.trainer.steps == 0:
            return self.primitives
        shares = preferences(self.training.trainer)
        return tuple(sorted(self.primitives, key=lambda one: -shares.get(one, 0.0)))

    def train(self) -> str | None:
        """Let the network take one step; return why it should stop, if there is a reason."""
        stop = self.training.step()
        # When everything is found, who else may still look for something simpler is not the network's to say.
        return None if stop == "converged" and self.training.done() else stop
