"""A checked task, ready to give its data: rows read or drawn, converted to base units and split by seed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import cast

import torch
from torch import Tensor

from occamkit import traits
from occamkit.dimensions.powers import Powers, group_variables
from occamkit.dimensions.preflight import passes
from occamkit.errors import DataError
from occamkit.packs.registry import Registry
from occamkit.protocols import Output, Stage, StructureRegularizer, Task, Variable
from occamkit.task import vocabulary
from occamkit.task.constant_units import allowed, judged
from occamkit.task.data import csv, formula, pmlb, sequence
from occamkit.task.data.dataset import Dataset, Scale, split_rows, standardise
from occamkit.task.file.checks import callable_primitives
from occamkit.task.file.complaints import Complaint
from occamkit.task.growth import largest_depth
from occamkit.task.spec import (
    CsvData,
    FormulaData,
    InputSpec,
    OutputSpec,
    PmlbData,
    SequenceData,
    Split,
    TaskData,
    TaskSpec,
)
from occamkit.units import DIMENSIONLESS, FREE, PLAIN, Measure, parse, show

Lines = tuple[int, ...] | None

RELATION = "relation"
"""What the one output of an implicit task is called."""


@dataclass(frozen=True)
class PreparedTask:
    """A task from a file: its spec, and the folder that paths in it are relative to."""

    spec: TaskSpec
    registry: Registry = field(repr=False)
    folder: Path
    rows_of: Task | None = None
    """The registered task whose rows are used, when `source` names one."""

    @property
    def name(self) -> str:
        """The task's own name."""
        return self.spec.name

    @property
    def columns(self) -> list[InputSpec | OutputSpec]:
        """Inputs, then outputs, as declared."""
        return [*self.spec.inputs, *self.spec.outputs]

    @property
    def outputs(self) -> tuple[Output, ...]:
        """What is asked for: the outputs, or the one relation of an implicit task."""
        if self.spec.implicit is not None:
            # Zero has every unit, any other value is a plain number.
            return (Output(RELATION, DIMENSIONLESS if self.spec.implicit.value else FREE),)
        return tuple(Output(one.name, parse(one.unit).dim) for one in self.spec.outputs)

    def preflight(self) -> Iterator[Complaint]:
        """Complain of every output for which some regularizer would veto all functions of the search."""
        search, depth = self.spec.search, largest_depth(self.spec.search)
        variables = [Variable(one.name, parse(one.unit).dim) for one in self.spec.inputs]
        variables += [vocabulary.constant(item, self.registry) for item in search.constants]
        entries = vocabulary.all_primitives(self.registry, search.primitives)
        primitives = [allowed(entry.value, self.spec) for entry in entries]
        if search.groups and all(one.unit == DIMENSIONLESS for one in variables):
            yield ("search", "groups"), "no column carries a unit, so there is nothing to group; leave groups out"
        # Rows are not at hand, and zeros in them would leave a unit to the function that powers could have.
        seen = [Powers.unseen(variables, able=able) for able in (True, False)]
        scale, constants = self.spec.fitness.scale, self.spec.constants
        readings = list(zip(*(judged(self.outputs, scale, constants, powers) for powers in seen), strict=True))
        variables += group_variables(seen[0].groups(search.groups), variables)
        for choice in self.spec.regularizers:
            regularizer = vocabulary.make_plugin(self.registry, "regularizers", choice)
            if regularizer.stage is not Stage.STRUCTURE or regularizer.weight == 0 or not self.spec.inputs:
                continue
            fold = cast("StructureRegularizer", regularizer)
            for place, outputs in enumerate(readings):
                output, told = outputs[0], partial(passes, fold, primitives, variables)
                if all(told(one, depth, search.skip_connections) is False for one in dict.fromkeys(outputs)):
                    yield (
                        ("outputs", place, "unit"),
                        f"no function of depth {depth} can have the unit {show(output.unit)}: "
                        f"{traits.explain(fold)(variables, output)}",
                    )

    def data(self, seed: int) -> Dataset:
        """Return the rows, in base units, split by seed."""
        source = self.spec.data
        if self.rows_of is not None:
            return self.rows_of.data(seed)
        if isinstance(source, TaskData):
            raise DataError(f"task {source.source!r} was not loaded")
        names, columns, lines = self._columns(source, seed)
        measures = self._measures(names)
        scales = [Scale(measure, float(measure.factor)) for measure in measures]
        if getattr(source, "standardise", False):
            columns, scales = standardise(columns, names)
        inputs = len(names) - (0 if self.spec.implicit is not None else len(self._outputs(names)))
        targets = columns[inputs:]
        if self.spec.implicit is not None:
            targets = columns.new_full((1, columns.shape[1]), self.spec.implicit.value)
        in_order = isinstance(source, SequenceData)  # what comes later is the test of what was learnt before
        split = source.split or self._default_split(source)
        train, valid, test = split_rows(columns.shape[1], split.valid, split.test, seed, in_order)
        return Dataset(
            inputs=columns[:inputs],
            targets=targets,
            variables=tuple(Variable(names[i], measures[i].dim) for i in range(inputs)),
            outputs=self.outputs or tuple(Output(name, DIMENSIONLESS) for name in names[inputs:]),
            scales=tuple(scales),
            train=train,
            valid=valid,
            test=test,
            lines=lines,
        )

    def _default_split(self, source: object) -> Split:
        """Hold rows out, except from a whole truth table: nothing could take their place."""
        table = isinstance(source, FormulaData) and formula.is_table(source, self.spec.inputs)
        return Split(valid=0, test=0) if table else Split()

    def _outputs(self, names: list[str]) -> list[str]:
        return [one.name for one in self.spec.outputs] or names[-1:]

    def _measures(self, names: list[str]) -> list[Measure]:
        declared = {one.name: parse(one.unit) for one in self.columns}
        return [declared.get(name, PLAIN) for name in names]

    def _columns(
        self, source: CsvData | FormulaData | SequenceData | PmlbData, seed: int
    ) -> tuple[list[str], Tensor, Lines]:
        """Return names and columns in base units, inputs first, and the lines of the file that rows come from."""
        names = [one.name for one in self.columns]
        if isinstance(source, CsvData):
            factors = {one.name: parse(one.unit).factor for one in self.columns}
            return names, *csv.read_table(self.folder / source.file, factors, source.missing)
        if isinstance(source, SequenceData):
            inputs = {one.name: parse(one.unit).factor for one in self.spec.inputs}
            outputs = {one.name: parse(one.unit).factor for one in self.spec.outputs}
            return names, *sequence.read_rows(self.folder / source.file, inputs, outputs, source.lags)
        if isinstance(source, FormulaData):
            targets = source.target if isinstance(source.target, dict) else {}
            if isinstance(source.target, str):
                targets = {one.name: source.target for one in self.spec.outputs}
            ordered = {one.name: targets[one.name] for one in self.spec.outputs}
            given = getattr(self.spec.wrapper, "feedback", {})
            drawn = formula.draw(source, self.spec.inputs, ordered, callable_primitives(self.registry), seed, given)
            return names, _to_base(torch.cat(drawn), self._measures(names)), None
        found, columns = pmlb.fetch(source.dataset)
        names = names or found
        for name in names:
            if name not in found:
                raise DataError(f"PMLB data set {source.dataset!r} has no column {name!r}", column=name)
        if not self.spec.outputs:
            names = [*(name for name in names if name != pmlb.TARGET), pmlb.TARGET]
        return names, _to_base(columns[[found.index(name) for name in names]], self._measures(names)), None


def _to_base(columns: Tensor, measures: list[Measure]) -> Tensor:
    """Convert numbers that were never text; one rounding each."""
    factors = torch.tensor([float(Fraction(measure.factor)) for measure in measures], dtype=columns.dtype)
    return columns * factors[:, None]
