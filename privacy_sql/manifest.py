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
from typing import Any, Literal, NotRequired, TypedDict

from privacy_sql.errors import NotSafe

SCHEMA = 1
SUFFIX = ".manifest.json"
PerPerson = Literal["one", "set", "multiset"]


# what a published column shows, beside a level of its hierarchy, the cover of boxes, or its role alone
GROUP_NUMBER, AS_IT_IS, LEVEL = "group number", "as it is", "level "


class Column(TypedDict):
    """A published column, and what it shows: a level, as it is, the number of a group."""

    name: str
    published_as: str


class Labels(TypedDict):
    """The levels of a hierarchy, and what changes when one of its labels does."""

    levels: list[str]
    checksum: str


class Manifest(TypedDict):
    """The record of a release that leaves with it: `api.describe` writes it, whoever reads one reads this."""

    schema: int
    release: str
    made: str
    versions: Mapping[str, str]
    rows_in: int | None  # None: how many rows the counts are made from is nobody's business
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
    parts: NotRequired[Mapping[str, str]]  # where several tables leave together
    rehearsal: str | None
    signoff: NotRequired[Mapping[str, Any]]  # since 0.2.0, where a project says for whom and why
    determination: NotRequired[Mapping[str, str]]  # since 0.2.0, where a project says which limit holds
    output: Mapping[str, Any]
    checksum: NotRequired[str]  # over all of the above


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


def read(path: Path) -> Manifest:
    """A manifest whose bytes are as they were written; anything else is a difference."""
    raw = path.read_bytes()
    try:
        content = json.loads(raw)
        whole = isinstance(content, dict) and canonical(content) == raw
    except (ValueError, RecursionError):
        whole = False
    if not whole:
        raise NotSafe("manifest_changed", f"{path.name} is not as it was written", hint="Publish again.")
    found: Manifest = content
    return found


def now() -> str:
    """The time as manifests, the register and the ledger have it."""
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")


def at_level(level: int) -> str:
    """What a column shows at a level of its hierarchy; `level_in` reads it back.

    >>> at_level(2), level_in("level 2"), level_in(at_level(0)), level_in("group number")
    ('level 2', 2, 0, None)
    """
    return f"{LEVEL}{level}" if level else AS_IT_IS


def level_in(shown_as: str) -> int | None:
    """The level a column is shown at, if it is shown at one."""
    if shown_as == AS_IT_IS:
        return 0
    return int(shown_as.removeprefix(LEVEL)) if shown_as.startswith(LEVEL) else None


def shown(content: Manifest) -> dict[str, str]:
    """Every published column with what it shows, in their order."""
    return {column["name"]: column["published_as"] for column in content["columns"]}


def group_column(content: Manifest) -> str | None:
    """The column that numbers the groups, if there is one."""
    return next((name for name, form in shown(content).items() if form == GROUP_NUMBER), None)


def in_role(content: Manifest, role: str) -> list[str]:
    """The published columns of a role."""
    return [name for name in shown(content) if content["roles"].get(name) == role]


def parts(content: Manifest) -> list[Mapping[str, Any]]:
    """The files or tables a release consists of."""
    output = content["output"]
    found: list[Mapping[str, Any]] = output.get("files") or output.get("relations") or [output]
    return found


def published(content: Manifest) -> str:
    """A name for what was published: the same for the same rows in the same form, whenever written."""
    whole: Mapping[str, Any] = content
    told = {key: whole[key] for key in ("release", "columns", "roles", "method", "output")}
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
