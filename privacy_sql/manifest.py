"""The manifest of a release: what was published, how, from what, and checksums that reveal any changed byte.

Its bytes are canonical: JSON with sorted keys, no extra spaces, and one checksum over everything else. It is
not a signature. It never has a value of a row, or an unkeyed hash of the source.
"""

from __future__ import annotations

import datetime
import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, NotRequired, TypedDict

from privacy_sql.errors import NotSafe

SCHEMA = 1
SUFFIX = ".manifest.json"
PerPerson = Literal["one", "set", "multiset"]


# what a published column shows, besides a level of its hierarchy, the range of boxes, or only its role
GROUP_NUMBER, AS_IT_IS, LEVEL = "group number", "as it is", "level "


class Column(TypedDict):
    """A published column, and what it shows: a level, unchanged values, or the number of a group."""

    name: str
    published_as: str


class Labels(TypedDict):
    """The levels of a hierarchy, and a checksum of its labels."""

    levels: list[str]
    checksum: str


class Manifest(TypedDict):
    """The record published with a release; `api.describe` writes it."""

    schema: int
    release: str
    made: str
    versions: Mapping[str, str]
    rows_in: int | None  # None: the number of rows behind the counts is secret
    rows_out: int
    suppressed: int | None
    repeated: int
    rows_rounded_to: NotRequired[int | None]  # since 0.2.0
    columns: list[Column]
    roles: Mapping[str, str]
    where: str | None
    values_per_person: PerPerson
    hierarchies: Mapping[str, Labels]
    method: str
    choice: Mapping[str, Any]
    search: Mapping[str, Any] | None
    verdicts: list[dict[str, Any]]
    baseline: Mapping[str, Any] | None
    insensitive: NotRequired[Mapping[str, Any]]  # since 0.2.0
    claims: Mapping[str, str]
    sql: str
    parts: NotRequired[Mapping[str, str]]  # for several tables published together
    rehearsal: str | None
    signoff: NotRequired[Mapping[str, Any]]  # since 0.2.0, where a project says for whom and why
    determination: NotRequired[Mapping[str, str]]  # since 0.2.0, where a project says which limit holds
    output: Mapping[str, Any]
    checksum: NotRequired[str]  # over everything above


def manifest_path(target: Path) -> Path:
    """The path of an output file's manifest.

    >>> manifest_path(Path("out/people.csv")).name
    'people.csv.manifest.json'
    """
    return target.with_name(target.name + SUFFIX)


def canonical(content: Mapping[str, Any]) -> bytes:
    """The manifest's bytes, including its own checksum.

    >>> canonical({"b": 1, "a": 2}) == canonical({"a": 2, "b": 1})
    True
    """
    plain = dict(content)
    plain.pop("checksum", None)
    return _dump({**plain, "checksum": hashlib.sha256(_dump(plain)).hexdigest()})


def _dump(content: Mapping[str, Any]) -> bytes:
    text = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return (text + "\n").encode()


def read(path: Path) -> Manifest:
    """Read a manifest; raises if any byte has changed."""
    raw = path.read_bytes()
    try:
        content = json.loads(raw)
        whole = isinstance(content, dict) and canonical(content) == raw
    except (ValueError, RecursionError):
        whole = False
    if not whole:
        raise NotSafe(
            "manifest_changed",
            f"{path.name} has changed since it was written",
            hint="Restore it, or publish again.",
        )
    found: Manifest = content
    return found


def now() -> str:
    """The current time in the format of manifests, the register and the ledger."""
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")


def at_level(level: int) -> str:
    """The text for a level of a column; `level_in` reads it back.

    >>> at_level(2), level_in("level 2"), level_in(at_level(0)), level_in("group number")
    ('level 2', 2, 0, None)
    """
    return f"{LEVEL}{level}" if level else AS_IT_IS


def level_in(shown_as: str) -> int | None:
    """The level that a column shows, if it shows one."""
    if shown_as == AS_IT_IS:
        return 0
    return int(shown_as.removeprefix(LEVEL)) if shown_as.startswith(LEVEL) else None


def shown(content: Manifest) -> dict[str, str]:
    """Every published column with what it shows, in order."""
    return {column["name"]: column["published_as"] for column in content["columns"]}


def group_column(content: Manifest) -> str | None:
    """The column that numbers the groups, if there is one."""
    return next((name for name, form in shown(content).items() if form == GROUP_NUMBER), None)


def in_role(content: Manifest, role: str) -> list[str]:
    """The published columns of a role."""
    return [name for name in shown(content) if content["roles"].get(name) == role]


def parts(content: Manifest) -> list[Mapping[str, Any]]:
    """The files or tables of a release."""
    output = content["output"]
    found: list[Mapping[str, Any]] = output.get("files") or output.get("relations") or [output]
    return found


def published(content: Manifest) -> str:
    """An identifier of what was published: the same for the same rows in the same form."""
    whole: Mapping[str, Any] = content
    told = {key: whole[key] for key in ("release", "columns", "roles", "method", "output")}
    return hashlib.sha256(_dump(told)).hexdigest()


def checksum(path: Path) -> str:
    """SHA-256 of a file's bytes, or of the names and checksums of a folder's files."""
    if path.is_dir():
        listed = "".join(f"{file.name} {checksum(file)}\n" for file in sorted(path.iterdir()))
        return hashlib.sha256(listed.encode()).hexdigest()
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def size(path: Path) -> int:
    """The bytes of a file, or of all files of a folder."""
    return sum(map(size, path.iterdir())) if path.is_dir() else path.stat().st_size
