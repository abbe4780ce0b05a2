"""One search as a plain value: rows, units, vocabulary, how formulas are judged, and a seed.

It is made from a task, from columns in memory, or by another part of the toolkit; several may be searched at once.
Whoever searches reads this and nothing else: no file, no registry, no rows for testing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, TypeVar, cast

import torch
from torch import Tensor

from occamkit.dimensions.powers import Powers, group_variables, product_of_powers
from occamkit.dimensions.products import Exponents
from occamkit.graph.expression import Expression
from occamkit.protocols import Fitness, Kind, Output, Primitive, Regularizer, Variable, Wrapper
from occamkit.task.feedback import Feedback
from occamkit.task.spec import Constants, Search, Stop, Training
from occamkit.units import DIMENSIONLESS, Unit

Made = TypeVar("Made")


@dataclass(frozen=True)
class SearchSettings:
    """The sections of a task file that say how to search; see `occamkit.task.spec`.

    scale: what is solved for around a function of the network before the fitness judges it.
    """

    search: Search = field(default_factory=lambda: Search(primitives=["given"], constants=[]))
    trainer: Training = field(default_factory=Training)
    constants: Constants = field(default_factory=Constants)
    stop: Stop = field(default_factory=Stop)
    scale: Literal["none", "prefactor", "affine", "monomial"] = "none"


@dataclass(frozen=True, eq=False)
class SearchProblem:
    """What to search for, over what, and how it is judged.

    columns: the inputs of the rows to train on, in float64 and base units. weights: how much each row counts; None,
    all alike. variables: the inputs, then given constants. groups: exponents of products of these that the network
    reads besides. closed: whether formulas may hold sums, products, powers and numbers that were solved for; otherwise
    they hold the given primitives and constants alone. seen_powers: which variables have zeros or signs in any row.
    start: formulas to start from, each with a tree for every output. held: inputs and targets of rows that formulas are
    chosen by, for a proposer that holds rows back by itself.
    """

    columns: Tensor  # [u, n]
    targets: Tensor  # [v, n]
    variables: tuple[Variable, ...]
    outputs: tuple[Output, ...]
    primitives: tuple[Primitive, ...]
    fitness: Fitness
    regularizers: tuple[Regularizer, ...] = ()
    weights: Tensor | None = None  # [n]
    kind: Kind = Kind.FUNCTION
    closed: bool = True
    seed: int = 0
    device: torch.device = field(default_factory=lambda: torch.device("cpu"))
    dtype: torch.dtype = torch.float32
    groups: tuple[Exponents, ...] = ()
    wrapper: Wrapper | None = None
    feedback: Feedback | None = None
    settings: SearchSettings = field(default_factory=SearchSettings)
    seen_powers: Powers | None = None
    start: tuple[tuple[Expression, ...], ...] = ()
    held: tuple[Tensor, Tensor] | None = None  # [u, m], [v, m]
    _made: dict[type[Any], Any] = field(default_factory=dict, init=False, repr=False)

    def once(self, kind: type[Made], make: Callable[[], Made]) -> Made:
        """Return what follows from the problem alone, made when it is first asked for and kept as long as the problem.

        Such are its judge, and the tables that several proposers look things up in.
        """
        if kind not in self._made:
            self._made[kind] = make()
        return cast("Made", self._made[kind])

    @classmethod
    def of(
        cls,
        columns: Mapping[str, Tensor],
        targets: Mapping[str, Tensor],
        primitives: Sequence[Primitive],
        fitness: Fitness,
        *,
        units: Mapping[str, Unit] | None = None,
        constants: Sequence[Variable] = (),
        weights: Tensor | None = None,
        regularizers: Sequence[Regularizer] = (),
        closed: bool = True,
        seed: int = 0,
    ) -> SearchProblem:
        """Make a problem of columns [n] and targets [n] in memory, each by name; units are plain unless given."""
        known = units or {}
        return cls(
            torch.stack([one.double() for one in columns.values()]),
            torch.stack([one.double() for one in targets.values()]),
            (*(Variable(name, known.get(name, DIMENSIONLESS)) for name in columns), *constants),
            tuple(Output(name, known.get(name, DIMENSIONLESS)) for name in targets),
            tuple(primitives),
            fitness,
            tuple(regularizers),
            weights,
            closed=closed,
            seed=seed,
        )

    @property
    def distinct_primitives(self) -> tuple[Primitive, ...]:
        """What formulas are made of, each once."""
        return tuple(dict.fromkeys(self.primitives))

    @property
    def inputs(self) -> tuple[Variable, ...]:
        """The variables that are columns."""
        return tuple(one for one in self.variables if one.value is None)

    @cached_property
    def named(self) -> dict[str, Tensor]:
        """The columns [n] by name."""
        return dict(zip((one.name for one in self.inputs), self.columns, strict=True))

    @cached_property
    def powers(self) -> Powers:
        """Which powers of the variables may stand in front of a function."""
        return self.seen_powers or Powers.of(self.variables, self.columns)

    @property
    def network_inputs(self) -> tuple[Variable, ...]:
        """What the network reads: the variables, then the groups under names that only people read."""
        return (*self.variables, *group_variables(self.groups, self.variables))

    @cached_property
    def network_columns(self) -> Tensor:
        """The inputs, constants and groups in float64 on the host: [u, n]."""
        return with_constants(self.columns, self.variables, self.groups)


def with_constants(inputs: Tensor, variables: Sequence[Variable], groups: Sequence[Exponents]) -> Tensor:
    """Return inputs [u, n] with a row for each given constant and each group after them."""
    constants = [variable.value for variable in variables if variable.value is not None]
    given = inputs.new_tensor(constants).unsqueeze(1).expand(len(constants), inputs.shape[1])
    columns = torch.cat([inputs, given])
    return torch.cat([columns, *(product_of_powers(columns, group).unsqueeze(0) for group in groups)])
