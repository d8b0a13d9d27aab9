"""Write a release so that a kill at any point leaves the old one or none.

Order: lock the folder, write a temporary file beside the target, fsync, audit it from its own bytes, remove
the old manifest, rename, look at the bytes once more, write the manifest last. A release exists only while
its manifest verifies.
"""

from __future__ import annotations

import contextlib
import fcntl
import glob
import os
import secrets
from collections.abc import Callable, Iterator
from pathlib import Path

from privacy_sql import manifest
from privacy_sql.errors import EngineError, NotSafe, UsageError

KINDS = {".csv": "csv", ".parquet": "parquet"}


def kind_of(target: Path) -> str:
    """The file format of a target, from its ending.

    >>> kind_of(Path("out/people.parquet"))
    'parquet'
    """
    try:
        return KINDS[target.suffix.lower()]
    except KeyError:
        raise UsageError("bad_target", f"{target.name}: a release is written as .csv or .parquet") from None


def refuse_existing(target: Path, *, overwrite: bool) -> None:
    """Never overwrite what is there, unless asked."""
    if not overwrite and (target.exists() or manifest.manifest_path(target).exists()):
        raise UsageError("target_exists", f"{target.name} exists", where=target.name, hint="Use --overwrite.")


@contextlib.contextmanager
def only_writer(folder: Path) -> Iterator[None]:
    """Hold a folder for one run; a second run is refused instead of interleaved. Leaves no file."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        handle = os.open(folder, os.O_RDONLY)
    except OSError as problem:
        raise _unwritable(folder, problem) from None
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    except BlockingIOError:
        raise UsageError(
            "busy", f"another run is writing to {folder.name}", hint="Wait for it, then run again."
        ) from None
    finally:
        os.close(handle)


def publish_file(
    target: Path,
    *,
    overwrite: bool,
    write: Callable[[Path], None],
    inspect: Callable[[Path], None],
    describe: Callable[[str, int], bytes],
) -> Path:
    """Put a file in place after `inspect` has accepted its bytes; returns the path of its manifest."""
    with only_writer(target.parent):
        refuse_existing(target, overwrite=overwrite)
        _sweep(target)
        temporary = target.with_name(f".{secrets.token_hex(6)}-{target.name}")
        try:
            _written(temporary, write)
            accepted = manifest.checksum(temporary)
            inspect(temporary)
            return _replace(temporary, target, accepted, overwrite, describe)
        finally:
            temporary.unlink(missing_ok=True)


def _sweep(target: Path) -> None:
    """Remove what a killed run left beside the target; nobody else writes while the folder is held."""
    for left in target.parent.glob(f".{'[0-9a-f]' * 12}-{glob.escape(target.name)}*"):
        left.unlink(missing_ok=True)


def _written(temporary: Path, write: Callable[[Path], None]) -> None:
    try:
        write(temporary)
        sync(temporary)
    except OSError as problem:
        raise _unwritable(temporary.parent, problem) from None


def _replace(
    temporary: Path, target: Path, accepted: str, overwrite: bool, describe: Callable[[str, int], bytes]
) -> Path:
    place = manifest.manifest_path(target)
    if overwrite:
        place.unlink(missing_ok=True)
        sync(target.parent)
    with contextlib.suppress(OSError):
        temporary.chmod(0o666 & ~_umask())
    rename(temporary, target, overwrite)
    # the bytes that were audited are the bytes that stand there now, or nothing stands there
    if manifest.checksum(target) != accepted:
        target.unlink()
        raise NotSafe(
            "changed_bytes", f"{target.name} changed while it was checked", hint="Nothing was published."
        )
    write_atomically(place, describe(accepted, target.stat().st_size))
    return place


def rename(temporary: Path, target: Path, overwrite: bool) -> None:
    """Give a temporary file its final name."""
    # a link refuses when the target appeared meanwhile; a rename would replace it
    place = os.replace if overwrite else os.link
    try:
        place(temporary, target)
    except FileExistsError:
        raise UsageError("target_exists", f"{target.name} exists", hint="Use --overwrite.") from None
    except OSError as problem:
        raise _unwritable(target.parent, problem) from None
    temporary.unlink(missing_ok=True)
    sync(target.parent)


def write_atomically(path: Path, content: bytes) -> None:
    """Write a small file of ours: temporary file, fsync, rename."""
    temporary = path.with_name(f".{secrets.token_hex(6)}-{path.name}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary.write_bytes(content)
        sync(temporary)
        os.replace(temporary, path)
        sync(path.parent)
    except OSError as problem:
        raise _unwritable(path.parent, problem) from None
    finally:
        temporary.unlink(missing_ok=True)


def sync(path: Path) -> None:
    """Make a file or folder survive a power cut."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _umask() -> int:
    mask = os.umask(0o077)
    os.umask(mask)
    return mask


def _unwritable(folder: Path, problem: OSError) -> EngineError:
    reason = os.strerror(problem.errno) if problem.errno else type(problem).__name__
    return EngineError("cannot_write", f"cannot write to {folder.name or '.'}: {reason.lower()}")
