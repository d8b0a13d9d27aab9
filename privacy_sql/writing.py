"""Write a release so that a kill at any point leaves the old one or none.

Order: lock the folder, write a temporary file beside the target, fsync, audit it from its own bytes, remove
the old manifest, rename, look at the bytes once more, write the manifest last. A release exists only while
its manifest verifies. A cluster writes a folder of Parquet files, which is renamed as a whole.
"""

from __future__ import annotations

import contextlib
import fcntl
import glob
import os
import secrets
import shutil
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
def only_writer(folder: Path, *, wait: bool = False) -> Iterator[None]:
    """Hold a folder for one run; a second is refused, or waits, but never interleaves. Leaves no file."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        handle = os.open(folder, os.O_RDONLY)
    except OSError as problem:
        raise unwritable(folder, problem) from None
    try:
        fcntl.flock(handle, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
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
        sweep(target)
        refuse_existing(target, overwrite=overwrite)
        temporary = target.with_name(f".{secrets.token_hex(6)}-{target.name}")
        try:
            _written(temporary, write)
            accepted = manifest.checksum(temporary)
            inspect(temporary)
            return _replace(temporary, target, accepted, overwrite, describe)
        finally:
            remove(temporary)


def remove(path: Path) -> None:
    """Take away a file, or a folder with its files; nothing when there is none."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def sweep(target: Path) -> None:
    """Remove what a killed run left beside a target; call it while the folder is held."""
    for left in target.parent.glob(f".{'[0-9a-f]' * 12}-{glob.escape(target.name)}*"):
        remove(left)


def _written(temporary: Path, write: Callable[[Path], None]) -> None:
    try:
        write(temporary)
        sync_all(temporary)
    except OSError as problem:
        raise unwritable(temporary.parent, problem) from None


def _replace(
    temporary: Path, target: Path, accepted: str, overwrite: bool, describe: Callable[[str, int], bytes]
) -> Path:
    place = manifest.manifest_path(target)
    if overwrite:
        place.unlink(missing_ok=True)
        sync(target.parent)
    with contextlib.suppress(OSError):
        _open_to_readers(temporary)
    rename(temporary, target, overwrite)
    # the bytes that were audited are the bytes that stand there now, or nothing stands there
    if manifest.checksum(target) != accepted:
        remove(target)
        raise NotSafe(
            "changed_bytes", f"{target.name} changed while it was checked", hint="Nothing was published."
        )
    try:
        write_atomically(place, describe(accepted, manifest.size(target)))
    except BaseException:
        # without its manifest it is no release, so it must not look like one
        remove(target)
        raise
    return place


def rename(temporary: Path, target: Path, overwrite: bool) -> None:
    """Give a temporary file its final name."""
    # a link refuses when the target appeared meanwhile; a rename would replace it, unless a folder
    place = os.link if temporary.is_file() and not overwrite else os.replace
    try:
        if overwrite and (temporary.is_dir() or target.is_dir()):
            remove(target)
        place(temporary, target)
    except (FileExistsError, NotADirectoryError):
        raise UsageError("target_exists", f"{target.name} exists", hint="Use --overwrite.") from None
    except OSError as problem:
        raise unwritable(target.parent, problem) from None
    remove(temporary)
    sync(target.parent)


def write_alone(path: Path, content: bytes, mode: int = 0o666) -> None:
    """Write a small file into a folder nobody holds, and remove what a killed run left of it."""
    with only_writer(path.parent, wait=True):
        sweep(path)
        write_atomically(path, content, mode)


def write_atomically(path: Path, content: bytes, mode: int = 0o666) -> None:
    """Write a small file of ours: temporary file, fsync, rename."""
    temporary = path.with_name(f".{secrets.token_hex(6)}-{path.name}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
        with os.fdopen(handle, "wb") as stream:
            stream.write(content)
        sync(temporary)
        os.replace(temporary, path)
        sync(path.parent)
    except OSError as problem:
        raise unwritable(path.parent, problem) from None
    finally:
        temporary.unlink(missing_ok=True)


def _open_to_readers(path: Path) -> None:
    """The rights a new file or folder of this user has."""
    for file in path.iterdir() if path.is_dir() else ():
        _open_to_readers(file)
    path.chmod((0o777 if path.is_dir() else 0o666) & ~_umask())


def sync_all(path: Path) -> None:
    """Make a file, or a folder with its files, survive a power cut."""
    for file in path.iterdir() if path.is_dir() else ():
        sync(file)
    sync(path)


def sync(path: Path) -> None:
    """Make a file or the entries of a folder survive a power cut."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _umask() -> int:
    mask = os.umask(0o077)
    os.umask(mask)
    return mask


def unwritable(folder: Path, problem: OSError) -> EngineError:
    reason = os.strerror(problem.errno) if problem.errno else type(problem).__name__
    return EngineError("cannot_write", f"cannot write to {folder.name or '.'}: {reason.lower()}")
