"""A time limit for a whole task, from its first statement on.

Between steps the task checks whether the time is up; in the middle of a statement an alarm interrupts it,
like a person at the keyboard. The alarm needs the main thread and a system with alarms; elsewhere a running
statement finishes first.
"""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import NoReturn, Protocol
from weakref import WeakSet

from privacy_sql.errors import Undecided, ended

GRACE = 0.5  # seconds in which a step that checks the time may stop by itself


@dataclass
class Deadline:
    """The end of the time, and whether the alarm has interrupted anything."""

    seconds: float
    end: float
    armed: bool = False
    rang: bool = False

    @property
    def over(self) -> bool:
        return time.monotonic() > self.end

    def ring(self, *_: object) -> None:
        """The action of the alarm, once."""
        if self.armed:
            self.armed, self.rang = False, True
            interrupt()


class Interruptible(Protocol):
    """A connection whose statement would go on after an interrupt of the program."""

    def interrupt(self) -> None: ...


_connections: WeakSet[Interruptible] = WeakSet()


def watch(connection: Interruptible) -> None:
    """Also interrupt this connection when the alarm rings, as long as somebody holds it."""
    _connections.add(connection)


def end(*_: object) -> NoReturn:
    """The action of a signal that ends the program; later failures may come from it."""
    ended.set()
    interrupt()


def interrupt() -> NoReturn:
    """Stop what runs, even in the middle of a statement."""
    for connection in list(_connections):
        connection.interrupt()
    raise KeyboardInterrupt


_current: ContextVar[Deadline | None] = ContextVar("deadline", default=None)


@contextmanager
def within(seconds: float | None, what: str = "the work") -> Iterator[None]:
    """Interrupt the block when the time is up and raise Undecided; the outermost limit applies.

    >>> with within(None):
    ...     reason() is None
    True
    """
    if seconds is None or _current.get() is not None:
        yield
        return
    deadline = Deadline(seconds, time.monotonic() + seconds)
    token = _current.set(deadline)
    try:
        with _alarm(deadline):
            yield
    except KeyboardInterrupt:
        if not deadline.rang:
            raise
        hint = "Raise the limit, or use fewer quasi-identifiers or levels."
        told = f"the time limit of {seconds:g} s passed before anything was decided about {what}"
        raise Undecided("undecided", told, hint=hint) from None
    finally:
        _current.reset(token)


@contextmanager
def _alarm(deadline: Deadline) -> Iterator[None]:
    here = threading.current_thread() is threading.main_thread() and os.name == "posix"
    if not here or signal.getsignal(signal.SIGALRM) is not signal.SIG_DFL:  # somebody else's alarm
        yield
        return
    signal.signal(signal.SIGALRM, deadline.ring)
    deadline.armed = True
    try:
        signal.setitimer(signal.ITIMER_REAL, deadline.seconds + GRACE)
        yield
    finally:
        deadline.armed = False  # a late alarm finds nothing to interrupt
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, signal.SIG_DFL)


def reason() -> str | None:
    """Why the work must stop, in words, or None to go on."""
    deadline = _current.get()
    return "time limit" if deadline is not None and (deadline.rang or deadline.over) else None


def finished() -> None:
    """The result is known, and no alarm interrupts writing it."""
    deadline = _current.get()
    if deadline is not None:
        deadline.armed = False


def stopped() -> bool:
    """Whether the alarm has rung, or somebody has ended the program."""
    return rang() or ended.is_set()


def rang() -> bool:
    """Whether the last interrupt came from the alarm and not from a person."""
    deadline = _current.get()
    return deadline is not None and deadline.rang
