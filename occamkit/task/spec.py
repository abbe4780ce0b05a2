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
    times: Count = Field(1, description="How often the target is applied, its outputs fed back as by a wrapper.")
    points: Count = Field(200, description="How many points are drawn; a grid of `values` has its own number.")
    noise: Annotated[float, Field(ge=0)] = Field(
        0.0, description="Deviation of the noise added to each output, as a part of its root mean square."
    )
    draw: Literal["uniform", "grid"] | None = Field(
        None, description="Random points, or evenly spaced ones; absent, random, but a small truth table whole."
    )
    split: Split | None = Field(None, description="Absent, as for other sources; a whole truth table is not split.")


class SequenceData(Section):
    """Series whose next values are to be explained by those before."""

    source: Literal["sequence"]
    file: Text = Field(
        description="Path of the file, relative to the task file: a table, or the numbers of one series."
    )
    lags: Count = Field(1, description="How many values before the next one may be read: x_1 the last, x_2 before it.")
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
    closed: bool = Field(
        True,
        description="Whether formulas may hold sums, products, powers and numbers that were solved for; "
        "false: the given primitives and constants alone.",
    )
    depth: Count | None = Field(
        None, description="Layers of the network: how deep functions may nest; absent, grown over fresh starts."
    )
    start: list[Text] = Field([], description="Formulas to start from: they compete with what is found.")
    repeats: list[Count] | None = Field(
        None, description="How often the primitives stand in each layer, first to last; absent, once, or grown too."
    )
    skip_connections: bool = Field(True, description="Whether a layer sees all layers before it.")
    temperature: Positive = Field(1.0, description="Temperature of the softmax in all layers but the last.")
    last_temperature: Positive = Field(1.0, description="Temperature of the output layer.")
    equalise: Annotated[float, Field(ge=0)] | None = Field(
        None,
        description="The paper's E: 0 starts with equal weights, 1 with equally likely functions; "
        "absent, fresh starts take turns with 0, 1 and 5.",
    )
    groups: Annotated[int, Field(ge=0)] = Field(
        0, description="The most dimensionless products of powers of the columns that the network reads besides these."
    )
    steer: bool = Field(
        True, description="Whether a fresh network is fitted to functions that no regularizer vetoes, before it learns."
    )


class Choice(Section):
    """A plugin by name; its options are the fields of the variant made for it."""

    name: Text

    def options(self) -> dict[str, Any]:
        """Return the options without the name."""
        return {key: value for key, value in self if key != "name"}


class FitnessChoice(Choice):
    """A fitness by name, and what is solved for before it judges."""

    scale: Literal["none", "prefactor", "affine", "monomial"] = Field(
        "none",
        description="What is solved for in closed form: nothing, the a of a·f, a and b of a·f + b, "
        "or a and the exponents of a·x1^p1·x2^p2·…·f.",
    )

    def options(self) -> dict[str, Any]:
        """Return the options of the fitness itself."""
        return {key: value for key, value in self if key not in ("name", "scale")}


class Constants(Section):
    """How the constants of primitives such as x^c are fitted."""

    units: Literal["free", "dimensionless"] = Field(
        "free", description="Whether a fitted constant takes whatever unit is needed, or is a plain number."
    )
    method: Literal["levenberg-marquardt", "adam"] = Field(
        "levenberg-marquardt", description="Second order, or the paper's gradient descent."
    )
    starts: Annotated[int, Field(ge=1, le=100)] = Field(
        4, description="Starting points of each function; after a few steps only the best is followed."
    )
    iterations: Count = Field(25, description="Steps of the method, at most; of Adam, ten times as many.")
    retries: Annotated[int, Field(ge=0, le=100)] = Field(
        100, description="More starting points for a function that is undefined at all of them."
    )
    snap: bool = Field(True, description="Whether a constant becomes a simple number when the fit is as good with it.")


class Training(Section):
    """How the network is trained."""

    functions: Count = Field(2000, description="Functions drawn in each step (the paper's R).")
    top: Count = Field(10, description="Functions that each step learns from (the paper's lambda).")
    learning_rate: Annotated[float, Field(gt=0, le=1000)] = Field(0.05, description="Step size of Adam.")
    batch: Count | None = Field(None, description="Rows in a mini-batch; absent, all rows in every step.")
    dtype: Literal["auto", "float32", "float64"] = Field(
        "auto",
        description="Precision of the search; results are exact. Absent, float32 unless numbers are huge or tiny.",
    )
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
    plugins: list[Text] = Field(
        [], description="Packs of this task's own: paths of Python files, relative to the task file, as './mine.py'."
    )
    data: SerializeAsAny[CsvData | FormulaData | SequenceData | PmlbData | TaskData]
    inputs: list[InputSpec] = []
    outputs: list[OutputSpec] = []
    implicit: Implicit | None = None
    search: Search
    wrapper: SerializeAsAny[Choice] | None = None
    constants: Constants = Constants()
    fitness: SerializeAsAny[FitnessChoice]
    regularizers: list[SerializeAsAny[Choice]] = []
    proposers: list[SerializeAsAny[Choice]] = []
    trainer: Training = Training()
    stop: Stop = Stop()
