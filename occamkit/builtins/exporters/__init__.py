"""Formulas in other languages.

algebra    what every export begins with: an expression that has only parts that any language knows
dialect    how one language writes numbers, operators and functions
programs   functions of numpy, torch and C
documents  sympy, LaTeX, MathML and Markdown
"""

from __future__ import annotations

from typing import Any

from occamkit.builtins.exporters.documents import Latex, Markdown, MathML, Sympy
from occamkit.builtins.exporters.programs import CFunction, NumpyFunction, TorchModule

EXPORTERS: tuple[Any, ...] = (Sympy(), Latex(), NumpyFunction(), TorchModule(), CFunction(), MathML(), Markdown())
