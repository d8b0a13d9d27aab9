"""Kill a process of its own at a chosen thing it does to files, or in the middle of it.

What changes a file or a folder is counted: opening to write, writing, fsync, renaming, removing, linking,
cutting short, making and removing folders, locking, and what an engine commits, where a test says so
(`committing`). A write can also be cut in half before the kill.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from typing import Any

KINDS = {
    "open": "open",
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


def arm(at: int, *, kind: str = "", torn: bool = False) -> Callable[[], int]:
    """Kill this process at its operation `at`, from 1, of one kind or of all; tells how many were done."""
    done = 0
    write, fsync = os.write, os.fsync

    def count(found: str, last_words: Callable[[], Any] = bool) -> None:
        nonlocal done
        if kind in ("", found):
            done += 1
            if done == at:
                last_words()
                os.kill(os.getpid(), signal.SIGKILL)

    def watch(event: str, given: tuple[Any, ...]) -> None:
        if event in KINDS and (event != "open" or (given[2] or 0) & CHANGES):
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
    return lambda: done


def committing(engine: Any) -> None:
    """Count the statements with which an engine makes tables appear, before and after each."""
    run = engine._run

    def counted(self: Any, query: Any, *given: Any) -> Any:
        told = query.origin in ("begin", "commit", "rename", "drop")
        if told:
            sys.audit("tests.commit")
        result = run(self, query, *given)
        if told:
            sys.audit("tests.commit")
        return result

    engine._run = counted


def killed(work: Callable[[], Any], at: int, *, torn: bool = False) -> bool:
    """Do some work in a process of its own that dies at an operation; False where it was done before that."""
    child = os.fork()
    if not child:
        code = 1
        try:
            arm(at, torn=torn)
            work()
            code = 0
        finally:
            os._exit(code)
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        return True
    assert os.WEXITSTATUS(status) == 0, "the work failed before it was killed"
    return False


def operations(work: Callable[[], Any], reset: Callable[[], Any]) -> int:
    """How many operations some work has; `reset` undoes it each time."""
    n = 0
    while True:
        n += 1
        ended = not killed(work, n)
        reset()
        if ended:
            return n - 1
