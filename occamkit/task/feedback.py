"""What a repeated step reads: which inputs take the outputs of the step before, by name.

A wrapper works on states. The rows of a state are the outputs, in order, and after them the inputs that take the value
of another input, such as the value before last of a sequence.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from occamkit import traits
from occamkit.task.data.sequence import lagged, read_lagged
from occamkit.task.spec import SequenceData, TaskSpec


@dataclass(frozen=True)
class Feedback:
    """How states and input columns belong together.

    rows: for each input, the row of the state that it reads, or None for an input that stays as it is.
    carried: for each row of the state after the outputs, the input whose value it takes in the next step.
    """

    outputs: int
    rows: tuple[int | None, ...]
    carried: tuple[int, ...] = ()

    @property
    def fed(self) -> tuple[int, ...]:
        """The inputs that read the state."""
        return tuple(place for place, row in enumerate(self.rows) if row is not None)

    def start(self, inputs: Tensor) -> Tensor:
        """Return the first state [s, n]: what the inputs [u, n] hold before any step."""
        readers = {row: place for place, row in enumerate(self.rows) if row is not None}
        return inputs[[readers[row] for row in range(self.outputs + len(self.carried))]]

    def columns(self, inputs: Tensor, state: Tensor) -> Tensor:
        """Return the inputs [u, n] as a step sees them in a state [s, n]."""
        read = [column if row is None else state[row] for column, row in zip(inputs, self.rows, strict=True)]
        return torch.stack(read)

    def next(self, columns: Tensor, outputs: Tensor) -> Tensor:
        """Return the state [s, n] after a step that saw these columns [u, n] and gave these outputs [v, n]."""
        return torch.cat([outputs, columns[list(self.carried)]]) if self.carried else outputs


def sources(inputs: Sequence[str], outputs: Sequence[str], given: Mapping[str, str]) -> dict[str, str]:
    """Return what feeds each input: as given, else by name; a lone output feeds a lone input, whatever their names."""
    if given:
        return dict(given)
    alike = {name: name for name in inputs if name in outputs}
    if not alike and len(inputs) == len(outputs) == 1:
        return {inputs[0]: outputs[0]}
    return alike


def given_feedback(spec: TaskSpec, wrapper: object) -> dict[str, str]:
    """Return what a task says of its feedback; the values of a sequence move on by themselves."""
    given = dict(traits.feedback(wrapper))
    if given or not isinstance(spec.data, SequenceData):
        return given
    for one in spec.inputs:
        series, lag = read_lagged(one.name) or (one.name, 1)
        given[one.name] = series if lag == 1 else lagged(series, lag - 1)
    return given


def make_feedback(inputs: Sequence[str], outputs: Sequence[str], given: Mapping[str, str]) -> Feedback:
    """Return the feedback of a task whose names were checked."""
    chosen = sources(inputs, outputs, given)
    carried = [name for name in inputs if name in chosen and chosen[name] not in outputs]
    rows: list[int | None] = []
    for name in inputs:
        if name not in chosen:
            rows.append(None)
        elif name in carried:
            rows.append(len(outputs) + carried.index(name))
        else:
            rows.append(outputs.index(chosen[name]))
    return Feedback(len(outputs), tuple(rows), tuple(inputs.index(chosen[name]) for name in carried))


def misfits(inputs: Mapping[str, str], outputs: Mapping[str, str], given: Mapping[str, str]) -> Iterator[str]:
    """Yield why a step cannot be repeated, given the units of the inputs and outputs."""
    chosen = sources(list(inputs), list(outputs), given)
    for name, source in chosen.items():
        unit = outputs[source] if source in outputs else inputs.get(source)
        if unit != inputs.get(name):
            yield f"{source!r} cannot become {name!r}: their units are declared differently"
    for output in outputs:
        fed = [name for name, source in chosen.items() if source == output]
        if not fed:
            yield f"output {output!r} feeds no input: call it like one, or write feedback = {{ INPUT = {output!r} }}"
        elif len(fed) > 1:
            yield f"output {output!r} feeds {' and '.join(fed)}; it can become one input only"
