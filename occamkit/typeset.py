"""How formulas and the names in them are set: as LaTeX, as MathML, and as identifiers of programming languages.

Columns may be called anything: `lambda`, `x y`, sympy's own `I`, `größe`. Nothing here parses a name.
"""

from __future__ import annotations

import builtins
import html
import keyword
import math
import re
import unicodedata
from collections.abc import Mapping, Sequence
from typing import Any, Final

GREEK: Final = {
    name: letter
    for letter in "αβγδεζηθικλμνξοπρστυφχψωΓΔΘΛΞΠΣΦΨΩ"
    for name in [unicodedata.name(letter).rpartition(" ")[2].lower().replace("lamda", "lambda")]
    for name in [name if letter.islower() else name.capitalize()]
}
"""Greek letters by their names."""

_IN_TEXT: Final = {char: f"\\{char}" for char in "&%$#_{}"} | {
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "\\": r"\textbackslash{}",
}  # fmt: skip
_NAMED = re.compile(r"&(\w+);")
_XML = frozenset({"lt", "gt", "amp", "quot", "apos"})
_LETTERS: Final = {"ExponentialE": "e", "ImaginaryI": "i"}
_INDEXED = re.compile(r"(?P<letter>[^\W\d_]+?)_?(?P<index>\d+)")

_PLAIN = re.compile(r"[^\W\d]\w*")
_FORMULA_WORDS: Final = frozenset({"if", "else", "True", "False"})

# What the languages that we export to keep for themselves, and what our exports call; upper and lower case count.
_C_WORDS = """auto break case char const continue default do double else enum extern float for goto if inline int long
register restrict return short signed sizeof static struct switch typedef union unsigned void volatile while main
acos asin atan atan2 ceil cos cosh exp fabs floor fmod fmax fmin frexp ldexp log log10 log2 modf pow sin sinh sqrt tan
tanh acosh asinh atanh cbrt erf erfc expm1 gamma hypot j0 j1 jn lgamma log1p round tgamma trunc y0 y1 yn div abs labs
NAN INFINITY isnan isinf signbit errno stdin stdout time index bool true false NULL I"""
_OUR_WORDS = "numpy np torch math sympy predict forward self Formula expression zero larger smaller sign step shape"
RESERVED: Final = frozenset({*_C_WORDS.split(), *_OUR_WORDS.split(), *keyword.kwlist, *dir(builtins)})
"""Names that no input of an exported function may have."""


def identifiers(names: Sequence[str]) -> dict[str, str]:
    """Return for each name an identifier that is valid and free in Python and in C; plain names stay as they are.

    Accents are dropped, Greek letters spelt out, other letters become their code, and anything else `_`. What begins
    with a digit or `_` gets `x` before it, a reserved word `_` after it, and a name that is taken a number.
    """
    given: dict[str, str] = {}
    for name in sorted(names, key=lambda one: _plain(one) != one):  # names that can stay come first
        wanted = _plain(name)
        free, count = wanted, 2
        while free in given.values():
            free, count = f"{wanted}_{count}", count + 1
        given[name] = free
    return {name: given[name] for name in names}


def _plain(name: str) -> str:
    plain = "".join(map(_ascii, unicodedata.normalize("NFC", name)))
    if not plain or plain[0].isdigit() or plain[0] == "_":
        plain = f"x{plain}"
    return f"{plain}_" if plain in RESERVED else plain


def _ascii(char: str) -> str:
    if char.isascii():
        return char if char.isalnum() else "_"
    base, folded = unicodedata.normalize("NFKD", char)[0], char.casefold()
    if base.isascii() and base.isalnum():
        return base
    if folded.isascii() and folded.isalnum():
        return folded
    spelt = {letter: name for name, letter in GREEK.items()}.get(char)
    return spelt or (f"u{ord(char):x}" if char.isalnum() else "_")


def text(expression: Any) -> str:
    """Return a sympy expression as the text of a formula, with names that are no plain words in backticks.

    Numbers have as many digits as it takes to read them back.
    """
    from sympy.printing.str import StrPrinter

    class Printer(StrPrinter):  # type: ignore[misc] # sympy is imported here only
        def _print_Symbol(self, expr: Any) -> str:  # noqa: N802 sympy's naming
            plain = _PLAIN.fullmatch(expr.name) and expr.name not in _FORMULA_WORDS
            return str(expr.name) if plain else f"`{expr.name}`"

        def _print_Float(self, expr: Any) -> str:  # noqa: N802
            value = float(expr)
            return repr(value) if math.isfinite(value) else str(super()._print_Float(expr))

    return str(Printer({"full_prec": False}).doprint(expression))


def latex(expression: Any) -> str:
    """Return a sympy expression as LaTeX, with every symbol set so that it can be told from the others."""
    import sympy

    names = {symbol: latex_name(symbol.name) for symbol in expression.free_symbols}
    return str(sympy.latex(expression, symbol_names=names))


def latex_name(name: str) -> str:
    """Return a name as LaTeX: a letter as it is, Greek letters by name, an index below, and words upright."""
    if name in GREEK and name not in {"pi", "omicron"}:  # a column called pi is not π
        return f"\\{name}"
    if len(name) == 1 and name.isalpha() and name.isascii():
        return name
    indexed = _INDEXED.fullmatch(name)
    if indexed:
        return f"{latex_name(indexed['letter'])}_{{{indexed['index']}}}"
    return "\\text{" + "".join(_IN_TEXT.get(char, char) for char in name) + "}"


def mathml(expression: Any, before: Any = None) -> str:
    """Return a sympy expression as a MathML element that browsers show; `before` stands to the left, with an =."""
    import sympy
    from sympy.printing.mathml import MathMLPresentationPrinter

    class Printer(MathMLPresentationPrinter):  # type: ignore[misc] # sympy is imported here only
        def _print_Symbol(self, sym: Any, style: str = "plain") -> Any:  # noqa: N802 sympy's naming
            indexed = _INDEXED.fullmatch(sym.name)
            if indexed is None:
                return self._word("mi", _greek(sym.name))
            parts = indexed["letter"], indexed["index"]
            return self._within("msub", self._word("mi", _greek(parts[0])), self._word("mn", parts[1]))

        def _print_Relational(self, e: Any) -> Any:  # noqa: N802
            # sympy leaves the sign of a comparison unescaped, which is no XML.
            signs = {"<=": "≤", ">=": "≥", "!=": "≠", "==": "=", "<": "&lt;", ">": "&gt;"}
            return self._row(self._print(e.lhs), self._word("mo", signs[e.rel_op]), self._print(e.rhs))

        def _print_Piecewise(self, expr: Any) -> Any:  # noqa: N802
            table = self.dom.createElement("mtable")
            table.setAttribute("columnalign", "left left")
            for value, test in expr.args:
                always = test == True  # noqa: E712 sympy's own truth is equal to Python's and not the same
                told = [self._word("mtext", "otherwise")] if always else [self._word("mtext", "if "), self._print(test)]
                table.appendChild(self._within("mtr", self._cell(self._print(value)), self._cell(*told)))
            return self._row(self._word("mo", "{"), table)

        def _cell(self, *inside: Any) -> Any:
            return self._within("mtd", self._row(*inside))

        def _row(self, *inside: Any) -> Any:
            return self._within("mrow", *inside)

        def _within(self, kind: str, *inside: Any) -> Any:
            element = self.dom.createElement(kind)
            for one in inside:
                element.appendChild(one)
            return element

        def _word(self, kind: str, text: str) -> Any:
            return self._within(kind, self.dom.createTextNode(text))

    shown = sympy.Eq(before, expression, evaluate=False) if before is not None else expression
    # Without a sign a·sin(b) would read as asin(b).
    inside = Printer({"mul_symbol": "&#xB7;"}).doprint(shown)
    # Names of characters such as &ExponentialE; mean something to a browser, but not to a reader of XML.
    inside = _NAMED.sub(
        lambda name: name[0] if name[1] in _XML else _LETTERS.get(name[1], html.unescape(name[0])), inside
    )
    return f'<math xmlns="http://www.w3.org/1998/Math/MathML" display="block">{inside}</math>'


def _greek(name: str) -> str:
    return GREEK[name] if name in GREEK and name != "pi" else html.escape(name)  # sympy escapes nothing


def legend(names: Mapping[str, str]) -> list[str]:
    """Return a line for each column, saying what it is called in an export."""
    return [f"{short}: column {name!r}" if short != name else short for name, short in names.items()]
