"""Files that only the person who runs a project may read: `target/private` (0700), its files (0600).

It has the values that a hierarchy does not cover, the nearest matches of misspelt values, and a keyed hash of
each source with its key. The hash is keyed because a plain one would let somebody who knows all rows but one
guess the last. None of it is in any manifest.
"""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import json
import os
import secrets
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from privacy_sql import files
from privacy_sql.errors import DataError

KEY = "source.key"
HASHES = "sources.json"
UNMAPPED = "unmapped.csv"
NEAREST = "nearest.csv"


def private(directory: Path) -> Path:
    """`target/private` of a project, readable only by this user."""
    folder = directory / "target" / "private"
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        folder.chmod(0o700)
    except OSError as problem:
        raise files.unwritable(folder, problem) from None
    return folder


def source_hash(folder: Path, source: Path) -> str:
    """HMAC-SHA-256 of a file's bytes with the key of this project, which is created on first use."""
    made = hmac.new(_key(folder), digestmod=hashlib.sha256)
    with source.open("rb") as stream:
        while block := stream.read(1 << 20):
            made.update(block)
    return made.hexdigest()


def _key(folder: Path) -> bytes:
    place = folder / KEY
    with contextlib.suppress(FileExistsError):
        handle = os.open(place, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "wb") as stream:
            stream.write(secrets.token_bytes(32))
    key = place.read_bytes()
    if len(key) != 32:  # a run was killed while writing the key, so nothing was hashed with it
        place.unlink()
        return _key(folder)
    return key


def hashes(folder: Path) -> dict[str, Any]:
    """The keyed hash of the source of each release; refused if the list has changed since it was written.

    This runs before anything is published, so that a damaged list does not leave a release half recorded.
    """
    place = folder / HASHES
    if not place.is_file():
        return {}
    try:
        known = json.loads(place.read_bytes())
    except (ValueError, RecursionError):
        known = None
    except OSError as problem:
        raise files.unwritable(folder, problem) from None
    if not isinstance(known, dict):
        raise DataError(
            "bad_hashes",
            f"{HASHES} has changed since it was written",
            where=f"target/private/{HASHES}",
            hint="Restore or remove it; it only says which source each release was made from.",
        )
    return known


def keep_hash(folder: Path, release: str, source: Path, digest: str) -> None:
    """Store the keyed hash of the source of a release."""
    place = folder / HASHES

    def added() -> bytes:
        known = hashes(folder)
        known[release] = {"file": source.name, "hmac_sha256": digest}
        return f"{json.dumps(known, indent=1, sort_keys=True, ensure_ascii=False)}\n".encode()

    files.change_alone(place, added, mode=0o600)


def keep_listed(folder: Path, name: str, lines: Sequence[bytes], *, fresh: bool) -> None:
    """Add lines to a list of values; a new list starts with the header."""
    place = folder / name
    if fresh:
        place.unlink(missing_ok=True)
    handle = os.open(place, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    with os.fdopen(handle, "ab") as stream:
        stream.writelines(lines if fresh else lines[1:])
