"""The release register: what was published before about the same people, by us or by others.

Ganta et al. 2008, Sec. 1: a release composes with every other release its people are in, so whoever publishes
must know the others. The register points at manifests and descriptions and keeps the checksum of each. Of our
own releases it keeps a copy, because what was published stays out when a later version overwrites its file.
"""

from __future__ import annotations

import hashlib
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from privacy_sql import files as writing
from privacy_sql import manifest
from privacy_sql.errors import DataError, NotSafe, PrivacySqlError, UsageError, did_you_mean, raise_all
from privacy_sql.history import kept_privately
from privacy_sql.history.chain import Chain, Record
from privacy_sql.history.described import Description, describe, described_by, joinable
from privacy_sql.manifest import Manifest

FILE_NAME = "privacy_register.jsonl"
WHERE = "register"
Private = Callable[[Path], list[Path]]  # puts private files into a folder, and names them


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
    # says of an earlier entry that its tables never appeared: their transaction was not committed
    withdrawn: bool = False

    @property
    def read_with(self) -> bool:
        """Whether what it is read with was kept."""
        return any(Path(file).name == kept_privately.FILE for file in self.data)

    @property
    def checksums(self) -> list[tuple[str, str]]:
        """Every file of the release and its checksum, in an order of their names: the record keeps none."""
        return [(self.file, self.sha256), *sorted(self.data.items())]


@dataclass(frozen=True)
class Register:
    """The register in one file."""

    path: Path

    @property
    def kept(self) -> Path:
        """The folder of the copies of our own releases, one folder for each version."""
        return self.path.with_suffix(".kept")

    def entries(self) -> dict[str, Entry]:
        """The releases by name, of several versions the last one."""
        return {entry.name: entry for entry in self.history()}

    def history(self) -> list[Entry]:
        """Every registration of what is out, oldest first."""
        return _out(Chain(self.path).read())

    def add(self, name: str, file: Path, *, ours: bool, data: Iterable[Path] = ()) -> Entry:
        """Register a release by its manifest or description; an unchanged one counts once.

        `data` are the files the description reads. A later version has to leave the files of the earlier one
        alone, or it is refused: what they held stays out and must stay readable.
        """
        if not file.is_file():
            raise UsageError("no_such_file", f"{file} does not exist", where=WHERE)
        read = {self._relative(each): manifest.checksum(each) for each in data}
        entry = Entry(name, self._relative(file), manifest.checksum(file), ours, manifest.now(), read)
        chain = Chain(self.path)
        with chain.locked() as records:
            earlier = [each for each in _out(records) if each.name == name]
            for each in earlier:
                if each.checksums == entry.checksums:
                    return each
            if any(self._problem(name, each) for each in earlier):
                hint = "Restore its files, and register the new version from files of its own."
                problem = f'an earlier version of "{name}" is registered and would be lost'
                raise UsageError("version_lost", problem, where=WHERE, hint=hint)
            chain.append(asdict(entry))
        return entry

    def keep(
        self,
        name: str,
        place: Path,
        hidden: Mapping[str, Path] | None = None,
        *,
        private: Private | None = None,
    ) -> Entry:
        """Register a release of our own by its manifest, with a copy of the published files.

        `private` puts what the release is read with beside the copy. The same rows published again, and read
        alike, are the version that is kept already. Of a table no copy is kept. `hidden` says where each
        file, and the manifest, lies of a release that has not appeared yet.
        """
        with writing.only_writer(self.kept, wait=True):
            for left in self.kept.glob("tmp*"):  # of runs that were killed: nobody else is here
                writing.remove(left)
            now = {place.name: place, **(hidden or {})}
            if not now[place.name].is_file():
                raise UsageError("no_such_file", f"{place} does not exist", where=WHERE)
            content = manifest.read(now[place.name])
            files = {part["file"]: part["sha256"] for part in manifest.parts(content) if "file" in part}
            now = {**{file: place.parent / file for file in files}, **now}
            folder, more = self._version(place.name, content, now, private)
            (kept,) = folder.glob(f"*{manifest.SUFFIX}")
            return self.add(
                name,
                kept,
                ours=True,
                data=[*(folder / file for file in files), *(folder / file for file in more)],
            )

    def holds(self, content: Manifest) -> bool:
        """Whether a release of our own is registered, by its manifest."""
        version = _version_name(content)
        return any(
            entry.name == content["release"] and Path(entry.file).parent.name.startswith(version)
            for entry in self.history()
        )

    def reads(self, content: Manifest) -> bool:
        """Whether a release of our own is registered, with what it is read with."""
        version = _version_name(content)
        return any(
            entry.read_with and entry.name == content["release"]
            for entry in self.history()
            if Path(entry.file).parent.name.startswith(version)
        )

    def withdraw(self, content: Manifest) -> None:
        """Say on the record that a registered release in tables never appeared."""
        version, chain = _version_name(content), Chain(self.path)
        with chain.locked() as records:
            for entry in _out(records):
                if entry.name == content["release"] and Path(entry.file).parent.name.startswith(version):
                    chain.append(asdict(replace(entry, withdrawn=True, at=manifest.now())))

    @contextmanager
    def held(self) -> Iterator[None]:
        """Keep other runs out, from the last look at what is out until a release has joined it."""
        if not self.path.exists():
            yield
            return
        with writing.only_writer(self.kept, wait=True):
            yield

    def _version(
        self, name: str, content: Manifest, now: Mapping[str, Path], private: Private | None
    ) -> tuple[Path, list[str]]:
        """The folder of a version, there as a whole or not at all, and the private files in it."""
        published = _version_name(content)
        if private is None and (self.kept / published).exists():
            return self.kept / published, []
        self.kept.mkdir(parents=True, exist_ok=True, mode=0o700)
        self.kept.chmod(0o700)  # what boxes hold, and hierarchies, are for nobody else
        with tempfile.TemporaryDirectory(dir=self.kept) as fresh:
            made = Path(fresh) / "version"
            made.mkdir(mode=0o700)
            more = [] if private is None else sorted(private(made))
            told = "".join(f"{file.name} {manifest.checksum(file)}\n" for file in more)
            own = hashlib.sha256(told.encode()).hexdigest()[:16] if more else ""
            folder = self.kept / f"{published}{own}"
            if not folder.exists():
                self._copy(name, content, now, made)
                for file in (*made.rglob("*"), made):
                    file.chmod(0o700 if file.is_dir() else 0o600)
                writing.sync_all(made)
                try:
                    made.rename(folder)
                except OSError:
                    # another run has kept the same version in the meantime
                    if not folder.exists():
                        raise
                writing.sync(self.kept)
        return folder, [file.name for file in more]

    @staticmethod
    def _copy(name: str, content: Manifest, now: Mapping[str, Path], made: Path) -> None:
        """The published files and their manifest; the bytes that are copied are those that are kept."""
        for part in manifest.parts(content):
            if "file" not in part:
                continue
            file = part["file"]
            if now[file].exists():
                copy = shutil.copytree if now[file].is_dir() else shutil.copyfile
                copy(now[file], made / file)
            if not (made / file).exists() or manifest.checksum(made / file) != part["sha256"]:
                raise NotSafe("output_changed", f"{file} is not as it was written", where=WHERE)
        shutil.copyfile(now[name], made / name)

    def find(self, names: Iterable[str]) -> dict[str, Path]:
        """The files of the named releases, every version of each, unchanged since registered.

        The last version is called by its name, earlier ones `name (1)`, `name (2)`, ...; refuses all that are
        missing or changed at once.
        """
        versions: dict[str, list[Entry]] = {}
        for entry in self.history():
            versions.setdefault(entry.name, []).append(entry)
        for name, entries in versions.items():
            # without those that were registered anew with what they are read with
            read = {self._published(entry) for entry in entries if entry.read_with}
            versions[name] = [e for e in entries if e.read_with or self._published(e) not in read]
        found: dict[str, Path] = {}
        problems: list[PrivacySqlError] = []
        for name in names:
            if name not in versions:
                hint = did_you_mean(name, versions) or "Add it with `privacy-sql register add`."
                problems.append(
                    UsageError("not_registered", f'no release "{name}" is registered', where=WHERE, hint=hint)
                )
            for number, entry in enumerate(versions.get(name, []), start=1):
                called = name if number == len(versions[name]) else f"{name} ({number})"
                problem = self._problem(called, entry)
                if problem:
                    problems.append(problem)
                found[called] = self.path.parent / entry.file
        raise_all(problems)
        return found

    def like(self, place: Path) -> list[Path]:
        """The kept manifests of a release of ours, with what it is read with, for its own manifest."""
        if not place.name.endswith(manifest.SUFFIX) or not place.is_file():
            return []
        published = manifest.published(manifest.read(place))
        named = {e.name for e in self.history() if e.read_with and self._published(e) == published}
        found = self.find(sorted(named)).values()
        return [kept for kept in found if manifest.published(manifest.read(kept)) == published]

    def _published(self, entry: Entry) -> str:
        """What a version published, the same however it is read; a file that is gone is told of elsewhere."""
        place = self.path.parent / entry.file
        try:
            return manifest.published(manifest.read(place))
        except (OSError, KeyError, PrivacySqlError):
            return entry.file

    def _problem(self, name: str, entry: Entry) -> PrivacySqlError | None:
        for place, sha256 in entry.checksums:
            file = self.path.parent / place
            if not file.exists():
                gone = f'"{name}" is registered, but {file.name} is gone'
                return DataError("release_missing", gone, where=WHERE)
            if manifest.checksum(file) != sha256:
                changed = f'{file.name} changed since "{name}" was registered'
                hint = "Restore it: what was published then is still out."
                return DataError("release_changed", changed, where=WHERE, hint=hint)
        return None

    def _relative(self, file: Path) -> str:
        folder, target = self.path.resolve().parent, file.resolve()
        return target.relative_to(folder).as_posix() if target.is_relative_to(folder) else target.as_posix()


def _version_name(content: Manifest) -> str:
    return manifest.published(content)[:16]


def _out(records: Iterable[Record]) -> list[Entry]:
    """The entries whose releases are out."""
    found: list[Entry] = []
    for entry in (Entry(**record) for record in records):
        if entry.withdrawn:
            same = (entry.name, entry.checksums)
            found = [each for each in found if (each.name, each.checksums) != same]
        else:
            found.append(entry)
    return found


@dataclass(frozen=True)
class Out:
    """What is out: releases of groups to be attacked, and those whose counts put nobody in a group."""

    groups: tuple[Description, ...]
    noise: tuple[str, ...]  # their losses add up in the ledger
    counts: tuple[str, ...]  # marginals that say more than their join, which no attack here covers
    several: tuple[str, ...] = ()  # with several sensitive columns, of which an attack covers one only


def registered(register: Register, names: Iterable[str] | None = None) -> Out:
    """The named releases, or all; each unchanged since it was registered, or it is refused."""
    found = register.find(register.entries() if names is None else names)
    groups: list[str] = []
    noise: list[str] = []
    beyond: list[str] = []
    several: list[str] = []
    for called, place in found.items():
        # a description names one sensitive column, and tells of groups
        method, sensitive, joined = None, 1, True
        if place.name.endswith(manifest.SUFFIX):
            content = manifest.read(place)
            roles = content.get("roles", {})
            method = content["method"]
            joined = method != "marginals" or joinable(content["choice"]["marginals"])
            sensitive = sum(roles.get(column["name"]) == "sensitive" for column in content["columns"])
        if sensitive > 1:
            several.append(called)
        if method == "noisy_counts":
            noise.append(called)
        elif sensitive and not joined:
            beyond.append(called)
        elif sensitive == 1:  # without a sensitive column there is nothing to learn from it
            groups.append(called)
    described = (replace(describe(found[called], 0), name=called) for called in groups)
    return Out(tuple(described), tuple(noise), tuple(beyond), tuple(several))


def as_published(
    register: Register, release: str | Path | Mapping[str, Any] | Description, number: int
) -> list[Description]:
    """A release that was named by its file: a registered one of ours with what was kept of its day."""
    release = described_by(Path(release)) if isinstance(release, str | Path) else release
    kept = register.like(release) if isinstance(release, Path) else []
    return [describe(place, number) for place in kept] if kept else [describe(release, number)]
