"""The manifest of a release: what was published, how, from what, and checksums that reveal any changed byte.

Its bytes are canonical: JSON with sorted keys, no extra spaces, and one checksum over everything else. It is
not a signature. It never has a value of a row, or an unkeyed hash of the source.

`Manifest` is the one list of its fields. `api.describe` makes it of a release, `to_bytes` writes it, and
`read` gives the same record back.
"""

from __future__ import annotations

import contextlib
import datetime
import errno
import hashlib
import json
import os
import re
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, field, fields
from functools import cache
from io import BufferedReader
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Literal, Self, get_args, get_origin, get_type_hints

from privacy_sql.errors import NotSafe

SCHEMA = 1
SUFFIX = ".manifest.json"
PerPerson = Literal["one", "set", "multiset"]


# what a published column shows, besides a level of its hierarchy, the range of boxes, or only its role
GROUP_NUMBER, AS_IT_IS, LEVEL = "group number", "as it is", "level "

WORDS = {int: "a whole number", float: "a number", str: "text", bool: "true or false", NoneType: "null"}


@dataclass(frozen=True, kw_only=True)
class Record:
    """Named fields, as they are written to JSON and read back.

    A field with a default is younger than version 0.1.0, or rare: no version writes the default, and what is
    not there reads as it. Fields that a newer version adds are kept.
    """

    beyond: Mapping[str, Any] = field(default_factory=dict, repr=False)

    def to_json(self) -> dict[str, Any]:
        """The fields as JSON has them."""
        found = vars(self)
        known = self.declared().items()
        written = {name: plain(found[name]) for name, (_, default) in known if found[name] != default}
        return dict(sorted({**written, **self.beyond}.items()))

    @classmethod
    def of_json(cls, content: Mapping[str, Any], where: str = "") -> Self:
        """A record of these fields; a ValueError names the field that is missing or of another type."""
        known = cls.declared()
        found: dict[str, Any] = {}
        for name, (kind, default) in known.items():
            if name in content:
                found[name] = _read_as(kind, content[name], f"{where}{name}")
            elif default is MISSING:
                raise ValueError(f'has no "{where}{name}"')
        beyond = {name: value for name, value in content.items() if name not in known}
        return cls(**found, beyond=beyond)

    @classmethod
    @cache
    def declared(cls) -> dict[str, tuple[object, object]]:
        """The types and the defaults of the fields."""
        types = get_type_hints(cls)
        return {
            each.name: (
                types[each.name],
                each.default if each.default_factory is MISSING else each.default_factory(),
            )
            for each in fields(cls)
            if each.name != "beyond"
        }


def plain(value: object) -> object:
    """A value of a record as JSON has it.

    >>> plain(({"levels": (1, 2)},))
    [{'levels': [1, 2]}]
    """
    if isinstance(value, Record):
        return value.to_json()
    if isinstance(value, Mapping):
        return {str(key): plain(part) for key, part in value.items()}
    return [plain(part) for part in value] if isinstance(value, list | tuple) else value


def _read_as(kind: object, value: object, where: str) -> object:
    """A value as the type of its field; a ValueError says what it is not, and never shows it."""
    of, inner = get_origin(kind), get_args(kind)
    if kind is Any or kind is type(value) or (kind is float and type(value) is int):
        return value
    if of is Literal and value in inner:
        return value
    if of is UnionType:
        for each in inner:
            with contextlib.suppress(ValueError):
                return _read_as(each, value, where)
    if of is Mapping and isinstance(value, dict):
        return {key: _read_as(inner[1], part, f"{where}.{key}") for key, part in value.items()}
    if of is tuple and isinstance(value, list):
        return tuple(_read_as(inner[0], part, f"{where}[{n}]") for n, part in enumerate(value))
    if isinstance(kind, type) and issubclass(kind, Record) and isinstance(value, dict):
        return kind.of_json(value, f"{where}.")
    raise ValueError(f'"{where}" is not {_in_words(kind)}')


def _in_words(kind: object) -> str:
    """What a field is, for an error.

    >>> _in_words(int | None)
    'a whole number or null'
    """
    if get_origin(kind) is UnionType:
        return " or ".join(dict.fromkeys(map(_in_words, get_args(kind))))
    if get_origin(kind) is Literal:
        return " or ".join(map(str, get_args(kind)))
    if get_origin(kind) is tuple:
        return "a list"
    return WORDS[kind] if isinstance(kind, type) and kind in WORDS else "an object with its fields"


@dataclass(frozen=True, kw_only=True)
class Versions(Record):
    """What made a release."""

    privacy_sql: str
    engine: str


@dataclass(frozen=True, kw_only=True)
class Column(Record):
    """A published column, and what it shows: a level, unchanged values, or the number of a group."""

    name: str
    published_as: str


@dataclass(frozen=True, kw_only=True)
class Labels(Record):
    """The levels of a hierarchy, and a checksum of its labels."""

    levels: tuple[str, ...]
    checksum: str


@dataclass(frozen=True, kw_only=True)
class PublishedVerdict(Record):
    """A verdict as everybody may know it (`public_record.verdict`)."""

    requirement: str
    criterion: str
    params: Mapping[str, Any]
    safe: bool
    value: str | None
    value_float: float | None
    limit: str | None
    relation: str
    exact: bool
    witness: Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class WrittenFile(Record):
    """A published file, or a folder of files, and the checksum of its bytes."""

    file: str
    sha256: str
    bytes: int
    csv: Mapping[str, str] | None = None  # how cells that a spreadsheet would run were written

    @property
    def name(self) -> str:
        """Its name, beside the manifest."""
        return self.file


@dataclass(frozen=True, kw_only=True)
class WrittenTable(Record):
    """A published table, its number of rows, and a checksum of its rows in any order."""

    relation: str
    n_rows: int
    h1: int
    h2: int
    h3: int
    h4: int
    h5: int
    h6: int
    h7: int
    h8: int

    @property
    def name(self) -> str:
        """Its name, in the database of the release."""
        return self.relation

    @property
    def fingerprint(self) -> dict[str, int]:
        """As `counted.fingerprints` gives it."""
        return {name: value for name, value in self.to_json().items() if name != "relation"}


@dataclass(frozen=True, kw_only=True)
class WrittenFiles(Record):
    """Several files that were published together."""

    files: tuple[WrittenFile, ...]


@dataclass(frozen=True, kw_only=True)
class WrittenTables(Record):
    """Several tables that were published together."""

    relations: tuple[WrittenTable, ...]


Output = WrittenFile | WrittenTable | WrittenFiles | WrittenTables


@dataclass(frozen=True, kw_only=True)
class Manifest(Record):
    """The record published with a release; `api.describe` makes it."""

    schema: int
    release: str
    made: str
    versions: Versions
    rows_in: int | None  # None: the number of rows behind the counts is secret
    rows_out: int
    suppressed: int | None
    columns: tuple[Column, ...]
    roles: Mapping[str, str]
    where: str | None
    values_per_person: PerPerson
    hierarchies: Mapping[str, Labels]
    method: str
    choice: Mapping[str, Any]
    search: Mapping[str, Any] | None
    verdicts: tuple[PublishedVerdict, ...]
    claims: Mapping[str, str]
    sql: str
    rehearsal: str | None
    output: Output
    parts: Mapping[str, str] = field(default_factory=dict)  # the SQL of several tables published together
    # since 0.2.0
    repeated: int | None = None  # None: not said
    rows_rounded_to: int | None = 0  # None: there is nothing to round; 0: not rounded, nor said
    baseline: Mapping[str, Any] | None = field(default_factory=dict)  # empty: not said
    insensitive: Mapping[str, Any] | None = None  # None: not said
    signoff: Mapping[str, Any] = field(default_factory=dict)  # where a project says for whom and why
    determination: Mapping[str, str] = field(default_factory=dict)  # where it says which limit holds

    @classmethod
    def of_json(cls, content: Mapping[str, Any], where: str = "") -> Self:
        """The same, where what readers go by means something: outputs, and levels."""
        found = super().of_json(content, where)
        if not found.files and not found.tables:
            raise ValueError('names no file and no table in "output"')
        several = found.choice.get("marginals") if found.method == "marginals" else []
        if not isinstance(several, list) or (found.method == "marginals" and not several):
            raise ValueError('names no marginals in "choice"')
        for told in [found.choice.get("levels", {}), *several]:  # no hierarchy has a thousand levels
            if not isinstance(told, dict) or not all(type(n) is int and 0 <= n < 1000 for n in told.values()):
                raise ValueError('has something else than levels in "choice"')
        forms = (form.removeprefix(LEVEL) for form in found.shown.values() if form.startswith(LEVEL))
        if not all(re.fullmatch(r"[1-9][0-9]{0,2}", level) for level in forms):
            raise ValueError('has something else than a level in "columns"')
        return found

    def to_json(self) -> dict[str, Any]:
        """All that the manifest says, with the checksum over everything else."""
        return _with_checksum(super().to_json())

    def to_bytes(self) -> bytes:
        """The manifest as it is written."""
        return _dump(self.to_json())

    @property
    def checksum(self) -> str:
        """The checksum over everything else."""
        return str(self.to_json()["checksum"])

    @property
    def published(self) -> str:
        """An identifier of what was published: the same for the same rows in the same form."""
        told = self.to_json()
        what = {key: told[key] for key in ("release", "columns", "roles", "method", "output")}
        return hashlib.sha256(_dump(what)).hexdigest()

    @property
    def shown(self) -> dict[str, str]:
        """Every published column with what it shows, in order."""
        return {column.name: column.published_as for column in self.columns}

    @property
    def group_column(self) -> str | None:
        """The column that numbers the groups, if there is one."""
        return next((name for name, form in self.shown.items() if form == GROUP_NUMBER), None)

    def in_role(self, role: str) -> list[str]:
        """The published columns of a role."""
        return [name for name in self.shown if self.roles.get(name) == role]

    @property
    def files(self) -> tuple[WrittenFile, ...]:
        """The published files; none if it was published to tables."""
        if isinstance(self.output, WrittenFiles):
            return self.output.files
        return (self.output,) if isinstance(self.output, WrittenFile) else ()

    @property
    def tables(self) -> tuple[WrittenTable, ...]:
        """The published tables; none if it was published to files."""
        if isinstance(self.output, WrittenTables):
            return self.output.relations
        return (self.output,) if isinstance(self.output, WrittenTable) else ()

    @property
    def one(self) -> WrittenFile | WrittenTable | None:
        """The file or the table, if everything was published in one."""
        return self.output if isinstance(self.output, WrittenFile | WrittenTable) else None


def manifest_path(target: Path) -> Path:
    """The path of an output file's manifest.

    >>> manifest_path(Path("out/people.csv")).name
    'people.csv.manifest.json'
    """
    return target.with_name(target.name + SUFFIX)


def canonical(content: Mapping[str, Any]) -> bytes:
    """The bytes of a manifest with this content, including its own checksum.

    >>> canonical({"b": 1, "a": 2}) == canonical({"a": 2, "b": 1})
    True
    """
    return _dump(_with_checksum(content))


def _with_checksum(content: Mapping[str, Any]) -> dict[str, Any]:
    told = {name: value for name, value in content.items() if name != "checksum"}
    return dict(sorted({**told, "checksum": hashlib.sha256(_dump(told)).hexdigest()}.items()))


def _dump(content: Mapping[str, Any]) -> bytes:
    text = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return (text + "\n").encode()


def read(path: Path) -> Manifest:
    """The manifest in a file; refuses changed bytes, and fields that no release of ours leaves like that."""
    content = unchanged(path)
    try:
        found = Manifest.of_json({name: told for name, told in content.items() if name != "checksum"})
        if found.to_json() != content:
            raise ValueError("has empty fields that no version writes")
    except (ValueError, RecursionError) as problem:
        why = str(problem) if isinstance(problem, ValueError) else "is nested too deeply"
        raise _refused(path, why) from None
    return found


def unchanged(path: Path) -> dict[str, Any]:
    """What a manifest says, whatever fields it has; raises if any byte has changed."""
    with opened(path) as stream:
        raw = stream.read()
    try:
        content = json.loads(raw)
        whole = isinstance(content, dict) and canonical(content) == raw
    except (ValueError, RecursionError):
        whole = False
    if not whole:
        raise _refused(path, "has changed since it was written")
    found: dict[str, Any] = content
    return found


def _refused(path: Path, why: str) -> NotSafe:
    return NotSafe("manifest_changed", f"{path.name} {why}", hint="Restore it, or publish again.")


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


def checksum(path: Path) -> str:
    """SHA-256 of a file's bytes, or of the names and checksums of a folder's files.

    Empty, which matches nothing, for what is neither: reading a FIFO or a device could wait for ever.
    """
    if path.is_dir():
        listed = "".join(f"{file.name} {checksum(file)}\n" for file in sorted(path.iterdir()))
        return hashlib.sha256(listed.encode()).hexdigest()
    if path.exists() and not path.is_file():
        return ""
    with opened(path) as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def opened(path: Path) -> BufferedReader:
    """A file, opened to read its bytes; what is no regular file is an OSError, and is not opened."""
    if path.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    if path.exists() and not path.is_file():
        raise OSError(errno.EINVAL, "Not a regular file")
    # does not wait for a writer if somebody puts a FIFO there in the meantime
    return os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK), "rb")


def size(path: Path) -> int:
    """The bytes of a file, or of all files of a folder."""
    return sum(map(size, path.iterdir())) if path.is_dir() else path.stat().st_size
