"""What a pack's plugins must look like, checked when they are registered, so that a wrong one harms nobody else."""

from __future__ import annotations

import dataclasses
import math
import typing
from collections.abc import Mapping
from typing import Annotated, Any, Final

from pydantic import Field, create_model
from pydantic.errors import PydanticUserError

from occamkit.errors import PackError
from occamkit.primitives import NAME
from occamkit.protocols import Stage, TaskFile

_METHODS: Final = {
    "fitnesses": ("score", "ceiling"),
    "wrappers": ("unroll",),
    "proposers": ("propose",),
    "exporters": ("export",),
    "commands": ("make_context", "invoke"),
}
STAGE_METHODS: Final = {
    Stage.STRUCTURE: ("leaf", "combine", "verdict"),
    Stage.FORWARD: ("score_nodes",),
    Stage.SYMBOLIC: ("penalty",),
    Stage.TREE: ("look",),
}
_ADVICE: Final = {
    "fitnesses": "a fitness has score(predicted, target) and ceiling(points)",
    "regularizers": "its stage decides which methods a regularizer has",
    "wrappers": "a wrapper has unroll(step, start)",
    "tasks": "return a Path, a TaskFile, or a value with name, spec and data(seed)",
    "proposers": "a proposer has propose(problem, budget)",
    "exporters": "an exporter has export(expression, inputs)",
    "commands": "return click commands",
}
_WORDS: Final[Mapping[Any, str]] = {str: "text", int | float: "number"}
_CHOSEN: Final = ("fitnesses", "regularizers", "wrappers", "proposers")
"""Kinds that a task file chooses by name, with options: classes, not values."""

_RESERVED: Final = {"fitnesses": ("scale",)}
"""Keys that a section of the task file has whatever plugin it chooses."""


def require_shape(pack: str, kind: str, value: Any) -> None:
    """Raise PackError, saying what is missing, unless `value` can be used as this kind of plugin."""
    name = getattr(value, "name", None) or getattr(value, "__name__", repr(value))
    member = f"occamkit_{kind}: {name}"
    if kind == "constants":
        _require_quantity(pack, member, value)
        return
    if kind in _CHOSEN:
        _require_options(pack, member, kind, value)
    for method in _methods(pack, member, kind, value):
        if not callable(getattr(value, method, None)):
            raise PackError(pack, f"has no method {method!r}; {_ADVICE[kind]}", member=member)


def _require_quantity(pack: str, member: str, value: Any) -> None:
    for part, kind in (("name", str), ("value", int | float), ("unit", str)):
        if not isinstance(getattr(value, part, None), kind):
            raise PackError(pack, f"has no {part} that is a {_WORDS[kind]}; use occamkit.Quantity", member=member)
    if not NAME.fullmatch(value.name):
        raise PackError(pack, f"the name must match {NAME.pattern}", member=member)
    if not math.isfinite(value.value):
        raise PackError(pack, f"the value must be a finite number, got {value.value!r}", member=member)


def _methods(pack: str, member: str, kind: str, value: Any) -> tuple[str, ...]:
    if kind == "tasks":
        return () if isinstance(value, TaskFile) else ("data",)
    if kind != "regularizers":
        return _METHODS[kind]
    stage = getattr(value, "stage", None)
    if stage not in STAGE_METHODS:
        raise PackError(pack, f"stage must be a Stage, got {stage!r}", member=member)
    if "weight" not in {field.name for field in dataclasses.fields(value)}:
        raise PackError(pack, "has no field 'weight'", member=member)
    # What `prepare` returns may have them instead; the pre-flight of units and the like runs before there are data.
    return ("prepare",) if stage is not Stage.STRUCTURE and hasattr(value, "prepare") else STAGE_METHODS[stage]


def _require_options(pack: str, member: str, kind: str, value: Any) -> None:
    if not (isinstance(value, type) and dataclasses.is_dataclass(value)):
        raise PackError(pack, "must be a dataclass, whose fields are the options in a task file", member=member)
    for field in dataclasses.fields(value):
        if field.name in _RESERVED.get(kind, ()):
            raise PackError(pack, f"may not have an option {field.name!r}: every one has it already", member=member)
    try:
        create_model("Options", **plugin_options(value))
    except (PydanticUserError, NameError, TypeError) as error:
        first = str(error).partition("\n")[0]
        raise PackError(pack, f"a field cannot be an option of a task file: {first}", member=member) from error


def plugin_options(plugin: type[Any]) -> Mapping[str, Any]:
    """Return the dataclass fields of a plugin as pydantic fields, (type, default); a weight is never negative."""
    hints = typing.get_type_hints(plugin, include_extras=True)
    options: dict[str, Any] = {}
    for field in dataclasses.fields(plugin):
        hint = hints[field.name]
        if field.name == "weight":
            hint = Annotated[hint, Field(ge=0)]
        if field.default is not dataclasses.MISSING:
            options[field.name] = (hint, field.default)
        elif field.default_factory is not dataclasses.MISSING:
            options[field.name] = (hint, Field(default_factory=field.default_factory))
        else:
            options[field.name] = (hint, ...)
    return options
