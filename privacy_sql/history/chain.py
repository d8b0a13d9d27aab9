"""An append-only file of records, each bound to the one before it by a hash.

The budget ledger and the release register are chains. Every read finds changed, removed or reordered records.
Only somebody who rewrites the file and its head together goes unnoticed, because the hash is not a signature.
A record is on disk before `append` returns, so later steps may rely on it.

A kill or a full disk leaves one of three things: an incomplete line, which nobody has relied on; a record
that the head does not include yet; or a spare `.head.new`. Opening the chain to append repairs these first,
so that two kills never add up to what only a change from outside can leave: a head further behind, or ahead
of the records.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from privacy_sql.errors import DataError, EngineError
from privacy_sql.files import sync, unwritable
from privacy_sql.manifest import opened

START = "0" * 64
# the first bytes of every chain
BEGINS = b'{"hash":"'
# heads of version 0.1.0 have no format; they were never repaired, so two kills leave them two records behind
FORMAT = 2
Record = Mapping[str, Any]


@dataclass
class Chain:
    """The chain in one file. `<path>.head` repeats the last hash, so that a shortened file is found, too."""

    path: Path
    _held: bool = field(default=False, repr=False)

    @property
    def head(self) -> Path:
        """The file with the number and the hash of the last record."""
        return self.path.with_name(f"{self.path.name}.head")

    @property
    def _lock_file(self) -> Path:
        return self.path.with_name(f"{self.path.name}.lock")

    def read(self) -> list[Record]:
        """All records, oldest first, after checking every link; a missing chain is empty."""
        try:
            if not self.path.exists() and not self.head.exists():
                return []
            with _lock(self._lock_file, shared=True):
                links = self._checked()
        except OSError as problem:
            reason = problem.strerror or type(problem).__name__
            raise EngineError("cannot_read", f"cannot read {self.path.name}: {reason.lower()}") from None
        return [link["record"] for link in links]

    def _checked(self) -> list[dict[str, Any]]:
        links = self._links()
        if self.head.exists():
            head = _parse(_content(self.head)) or {}
            behind = 1 if head.pop("format", None) == FORMAT else 2
            if head not in [_summary(link) for link in links[-1 - behind :]]:
                told = "its head does not belong to its last records, or records are missing"
                raise _tampered(self.path, told)
        elif len(links) > 1:  # a kill between the first record and its head leaves exactly one record
            raise _tampered(self.path, "its head is missing")
        return links

    @contextmanager
    def locked(self) -> Iterator[list[Record]]:
        """Lock out every other process while reading the records and appending to them."""
        with contextlib.ExitStack() as held:
            with _writing(self.path):
                self.path.parent.mkdir(parents=True, exist_ok=True)
                held.enter_context(_lock(self._lock_file))
                links = self._checked()
                self._mend(links)
            self._held = True
            try:
                yield [link["record"] for link in links]
            finally:
                self._held = False

    def append(self, record: Record) -> None:
        """Add one record; allowed only inside `locked`."""
        if not self._held:
            raise RuntimeError("append needs the lock: use `with chain.locked()`")
        links = self._links()
        link = _link(len(links), links[-1]["hash"] if links else START, record)
        with _writing(self.path):
            _write_synced(self.path, _text(link) + "\n", os.O_APPEND)
            self._write_head(link)

    def _links(self) -> list[dict[str, Any]]:
        links: list[dict[str, Any]] = []
        previous = START
        for number, line in enumerate(self._lines()):
            link = _parse(line)
            if link is None or line != _text(_link(number, previous, link.get("record"))):
                raise _tampered(self.path, f"record {number + 1} does not follow from the one before")
            previous = link["hash"]
            links.append(link)
        return links

    def _lines(self) -> list[str]:
        # nobody acted on what a killed process left after the last line end
        return _content(self.path).split("\n")[:-1]

    def _mend(self, links: list[dict[str, Any]]) -> None:
        """Repair what a kill left, before adding anything."""
        whole = sum(len(line.encode()) + 1 for line in self._lines())
        if self.path.exists() and whole < self.path.stat().st_size:
            rest = self.path.read_bytes()[whole:].rstrip(b"\0")  # a power failure may leave these
            if not rest.startswith(BEGINS) and not BEGINS.startswith(rest):
                raise _tampered(self.path, "the text after its last record is not an incomplete record")
            os.truncate(self.path, whole)
        if links and _parse(_content(self.head)) != _head(links[-1]):
            # the record may also lack its fsync
            sync(self.path)
            self._write_head(links[-1])

    def _write_head(self, link: Record) -> None:
        fresh = self.head.with_name(f"{self.head.name}.new")
        fresh.unlink(missing_ok=True)
        _write_synced(fresh, _text(_head(link)), os.O_EXCL)
        fresh.replace(self.head)
        sync(self.path.parent)


def _link(number: int, previous: str, record: Mapping[str, Any] | None) -> dict[str, Any]:
    body = {"number": number, "previous": previous, "record": record}
    return {**body, "hash": hashlib.sha256(_text(body).encode()).hexdigest()}


def _head(link: Record) -> dict[str, Any]:
    return {**_summary(link), "format": FORMAT}


def _summary(link: Record) -> dict[str, Any]:
    return {"hash": link["hash"], "number": link["number"]}


def _text(value: Mapping[str, Any]) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def _content(path: Path) -> str:
    # bytes that are not text become marks that no record has, so the chain is refused, not the read
    if not path.exists():
        return ""
    with opened(path) as stream:
        return stream.read().decode("utf-8", "replace")


def _parse(line: str) -> dict[str, Any] | None:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _tampered(path: Path, what: str) -> DataError:
    return DataError(
        "tampered_chain",
        f"{path.name} was changed from outside: {what}",
        hint="Restore it from a backup; nothing that depends on it can be published until then.",
    )


@contextmanager
def _writing(path: Path) -> Iterator[None]:
    """Report a full or read-only disk as a fault of the machine."""
    try:
        yield
    except OSError as problem:
        raise unwritable(path.parent, problem) from None


def _write_synced(path: Path, text: str, flag: int) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | flag, 0o600)
    try:
        data = text.encode()
        while data:
            data = data[os.write(descriptor, data) :]
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def _lock(path: Path, *, shared: bool = False) -> Iterator[None]:
    try:
        import fcntl
    except ImportError:
        raise EngineError(
            "no_file_locks", "this system has no file locks, so processes cannot share a chain safely"
        ) from None
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    except OSError:
        if not shared:
            raise
        # a read-only folder: lock what is there, because nobody can write there either
        descriptor = os.open(path if path.exists() else path.parent, os.O_RDONLY)
    try:
        # the system releases the lock when the process ends, however it ends
        fcntl.flock(descriptor, fcntl.LOCK_SH if shared else fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
