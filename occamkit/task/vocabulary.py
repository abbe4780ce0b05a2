"""What the words in a task stand for: `add*2`, a group, `9.81 m/s**2`, a plugin with options."""

from __future__ import annotations

import re
from collections.abc import Iterable
from fractions import Fraction
from typing import Any

from occamkit.errors import UnitError, UnknownNameError, UserError
from occamkit.language.functions import CONSTANTS
from occamkit.packs.find import Entry
from occamkit.packs.registry import Registry
from occamkit.protocols import Variable
from occamkit.task.spec import Choice
from occamkit.units import DIMENSIONLESS, parse, parse_quantity

_NAME = re.compile(r"[^\W\d]\w*(:[^\W\d]\w*)?")
_COPIES = re.compile(r"(?P<name>[^*]+)(?:\*(?P<copies>\d+))?")


def primitive_entries(registry: Registry, text: str) -> list[Entry]:
    """Return the primitives that one item of `search.primitives` stands for, with repeats."""
    match = _COPIES.fullmatch(text.strip())
    if match is None or match["copies"] == "0":
        raise UserError(f"{text!r} is not a name, a group, or a name with copies such as 'add*2'")
    return list(registry.primitives(match["name"].strip())) * int(match["copies"] or 1)


def all_primitives(registry: Registry, items: Iterable[str]) -> list[Entry]:
    """Return the primitives of a whole `search.primitives`, in order, with repeats."""
    return [entry for item in items for entry in primitive_entries(registry, item)]


def constant(item: float | str, registry: Registry | None = None) -> Variable:
    """Return one item of `search.constants` as a leaf, in base units; the registry knows what packs name."""
    if isinstance(item, str) and item in CONSTANTS:
        return Variable(item, DIMENSIONLESS, CONSTANTS[item])
    if registry is not None and isinstance(item, str) and _NAME.fullmatch(item):
        return _named(item, registry)
    try:
        if not isinstance(item, str):
            return Variable(str(item), DIMENSIONLESS, float(item))
        number, measure = parse_quantity(item)
        return Variable(item, measure.dim, float(number * measure.factor))
    except UnitError as error:
        raise UserError(f"{error}; or one of {', '.join(CONSTANTS)}") from None
    except ArithmeticError:
        raise UserError(f"{item!r} is not a number that a computer can hold") from None


def _named(name: str, registry: Registry) -> Variable:
    try:
        given = registry.find("constants", name).value
    except UnknownNameError as error:
        allowed = ", ".join(CONSTANTS)
        raise UserError(f"{error}; or a number with a unit such as '9.81 m/s**2', or one of {allowed}") from None
    measure = parse(given.unit)
    return Variable(name, measure.dim, float(Fraction(given.value) * measure.factor))


def make_plugin(registry: Registry, kind: str, choice: Choice) -> Any:
    """Make the plugin that a section of a task chooses, with its options."""
    return registry.find(kind, choice.name).value(**choice.options())
