"""The private folder of a run: readable by this user alone, gone when the run ends, swept when it was killed."""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from pathlib import Path

PREFIX = "privacy_sql-"
LOCK = "in_use"


class PrivateFolder:
    """A folder (0700) held by a lock, which the kernel lets go of however the process ends.

    A process number would not do: the folder may lie where processes of other containers look.
    """

    def __init__(self) -> None:
        made = Path(tempfile.mkdtemp(prefix="making_privacy_sql-"))
        self._lock = os.open(made / LOCK, os.O_CREAT | os.O_RDWR, 0o600)
        fcntl.flock(self._lock, fcntl.LOCK_EX)
        # it gets the name that is swept only once it is held
        self.path = made.rename(made.with_name(made.name.removeprefix("making_")))

    def remove(self) -> None:
        """Take the folder away; may be called again."""
        shutil.rmtree(self.path, ignore_errors=True)
        if self._lock >= 0:
            os.close(self._lock)
            self._lock = -1


def sweep() -> None:
    """Remove private folders of runs that were killed: those that nobody holds."""
    for left in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        try:
            if left.is_symlink() or left.stat().st_uid != os.getuid():
                continue
            lock = os.open(left / LOCK, os.O_RDWR)
        except OSError:
            continue
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(left, ignore_errors=True)
        except BlockingIOError:
            pass
        finally:
            os.close(lock)
