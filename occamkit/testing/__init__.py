"""The conformance kit: does a pack keep the promises that the core relies on?

A pack's test file is three lines:

    from occamkit.testing import conformance

    test_conformance = conformance("my-pack")

Every check is one parametrised test with a readable id such as `sin-units agree with numbers`. A promise that is
broken on purpose is declared with its reason, and fails the day it holds:

    conformance("my-pack", expected_failures={"ramp-inverse": "only the rising branch is inverted"})
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from occamkit.errors import PackError, UnknownNameError
from occamkit.packs import Entry, Found, Status, load_pack
from occamkit.registry import Registry
from occamkit.testing.primitives import CHECKS as PRIMITIVE_CHECKS

__all__ = ["Check", "checks", "conformance"]

_CHECKS_BY_KIND: Mapping[str, Mapping[str, Callable[[Any], None]]] = {"primitives": PRIMITIVE_CHECKS}


@dataclass(frozen=True)
class Check:
    """One promise of one thing that a pack provides; `run` raises AssertionError when it is broken."""

    subject: str
    promise: str
    run: Callable[[], None]

    @property
    def id(self) -> str:
        """The name of the check in test reports."""
        return f"{self.subject}-{self.promise}"


def checks(pack: str | ModuleType) -> Iterator[Check]:
    """Yield every check of an installed pack, by name, or of a module that is one."""
    for entry in _entries(pack):
        for promise, check in _CHECKS_BY_KIND.get(entry.kind, {}).items():
            yield Check(entry.name, promise, _bind(check, entry))


def conformance(pack: str | ModuleType, expected_failures: Mapping[str, str] | None = None) -> Callable[[Check], None]:
    """Return a pytest test function with one case for each check of a pack.

    expected_failures: check ids, each with the reason why it does not hold.
    """
    import pytest

    expected = dict(expected_failures or {})
    cases = [
        pytest.param(
            check,
            id=check.id,
            marks=[pytest.mark.xfail(reason=expected[check.id], strict=True)] if check.id in expected else [],
        )
        for check in checks(pack)
    ]
    known = {case.id for case in cases}
    for name in expected:
        if name not in known:
            raise UnknownNameError("check", name, [str(one) for one in known])

    @pytest.mark.parametrize("check", cases)
    def test_conformance(check: Check) -> None:
        check.run()

    return test_conformance


def _entries(pack: str | ModuleType) -> tuple[Entry, ...]:
    if isinstance(pack, ModuleType):
        loaded = load_pack(Found(pack.__name__, "unknown", pack.__name__, lambda: pack), taken=())
    else:
        packs = {one.name: one for one in Registry.load().packs}
        if pack not in packs:
            raise UnknownNameError("pack", pack, packs)
        loaded = packs[pack]
    if loaded.status not in {Status.OK, Status.CONFLICT}:
        raise PackError(loaded.name, f"{loaded.status}: {loaded.reason}")
    return loaded.entries


def _bind(check: Callable[[Any], None], entry: Entry) -> Callable[[], None]:
    return lambda: check(entry.value)
