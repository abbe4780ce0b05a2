"""A formula that was found, put to use from its text alone: as algebra, as predictions, and in another language."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from occamkit.errors import UserError, did_you_mean
from occamkit.graph.given import names_in
from occamkit.language.folds import evaluate, to_sympy
from occamkit.language.parse import Node, parse
from occamkit.packs.registry import Registry
from occamkit.result import Found, Result
from occamkit.task.file.checks import callable_primitives


@dataclass(frozen=True)
class Usable:
    """A formula over columns in the user's own units.

    inputs: the columns that it uses, in the order in which they were given.
    """

    text: str
    inputs: tuple[str, ...]
    tree: Node
    registry: Registry

    @classmethod
    def read(cls, text: str, names: Sequence[str], registry: Registry) -> Usable:
        """Read the text of a formula over columns called `names`."""
        tree = parse(text, names, callable_primitives(registry))
        used = set(names_in(tree))
        return cls(text, tuple(name for name in names if name in used), tree, registry)

    def sympy(self) -> Any:
        """Return the formula as a sympy expression over real symbols called like the columns."""
        from occamkit.language.functions import as_number

        return as_number(to_sympy(self.tree, callable_primitives(self.registry)))

    def predict(self, columns: Mapping[str, Tensor]) -> Tensor:
        """Return the values [n] on columns [n] each, in float64; there must be at least one column."""
        given = {name: column.to(torch.float64) for name, column in columns.items()}
        like = next(iter(given.values()))
        return evaluate(self.tree, given, callable_primitives(self.registry)).expand_as(like)

    def export(self, language: str) -> str:
        """Return the formula as an exporter writes it."""
        exporter = self.registry.find("exporters", language).value
        expression = self.sympy()
        try:
            return str(exporter.export(expression, self.inputs))
        except ValueError as error:
            raise UserError(f"{self.text} cannot be written as {language}: {error}") from None


def choose(result: Result, output: str | None, which: str) -> Found:
    """Return one formula of a result.

    which: "best", "likeliest", or a place on the front, 0 being the simplest.
    """
    names = [one.name for one in result.outputs]
    if output is None and len(names) > 1:
        raise UserError(f"the run has several outputs; choose one with --output: {', '.join(names)}")
    if output is not None and output not in names:
        raise UserError(f"the run has no output {output!r}{did_you_mean(output, names)}")
    found = result.outputs[names.index(output) if output is not None else 0]
    if which in {"best", "likeliest"}:
        chosen: Found | None = getattr(found, which)
        if chosen is None:
            raise UserError(f"no formula was found for {found.name!r}")
    else:
        places = range(len(found.front))
        if not which.isdigit() or int(which) not in places:
            last = len(found.front) - 1
            raise UserError(f"--formula takes best, likeliest or a place on the front from 0 to {last}, got {which!r}")
        chosen = found.front[int(which)]
    if chosen.recurrence is not None:
        raise UserError(f"{found.name!r} was found as a step to be repeated, which this cannot do by itself")
    return chosen
