"""Kill a process of its own at a chosen thing it does to files, or in the middle of it.

What changes a file or a folder is counted: opening to write, writing, fsync, renaming, removing, linking,
cutting short, making and removing folders, locking, and what an engine commits, where a test says so
(`committing`). A write can also be cut in half before the kill.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from collections import Counter
from collections.abc import Callable
from typing import Any

KINDS = {
    "os.rename": "rename",
    "os.remove": "unlink",
    "os.link": "link",
    "os.truncate": "truncate",
    "os.mkdir": "mkdir",
    "os.rmdir": "unlink",
    "os.chmod": "chmod",
    "fcntl.flock": "lock",
    "tests.commit": "commit",
}
CHANGES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND


def arm(at: int, *, kind: str = "", torn: bool = False) -> Counter[str]:
    """Kill this process at its operation number `at`, from 1, of one kind or of all; counts what is done."""
    done: Counter[str] = Counter()
    write, fsync = os.write, os.fsync

    def count(found: str, last_words: Callable[[], Any] = bool) -> None:
        done[found] += 1
        if (done[kind] if kind else done.total()) == at and kind in ("", found):
            last_words()
            os.kill(os.getpid(), signal.SIGKILL)

    def watch(event: str, given: tuple[Any, ...]) -> None:
        if event == "open":
            flags = given[2] or 0
            if flags & CHANGES:
                count("append" if flags & os.O_APPEND else "open")
        elif event in KINDS:
            count(KINDS[event])

    def written(handle: int, data: bytes) -> int:
        half = bytes(data)[: len(data) // 2] if torn else b""
        count("write", lambda: write(handle, half))
        return write(handle, data)

    def synced(handle: int) -> None:
        count("fsync")
        fsync(handle)

    os.write, os.fsync = written, synced  # type: ignore[assignment]
    sys.addaudithook(watch)
    return done


def committing(engine: Any) -> None:
    """Count the statements with which an engine makes tables appear, before and after each."""
    name = "_run" if hasattr(engine, "_run") else "_sql"
    run = getattr(engine, name)

    def counted(self: Any, query: Any, *given: Any) -> Any:
        origin = given[0] if name == "_sql" else query.origin
        # where there are no transactions a table is there as soon as it is written
        told = origin in ("begin", "commit", "hold", "rename", "drop") or str(query).startswith(
            "create table"
        )
        if told:
            sys.audit("tests.commit")
        result = run(self, query, *given)
        if told:
            sys.audit("tests.commit")
        return result

    setattr(engine, name, counted)


def apart(work: Callable[[], Any]) -> int:
    """Do some work in a process of its own; the signal that ended it, or 0."""
    child = os.fork()
    if not child:
        code = 1
        try:
            work()
            code = 0
        finally:
            os._exit(code)
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        return os.WTERMSIG(status)
    assert os.WEXITSTATUS(status) == 0, "the work failed before it was killed"
    return 0


def killed(work: Callable[[], Any], at: int, *, kind: str = "", torn: bool = False) -> bool:
    """Do some work in a process that dies at an operation; False where it was done before that."""

    def armed() -> None:
        arm(at, kind=kind, torn=torn)
        work()

    return apart(armed) == signal.SIGKILL


def counted(work: Callable[[], Any]) -> Counter[str]:
    """How many operations of each kind some work has, done in a process of its own."""
    reading, writing = os.pipe()
    write = os.write

    def armed() -> None:
        done = arm(-1)
        work()
        write(writing, json.dumps(done).encode())

    assert apart(armed) == 0
    os.close(writing)
    with os.fdopen(reading) as told:
        return Counter(json.load(told))


def operations(work: Callable[[], Any], reset: Callable[[], Any]) -> int:
    """How many operations some work has; `reset` undoes it."""
    n = counted(work).total()
    reset()
    return n
