"""What named constants and commands promise."""

from __future__ import annotations

import math
from fractions import Fraction

from click.testing import CliRunner

from occamkit.language.functions import CONSTANTS
from occamkit.testing.promises import Promises, Subject, picklable, refused
from occamkit.units import parse

constants = Promises()
constants["picklable"] = picklable

commands = Promises()


@constants("unit is understood")
def unit_is_understood(subject: Subject) -> None:
    """Its unit can be read, and its value in base units is a finite number."""
    quantity = subject.value
    measure = refused(subject, lambda: parse(quantity.unit))
    value = float(Fraction(quantity.value) * measure.factor)
    assert math.isfinite(value), f"{quantity.value} {quantity.unit} is {value} in base units"


@constants("name is free")
def name_is_free(subject: Subject) -> None:
    """Its name is not one that task files have already, such as pi."""
    assert subject.value.name not in CONSTANTS, f"{subject.value.name!r} means another number in task files; rename it"


@constants("says where it is from")
def says_where_it_is_from(subject: Subject) -> None:
    """It has a line about what it is, for lists."""
    assert subject.value.about.strip(), "has no text in `about`; say what it is and where the number comes from"


@commands("has help")
def has_help(subject: Subject) -> None:
    """`--help` works and says something."""
    result = CliRunner().invoke(subject.value, ["--help"])
    assert result.exit_code == 0, f"--help leaves with {result.exit_code}: {result.output.strip()[-200:]}"
    assert subject.value.help, "has no docstring; it is shown by occamkit --help"
