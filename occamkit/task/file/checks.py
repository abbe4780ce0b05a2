"""What a shape cannot say: names that exist, units that can be read, columns that are there, formulas that parse.

Checks read the document as written and pass over whatever has the wrong shape, which is complained of elsewhere, so
that one reading of a file reports every mistake in it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from occamkit.errors import DataError, FormulaError, UserError, did_you_mean
from occamkit.language.parse import parse
from occamkit.packs.registry import Registry
from occamkit.protocols import Primitive
from occamkit.task import vocabulary
from occamkit.task.data import sequence
from occamkit.task.data.csv import read_header
from occamkit.task.file.complaints import Complaint
from occamkit.task.file.model import PLUGIN_KEYS
from occamkit.units import parse as parse_unit

Document = Mapping[str, Any]


def complaints(document: Document, registry: Registry, folder: Path) -> Iterator[Complaint]:
    """Yield everything that is wrong with the meaning of a document; files are relative to `folder`."""
    yield from _plugins(document, registry)
    yield from _search(document, registry)
    yield from _starts(document, registry)
    yield from _columns(document)
    yield from _feedback(document)
    yield from _source(document, registry, folder)


def _tables(document: Document, key: str) -> list[tuple[int, Mapping[str, Any]]]:
    items = document.get(key)
    return (
        [(place, item) for place, item in enumerate(items) if isinstance(item, dict)] if isinstance(items, list) else []
    )


def _table(document: Document, key: str) -> Mapping[str, Any]:
    value = document.get(key)
    return value if isinstance(value, dict) else {}


def _names(document: Document, key: str) -> list[str]:
    return [item["name"] for _, item in _tables(document, key) if isinstance(item.get("name"), str)]


def _complaint(path: tuple[str | int, ...], attempt: Callable[[], object]) -> Iterator[Complaint]:
    try:
        attempt()
    except UserError as error:
        yield path, str(error)


def _plugins(document: Document, registry: Registry) -> Iterator[Complaint]:
    for key, kind in PLUGIN_KEYS.items():
        chosen = document.get(key)
        items = (
            [((key,), chosen)]
            if isinstance(chosen, dict)
            else [((key, place), item) for place, item in _tables(document, key)]
        )
        for path, item in items:
            name = item.get("name")
            if isinstance(name, str):
                yield from _complaint((*path, "name"), partial(registry.find, kind, name))


def _search(document: Document, registry: Registry) -> Iterator[Complaint]:
    search = _table(document, "search")
    readers: dict[str, Callable[[Any], object]] = {
        "primitives": partial(vocabulary.primitive_entries, registry),
        "constants": partial(vocabulary.constant, registry=registry),
    }
    for key, read in readers.items():
        items = search.get(key)
        for place, item in enumerate(items if isinstance(items, list) else []):
            if isinstance(item, str) or (key == "constants" and isinstance(item, int)):
                yield from _complaint(("search", key, place), partial(read, item))
    repeats, depth = search.get("repeats"), search.get("depth")
    if isinstance(repeats, list) and isinstance(depth, int) and len(repeats) != depth:
        yield ("search", "repeats"), f"must have one number per layer: depth is {depth}, got {len(repeats)}"


def _starts(document: Document, registry: Registry) -> Iterator[Complaint]:
    """Complain of formulas to start from that cannot be read."""
    start, names = _table(document, "search").get("start"), _names(document, "inputs")
    for place, text in enumerate(start if isinstance(start, list) else []):
        if isinstance(text, str) and names:
            yield from _parsed(("search", "start", place), text, names, callable_primitives(registry))


def _columns(document: Document) -> Iterator[Complaint]:
    seen: set[str] = set()
    for key in ("inputs", "outputs"):
        for place, item in _tables(document, key):
            unit, name = item.get("unit"), item.get("name")
            if isinstance(unit, str):
                yield from _complaint((key, place, "unit"), partial(parse_unit, unit))
            if isinstance(name, str) and name in seen and not (key == "outputs" and _becomes_input(document, name)):
                yield (key, place, "name"), f"{name!r} is used twice"
            elif isinstance(name, str):
                seen.add(name)
    implicit = "implicit" in document
    if implicit and document.get("outputs"):
        yield ("implicit",), "an implicit task has no outputs; keep one of the two"
    elif not implicit and not document.get("outputs") and _table(document, "data").get("source") in ("csv", "formula"):
        yield ("outputs",), "is required: [[outputs]] with a name, or [implicit] with a value"
    if _table(document, "data").get("standardise") is True:
        for key in ("inputs", "outputs"):
            for place, item in _tables(document, key):
                if item.get("unit"):
                    yield (key, place, "unit"), "a standardised column has no unit; leave out one of the two"
    split = _table(_table(document, "data"), "split")
    held = [share for share in (split.get("valid", 0.2), split.get("test", 0.2)) if isinstance(share, int | float)]
    if sum(held) >= 1:
        yield ("data", "split"), f"leaves nothing for training: valid and test add up to {sum(held):g}"


def _becomes_input(document: Document, name: str) -> bool:
    """Whether an output may be called like an input: a wrapper feeds it back, and its rows are not that column's."""
    own_column = _table(document, "data").get("source") == "csv"
    units = [item.get("unit", "") for key in ("inputs", "outputs") for item in _named(document, key, name)]
    return bool(_table(document, "wrapper")) and not own_column and len(units) == 2 and units[0] == units[1]


def _named(document: Document, key: str, name: str) -> list[Mapping[str, Any]]:
    return [item for _, item in _tables(document, key) if item.get("name") == name]


def _feedback(document: Document) -> Iterator[Complaint]:
    """Complain of names that are not there; whether they fit together shows when the task is run."""
    given = _table(_table(document, "wrapper"), "feedback")
    inputs, outputs = _names(document, "inputs"), _names(document, "outputs")
    for name, source in given.items() if inputs else ():
        if name not in inputs:
            yield ("wrapper", "feedback", name), f"is no input{did_you_mean(name, inputs)}"
        elif isinstance(source, str) and source not in (*outputs, *inputs):
            names = [*outputs, *inputs]
            yield ("wrapper", "feedback", name), f"no output or input is called {source!r}{did_you_mean(source, names)}"


def _source(document: Document, registry: Registry, folder: Path) -> Iterator[Complaint]:
    data = _table(document, "data")
    source = data.get("source")
    if source in ("csv", "formula") and not document.get("inputs"):
        yield ("inputs",), "is required: one [[inputs]] for each column to use"
    if source == "csv" and isinstance(data.get("file"), str):
        yield from _csv(document, folder / data["file"])
    elif source == "sequence" and isinstance(data.get("file"), str):
        yield from _sequence(document, data, folder / data["file"])
    elif source == "formula":
        yield from _formula(document, data, registry)


def _csv(document: Document, path: Path) -> Iterator[Complaint]:
    try:
        header = read_header(path)
    except DataError as error:
        yield ("data", "file"), str(error)
        return
    for key in ("inputs", "outputs"):
        for place, item in _tables(document, key):
            name = item.get("name")
            if isinstance(name, str) and name not in header:
                yield (key, place, "name"), f"{path.name} has no column {name!r}{did_you_mean(name, header)}"


def _sequence(document: Document, data: Mapping[str, Any], path: Path) -> Iterator[Complaint]:
    try:
        series = sequence.names_in(path)
    except DataError as error:
        yield ("data", "file"), str(error)
        return
    lags = data.get("lags", 1)
    for place, item in _tables(document, "outputs"):
        name = item.get("name")
        if isinstance(name, str) and name not in series:
            yield ("outputs", place, "name"), f"{path.name} has no series {name!r}{did_you_mean(name, series)}"
    names = [
        sequence.lagged(name, lag) for name in series for lag in range(1, lags + 1 if isinstance(lags, int) else 2)
    ]
    for place, item in _tables(document, "inputs"):
        name = item.get("name")
        if isinstance(name, str) and name not in names:
            yield ("inputs", place, "name"), f"is no value before one of {path.name}{did_you_mean(name, names)}"


def _formula(document: Document, data: Mapping[str, Any], registry: Registry) -> Iterator[Complaint]:
    primitives = callable_primitives(registry)
    yield from _drawn(document, primitives)
    inputs, outputs, target = _names(document, "inputs"), _names(document, "outputs"), data.get("target")
    if isinstance(target, str):
        yield from _parsed(("data", "target"), target, inputs, primitives)
        if len(outputs) > 1:
            yield ("data", "target"), f"must be a table with one formula for each of {', '.join(outputs)}"
    elif isinstance(target, dict):
        for output in outputs:
            if output not in target:
                yield ("data", "target"), f"has no formula for output {output!r}"
        for name, text in target.items():
            if name not in outputs:
                yield ("data", "target", name), f"is no output{did_you_mean(name, outputs)}"
            elif isinstance(text, str):
                yield from _parsed(("data", "target", name), text, inputs, primitives)
    elif target is None and "implicit" not in document:
        yield ("data", "target"), "is required: the formula that the points are computed from"


def _drawn(document: Document, primitives: Mapping[str, Primitive]) -> Iterator[Complaint]:
    """Complain of inputs that no points can be drawn for."""
    inputs = _tables(document, "inputs")
    known = [str(item.get("name")) for _, item in inputs if "formula" not in item]
    for place, item in inputs:
        if sum(key in item for key in ("range", "values", "formula")) != 1:
            yield ("inputs", place), "needs one of range, values or formula, to draw points from"
        if isinstance(item.get("formula"), str):
            yield from _parsed(("inputs", place, "formula"), item["formula"], known, primitives)
            known.append(str(item.get("name")))
        limits = item.get("range")
        limits = limits if isinstance(limits, list) and all(isinstance(one, int | float) for one in limits) else []
        if len(limits) == 2 and not limits[0] < limits[1]:
            yield ("inputs", place, "range"), f"must go from low to high, got {limits}"


def _parsed(
    path: tuple[str | int, ...], text: str, names: list[str], primitives: Mapping[str, Primitive]
) -> Iterator[Complaint]:
    try:
        parse(text, names, primitives)
    except FormulaError as error:
        yield path, str(error)


def callable_primitives(registry: Registry) -> dict[str, Primitive]:
    """Return the primitives that a formula may call, by every name that is not ambiguous."""
    return {name: registry.find("primitives", name).value for name in registry.names("primitives")}
