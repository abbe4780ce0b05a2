"""The process that a run has to itself: Ctrl-C between turns, one thread, and no garbage of others."""

from __future__ import annotations

import gc
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

import torch
from threadpoolctl import threadpool_limits


@contextmanager
def interrupts() -> Iterator[Callable[[], bool]]:
    """Yield a question: was an interrupt asked for? A second one is not waited with.

    The turn in progress is finished first, so that nothing is left half done. Signals reach the main thread only;
    elsewhere the answer is always no.
    """
    asked = False

    def note(number: int, frame: FrameType | None) -> None:
        nonlocal asked
        if asked:
            raise KeyboardInterrupt
        asked = True

    if threading.current_thread() is not threading.main_thread():
        yield lambda: False
        return
    before = signal.signal(signal.SIGINT, note)
    try:
        yield lambda: asked
    finally:
        signal.signal(signal.SIGINT, before)


@contextmanager
def to_itself() -> Iterator[None]:
    """Give the process to a run: for many small operations a second thread costs more in waiting than it brings.

    That holds for numpy's linear algebra too, which on a busy machine took a fifth of the first second. Each round of
    the garbage collector through what was there before would take as long.
    """
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    gc.freeze()
    try:
        with threadpool_limits(1):
            yield
    finally:
        torch.set_num_threads(threads)
        gc.collect()  # what the run leaves, and that alone: or one run after another would fill the memory
        gc.unfreeze()
