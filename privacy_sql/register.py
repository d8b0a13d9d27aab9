"""The release register: what was published before about the same people, by us or by others.

Ganta et al. 2008, Sec. 1: a release composes with every other release its people are in, so whoever publishes
must know the others. The register points at manifests and descriptions and keeps the checksum of each.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from privacy_sql.chain import Chain, Record
from privacy_sql.errors import DataError, PrivacySqlError, UsageError, did_you_mean, raise_all

FILE_NAME = "privacy_register.jsonl"
WHERE = "register"


@dataclass(frozen=True)
class Entry:
    """One registered release: its name and the file that tells how to read it, relative to the register."""

    name: str
    file: str
    sha256: str
    ours: bool
    at: str
    # the files a description reads, each with its checksum
    data: Mapping[str, str] = field(default_factory=dict)

    @property
    def checksums(self) -> list[tuple[str, str]]:
        """Every file of the release and its checksum."""
        return [(self.file, self.sha256), *self.data.items()]


@dataclass(frozen=True)
class Register:
    """The register in one file."""

    path: Path

    def entries(self) -> dict[str, Entry]:
        """The releases by name; of a release registered again the last one, all of them stay in the file."""
        return {entry.name: entry for entry in map(_entry, Chain(self.path).read())}

    def history(self) -> list[Entry]:
        """Every registration, oldest first."""
        return [_entry(record) for record in Chain(self.path).read()]

    def add(self, name: str, file: Path, *, ours: bool, data: Iterable[Path] = ()) -> Entry:
        """Register a release by its manifest or description; an unchanged one counts once.

        `data` are the files the description reads.
        """
        if not file.is_file():
            raise UsageError("no_such_file", f"{file} does not exist", where=WHERE)
        read = {self._relative(each): checksum(each) for each in data}
        entry = Entry(name, self._relative(file), checksum(file), ours, _now(), read)
        chain = Chain(self.path)
        with chain.locked() as records:
            last = {each.name: each for each in map(_entry, records)}.get(name)
            if last and (last.file, last.sha256, last.data) == (entry.file, entry.sha256, entry.data):
                return last
            chain.append(asdict(entry))
        return entry

    def find(self, names: Iterable[str]) -> dict[str, Path]:
        """The files of the named releases, unchanged since registered; refuses all others at once."""
        known = self.entries()
        found: dict[str, Path] = {}
        problems: list[PrivacySqlError] = []
        for name in names:
            problem = self._problem(name, known)
            if problem:
                problems.append(problem)
            else:
                found[name] = self.path.parent / known[name].file
        raise_all(problems)
        return found

    def _problem(self, name: str, known: dict[str, Entry]) -> PrivacySqlError | None:
        if name not in known:
            hint = did_you_mean(name, known) or "Add it with `privacy-sql register add`."
            return UsageError("not_registered", f'no release "{name}" is registered', where=WHERE, hint=hint)
        problems = [self._changed(name, *each) for each in known[name].checksums]
        return next((problem for problem in problems if problem), None)

    def _changed(self, name: str, place: str, sha256: str) -> PrivacySqlError | None:
        file = self.path.parent / place
        if not file.is_file():
            return DataError(
                "release_missing", f'"{name}" is registered, but {file.name} is gone', where=WHERE
            )
        if checksum(file) != sha256:
            return DataError(
                "release_changed",
                f'{file.name} changed since "{name}" was registered',
                where=WHERE,
                hint="Restore it, or register what it is now.",
            )
        return None

    def _relative(self, file: Path) -> str:
        folder, target = self.path.resolve().parent, file.resolve()
        return target.relative_to(folder).as_posix() if target.is_relative_to(folder) else target.as_posix()


def checksum(file: Path) -> str:
    """The SHA-256 of what has been published: a manifest, a description, or a release of others."""
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _entry(record: Record) -> Entry:
    return Entry(**record)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
