"""What a run gives back: frozen values that read like the `result.json` they are written to."""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Found:
    """One formula that was found.

    expression: simplified, over the user's own columns in their declared units; reads back with those names.
    written: as it was drawn, in base units. proposer: what found it. constants: fitted ones by name, in the order of
    `written` and in base units. errors: the standard errors of those that are not simple numbers; form: the formula
    with these by name.
    unit: the output's declared unit. recurrence: how often the step is applied, if it is one. relation and solved: of
    an implicit task, `expression = value` and what follows for single inputs. undefined: on how many rows of each part
    the formula has no value; parts without such rows are left out. logic: the same as logic, in Python, if all its
    inputs and values are bits. inputs: the columns that it reads; none of a constant,
    which is what is left where no formula was found. units: of fitted constants that carry one, in base units.
    refitted: whether its numbers were fitted once more to training and validation rows together; mse and r2 of these
    rows are those before, with rows held back. relative: whether errors were taken for parts of the values.
    """

    expression: str
    written: str
    latex: str
    proposer: str
    constants: dict[str, float]
    errors: dict[str, float]
    form: str | None
    unit: str
    recurrence: int | None
    relation: str | None
    solved: dict[str, list[str]]
    fitness: float
    score: float
    mse: dict[str, float]
    r2: dict[str, float]
    undefined: dict[str, int]
    complexity: float
    log_q: float | None
    logic: str | None = None
    inputs: list[str] = field(default_factory=list)
    units: dict[str, str] = field(default_factory=dict)
    refitted: bool = False
    relative: bool = False


@dataclass(frozen=True)
class Disagreement:
    """A row that the best formula does not meet, though it meets nearly all.

    row: the line of the file, or the number of the row from 1 where there is no file. got: None where it is undefined.
    """

    row: int
    inputs: dict[str, float]
    expected: float
    got: float | None


@dataclass(frozen=True)
class Doubt:
    """A much shorter program that one row contradicts, of a table with too few rows for exceptions."""

    instead: Found
    row: Disagreement


@dataclass(frozen=True)
class OutputResult:
    """What was found for one output: the best, what the network holds likeliest, and the front by complexity.

    disagrees: the rows that the best does not meet, where they are few: exceptions, or mistakes in the data.
    doubt: what would be the best if one row were a mistake, in a table too small to tell. ties: other formulas that the
    rows speak for as much, or nearly.
    """

    name: str
    best: Found | None
    likeliest: Found | None
    front: tuple[Found, ...]
    disagrees: tuple[Disagreement, ...] = ()
    doubt: Doubt | None = None
    ties: tuple[Found, ...] = ()


@dataclass(frozen=True)
class Result:
    """A whole run.

    stop: "converged", "steps", "seconds" or "interrupted". packs: the version of every pack that was loaded.
    program: the best of all outputs as one Python program, what they share written once; None where it would say no
    more than the one formula does.
    """

    occamkit: str
    task: str
    seed: int
    device: str
    stop: str
    seconds: float
    steps: int
    functions: int
    unique_functions: int
    packs: dict[str, str]
    outputs: tuple[OutputResult, ...]
    program: str | None = None

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> Result:
        """Read the document of `result.json`; a null stands for a number that is not finite."""
        outputs = tuple(
            OutputResult(
                name=one["name"],
                best=_read_found(one["best"]),
                likeliest=_read_found(one["likeliest"]),
                front=tuple(found for found in map(_read_found, one["front"]) if found is not None),
                disagrees=tuple(Disagreement(**row) for row in one.get("disagrees", ())),
                doubt=_read_doubt(one.get("doubt")),
                ties=tuple(found for found in map(_read_found, one.get("ties", ())) if found is not None),
            )
            for one in stored["outputs"]
        )
        return cls(**{**stored, "outputs": outputs})

    def to_dict(self) -> dict[str, Any]:
        """Return the document of `result.json`; a number that is not finite becomes null.

        `program`, `logic`, `units`, `refitted`, `relative`, `disagrees`, `doubt` and `ties` are there where they say
        something.
        """
        document: dict[str, Any] = _jsonable(dataclasses.asdict(self))
        for output in document["outputs"]:
            instead = output["doubt"] and output["doubt"]["instead"]
            found = (output["best"], output["likeliest"], instead, *output["front"], *output["ties"])
            extras = [(document, "program"), *((output, key) for key in ("disagrees", "doubt", "ties"))]
            optional = ("logic", "units", "refitted", "relative")
            extras += [(one, key) for one in found if one is not None for key in optional]
            for part, key in extras:
                if not part.get(key, True):
                    del part[key]
        return document

    def to_json(self) -> str:
        """Return the text of `result.json`."""
        return json.dumps(self.to_dict(), indent=2, ensure_ascii=False, allow_nan=False)


def _read_found(stored: Mapping[str, Any] | None) -> Found | None:
    if stored is None:
        return None
    errors = {part: math.inf if value is None else value for part, value in stored["mse"].items()}
    shares = {part: -math.inf if value is None else value for part, value in stored["r2"].items()}
    worth = {key: math.nan if stored[key] is None else stored[key] for key in ("fitness", "score")}
    return Found(**{**stored, "mse": errors, "r2": shares, **worth})


def _read_doubt(stored: Mapping[str, Any] | None) -> Doubt | None:
    instead = _read_found(stored["instead"]) if stored is not None else None
    return Doubt(instead, Disagreement(**stored["row"])) if stored is not None and instead is not None else None


def _jsonable(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {key: _jsonable(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_jsonable(inner) for inner in value]
    return value
