"""Report the progress of long work to a listener; only the command line has one."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, TextIO

Listener = Callable[[str, int, int], None]
_listener: ContextVar[Listener | None] = ContextVar("progress", default=None)
_stop: ContextVar[Callable[[], None]] = ContextVar("stop", default=lambda: None)


def report(task: str, done: int, total: int) -> None:
    """Tell the listener, if any, that `done` of `total` parts of a task are finished.

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
    """Show progress on stderr while the block runs, if the work takes a while: bars, or lines."""
    shows = BarProgress() if sys.stderr.isatty() else LineProgress(sys.stderr)
    token = _stop.set(shows.stop)
    try:
        with listening(shows):
            yield
    finally:
        _stop.reset(token)
        shows.stop()


def silence() -> None:
    """Show no more of this command's progress: nothing is being done until somebody wants something."""
    _stop.get()()


class LineProgress:
    """A line about the current task, for a log or a pipe: after two seconds, then every ten."""

    def __init__(self, stream: TextIO, after: float = 2, every: float = 10) -> None:
        self.stream, self.after, self.every = stream, after, every
        self.began = time.monotonic()
        self.doing = "working"
        self.stopped = threading.Event()
        self.clock = threading.Thread(target=self._tell, daemon=True)
        self.clock.start()

    def __call__(self, task: str, done: int, total: int) -> None:
        self.doing = f"{task}, {done} of {total}" if total > 1 else task

    def _tell(self) -> None:
        wait = self.after
        while not self.stopped.wait(wait):
            wait = self.every
            try:
                self.stream.write(f"{time.monotonic() - self.began:.0f} s: {self.doing}\n")
                self.stream.flush()
            except (OSError, ValueError):  # nobody reads it, and the work goes on
                return

    def stop(self) -> None:
        """Stop after the current line."""
        self.stopped.set()
        self.clock.join()


class BarProgress:
    """A bar for each task, shown by rich after the first second and removed at the end.

    Before the first report a bar without an end moves, so that one long statement also shows life.
    """

    def __init__(self, after: float = 1) -> None:
        self.bars: Any = None
        self.tasks: dict[str, Any] = {}
        self.lock = threading.Lock()
        self.clock = threading.Timer(after, self.start)
        self.clock.daemon = True
        self.clock.start()

    def __call__(self, task: str, done: int, total: int) -> None:
        with self.lock:
            if self.bars is None:
                return
            if task not in self.tasks:
                self.tasks[task] = self.bars.add_task(task, total=total)
                self.bars.update(self.tasks[""], visible=False)
            self.bars.update(self.tasks[task], completed=done, total=total)

    def start(self) -> None:
        """Show the bars; called by the timer."""
        from rich.console import Console
        from rich.progress import Progress

        with self.lock:
            if self.clock.finished.is_set():  # stopped while rich was loading
                return
            self.bars = Progress(console=Console(stderr=True), transient=True)
            self.tasks[""] = self.bars.add_task("working", total=None)
            self.bars.start()

    def stop(self) -> None:
        """Remove the bars."""
        self.clock.cancel()
        with self.lock:
            if self.bars is not None:
                self.bars.stop()
