"""Functions that need no occamkit: of numpy, of torch, and of C.

Each is a whole file with one function of the columns, in the order of the file that the formula was found in.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from occamkit import typeset
from occamkit.builtins.exporters.algebra import as_number, constants_in, simple
from occamkit.builtins.exporters.dialect import Dialect

_SAME = ("sin", "cos", "tan", "sinh", "cosh", "tanh", "exp", "log", "sqrt", "floor")
_INVERSE = ("asin", "acos", "atan", "asinh", "acosh", "atanh")

_NUMPY = Dialect(
    functions={
        **{name: f"numpy.{name}" for name in _SAME},
        **{name: f"numpy.arc{name[1:]}" for name in _INVERSE},
        "Abs": "numpy.abs", "ceiling": "numpy.ceil", "Max": "numpy.maximum", "Min": "numpy.minimum",
        "erf": "numpy.vectorize(math.erf)",
    },
    where="numpy.where({}, {}, {})", both="&", either="|", nothing="~", undefined="math.nan", infinite="math.inf",
)  # fmt: skip
_TORCH = Dialect(
    functions={
        **{name: f"torch.{name}" for name in (*_SAME, *_INVERSE)},
        "Abs": "torch.abs", "ceiling": "torch.ceil", "Max": "torch.maximum", "Min": "torch.minimum",
        "erf": "torch.erf",
    },
    where="torch.where({}, {}, {})", both="&", either="|", nothing="~", undefined="math.nan", infinite="math.inf",
    lift="(zero + {})",
)  # fmt: skip


def _with_point(value: int) -> str:
    return f"{value}.0"


_C = Dialect(
    functions={
        **{name: name for name in (*_SAME, *_INVERSE)},
        "Abs": "fabs", "ceiling": "ceil", "Max": "larger", "Min": "smaller", "erf": "erf",
    },
    where="({} ? {} : {})", both="&&", either="||", nothing="!", undefined="NAN", infinite="INFINITY", power="pow",
    whole=_with_point,
)  # fmt: skip

_HELPERS = {
    "larger": "static double larger(double a, double b) { return a != a || b != b ? NAN : a > b ? a : b; }",
    "smaller": "static double smaller(double a, double b) { return a != a || b != b ? NAN : a < b ? a : b; }",
}


@dataclass(frozen=True)
class NumpyFunction:
    """A Python function of numpy arrays."""

    name: ClassVar[str] = "python"

    def export(self, expression: Any, inputs: Sequence[str]) -> str:
        """Return a module with one function, `predict`."""
        names = typeset.identifiers(inputs)
        body = replace(_NUMPY, names=names).write(as_number(simple(expression)))
        arguments = ", ".join(names.values())
        lines = ['"""A formula found by occamkit: predict() takes numbers or arrays.', "", *_legend(names), '"""', ""]
        lines += ["import math", ""] if "math." in body.replace("numpy.", "") else []
        lines += ["import numpy", "", "", f"def predict({arguments}):"]
        lines += [f"    {name} = numpy.asarray({name}, dtype=float)" for name in names.values()]
        lines += ['    with numpy.errstate(all="ignore"):', f"        return {body}", ""]
        return "\n".join(lines)


@dataclass(frozen=True)
class TorchModule:
    """A torch module whose decimal constants are parameters, so that they can be trained further."""

    name: ClassVar[str] = "torch"

    def export(self, expression: Any, inputs: Sequence[str]) -> str:
        """Return a module with one class, `Formula`."""
        names = typeset.identifiers(inputs)
        plain = as_number(simple(expression))
        constants = {value: f"c{place}" for place, value in enumerate(constants_in(plain))}
        dialect = replace(
            _TORCH,
            names=names,
            number=lambda value: f"self.{constants[value]}" if value in constants else repr(value),
        )
        body = dialect.write(plain)
        first = next(iter(names.values()), None)
        zero = f"torch.zeros_like({first})" if first else "torch.zeros((), dtype=torch.float64)"
        lines = ['"""A formula found by occamkit.', "", *_legend(names), '"""', ""]
        lines += ["import math", ""] if "math." in body else []
        lines += ["import torch", "", "", "class Formula(torch.nn.Module):", "    def __init__(self):"]
        lines += ["        super().__init__()"]
        for value, constant in constants.items():
            tensor = f"torch.tensor({value!r}, dtype=torch.float64)"
            lines.append(f"        self.{constant} = torch.nn.Parameter({tensor})")
        lines += ["", f"    def forward({', '.join(['self', *names.values()])}):"]
        lines += [f"        zero = {zero}", f"        return zero + {dialect.at_least(plain, 1)}", ""]
        return "\n".join(lines)


@dataclass(frozen=True)
class CFunction:
    """A function of C99 that needs only math.h."""

    name: ClassVar[str] = "c"

    def export(self, expression: Any, inputs: Sequence[str]) -> str:
        """Return a file with one function, `predict`."""
        names = typeset.identifiers(inputs)
        body = replace(_C, names=names).write(as_number(simple(expression)))
        arguments = ", ".join(f"double {name}" for name in names.values()) or "void"
        lines = ["/* A formula found by occamkit; link with -lm.", "", *_commented(_legend(names)), "*/"]
        lines += ["#include <math.h>", ""]
        used = [text for name, text in _HELPERS.items() if f"{name}(" in body]
        lines += [*used, ""] if used else []
        return "\n".join([*lines, f"double predict({arguments})", "{", f"    return {body};", "}", ""])


def _legend(names: dict[str, str]) -> list[str]:
    lines = typeset.legend(names)
    return [line.replace("\\", "\\\\").replace('"""', '\\"\\"\\"') for line in lines] or ["It has no inputs."]


def _commented(lines: list[str]) -> list[str]:
    """Keep a column's name from ending a comment of C, or from joining lines."""
    return [line.replace("*/", "* /").replace("/*", "/ *").replace("??/", "?? /") for line in lines]
