"""What is wrong with the shape of a task file, in words for the person who wrote it.

pydantic finds the mistakes; this says them as `key: what is wrong`, with the nearest key or choice.
"""

from __future__ import annotations

import json
import types
import typing
from collections.abc import Callable, Iterator, Mapping
from typing import Annotated, Any

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from occamkit.errors import did_you_mean, nearest
from occamkit.task.file.locate import Path
from occamkit.task.spec import TaskSpec

Complaint = tuple[Path, str]
"""Where in the document, and what is wrong there."""

_BOUNDS = {
    "greater_than": (">", "gt"),
    "greater_than_equal": (">=", "ge"),
    "less_than": ("<", "lt"),
    "less_than_equal": ("<=", "le"),
}
_TYPES = {
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "string_type": "a text in quotes",
    "bool_type": "true or false",
    "list_type": "a list",
    "tuple_type": "a list",
    "dict_type": "a table",
    "model_type": "a table",
    "model_attributes_type": "a table",
    "finite_number": "a finite number",
}


def validate(model: type[TaskSpec], document: Mapping[str, Any]) -> TaskSpec | list[Complaint]:
    """Return the spec, or all complaints about the document's shape."""
    try:
        # JSON mode is the strict one that still takes lists for tuples; TOML dates become texts and are refused.
        return model.model_validate_json(json.dumps(document, default=str), strict=True)
    except ValidationError as invalid:
        found: dict[Path, str] = {}
        for error in invalid.errors(include_url=False):
            path = _path(error["loc"], document)
            if error["type"] == "union_tag_invalid":
                path = (*path, str(error["ctx"]["discriminator"]).strip(QUOTE))
            found.setdefault(path, _message(error, model))  # a union complains once per alternative
        return list(found.items())


def show_path(path: Path) -> str:
    """Write a path as in `regularizers[1].weight`."""
    text = ""
    for key in path:
        text += f"[{key}]" if isinstance(key, int) else f".{key}" if text else key
    return text


def _path(location: tuple[int | str, ...], document: Any) -> Path:
    """Drop from pydantic's location the names of union variants, which are not in the document."""
    path: list[int | str] = []
    here = document
    for place, key in enumerate(location):
        inside = (isinstance(here, dict) and key in here) or (isinstance(here, list) and isinstance(key, int))
        if inside:
            path.append(key)
            here = here[key]
        elif place == len(location) - 1 and isinstance(here, dict):
            path.append(key)  # a key that is missing
    return tuple(path)


def _message(error: ErrorDetails, model: type[BaseModel]) -> str:
    kind, given, context = error["type"], error["input"], error.get("ctx", {})
    if kind in _BOUNDS:
        sign, bound = _BOUNDS[kind]
        return f"must be {sign} {context[bound]:g}, got {given!r}"
    if kind in _TYPES:
        return f"must be {_TYPES[kind]}, got {_show(given)}"
    if kind in _SAID:
        return _SAID[kind](error, model)
    message = error["msg"].removeprefix("Input should be ")
    return f"must be {message}, got {_show(given)}"


def _unknown_key(error: ErrorDetails, model: type[BaseModel]) -> str:
    *parents, key = error["loc"]
    return f"unknown key{did_you_mean(str(key), _keys(model, parents))}"


def _unknown_tag(error: ErrorDetails, model: type[BaseModel]) -> str:
    context = error["ctx"]
    tags = [tag.strip(" '") for tag in str(context["expected_tags"]).split(",")]
    return (
        f"unknown {context['discriminator'].strip(QUOTE)} {context['tag']!r}{did_you_mean(str(context['tag']), tags)}"
    )


def _not_among(error: ErrorDetails, model: type[BaseModel]) -> str:
    expected = str(error["ctx"]["expected"])
    match = nearest(str(error["input"]), [option.strip(QUOTE) for option in expected.replace(" or ", ", ").split(", ")])
    hint = f"; did you mean {match!r}?" if match else ""
    return f"must be {expected}, got {_show(error['input'])}{hint}"


QUOTE = "'"

_SAID: dict[str, Callable[[ErrorDetails, type[BaseModel]], str]] = {
    "missing": lambda error, model: "is required",
    "extra_forbidden": _unknown_key,
    "union_tag_invalid": _unknown_tag,
    "union_tag_not_found": lambda error, model: f"needs a {error['ctx']['discriminator'].strip(QUOTE)}",
    "literal_error": _not_among,
    "too_short": lambda error, model: "must not be empty",
    "string_too_short": lambda error, model: "must not be empty",
}


def _show(value: Any) -> str:
    text = json.dumps(value, default=str)
    return text if len(text) <= 40 else f"{text[:37]}..."


def _keys(model: type[BaseModel], location: list[int | str]) -> list[str]:
    """Return the keys that are allowed at a location, following union variants by their tags."""
    models: list[type[BaseModel]] = [model]
    for key in location:
        if isinstance(key, int):
            continue
        inner = [
            found for one in models if key in one.model_fields for found in _models(one.model_fields[key].annotation)
        ]
        models = inner or [one for one in models if _tagged(one, key)] or models
    return [name for one in models for name in one.model_fields]


def _models(annotation: Any) -> Iterator[type[BaseModel]]:
    """Yield the models inside a type such as list[A | B] | None."""
    if (
        isinstance(annotation, type)
        and not isinstance(annotation, types.GenericAlias)
        and issubclass(annotation, BaseModel)
    ):
        yield annotation
        return
    for argument in typing.get_args(annotation)[: 1 if typing.get_origin(annotation) is Annotated else None]:
        yield from _models(argument)


def _tagged(model: type[BaseModel], tag: str) -> bool:
    """Whether this union variant goes by that tag."""
    return any(tag in typing.get_args(field.annotation) for field in model.model_fields.values())
