"""What the checks of every kind have in common: a table of promises, the thing checked, and what to try it on."""

from __future__ import annotations

import itertools
import pickle
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from occamkit import traits
from occamkit.errors import UserError
from occamkit.graph import Apply, Expression, Leaf
from occamkit.packs.find import Entry
from occamkit.packs.registry import Registry
from occamkit.task.file.load import check_document
from occamkit.task.prepared import PreparedTask
from occamkit.task.problem import Problem, make_problem

_LITTLE = {
    "occamkit": 1,
    "name": "little",
    "data": {"source": "formula", "target": "x*x + 2*y", "points": 40},
    "inputs": [{"name": "x", "unit": "m", "range": [0.5, 3]}, {"name": "y", "unit": "m**2", "range": [-2, 2]}],
    "outputs": [{"name": "z", "unit": "m**2"}],
}
"""A task that everything can be tried on; all else is the default."""


class Setting:
    """A registry and a small problem in it, made once for all checks of a pack."""

    def __init__(self, registry: Registry) -> None:
        self.registry = registry

    @cached_property
    def problem(self) -> Problem:
        """A small problem with units."""
        spec = check_document(_LITTLE, self.registry, Path())
        return make_problem(PreparedTask(spec, self.registry, Path()), self.registry, 0, "cpu")

    @cached_property
    def trees(self) -> tuple[Expression, ...]:
        """Small functions over the problem's columns: each primitive on leaves, and some on one another."""
        leaves = [Leaf(one.name, one.value) for one in self.problem.variables]
        plain = [one for one in self.problem.primitives if not one.constants]
        turns = itertools.cycle(leaves)
        shallow = [Apply(one, tuple(itertools.islice(turns, one.arity))) for one in plain]
        deep = [Apply(one, tuple(itertools.islice(itertools.cycle(shallow), one.arity))) for one in plain]
        return (*leaves, *shallow, *deep)


@dataclass(frozen=True)
class Subject:
    """One thing that a pack provides, and where it is tried."""

    entry: Entry
    setting: Setting

    @property
    def value(self) -> Any:
        """What the pack registered."""
        return self.entry.value

    def made(self, **options: Any) -> Any:
        """Return the plugin with its default options, before it has seen a problem."""
        try:
            return self.value(**options)
        except TypeError as error:
            raise AssertionError(f"{error}; give every option a default, so that a name alone chooses it") from error

    def prepared(self, **options: Any) -> Any:
        """Return the plugin as a run would use it."""
        return traits.prepared(self.made(**options), self.setting.problem)


Check = Callable[[Subject], None]


class Promises(dict[str, Check]):
    """Checks by the name of the promise; what the check's docstring says is what the promise means."""

    def __call__(self, name: str) -> Callable[[Check], Check]:
        """Register a check under this name."""

        def register(check: Check) -> Check:
            self[name] = check
            return check

        return register

    def add_common(self) -> None:
        """Add what every plugin that is a dataclass promises."""
        self["has defaults"] = has_defaults
        self["says what it is"] = says_what_it_is
        self["picklable"] = picklable


def has_defaults(subject: Subject) -> None:
    """Every option has a default, so that a task may choose it by name alone."""
    subject.made()


def says_what_it_is(subject: Subject) -> None:
    """Its docstring has a first line for lists."""
    own = vars(subject.value if isinstance(subject.value, type) else type(subject.value)).get("__doc__") or ""
    generated = own.startswith(f"{getattr(subject.value, '__name__', type(subject.value).__name__)}(")
    assert "" if generated else own.strip(), "has no docstring; its first line is shown in lists"


def picklable(subject: Subject) -> None:
    """It survives pickling, so that a search can run in another process."""
    value = subject.made() if isinstance(subject.value, type) else subject.value
    try:
        pickle.loads(pickle.dumps(value))
    except Exception as error:
        raise AssertionError(f"{error}; define classes at the top level of a module and keep no lambdas") from error


def refused(subject: Subject, attempt: Callable[[], Any]) -> Any:
    """Return what `attempt` returns; what occamkit refuses is a broken promise."""
    try:
        return attempt()
    except UserError as error:
        raise AssertionError(str(error)) from error


def first(iterator: Iterator[Any], most: int) -> list[Any]:
    """Return the first so many."""
    return list(itertools.islice(iterator, most))
