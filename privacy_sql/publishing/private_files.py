"""Files that only the person who runs a project may read: `target/private` (0700), its files (0600).

It has the values that a hierarchy does not cover, the nearest matches of misspelt values, and a keyed hash of
each source with its key. The hash is keyed because a plain one would let somebody who knows all rows but one
guess the last. None of it is in any manifest.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import secrets
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from privacy_sql import files, manifest
from privacy_sql.engines._sources import existing
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
    """HMAC-SHA-256 of a file's bytes with the key of this project, which is created on first use.

    Of several Parquet files that are one table, of their names and hashes.
    """
    key, found = project_key(folder), {}
    members = existing(source)
    for file in members:
        made = hmac.new(key, digestmod=hashlib.sha256)
        with manifest.opened(file) as stream:
            while block := stream.read(1 << 20):
                made.update(block)
        found[file.name] = made.hexdigest()
    if members == [source]:
        return found[source.name]
    return hmac.new(key, json.dumps(found).encode(), hashlib.sha256).hexdigest()


def project_key(folder: Path) -> bytes:
    """The key of a project; it appears complete, is made once, and is never replaced."""
    place = folder / KEY
    with files.only_writer(folder, wait=True):
        files.sweep(place)
        if not os.path.lexists(place):
            made = files.hidden(place, secrets.token_hex(6))
            try:
                files.write_synced(made, secrets.token_bytes(32), 0o600)
                try:
                    # complete, and under this name only if nobody else made one
                    os.link(made, place)
                except FileExistsError:
                    pass
                except OSError:  # a file system without links; the folder is locked
                    os.rename(made, place)
            finally:
                made.unlink(missing_ok=True)
            files.sync(folder)
    with manifest.opened(place) as stream:
        key = stream.read()
    if len(key) != 32:  # never replaced: another run may be completing it, and would hash with it
        raise DataError(
            "bad_key",
            f"{KEY} is not a key of 32 bytes",
            where=f"target/private/{KEY}",
            hint="Restore or remove it while no run is going on; the next run makes a new one.",
        )
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
