"""A task made concrete: everything that a search reads, decided once and frozen."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import cast

import torch
from torch import Tensor

from occamkit import traits
from occamkit.dimensions.powers import Powers, group_variables
from occamkit.dimensions.products import Exponents
from occamkit.errors import UserError
from occamkit.graph.given import Given
from occamkit.packs.registry import Registry
from occamkit.protocols import Fitness, Kind, Output, Primitive, Regularizer, Stage, Task, Variable, Wrapper
from occamkit.task import vocabulary
from occamkit.task.constant_units import allowed
from occamkit.task.data.dataset import Dataset, Part
from occamkit.task.feedback import Feedback, given_feedback, make_feedback, misfits
from occamkit.task.file.checks import callable_primitives
from occamkit.task.prepared import PreparedTask
from occamkit.task.search_problem import SearchProblem, SearchSettings, with_constants
from occamkit.task.spec import TaskSpec

USUAL_SIZE = 1e9
"""Columns whose largest values are above this, or below its inverse, are searched in double precision."""


@dataclass(frozen=True)
class Problem:
    """What to search for, over what, and how it is judged.

    dataset: all rows, in float64 on the host, for exact figures; proposers see `search_problem` alone.
    variables: inputs, then given constants. groups: exponents of products of these that the network reads besides.
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
    groups: tuple[Exponents, ...] = ()
    wrapper: Wrapper | None = None
    feedback: Feedback | None = None
    """How a step's outputs become inputs, for a task with a wrapper."""

    @property
    def outputs(self) -> tuple[Output, ...]:
        """What is asked for."""
        return self.dataset.outputs

    @property
    def network_inputs(self) -> tuple[Variable, ...]:
        """What the network reads: the variables, then the groups under names that only people read."""
        return (*self.variables, *group_variables(self.groups, self.variables))

    def columns(self, part: Part) -> Tensor:
        """Return the inputs, constants and groups of one part of the rows, as the search sees them: [u, n]."""
        return with_constants(self.dataset.part(part)[0], self.variables, self.groups).to(self.device, self.dtype)

    def targets(self, part: Part) -> Tensor:
        """Return the targets of one part of the rows, as the search sees them: [v, n]."""
        return self.dataset.part(part)[1].to(self.device, self.dtype)

    @property
    def kind(self) -> Kind:
        """What is searched for."""
        if self.spec.wrapper is not None:
            return Kind.PROGRAM
        return Kind.FUNCTION if self.spec.implicit is None else Kind.RELATION

    @property
    def search_problem(self) -> SearchProblem:
        """What is searched, as a plain value made anew: the rows to train on, and how formulas of them are judged."""
        spec = self.spec
        columns, targets = self.dataset.part("train")
        return SearchProblem(
            columns,
            targets,
            self.variables,
            self.outputs,
            self.primitives,
            self.fitness,
            self.regularizers,
            kind=self.kind,
            closed=spec.search.closed,
            seed=self.seed,
            device=self.device,
            dtype=self.dtype,
            groups=self.groups,
            wrapper=self.wrapper,
            feedback=self.feedback,
            settings=SearchSettings(spec.search, spec.trainer, spec.constants, spec.stop, spec.fitness.scale),
            seen_powers=Powers.of(self.variables, self.dataset.inputs),
            start=tuple(
                tuple(self.given_formula(text, output) for output in range(len(self.outputs)))
                for text in spec.search.start
            ),
            held=self.dataset.part("valid"),
        )

    def given_formula(self, text: str, output: int) -> Given:
        """Return a formula over the user's columns as a function of ours."""
        columns = tuple(
            (variable.name, (scale.factor, scale.shift))
            for variable, scale in zip(self.dataset.variables, self.dataset.scales, strict=False)
        )
        scale = self.dataset.output_scale(output)
        primitives = tuple(callable_primitives(self.registry).items())
        return Given(text, columns, (scale.factor, scale.shift), primitives)


def make_problem(task: Task, registry: Registry, seed: int = 0, device: str = "auto") -> Problem:
    """Read the task's data and make its plugins."""
    spec, dataset = task.spec, task.data(seed)
    if isinstance(task, PreparedTask):
        registry = task.registry  # with the packs that the task file itself names
    for reason in unsupported(spec, registry):
        raise UserError(reason)
    constants = tuple(vocabulary.constant(item, registry) for item in spec.search.constants)
    wrapper = vocabulary.make_plugin(registry, "wrappers", spec.wrapper) if spec.wrapper is not None else None
    variables = (*dataset.variables, *constants)
    problem = Problem(
        name=task.name,
        spec=spec,
        registry=registry,
        dataset=dataset,
        variables=variables,
        primitives=tuple(
            allowed(entry.value, spec) for entry in vocabulary.all_primitives(registry, spec.search.primitives)
        ),
        fitness=cast("Fitness", vocabulary.make_plugin(registry, "fitnesses", spec.fitness)),
        regularizers=tuple(vocabulary.make_plugin(registry, "regularizers", choice) for choice in spec.regularizers),
        seed=seed,
        device=choose_device(device),
        dtype=_precision(spec, dataset, choose_device(device)),
        groups=Powers.of(variables, dataset.inputs).groups(spec.search.groups),
        wrapper=wrapper,
        feedback=_feedback(spec, dataset, wrapper) if wrapper is not None else None,
    )
    return replace(
        problem,
        fitness=traits.prepared(problem.fitness, problem),
        regularizers=tuple(traits.prepared(one, problem) for one in problem.regularizers),
    )


def _precision(spec: TaskSpec, dataset: Dataset, device: torch.device) -> torch.dtype:
    """Return the precision of the search: single, unless products of the columns would leave its range.

    Apple's GPUs have no double precision.
    """
    if spec.trainer.dtype != "auto":
        return cast("torch.dtype", getattr(torch, spec.trainer.dtype))
    largest = torch.cat([dataset.inputs, dataset.targets]).abs().amax(1)
    usual = (largest == 0) | ((largest > 1 / USUAL_SIZE) & (largest < USUAL_SIZE))
    return torch.float32 if device.type == "mps" or bool(usual.all()) else torch.float64


def _feedback(spec: TaskSpec, dataset: Dataset, wrapper: Wrapper) -> Feedback:
    inputs, outputs = [one.name for one in dataset.variables], [one.name for one in dataset.outputs]
    return make_feedback(inputs, outputs, given_feedback(spec, wrapper))


def unsupported(spec: TaskSpec, registry: Registry) -> Iterator[str]:
    """Yield what a task file may say but the search cannot do yet; it is refused rather than passed over."""
    if spec.wrapper is not None:
        yield from _unsupported_with_wrapper(spec, registry)
    if not spec.search.closed and spec.fitness.scale != "none":
        yield "fitness.scale: numbers and powers around a function are no given primitives; leave it out, or closed"
    if spec.implicit is not None and spec.fitness.scale == "monomial":
        yield "fitness.scale: powers of the inputs in front make any function of one input constant; leave it out"
    if spec.wrapper is not None or spec.implicit is not None:
        what = "a relation" if spec.wrapper is None else "what a wrapper repeats"
        kind = Kind.RELATION if spec.wrapper is None else Kind.PROGRAM
        for choice in spec.proposers:
            if kind not in traits.serves(registry.find("proposers", choice.name).value):
                yield f"proposers: {choice.name!r} cannot look for {what}; leave [[proposers]] out"


def _unsupported_with_wrapper(spec: TaskSpec, registry: Registry) -> Iterator[str]:
    name = spec.wrapper.name if spec.wrapper is not None else ""
    inputs, outputs = ({one.name: one.unit for one in columns} for columns in (spec.inputs, spec.outputs))
    for reason in misfits(inputs, outputs, given_feedback(spec, spec.wrapper)):
        yield f"wrapper: {reason}"
    if spec.implicit is not None:
        yield f"implicit: a relation has no output that {name!r} could feed back; leave one of the two out"
    fitted = [
        entry.name for entry in vocabulary.all_primitives(registry, spec.search.primitives) if entry.value.constants
    ]
    if fitted:
        yield f"search.primitives: {fitted[0]!r} has a constant, which cannot be fitted in what {name!r} repeats"
    if spec.search.groups:
        yield f"search.groups: what {name!r} feeds back would change groups, too; leave one of the two out"
    if spec.fitness.scale != "none":
        yield f"fitness.scale: what {name!r} repeats cannot be scaled; leave one of the two out"
    if spec.trainer.batch is not None:
        yield f"trainer.batch: {name!r} needs all rows in every step; leave batch out"
    if getattr(spec.data, "standardise", False):
        yield f"data.standardise: a standardised output cannot be fed back by {name!r}; leave one of the two out"
    for choice in spec.regularizers:
        symbolic = registry.find("regularizers", choice.name).value.stage is Stage.SYMBOLIC
        if symbolic and len(spec.outputs) > 1:
            yield f"regularizers: {choice.name!r} cannot judge programs of several outputs that {name!r} repeats"


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
