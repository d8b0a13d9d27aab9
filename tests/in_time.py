"""Fail what waits for ever, instead of waiting with it."""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Iterator
from typing import Any


class Hangs(BaseException):
    """No error of the package, so that nothing there catches it."""


@contextlib.contextmanager
def in_time(seconds: int = 30) -> Iterator[None]:
    """A block that has to end within so many seconds."""

    def late(*_: Any) -> None:
        raise Hangs

    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
