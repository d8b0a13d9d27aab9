"""Work that all workers of a run of the tests share: who asks first does it, the others read the result."""

from __future__ import annotations

import fcntl
import os
import pickle
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.engines import server


def once(name: str, make: Callable[[], Any]) -> Any:
    """What `make` returns, made by one worker of the run; made at once where no tests run."""
    run = os.environ.get(server.PLACE)
    if run is None:
        return make()
    kept = Path(run) / f"{name}.pickle"
    with (Path(run) / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not kept.exists():
            kept.write_bytes(pickle.dumps(make()))
    return pickle.loads(kept.read_bytes())


def folder(name: str) -> Path:
    """An empty folder for what `once` makes, which stays until all workers are done."""
    return Path(tempfile.mkdtemp(prefix=f"{name}_", dir=os.environ.get(server.PLACE)))
