"""Private folders for what does not fit into memory, removed at exit or swept at the next start."""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import shutil
import tempfile
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any

PREFIX = "privacy_sql-"
# marks every such folder; a folder of that name without it is somebody else's, such as an unpacked archive
MARK = ".privacy_sql_spill"


def private_folder(owner: object) -> tuple[Path, Callable[[], Any]]:
    """A 0700 folder for spill files, and a function to remove it, which also runs at exit or with its owner.

    It is locked while its process lives, because a lock ends with a killed process and process numbers are
    reused.
    """
    while True:
        made = Path(tempfile.mkdtemp(prefix=PREFIX))
        try:
            handle = os.open(made, os.O_RDONLY)
        except FileNotFoundError:  # another process swept it before it was opened
            continue
        fcntl.flock(handle, fcntl.LOCK_EX)
        leaving = contextlib.ExitStack()
        leaving.callback(os.close, handle)
        leaving.callback(shutil.rmtree, made, ignore_errors=True)
        leave = weakref.finalize(owner, leaving.close)
        with contextlib.suppress(FileNotFoundError):  # another process swept it before it was locked
            (made / MARK).touch(mode=0o600)
            return made, leave


def sweep() -> None:
    """Remove private folders left by runs that were killed."""
    for left in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        with contextlib.suppress(OSError):
            # links are not followed, and the folder of a live process is locked
            handle = os.open(left, os.O_RDONLY | os.O_NOFOLLOW | os.O_DIRECTORY)
            try:
                if os.fstat(handle).st_uid == os.getuid():
                    fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    if (left / MARK).is_file():
                        shutil.rmtree(left, ignore_errors=True)
                    elif re.fullmatch("[a-z0-9_]{8}", left.name.removeprefix(PREFIX)):
                        left.rmdir()  # killed before it was marked: remove it only if it is empty
            finally:
                os.close(handle)
