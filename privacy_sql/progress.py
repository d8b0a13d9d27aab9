"""Say how far long work has come, to whoever listens; nobody does unless the command line asks for it."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

Listener = Callable[[str, int, int], None]
_listener: ContextVar[Listener | None] = ContextVar("progress", default=None)


def report(task: str, done: int, total: int) -> None:
    """Tell the listener, if there is one, that `done` of `total` parts of a task are finished.

    >>> heard = []
    >>> with listening(lambda *what: heard.append(what)):
    ...     report("search", 1, 2)
    >>> heard
    [('search', 1, 2)]
    """
    listener = _listener.get()
    if listener is not None:
        listener(task, done, total)


@contextmanager
def listening(listener: Listener) -> Iterator[None]:
    """Hear what is reported inside the block."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


@contextmanager
def shown() -> Iterator[None]:
    """Show progress on stderr while the block runs, when that is a terminal and the work takes a while."""
    if not sys.stderr.isatty():
        yield
        return
    line = _Line()
    try:
        with listening(line):
            yield
    finally:
        line.clear()


class _Line:
    """One line that is written over; nothing in the first second, then at most ten times a second."""

    def __init__(self) -> None:
        self.due = time.monotonic() + 1
        self.width = 0

    def __call__(self, task: str, done: int, total: int) -> None:
        if time.monotonic() < self.due:
            return
        self.due = time.monotonic() + 0.1
        share = 100 * done // max(1, total)
        text = f"{task}: {done} of {total} ({share} %)"
        sys.stderr.write(f"\r{text.ljust(self.width)}")
        sys.stderr.flush()
        self.width = len(text)

    def clear(self) -> None:
        if self.width:
            sys.stderr.write(f"\r{' ' * self.width}\r")
            sys.stderr.flush()
