"""What a run gives back: frozen values that read like the `result.json` they are written to."""

from __future__ import annotations

import dataclasses
import json
import math
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Found:
    """One formula that was found.

    expression: simplified, over the user's own columns in their declared units; reads back with those names.
    written: as it was drawn, in base units. proposer: what found it. constants: fitted ones by name.
    unit: the output's declared unit. recurrence: how often the step is applied, if it is one.
    """

    expression: str
    written: str
    latex: str
    proposer: str
    constants: dict[str, float]
    unit: str
    recurrence: int | None
    fitness: float
    score: float
    mse: dict[str, float]
    r2: dict[str, float]
    complexity: float
    log_q: float | None


@dataclass(frozen=True)
class OutputResult:
    """What was found for one output: the best, what the network holds likeliest, and the front by complexity."""

    name: str
    best: Found | None
    likeliest: Found | None
    front: tuple[Found, ...]


@dataclass(frozen=True)
class Result:
    """A whole run.

    stop: "converged", "steps", "seconds" or "interrupted". packs: the version of every pack that was loaded.
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

    def to_dict(self) -> dict[str, Any]:
        """Return the document of `result.json`; a number that is not finite becomes null."""
        return _jsonable(dataclasses.asdict(self))  # type: ignore[no-any-return]

    def to_json(self) -> str:
        """Return the text of `result.json`."""
        return json.dumps(self.to_dict(), indent=2, ensure_ascii=False, allow_nan=False)


def _jsonable(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {key: _jsonable(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_jsonable(inner) for inner in value]
    return value
