"""A pytest plugin: the fixture `occamkit_promise`, one promise of a pack at a time.

It stands beside the package and not in it, because pytest imports it at every start, and importing occamkit imports
torch.
"""

from __future__ import annotations

from typing import Any


def pytest_generate_tests(metafunc: Any) -> None:
    """Give a test that asks for `occamkit_promise` every promise of the pack that its module names."""
    if "occamkit_promise" not in metafunc.fixturenames:
        return
    pack = getattr(metafunc.module, "OCCAMKIT_PACK", None)
    if pack is None:
        import pytest

        raise pytest.UsageError(f"{metafunc.module.__name__}: say which pack is meant, as in OCCAMKIT_PACK = 'mine'")
    from occamkit.testing import cases

    metafunc.parametrize("occamkit_promise", cases(pack))
