"""What every exporter promises."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from occamkit.testing.promises import Promises, Subject, picklable, says_what_it_is

promise = Promises()
promise["says what it is"] = says_what_it_is
promise["picklable"] = picklable


def _formulas() -> Iterator[tuple[Any, list[str]]]:
    """Yield sympy expressions with the inputs that they use."""
    import sympy

    x, y = sympy.symbols("x y", real=True)
    yield x**2 + 2 * y, ["x", "y"]
    yield sympy.sin(x) * sympy.exp(-y / 3), ["x", "y"]
    yield sympy.sqrt(x) / 7 + sympy.pi, ["x"]
    yield 1.5 * x, ["x"]


@promise("writes text")
def writes_text(subject: Subject) -> None:
    """It returns a text that is not empty."""
    for expression, inputs in _formulas():
        text = subject.value.export(expression, inputs)
        told = isinstance(text, str) and bool(text.strip())
        assert told, f"export({expression}) returned {text!r}; return a text"


@promise("names every input")
def names_every_input(subject: Subject) -> None:
    """Every input that the formula uses stands in the text."""
    for expression, inputs in _formulas():
        text = subject.value.export(expression, inputs)
        missing = [name for name in inputs if name not in text]
        assert not missing, f"export({expression}) does not mention {', '.join(missing)}"


@promise("deterministic")
def deterministic(subject: Subject) -> None:
    """The same formula gives the same text."""
    for expression, inputs in _formulas():
        texts = {subject.value.export(expression, inputs) for _ in range(2)}
        assert len(texts) == 1, "two equal calls differ; leave out times and random names"
