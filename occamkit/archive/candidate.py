"""A formula that was kept, as a frozen value that can be stored and read."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from occamkit.archive.figures import Figures
from occamkit.graph import Expression
from occamkit.protocols import Primitive


@dataclass(frozen=True)
class Whole:
    """All functions of a program, with their figures."""

    trees: tuple[Expression, ...]
    figures: tuple[Figures, ...]


@dataclass(frozen=True)
class Candidate:
    """A function that was kept, with its score in the search and its exact figures.

    log_q: how likely the network held it when it drew it, if it did. proposer: what found it. recurrence: how often it
    is applied, for a task with a wrapper. by_score: whether it is chosen by its score rather than by its error, as
    relations are. errors: the standard error of each fitted constant, or None; empty before the constants have had
    their last touch. refitted: whether its numbers were fitted to the rows for choosing too, after these had their say.
    """

    tree: Expression
    score: float
    fitness: float
    figures: Figures
    log_q: float
    proposer: str
    recurrence: int | None = None
    errors: tuple[float | None, ...] = ()
    by_score: bool = False
    refitted: bool = False
    whole: Whole | None = None
    """The program that the function is a part of, where outputs stand or fall together."""

    @property
    def complexity(self) -> float:
        """What the written tree costs, or all trees of a program."""
        return self.tree.complexity if self.whole is None else sum(tree.complexity for tree in self.whole.trees)

    @property
    def choice(self) -> tuple[float, ...]:
        """What functions are chosen by, the lower the better; see Figures. Of a program, the sum over its outputs."""
        if self.by_score:
            return (-self.score,)
        if self.whole is None:
            return self.figures.choice
        losses, errors = zip(*(one.choice for one in self.whole.figures), strict=True)
        return sum(losses), sum(errors)

    @property
    def penalty(self) -> float:
        """What regularizers have taken off, in units of the fitness."""
        return self.fitness - self.score

    @property
    def wrong(self) -> int:
        """How many of the rows for training and choosing are missed, added up over the outputs of a program."""
        figures = self.whole.figures if self.whole is not None else (self.figures,)
        return sum(one.wrong.get(part, 0) for one in figures for part in ("train", "valid"))

    @property
    def exact(self) -> bool:
        """Whether nothing but rounding is left, in all outputs of a program."""
        return all(one.exact for one in (self.whole.figures if self.whole is not None else (self.figures,)))

    def stored(self) -> dict[str, Any]:
        """Return the candidate as plain values."""
        fields = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
        whole = self.whole and {
            "trees": [tree.to_dict() for tree in self.whole.trees],
            "figures": [dataclasses.asdict(figures) for figures in self.whole.figures],
        }
        return {**fields, "tree": self.tree.to_dict(), "figures": dataclasses.asdict(self.figures), "whole": whole}

    @classmethod
    def read(cls, stored: Mapping[str, Any], primitives: Mapping[str, Primitive]) -> Candidate:
        """Read what `stored` returned; `primitives` by name."""
        whole = stored["whole"] and Whole(
            tuple(Expression.from_dict(one, primitives) for one in stored["whole"]["trees"]),
            tuple(Figures(**one) for one in stored["whole"]["figures"]),
        )
        tree = Expression.from_dict(stored["tree"], primitives)
        return cls(**{**stored, "tree": tree, "figures": Figures(**stored["figures"]), "whole": whole})
