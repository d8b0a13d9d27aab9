"""The manifest of a release: what was published, how, from what, and checksums that find any changed byte.

Canonical bytes: JSON with sorted keys and no spare blank, one checksum over everything else. It is not a
signature. It never holds a row's value, and no unkeyed hash of the source.
"""

from __future__ import annotations

import datetime
import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from privacy_sql.errors import NotSafe

SCHEMA = 1
SUFFIX = ".manifest.json"


def manifest_path(target: Path) -> Path:
    """Where the manifest of an output file lies.

    >>> manifest_path(Path("out/people.csv")).name
    'people.csv.manifest.json'
    """
    return target.with_name(target.name + SUFFIX)


def canonical(content: Mapping[str, Any]) -> bytes:
    """The manifest's bytes, its own checksum included.

    >>> canonical({"b": 1, "a": 2}) == canonical({"a": 2, "b": 1})
    True
    """
    plain = {key: value for key, value in content.items() if key != "checksum"}
    return _dump({**plain, "checksum": hashlib.sha256(_dump(plain)).hexdigest()})


def _dump(content: Mapping[str, Any]) -> bytes:
    text = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return (text + "\n").encode()


def read(path: Path) -> dict[str, Any]:
    """A manifest whose bytes are as they were written; anything else is a difference."""
    raw = path.read_bytes()
    try:
        content = json.loads(raw)
        whole = isinstance(content, dict) and canonical(content) == raw
    except (ValueError, RecursionError):
        whole = False
    if not whole:
        raise NotSafe("manifest_changed", f"{path.name} is not as it was written", hint="Publish again.")
    found: dict[str, Any] = content
    return found


def now() -> str:
    """The time as manifests, the register and the ledger have it."""
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")


def parts(content: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The files or tables a release consists of."""
    output = content["output"]
    found: list[Mapping[str, Any]] = output.get("files") or output.get("relations") or [output]
    return found


def published(content: Mapping[str, Any]) -> str:
    """A name for what was published: the same for the same rows in the same form, whenever written."""
    told = {key: content[key] for key in ("release", "columns", "roles", "method", "output")}
    return hashlib.sha256(_dump(told)).hexdigest()


def checksum(path: Path) -> str:
    """SHA-256 of a file's bytes; of a folder, that of the names and checksums of its files."""
    if path.is_dir():
        listed = "".join(f"{file.name} {checksum(file)}\n" for file in sorted(path.iterdir()))
        return hashlib.sha256(listed.encode()).hexdigest()
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def size(path: Path) -> int:
    """The bytes of a file, or of all files of a folder."""
    return sum(map(size, path.iterdir())) if path.is_dir() else path.stat().st_size
