"""The conformance kit: does a pack keep the promises that the core relies on?

A pack's test file is three lines:

    from occamkit.testing import conformance

    test_conformance = conformance("my-pack")

Every check is one parametrised test with a readable id such as `sin-units agree with numbers`. A promise that is
broken on purpose is declared with its reason, and fails the day it holds:

    conformance("my-pack", expected_failures={"ramp-inverse": "only the rising branch is inverted"})

or in the pack's module, where `occamkit plugins check` sees it too:

    OCCAMKIT_EXPECTED_FAILURES = {"ramp-inverse": "only the rising branch is inverted"}

`promises` is what all checks are made of; `primitives`, `fitnesses`, `regularizers`, `wrappers`, `tasks`, `proposers`
and `exporters` hold those of each kind, `others` those of named constants and commands.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from occamkit.errors import PackError, UnknownNameError
from occamkit.packs.find import KINDS, Entry, FoundPack, Pack, Status, load_pack
from occamkit.packs.limits import TooSlowError, within
from occamkit.packs.registry import Registry
from occamkit.testing import exporters, fitnesses, others, proposers, regularizers, tasks, wrappers
from occamkit.testing.primitives import CHECKS as PRIMITIVE_CHECKS
from occamkit.testing.promises import Setting, Subject

__all__ = ["Check", "cases", "checks", "conformance"]

PROMISES: Mapping[str, Mapping[str, Callable[[Any], None]]] = {
    "primitives": PRIMITIVE_CHECKS,
    "constants": others.constants,
    "fitnesses": fitnesses.promise,
    "regularizers": regularizers.promise,
    "wrappers": wrappers.promise,
    "tasks": tasks.promise,
    "proposers": proposers.promise,
    "exporters": exporters.promise,
    "commands": others.commands,
}
"""What each kind of part promises: checks by name, their docstrings saying what is meant."""

LONGEST_CHECK = 30.0
"""Seconds after which a check is given up."""


@dataclass(frozen=True)
class Check:
    """One promise of one thing that a pack provides; `run` raises AssertionError when it is broken.

    expected: why the promise is broken on purpose, or empty.
    """

    pack: str
    kind: str
    subject: str
    promise: str
    run: Callable[[], None]
    expected: str = ""

    @property
    def id(self) -> str:
        """The name of the check in test reports."""
        return f"{self.subject}-{self.promise}"


def checks(
    pack: str | ModuleType | FoundPack,
    expected_failures: Mapping[str, str] | None = None,
    registry: Registry | None = None,
) -> Iterator[Check]:
    """Yield every check of an installed pack, by name, or of a module that is one.

    expected_failures: check ids, each with the reason why it does not hold, besides those that the pack declares.
    registry: what else is loaded; absent, all that is installed for a pack by name, the built-ins for a module.
    """
    loaded, registry = _loaded(pack, registry)
    setting = Setting(registry)
    expected = {**loaded.expected_failures, **(expected_failures or {})}
    found = [
        Check(loaded.name, entry.kind, entry.name, promise, _bind(check, promise, entry, setting))
        for entry in loaded.entries
        for promise, check in PROMISES[entry.kind].items()
    ]
    known = [check.id for check in found]
    for name in expected:
        if name not in known:
            raise UnknownNameError("check", name, known)
    for check in found:
        reason = expected.get(check.id, "")
        yield Check(check.pack, check.kind, check.subject, check.promise, check.run, reason)


def cases(pack: str | ModuleType, expected_failures: Mapping[str, str] | None = None) -> list[Any]:
    """Return the checks of a pack as parameters of a pytest test, expected failures marked as such."""
    import pytest

    return [
        pytest.param(
            check,
            id=check.id,
            marks=[pytest.mark.xfail(reason=check.expected, strict=True)] if check.expected else [],
        )
        for check in checks(pack, expected_failures)
    ]


def conformance(pack: str | ModuleType, expected_failures: Mapping[str, str] | None = None) -> Callable[[Check], None]:
    """Return a pytest test function with one case for each check of a pack.

    expected_failures: check ids, each with the reason why it does not hold.
    """
    import pytest

    @pytest.mark.parametrize("check", cases(pack, expected_failures))
    def test_conformance(check: Check) -> None:
        check.run()

    return test_conformance


def _loaded(pack: str | ModuleType | FoundPack, registry: Registry | None) -> tuple[Pack, Registry]:
    if isinstance(pack, str):
        registry = registry or Registry.load()
        packs = {one.name: one for one in registry.packs}
        if pack not in packs:
            raise UnknownNameError("pack", pack, packs)
        loaded = packs[pack]
    else:
        registry = registry or Registry.load(only=[])
        loaded = load_pack(pack if isinstance(pack, FoundPack) else _found(pack), taken=())
        registry = Registry((*(one for one in registry.packs if one.name != loaded.name), loaded))
    if loaded.status not in {Status.OK, Status.CONFLICT}:
        raise PackError(loaded.name, f"{loaded.status}: {loaded.reason}")
    return loaded, registry


def _found(module: ModuleType) -> FoundPack:
    return FoundPack(module.__name__, "unknown", module.__name__, lambda: module)


def _bind(check: Callable[[Any], None], promise: str, entry: Entry, setting: Setting) -> Callable[[], None]:
    """Return the check of one thing, whose message says whose it is, and which does not wait for ever."""
    given = entry.value if entry.kind == "primitives" else Subject(entry, setting)
    who = f"pack {entry.pack!r}: {KINDS[entry.kind]} {entry.name!r}: {promise}"

    def run() -> None:
        try:
            within(LONGEST_CHECK, lambda: check(given))
        except AssertionError as error:
            raise AssertionError(f"{who}: {str(error).partition(chr(10))[0]}") from error
        except TooSlowError as error:
            raise AssertionError(f"{who}: {error}; a search calls it many thousand times") from error
        except Exception as error:
            raise AssertionError(f"{who}: {type(error).__name__}: {error}; it must not raise") from error

    return run
