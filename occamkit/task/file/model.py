"""The pydantic model of a task file, made once it is known what the loaded packs provide.

It is `TaskSpec` with one variant per registered fitness, regularizer, wrapper and proposer, so that a misspelt option
of a pack's plugin is found like any other, and so that the schema for editors knows the packs.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Iterable
from typing import Annotated, Any, Literal, TypeVar

from pydantic import BaseModel, Field, create_model

from occamkit.packs.find import Entry
from occamkit.packs.registry import Registry
from occamkit.packs.shapes import plugin_options
from occamkit.task.spec import (
    Choice,
    CsvData,
    FitnessChoice,
    FormulaData,
    PmlbData,
    Search,
    SequenceData,
    TaskData,
    TaskSpec,
)

Model = TypeVar("Model", bound=BaseModel)

PLUGIN_KEYS = {"fitness": "fitnesses", "regularizers": "regularizers", "wrapper": "wrappers", "proposers": "proposers"}
"""The keys of a task file that choose a plugin, and the kind of plugin."""

_BASES: dict[str, type[Choice]] = {"fitnesses": FitnessChoice}
"""Kinds whose sections have keys of ours beside the plugin's own."""


def model_for(registry: Registry) -> type[TaskSpec]:
    """Return the model of a task file for these packs."""
    defaults = registry.defaults()
    search = _extend(
        Search,
        primitives=(Search.model_fields["primitives"].rebuild_annotation(), list(defaults["primitives"])),
        constants=(Search.model_fields["constants"].rebuild_annotation(), list(defaults["constants"])),
    )
    sources: list[Any] = [CsvData, FormulaData, SequenceData, PmlbData]
    if names := registry.names("tasks"):
        sources.append(_extend(TaskData, source=(Literal[names], ...)))
    variants = {
        key: _one_of((_variant(registry, entry, _BASES.get(kind, Choice)) for entry in registry.entries(kind)), "name")
        for key, kind in PLUGIN_KEYS.items()
    }
    return _extend(
        TaskSpec,
        data=(_one_of(sources, "source"), ...),
        search=(search, Field(default_factory=search)),
        fitness=(variants["fitness"], Field(default=defaults["fitness"], validate_default=True)),
        regularizers=(_list_of(variants["regularizers"]) | None, None),
        wrapper=(variants["wrapper"] | None, None),
        proposers=(Annotated[_list_of(variants["proposers"]), Field(min_length=1)] | None, None),
    )


def _extend(base: type[Model], name: str = "", /, **fields: Any) -> type[Model]:
    """Return a model like `base` with these fields in place of its own, as (type, default)."""
    return create_model(name or base.__name__, __base__=base, __doc__=base.__doc__, **fields)


def _one_of(variants: Iterable[type[BaseModel]], key: str) -> Any:
    """Return the union told apart by `key`; with nothing registered any name passes, and the checks speak of it."""
    models: list[Any] = list(variants) or [Choice]
    union = functools.reduce(operator.or_, models)
    return Annotated[union, Field(discriminator=key)] if len(models) > 1 else union


def _list_of(item: Any) -> Any:
    return list.__class_getitem__(item)


def _variant(registry: Registry, entry: Entry, base: type[Choice]) -> type[Choice]:
    """Return the section of one plugin: its name, and the fields of its dataclass."""
    names = tuple(name for name in (entry.name, entry.qualified) if name in registry.names(entry.kind))
    named = _extend(base, entry.qualified, name=(Literal[names], ...))
    named.__doc__ = entry.value.__doc__
    return _extend(named, entry.qualified, **plugin_options(entry.value))
