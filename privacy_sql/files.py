"""Our own files: written completely and durably, by one run at a time. Clusters write Parquet folders."""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import secrets
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextvars import ContextVar
from pathlib import Path

from privacy_sql.display import progress
from privacy_sql.errors import EngineError, UsageError
from privacy_sql.manifest import Manifest, WrittenFile

# the folders that this run has locked, by device and number
_held: ContextVar[frozenset[tuple[int, int]]] = ContextVar("held", default=frozenset())
REPLACE = "Use --overwrite; in Python, overwrite=True."  # the hint for an existing target
KINDS = {".csv": "csv", ".parquet": "parquet"}
ENDS = ("", ".old", ".new", ".parts")  # how hidden names end, after the name of the target
PROBED = 1 << 20  # bytes that are written at once to test a disk
ESCAPED = {"formulas": "escape"}  # the manifest's entry for a CSV file that was written this way


class Escaped(type(Path())):  # type: ignore[misc]
    """Our own CSV file with apostrophes before cells that a spreadsheet would run; an engine removes them.

    Other paths to it, such as a copy as text, read the file as it is.
    """


def kind_of(target: Path) -> str:
    """The file format of a target, from its ending.

    >>> kind_of(Path("out/people.parquet"))
    'parquet'
    """
    try:
        return KINDS[target.suffix.lower()]
    except KeyError:
        raise UsageError(
            "bad_target", f"{target.name}: a release must be written as .csv or .parquet"
        ) from None


def no_place(text: str) -> str:
    """Why a text cannot be the target of a release, which must be a local path; empty if it can.

    >>> no_place("s3://bucket/people.csv"), no_place("out/people.csv")
    ('s3://bucket/people.csv is an address, but releases are written to files', '')
    """
    if re.match("[A-Za-z][A-Za-z0-9+.-]+:/|file:", text):
        return f"{text} is an address, but releases are written to files"
    if text.startswith("~"):
        return f"{text} starts with ~, which only a shell understands"
    return ""


def written(part: WrittenFile, folder: Path) -> Path:
    """The place of a release's file, by its manifest; an engine reads its cells unescaped."""
    file = folder / part.file
    return Escaped(file) if part.csv == ESCAPED else file


def places(content: Manifest, folder: Path) -> tuple[Path | str, ...]:
    """The files of a release whose manifest is in a folder, or the names of its tables."""
    files = tuple(written(part, folder) for part in content.files)
    return files or tuple(part.relation for part in content.tables)


@contextlib.contextmanager
def only_writer(folder: Path, *, wait: bool = False) -> Iterator[None]:
    """Lock a folder for one run; a second one is refused or waits, but never interleaves. Leaves no file.

    A run may lock it again, so that it can decide, spend and write in one step.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        handle = os.open(folder, os.O_RDONLY)
    except OSError as problem:
        raise unwritable(folder, problem) from None
    try:
        known = os.fstat(handle)
        own = (known.st_dev, known.st_ino)
        if own in _held.get():
            yield
            return
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if not wait:
                hint = "Wait for it, then run again."
                raise UsageError("busy", f"another run is writing to {folder.name}", hint=hint) from None
            progress.report(f"waiting for another run, which is writing to {folder.name}", 0, 1)
            fcntl.flock(handle, fcntl.LOCK_EX)
            progress.report(f"waiting for another run, which is writing to {folder.name}", 1, 1)
        token = _held.set(_held.get() | {own})
        try:
            yield
        finally:
            _held.reset(token)
    finally:
        os.close(handle)


def refuse_unwritable(sizes: Mapping[Path, int]) -> None:
    """Test by writing whether folders have room for so many bytes each, together: they may share a disk."""
    with contextlib.ExitStack() as probes:
        for folder, size in sizes.items():
            try:
                folder.mkdir(parents=True, exist_ok=True)
                probe = probes.enter_context(tempfile.TemporaryFile(dir=folder))
                for start in range(0, size, PROBED):
                    probe.write(bytes(min(PROBED, size - start)))
                probe.flush()
                os.fsync(probe.fileno())
            except OSError as problem:
                raise unwritable(folder, problem) from None


def refuse_impossible(folder: Path) -> None:
    """Refuse a folder that cannot be created or written to; leaves nothing behind."""
    there = next((place for place in (folder, *folder.parents) if os.path.lexists(place)), folder)
    try:
        with tempfile.TemporaryFile(dir=there):
            pass
    except OSError as problem:
        raise unwritable(there, problem) from None


def refuse_no_path(path: object, what: str) -> None:
    """Refuse what is not a path."""
    if not isinstance(path, (str, os.PathLike)) or isinstance(os.fspath(path), bytes) or not os.fspath(path):
        found = "an empty one" if path == "" else f"a {type(path).__name__}"
        hint = 'A path must be text, for example "out/people.csv".'
        raise UsageError("bad_argument", f"{what} must be a path, not {found}", hint=hint)


def refuse_no_folder(folder: Path, where: str) -> None:
    """Refuse a place for several files that is not a folder, or is below a file."""
    for place in (folder, *folder.parents):
        if place.is_dir():
            return
        if place.exists() or place.is_symlink():
            raise UsageError("no_folder", f"{place.name} is not a folder", where=where, hint="Name a folder.")


def remove(path: Path) -> None:
    """Remove a file, or a folder with its files, if it exists."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def hidden(target: Path, token: str) -> Path:
    """The hidden place of a target's bytes before it appears; `token` is 12 hex digits."""
    return target.with_name(f".{token}-{target.name}")


def sweep(target: Path) -> None:
    """Remove what a killed run left next to a target; call it while the folder is locked."""
    for left in hidden_in(target.parent, target.name.__eq__):
        remove(left)


def hidden_in(folder: Path, ours: Callable[[str], bool]) -> Iterator[Path]:
    """The hidden files of the targets that are `ours`: a killed run left them, or a live one writes them."""
    for each in list(folder.iterdir()) if folder.is_dir() else ():
        if re.fullmatch("[.][0-9a-f]{12}-", each.name[:14]) and any(
            each.name.endswith(end) and ours(each.name[14:].removesuffix(end)) for end in ENDS
        ):
            yield each


def write_alone(
    path: Path, content: bytes, mode: int = 0o666, admit: Callable[[], object] | None = None
) -> None:
    """Write a small file into an unlocked folder, and remove what a killed run left of it.

    `admit` raises if what has that name now may not be replaced.
    """
    with only_writer(path.parent, wait=True):
        sweep(path)
        write_atomically(path, content, mode, admit)


def change_alone(path: Path, change: Callable[[], bytes], mode: int = 0o666) -> None:
    """Write the result of `change` on a small file while nobody else can change it."""
    with only_writer(path.parent, wait=True):
        sweep(path)
        write_atomically(path, change(), mode)


def write_atomically(
    path: Path, content: bytes, mode: int = 0o666, admit: Callable[[], object] | None = None
) -> None:
    """Write our own small file: temporary file, fsync, rename.

    `admit` raises if what has that name now may not be replaced.
    """
    temporary = hidden(path, secrets.token_hex(6))
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_synced(temporary, content, mode)
        while True:
            replaces = admit is None or os.path.lexists(path)
            if admit is not None:
                admit()  # not earlier, because somebody may write there meanwhile
            if replaces:
                os.replace(temporary, path)
                break
            with contextlib.suppress(FileExistsError):  # something appeared: it must be admitted, too
                add_name(temporary, path)
                break
        sync(path.parent)
    except OSError as problem:
        raise unwritable(path.parent, problem) from None
    finally:
        temporary.unlink(missing_ok=True)


def add_name(path: Path, name: Path, *, renamed: bool = True) -> None:
    """Give a file one more name, or a folder another one, unless something has that name.

    A link fails if something appeared there meanwhile, but a rename would replace it, unless it is a folder.
    Some file systems have no links.
    """
    if path.is_file():
        try:
            os.link(path, name)
            return
        except FileExistsError:
            raise
        except OSError:
            if not renamed:
                raise
    if os.path.lexists(name):
        raise FileExistsError
    os.rename(path, name)


def write_synced(path: Path, content: bytes, mode: int = 0o666) -> None:
    """Write a new small file so that it survives a power failure."""
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    with os.fdopen(handle, "wb") as stream:
        stream.write(content)
    sync(path)


def open_to_readers(path: Path) -> None:
    """Set the default permissions of this user's new files or folders."""
    for file in path.iterdir() if path.is_dir() else ():
        if not file.is_symlink():  # it leads to a file that is not ours
            open_to_readers(file)
    mask = os.umask(0o077)
    os.umask(mask)
    path.chmod((0o777 if path.is_dir() else 0o666) & ~mask)


def sync_all(path: Path) -> None:
    """Make a file, or a folder with its files, survive a power failure."""
    for file in path.iterdir() if path.is_dir() else ():
        sync(file)
    sync(path)


def sync(path: Path) -> None:
    """Make a file or the entries of a folder survive a power failure."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def unwritable(folder: Path, problem: OSError) -> EngineError:
    reason = os.strerror(problem.errno) if problem.errno else type(problem).__name__
    return EngineError("cannot_write", f"cannot write to {folder.name or '.'}: {reason.lower()}")
