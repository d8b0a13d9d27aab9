"""Say how far long work has come, to whoever listens; nobody does unless the command line asks for it."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

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
    bars = _Bars()
    try:
        with listening(bars):
            yield
    finally:
        bars.stop()


class _Bars:
    """A bar per task, by rich, from the second on that the work takes; gone when it is done."""

    def __init__(self) -> None:
        self.due = time.monotonic() + 1
        self.bars: Any = None
        self.tasks: dict[str, Any] = {}

    def __call__(self, task: str, done: int, total: int) -> None:
        if time.monotonic() < self.due:
            return
        if self.bars is None:
            self.start()
        if task not in self.tasks:
            self.tasks[task] = self.bars.add_task(task, total=total)
        self.bars.update(self.tasks[task], completed=done, total=total)

    def start(self) -> None:
        from rich.console import Console
        from rich.progress import Progress

        self.bars = Progress(console=Console(stderr=True), transient=True)
        self.bars.start()

    def stop(self) -> None:
        if self.bars is not None:
            self.bars.stop()
