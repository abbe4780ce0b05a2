"""Runs somebody else's code for so long and no longer, so that a pack that hangs does not hang everybody."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TypeVar

Value = TypeVar("Value")


class TooSlowError(Exception):
    """The code did not come back in time."""


def within(seconds: float, function: Callable[[], Value]) -> Value:
    """Return what `function` returns, raise what it raises, or raise TooSlowError when the time is up.

    Code that never returns cannot be stopped; it is left behind in a thread that ends with the program.
    """
    values: list[Value] = []
    errors: list[BaseException] = []

    def work() -> None:
        try:
            values.append(function())
        except BaseException as error:  # noqa: BLE001 it is raised again where it belongs
            errors.append(error)

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    thread.join(seconds)
    if errors:
        raise errors[0]
    if not values:
        raise TooSlowError(f"took longer than {seconds:g} s")
    return values[0]
