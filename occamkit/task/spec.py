"""The shape of a task file.

`TaskSpec` and its sections are what the rest of the toolkit reads. The model that a file is validated with is made
from them in `task.model`, once it is known what the loaded packs provide.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, SerializeAsAny, model_validator

Share = Annotated[float, Field(ge=0, lt=1)]
Positive = Annotated[float, Field(gt=0)]
Count = Annotated[int, Field(ge=1)]
Text = Annotated[str, Field(min_length=1)]


class Section(BaseModel):
    """A table of the task file: frozen, and closed to keys it does not know."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class Split(Section):
    """Which parts of the rows are held out; the rest is for training."""

    valid: Share = Field(0.2, description="Part of the rows that chooses between formulas.")
    test: Share = Field(0.2, description="Part of the rows that is only reported.")


class CsvData(Section):
    """Rows of a text file with a header."""

    source: Literal["csv"]
    file: Text = Field(description="Path of the file, relative to the task file.")
    missing: Literal["error", "drop"] = Field("error", description="What to do with rows that lack a value.")
    standardise: bool = Field(False, description="Shift and scale every column to mean 0 and deviation 1.")
    split: Split = Split()


class FormulaData(Section):
    """Points drawn from the inputs' ranges, with the target computed from a formula."""

    source: Literal["formula"]
    target: str | dict[str, str] | None = Field(
        None, description="The formula of the output, or a table with one per output; none for an implicit task."
    )
    points: Count = Field(200, description="How many points are drawn; a grid of `values` has its own number.")
    noise: Annotated[float, Field(ge=0)] = Field(
        0.0, description="Deviation of the noise added to each output, as a part of its root mean square."
    )
    draw: Literal["uniform", "grid"] = Field("uniform", description="Random points, or evenly spaced ones.")
    split: Split = Split()


class PmlbData(Section):
    """A data set of the Penn Machine Learning Benchmarks."""

    source: Literal["pmlb"]
    dataset: Text = Field(description="The data set's name, such as 1027_ESL.")
    standardise: bool = Field(False, description="Shift and scale every column to mean 0 and deviation 1.")
    split: Split = Split()


class TaskData(Section):
    """The rows of a task that a pack registered."""

    source: Text


class InputSpec(Section):
    """An input column."""

    name: Text
    unit: str = Field("", description="A unit such as km/h; empty for a plain number.")
    range: tuple[float, float] | None = Field(None, description="Where source = 'formula' draws.")
    values: Annotated[list[float], Field(min_length=1)] | None = Field(
        None, description="A finite domain, such as [0, 1]."
    )
    formula: str | None = Field(None, description="Computes this input from those before it.")


class OutputSpec(Section):
    """An output column."""

    name: Text
    unit: str = Field("", description="A unit such as m; empty for a plain number.")


class Implicit(Section):
    """A relation f(inputs) = value in place of outputs."""

    value: float


class Search(Section):
    """What functions are made of."""

    primitives: Annotated[list[Text], Field(min_length=1)] = Field(
        description="Names, groups and `pack:name`; `add*2` is two copies in each layer."
    )
    constants: list[int | float | str] = Field(
        description="Numbers, pi, e, or numbers with a unit such as '9.81 m/s**2'."
    )
    depth: Count = Field(3, description="Layers of the network: how deep functions may nest.")
    repeats: list[Count] | None = Field(
        None, description="How often the primitives stand in each layer, first to last; absent, once."
    )
    skip_connections: bool = Field(True, description="Whether a layer sees all layers before it.")
    temperature: Positive = Field(1.0, description="Temperature of the softmax in all layers but the last.")
    last_temperature: Positive = Field(1.0, description="Temperature of the output layer.")
    equalise: Annotated[float, Field(ge=0)] | None = Field(
        None,
        description="The paper's E: 0 starts with equal weights, 1 with equally likely functions; "
        "absent, fresh starts take turns with 0, 1 and 5.",
    )


class Choice(Section):
    """A plugin by name; its options are the fields of the variant made for it."""

    name: Text

    def options(self) -> dict[str, Any]:
        """Return the options without the name."""
        return {key: value for key, value in self if key != "name"}


class Trainer(Section):
    """How the network is trained."""

    functions: Count = Field(2000, description="Functions drawn in each step (the paper's R).")
    top: Count = Field(10, description="Functions that each step learns from (the paper's lambda).")
    learning_rate: Annotated[float, Field(gt=0, le=1000)] = Field(0.05, description="Step size of Adam.")
    batch: Count | None = Field(None, description="Rows in a mini-batch; absent, all rows in every step.")
    dtype: Literal["float32", "float64"] = Field("float32", description="Precision of the search; results are exact.")
    undefined_weight: Annotated[float, Field(ge=0)] = Field(
        0.5, description="What an undefined function loses, in units of a perfect fitness."
    )


class Stop(Section):
    """When to stop; whichever comes first. With neither max_steps nor seconds, after 60 seconds."""

    same_fitness_steps: Count = Field(30, description="Steps in which the best functions all have the same fitness.")
    same_best_restarts: Count = Field(
        10, description="Fresh starts in a row that converge without finding anything better."
    )
    score: Annotated[float, Field(gt=0, le=1)] | None = Field(
        None, description="Score of every output's best function that is good enough, as a part of a perfect one."
    )
    max_steps: Count | None = Field(None, description="Steps in all.")
    seconds: Positive | None = Field(None, description="Seconds in all.")

    @model_validator(mode="before")
    @classmethod
    def _has_an_end(cls, given: Any) -> Any:
        open_ended = isinstance(given, dict) and given.get("max_steps") is None and given.get("seconds") is None
        return {**given, "seconds": 60.0} if open_ended else given


class TaskSpec(Section):
    """A task file, checked, with every default filled in."""

    occamkit: Literal[1] = Field(description="Version of this format.")
    name: Text
    data: SerializeAsAny[CsvData | FormulaData | PmlbData | TaskData]
    inputs: list[InputSpec] = []
    outputs: list[OutputSpec] = []
    implicit: Implicit | None = None
    search: Search
    wrapper: SerializeAsAny[Choice] | None = None
    fitness: SerializeAsAny[Choice]
    regularizers: list[SerializeAsAny[Choice]] = []
    proposers: list[SerializeAsAny[Choice]] = []
    trainer: Trainer = Trainer()
    stop: Stop = Stop()
