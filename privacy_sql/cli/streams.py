"""The surroundings of the command line: streams that may be closed or full, signals, file names."""

from __future__ import annotations

import atexit
import contextlib
import io
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any, NoReturn, TextIO


def prepare() -> None:
    """Make the standard streams usable, even if the shell closed them."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        try:
            os.fstat(number)
        except OSError:
            # otherwise the next opened file gets its number, and messages would be written into it
            os.open(os.devnull, os.O_RDWR)
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "r" if name == "stdin" else "w", encoding="utf-8"))  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a name that a terminal cannot show


def in_utf8() -> None:
    """Restart this program in UTF-8 if the locale has only ASCII, because file names may need more."""
    if sys.getfilesystemencoding() == "ascii":
        os.execv(sys.executable, [sys.executable, "-X", "utf8", *sys.orig_argv[1:]])


@contextlib.contextmanager
def ending_as_interrupts(interrupt: Callable[..., Any] = signal.default_int_handler) -> Iterator[None]:
    """Treat the signals that end a program like an interrupt, so that it removes everything temporary."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before: dict[signal.Signals, Any] = {}
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is signal.SIG_DFL:  # nohup ignores it, and that stays
            before[number] = signal.signal(number, interrupt)
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        before[signal.SIGINT] = signal.signal(signal.SIGINT, interrupt)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def say(stream: TextIO, text: str) -> OSError | None:
    """Write and flush; returns a failure, and drops what could not be written."""
    try:
        stream.write(text)
        stream.flush()
    except OSError as problem:
        silence(stream)
        return problem
    return None


def silence(stream: TextIO) -> None:
    """Discard everything for a stream, so that its buffer cannot fail at the end of the program."""
    with contextlib.suppress(OSError, ValueError):  # a stream of a test has no number
        number = stream.fileno()
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, number)
        os.close(nowhere)


def leave(code: str | int | None) -> NoReturn:
    """End the program with an exit code, without taking apart every module and object first.

    That takes a fifteenth of a `run`, and the memory goes back to the machine in any case. What asked to be
    called at the end is called. A thread that still works, a stream that fails, and whoever measures the
    program need its usual end.
    """
    working = [each for each in threading.enumerate() if not each.daemon]
    watched = sys.gettrace() or sys.getprofile()
    if working != [threading.main_thread()] or watched or isinstance(code, str):
        sys.exit(code)
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError):
            sys.exit(code)
    os._exit(code or 0)
