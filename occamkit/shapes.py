"""What a pack's plugins must look like, checked when they are registered, so that a wrong one harms nobody else."""

from __future__ import annotations

import dataclasses
import typing
from collections.abc import Mapping
from typing import Annotated, Any, Final

from pydantic import Field, create_model
from pydantic.errors import PydanticUserError

from occamkit.errors import PackError
from occamkit.protocols import Stage, TaskFile

_METHODS: Final = {
    "fitnesses": ("score", "ceiling"),
    "wrappers": ("unroll",),
    "proposers": ("propose",),
    "exporters": ("export",),
    "commands": ("make_context", "invoke"),
}
_STAGES: Final = {
    Stage.STRUCTURE: ("leaf", "combine", "verdict"),
    Stage.FORWARD: ("score_nodes",),
    Stage.SYMBOLIC: ("penalty",),
}
_CHOSEN: Final = ("fitnesses", "regularizers", "wrappers", "proposers")
"""Kinds that a task file chooses by name, with options: classes, not values."""


def require_shape(pack: str, kind: str, value: Any) -> None:
    """Raise PackError, saying what is missing, unless `value` can be used as this kind of plugin."""
    name = getattr(value, "name", None) or getattr(value, "__name__", repr(value))
    member = f"occamkit_{kind}: {name}"
    if kind in _CHOSEN:
        _require_options(pack, member, value)
    for method in _methods(pack, member, kind, value):
        if not callable(getattr(value, method, None)):
            raise PackError(pack, f"has no method {method!r}", member=member)


def _methods(pack: str, member: str, kind: str, value: Any) -> tuple[str, ...]:
    if kind == "tasks":
        return () if isinstance(value, TaskFile) else ("data",)
    if kind != "regularizers":
        return _METHODS[kind]
    stage = getattr(value, "stage", None)
    if stage not in _STAGES:
        raise PackError(pack, f"stage must be a Stage, got {stage!r}", member=member)
    if "weight" not in {field.name for field in dataclasses.fields(value)}:
        raise PackError(pack, "has no field 'weight'", member=member)
    return _STAGES[stage]


def _require_options(pack: str, member: str, value: Any) -> None:
    if not (isinstance(value, type) and dataclasses.is_dataclass(value)):
        raise PackError(pack, "must be a dataclass, whose fields are the options in a task file", member=member)
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
