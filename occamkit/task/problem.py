"""A task made concrete: everything that a search reads, decided once and frozen."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import cast

import torch
from torch import Tensor

from occamkit.errors import UserError
from occamkit.protocols import Fitness, Output, Primitive, Regularizer, Task, Variable
from occamkit.registry import Registry
from occamkit.task import vocabulary
from occamkit.task.dataset import Dataset, Part
from occamkit.task.spec import TaskSpec


@dataclass(frozen=True)
class Problem:
    """What to search for, over what, and how it is judged.

    dataset: in float64 on the host, for exact figures; the search works on `columns` and `targets`.
    variables: inputs, then given constants; `columns` of a part has one row for each.
    """

    name: str
    spec: TaskSpec
    registry: Registry
    dataset: Dataset
    variables: tuple[Variable, ...]
    primitives: tuple[Primitive, ...]
    fitness: Fitness
    regularizers: tuple[Regularizer, ...]
    seed: int
    device: torch.device
    dtype: torch.dtype

    @property
    def outputs(self) -> tuple[Output, ...]:
        """What is asked for."""
        return self.dataset.outputs

    def columns(self, part: Part) -> Tensor:
        """Return the inputs and constants of one part of the rows, as the search sees them: [u, n]."""
        return self.exact_columns(part).to(self.device, self.dtype)

    def targets(self, part: Part) -> Tensor:
        """Return the targets of one part of the rows, as the search sees them: [v, n]."""
        return self.dataset.part(part)[1].to(self.device, self.dtype)

    def exact_columns(self, part: Part) -> Tensor:
        """Return the inputs and constants of one part of the rows in float64 on the host: [u, n]."""
        inputs, _ = self.dataset.part(part)
        constants = [variable.value for variable in self.variables if variable.value is not None]
        given = inputs.new_tensor(constants).unsqueeze(1).expand(len(constants), inputs.shape[1])
        return torch.cat([inputs, given])


def make_problem(task: Task, registry: Registry, seed: int = 0, device: str = "auto") -> Problem:
    """Read the task's data and make its plugins."""
    spec, dataset = task.spec, task.data(seed)
    for reason in unsupported(spec, registry):
        raise UserError(reason)
    constants = tuple(map(vocabulary.constant, spec.search.constants))
    return Problem(
        name=task.name,
        spec=spec,
        registry=registry,
        dataset=dataset,
        variables=(*dataset.variables, *constants),
        primitives=tuple(entry.value for entry in vocabulary.all_primitives(registry, spec.search.primitives)),
        fitness=cast("Fitness", vocabulary.make_plugin(registry, "fitnesses", spec.fitness)),
        regularizers=tuple(vocabulary.make_plugin(registry, "regularizers", choice) for choice in spec.regularizers),
        seed=seed,
        device=choose_device(device),
        dtype=getattr(torch, spec.trainer.dtype),
    )


def unsupported(spec: TaskSpec, registry: Registry) -> Iterator[str]:
    """Yield what a task file may say but the search cannot do yet; it is refused rather than passed over."""
    fitted = [
        entry.name for entry in vocabulary.all_primitives(registry, spec.search.primitives) if entry.value.constants
    ]
    if fitted:
        yield (
            f"search.primitives: {fitted[0]!r} carries a constant to be fitted, which the search cannot do yet; "
            f"leave it out and list numbers in search.constants"
        )
    if spec.implicit is not None:
        yield "implicit: the search cannot tell relations from trivialities such as 1 = 1 yet"
    if spec.wrapper is not None:
        yield f"wrapper: the search cannot use {spec.wrapper.name!r} yet; leave [wrapper] out"
    if spec.proposers:
        yield "proposers: the search is the network's alone as yet; leave [[proposers]] out"


def choose_device(name: str) -> torch.device:
    """Return the device of that name; "auto" takes an accelerator when there is one."""
    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "mps" if torch.backends.mps.is_available() else "cpu"
    available = {"cpu": True, "cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available()}
    kind = name.partition(":")[0]
    if not available.get(kind, False):
        usable = ", ".join(one for one, there in available.items() if there)
        raise UserError(f"device {name!r} is not available here; there is {usable}")
    try:
        return torch.device(name)
    except RuntimeError:
        raise UserError(f"device {name!r} cannot be read; write cpu, cuda, cuda:0 or mps") from None
