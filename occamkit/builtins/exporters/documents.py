"""Formulas to read: sympy's own code, LaTeX, MathML, and Markdown."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import sympy
from sympy.printing.str import StrPrinter

from occamkit import typeset


@dataclass(frozen=True)
class Sympy:
    """Python code that makes the sympy expression, with a symbol for each column under its own name."""

    name: ClassVar[str] = "sympy"

    def export(self, expression: Any, inputs: Sequence[str]) -> str:
        """Return a module that defines `expression`."""
        names = typeset.identifiers(inputs)
        renamed = {sympy.Symbol(name, real=True): sympy.Symbol(short, real=True) for name, short in names.items()}
        code = _Printer().doprint(expression.xreplace(renamed))
        known = {*names.values(), "True", "False"}
        code = _WORD.sub(lambda word: word[0] if word[0] in known else f"sympy.{word[0]}", code)
        lines = ['"""A formula found by occamkit."""', "", "import sympy", ""]
        lines += [f"{short} = sympy.Symbol({name!r}, real=True)" for name, short in names.items()]
        return "\n".join([*lines, f"expression = sympy.sympify({code})", ""])


_WORD = re.compile(r"(?<![\w.])[A-Za-z_]\w*")


class _Printer(StrPrinter):  # type: ignore[misc] # sympy has no types
    """Writes numbers so that they stay what they are: to Python 2/3 is a decimal number."""

    def _print_Rational(self, expr: Any) -> str:  # noqa: N802 sympy's naming
        return f"Rational({expr.p}, {expr.q})"

    def _print_Float(self, expr: Any) -> str:  # noqa: N802
        return repr(float(expr))


@dataclass(frozen=True)
class Latex:
    """LaTeX of one formula, for use in mathematics mode."""

    name: ClassVar[str] = "latex"

    def export(self, expression: Any, inputs: Sequence[str]) -> str:
        """Return a line of LaTeX."""
        return f"{typeset.latex(expression)}\n"


@dataclass(frozen=True)
class MathML:
    """A MathML element that browsers show."""

    name: ClassVar[str] = "mathml"

    def export(self, expression: Any, inputs: Sequence[str]) -> str:
        """Return one element."""
        return f"{typeset.mathml(expression)}\n"


@dataclass(frozen=True)
class Markdown:
    """A formula with its inputs, for a page or a message."""

    name: ClassVar[str] = "markdown"

    def export(self, expression: Any, inputs: Sequence[str]) -> str:
        """Return the formula as mathematics and as code, and the inputs as a list."""
        lines = [f"$$ {typeset.latex(expression)} $$", "", "```text", typeset.text(expression), "```", ""]
        lines += [f"- ${typeset.latex_name(name)}$ is the column `{name.replace('`', chr(39))}`" for name in inputs]
        return "\n".join([*lines, ""])
