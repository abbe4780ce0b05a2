"""Known equations to be found again: where they come from, and the task that each of them becomes."""

from __future__ import annotations

import csv
import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from importlib.resources import files
from pathlib import Path
from typing import Any

from occamkit.errors import DataError, UserError, did_you_mean
from occamkit.language.parse import Call, Name, Node, Number, parse
from occamkit.task.data.pmlb import data_folder
from occamkit.units import DIMENSIONLESS
from occamkit.units import parse as parse_unit

FEYNMAN_PRIMITIVES = ("add", "sub", "mul", "div", "square", "sqrt", "exp", "log", "sin", "cos", "asin")
FITNESS = "occamkit:gaussian"
FEYNMAN_POINTS = 1_000
LAW_PRIMITIVES = ("add", "sub", "mul", "div", "sin", "cos", "exp", "log", "square", "sqrt")
LAW_POINTS = 300
NGUYEN_SPLIT = {"valid": 0.2, "test": 0.0}
"""Of twenty points none are spared for a test: recovery is judged on fresh ones."""

_FACTOR = (0.75, 1.5)
"""A random constant is the natural one times a number from here, so that roots and sines stay defined."""
_NAMED = {"pi": 3.141592653589793, "E": 2.718281828459045}
_PREFIX = "-x"


@dataclass(frozen=True)
class Equation:
    """One known equation: its formula, and where its inputs are drawn from."""

    name: str
    formula: str
    output: str
    output_unit: str
    variables: tuple[str, ...]
    units: tuple[str, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]
    points: int
    primitives: tuple[str, ...]
    split: Mapping[str, float] = field(default_factory=dict)

    @property
    def ranges(self) -> dict[str, tuple[float, float]]:
        """Where each input is drawn from."""
        bounds = zip(self.low, self.high, strict=True)
        return dict(zip(self.variables, bounds, strict=True))

    def task(
        self, seconds: float, noise: float, proposers: Sequence[str], groups: int = 0, scale: str = "none"
    ) -> dict[str, Any]:
        """Return the task document; groups are asked for where a column carries a unit."""
        columns = zip(self.variables, self.units, self.low, self.high, strict=True)
        data = {"source": "formula", "target": self.formula, "points": self.points, "noise": noise}
        document: dict[str, Any] = {
            "occamkit": 1,
            "name": f"bench/{self.name}",
            "data": {**data, "split": dict(self.split)} if self.split else data,
            "inputs": [{"name": name, "unit": unit, "range": [low, high]} for name, unit, low, high in columns],
            "outputs": [{"name": self.output, "unit": self.output_unit}],
            "search": {
                "primitives": [f"occamkit:{name}" for name in self.primitives],
                "groups": groups if any(parse_unit(unit).dim != DIMENSIONLESS for unit in self.units) else 0,
            },
            "fitness": {"name": FITNESS, "scale": scale},
            "stop": {"seconds": seconds},
        }
        return {**document, "proposers": [{"name": name} for name in proposers]} if proposers else document

    def to_dict(self) -> dict[str, Any]:
        """Return what JSON can hold."""
        return asdict(self)

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> Equation:
        """Read what `to_dict` returned."""
        lists = {key: tuple(value) if isinstance(value, list) else value for key, value in stored.items()}
        return cls(**lists)


def feynman() -> list[Equation]:
    """Return the Feynman equations of the folder of public data."""
    return [
        Equation(
            name=row["name"],
            formula=row["formula"],
            output=row["output"],
            output_unit=row["output_units"],
            variables=_words(row["variables"]),
            units=_words(row["units"]),
            low=_numbers(row["low"]),
            high=_numbers(row["high"]),
            points=FEYNMAN_POINTS,
            primitives=FEYNMAN_PRIMITIVES,
        )
        for row in _rows("feynman.csv")
    ]


def nguyen() -> list[Equation]:
    """Return the Nguyen equations of the folder of public data, with the operators that they are usually given."""
    return [
        _plain(
            row,
            low=_numbers(row["train_low"]),
            high=_numbers(row["train_high"]),
            points=int(_numbers(row["train_n_or_step"])[0]),
            primitives=_words(row["operators"]),
            split=NGUYEN_SPLIT,
        )
        for row in _rows("nguyen.csv")
    ]


def laws() -> list[Equation]:
    """Return textbook laws with numbers that nobody could guess, 300 points each."""
    text = files("occamkit_bench").joinpath("laws.csv").read_text(encoding="utf-8")
    return [
        _plain(
            row,
            low=_numbers(row["low"]),
            high=_numbers(row["high"]),
            points=LAW_POINTS,
            primitives=LAW_PRIMITIVES,
        )
        for row in csv.DictReader(text.splitlines())
    ]


def _plain(row: Mapping[str, str], **about: Any) -> Equation:
    """Return the equation of a row whose columns are plain numbers."""
    names = _words(row["variables"])
    output = "y" if "y" not in names else "z"
    plain = {"output": output, "output_unit": "", "variables": names, "units": ("",) * len(names)}
    return Equation(name=row["name"], formula=row["formula"], **plain, **about)


def chosen(equations: Iterable[Equation], only: Sequence[str]) -> list[Equation]:
    """Return the equations of these names, in the order of the file; all without names."""
    known = {one.name: one for one in equations}
    for name in only:
        if name not in known:
            raise UserError(f"--only: there is no equation {name!r}{did_you_mean(name, known)}")
    return [one for name, one in known.items() if not only or name in only]


def without_units(equation: Equation) -> Equation:
    """Return the equation with all columns plain numbers."""
    return replace(equation, units=("",) * len(equation.units), output_unit="")


def with_random_constants(equation: Equation, seed: int) -> Equation:
    """Return the equation with every number but the exponents replaced by another; the same for the same seed."""
    generator = random.Random(f"{equation.name} {seed}")
    tree = parse(equation.formula, equation.variables)
    return replace(equation, formula=_written(tree, generator))


def _written(tree: Node, generator: random.Random, exponent: bool = False) -> str:
    if isinstance(tree, Name):
        return tree.name
    if isinstance(tree, Number):
        if exponent:
            return tree.text
        value = _NAMED[tree.text] if tree.text in _NAMED else float(tree.text)
        return repr(round(value * generator.uniform(*_FACTOR), 6))
    assert isinstance(tree, Call)
    if tree.function == _PREFIX:
        return f"(-{_written(tree.arguments[0], generator, exponent)})"
    parts = [
        _written(argument, generator, exponent or (tree.function == "**" and place == 1))
        for place, argument in enumerate(tree.arguments)
    ]
    return f"{tree.function}({', '.join(parts)})" if tree.function.isidentifier() else f"({tree.function.join(parts)})"


def _rows(file: str) -> list[dict[str, str]]:
    folder = data_folder()
    path = folder / file if folder is not None else Path(file)
    if not path.is_file():
        raise DataError(f"{file} is not to be found; set OCCAMKIT_DATA to the folder that holds it")
    with path.open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines))


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split(";"))


def _numbers(text: str) -> tuple[float, ...]:
    return tuple(float(word) for word in text.split(";"))
