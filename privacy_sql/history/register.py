"""The release register: earlier releases about the same people, by us or by others.

Ganta et al. 2008, Sec. 1: a release composes with every other release that has its people, so a publisher
must know the others. The register points to manifests and descriptions and keeps the checksum of each. It
keeps a copy of our own releases, because what was published stays public when a later version overwrites its
file.
"""

from __future__ import annotations

import hashlib
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from privacy_sql import files as writing
from privacy_sql import manifest, registry
from privacy_sql.errors import DataError, NotSafe, PrivacySqlError, UsageError, did_you_mean, raise_all
from privacy_sql.history import kept_privately
from privacy_sql.history.chain import Chain, Record
from privacy_sql.manifest import Manifest

if TYPE_CHECKING:
    from privacy_sql.history.described import Description

FILE_NAME = "privacy_register.jsonl"
WHERE = "register"
Private = Callable[[Path], list[Path]]  # writes private files to a folder, and returns their names


@dataclass(frozen=True)
class Entry:
    """One registered release: its name and the file that says how to read it, relative to the register."""

    name: str
    file: str
    sha256: str
    ours: bool
    at: str
    # the files that a description reads, with their checksums
    data: Mapping[str, str] = field(default_factory=dict)
    # marks an earlier entry whose tables never appeared, because their transaction was not committed
    withdrawn: bool = False

    @property
    def read_with(self) -> bool:
        """Whether the files needed to read it were kept."""
        return any(Path(file).name == kept_privately.FILE for file in self.data)

    @property
    def checksums(self) -> list[tuple[str, str]]:
        """Every file of the release and its checksum, sorted by name because the record has no order."""
        return [(self.file, self.sha256), *sorted(self.data.items())]


@dataclass(frozen=True)
class Register:
    """The register in one file."""

    path: Path

    @property
    def kept(self) -> Path:
        """The folder with the copies of our own releases, one folder for each version."""
        return self.path.with_suffix(".kept")

    def entries(self) -> dict[str, Entry]:
        """The releases by name, with the last version of each."""
        return {entry.name: entry for entry in self.history()}

    def history(self) -> list[Entry]:
        """Every registration of a public release, oldest first."""
        return _out(Chain(self.path).read())

    def add(self, name: str, file: Path, *, ours: bool, data: Iterable[Path] = ()) -> Entry:
        """Register a release by its manifest or description; an unchanged one counts once.

        `data` are the files that the description reads. A later version that changes the files of an earlier
        one is refused, because the earlier content stays public and must stay readable.
        """
        refuse_unnamed(name)
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
                hint = "Restore its files, and register the new version from other files."
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
        """Register one of our own releases by its manifest, with a copy of the published files.

        `private` writes what is needed to read the release next to the copy. The same rows published again,
        and read the same way, are the version already kept. Tables are not copied. `hidden` says where each
        file and the manifest are if the release has not appeared yet.
        """
        with writing.only_writer(self.kept, wait=True):
            for left in self.kept.glob("tmp*"):  # left by killed runs: nobody else is here
                writing.remove(left)
            now = {place.name: place, **(hidden or {})}
            if not now[place.name].is_file():
                raise UsageError("no_such_file", f"{place} does not exist", where=WHERE)
            content = manifest.read(now[place.name])
            files = {part.file: part.sha256 for part in content.files}
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
        """Whether one of our own releases is registered, by its manifest."""
        version = _version_name(content)
        return any(
            entry.name == content.release and Path(entry.file).parent.name.startswith(version)
            for entry in self.history()
        )

    def reads(self, content: Manifest) -> bool:
        """Whether one of our own releases is registered together with what is needed to read it."""
        version = _version_name(content)
        return any(
            entry.read_with and entry.name == content.release
            for entry in self.history()
            if Path(entry.file).parent.name.startswith(version)
        )

    def withdraw(self, content: Manifest) -> None:
        """Record that a registered release in tables never appeared."""
        version, chain = _version_name(content), Chain(self.path)
        with chain.locked() as records:
            for entry in _out(records):
                if entry.name == content.release and Path(entry.file).parent.name.startswith(version):
                    chain.append(asdict(replace(entry, withdrawn=True, at=manifest.now())))

    @contextmanager
    def held(self) -> Iterator[None]:
        """Lock out other runs from the last check of earlier releases until this release is registered."""
        if not self.path.exists():
            yield
            return
        with writing.only_writer(self.kept, wait=True):
            yield

    def _version(
        self, name: str, content: Manifest, now: Mapping[str, Path], private: Private | None
    ) -> tuple[Path, list[str]]:
        """The folder of a version, which appears completely or not at all, and its private files."""
        published = _version_name(content)
        if private is None and (self.kept / published).exists():
            return self.kept / published, []
        self.kept.mkdir(parents=True, exist_ok=True, mode=0o700)
        self.kept.chmod(0o700)  # the contents of boxes and the hierarchies are for nobody else
        with tempfile.TemporaryDirectory(dir=self.kept) as fresh:
            made = Path(fresh) / "version"
            made.mkdir(mode=0o700)
            more = [] if private is None else sorted(private(made))
            folder = self.kept / f"{published}{digest(more)}"
            if not folder.exists():
                self._copy(name, content, now, made)
                for file in (*made.rglob("*"), made):
                    file.chmod(0o700 if file.is_dir() else 0o600)
                writing.sync_all(made)
                try:
                    made.rename(folder)
                except OSError:
                    # another run kept the same version in the meantime
                    if not folder.exists():
                        raise
                writing.sync(self.kept)
        return folder, [file.name for file in more]

    @staticmethod
    def _copy(name: str, content: Manifest, now: Mapping[str, Path], made: Path) -> None:
        """Copy the published files and their manifest, and check the copied bytes."""
        for part in content.files:
            file = part.file
            if now[file].exists():
                copy = shutil.copytree if now[file].is_dir() else shutil.copyfile
                copy(now[file], made / file)
            if not (made / file).exists() or manifest.checksum(made / file) != part.sha256:
                raise NotSafe("output_changed", f"{file} has changed since it was written", where=WHERE)
        shutil.copyfile(now[name], made / name)

    def find(self, names: Iterable[str]) -> dict[str, Path]:
        """The files of the named releases, every version of each, unchanged since registered.

        The last version has the plain name, earlier ones are `name (1)`, `name (2)`, ... One error names all
        that are missing or changed.
        """
        versions: dict[str, list[Entry]] = {}
        for entry in self.history():
            versions.setdefault(entry.name, []).append(entry)
        for name, entries in versions.items():
            # without those that were registered again with what is needed to read them
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
        """The kept manifests for the manifest of one of our releases, with what is needed to read it."""
        if not place.name.endswith(manifest.SUFFIX) or not place.is_file():
            return []
        published = manifest.read(place).published
        named = {e.name for e in self.history() if e.read_with and self._published(e) == published}
        found = self.find(sorted(named)).values()
        return [kept for kept in found if manifest.read(kept).published == published]

    def _published(self, entry: Entry) -> str:
        """What a version published, however it is read; missing files are reported elsewhere."""
        place = self.path.parent / entry.file
        try:
            return manifest.read(place).published
        except (OSError, PrivacySqlError):
            return entry.file

    def _problem(self, name: str, entry: Entry) -> PrivacySqlError | None:
        for place, sha256 in entry.checksums:
            file = self.path.parent / place
            if not file.exists():
                gone = f'"{name}" is registered, but {file.name} is missing'
                return DataError("release_missing", gone, where=WHERE)
            if manifest.checksum(file) != sha256:
                changed = f'{file.name} changed since "{name}" was registered'
                hint = "Restore it; what was published then is still public."
                return DataError("release_changed", changed, where=WHERE, hint=hint)
        return None

    def _relative(self, file: Path) -> str:
        folder, target = self.path.resolve().parent, file.resolve()
        return target.relative_to(folder).as_posix() if target.is_relative_to(folder) else target.as_posix()


def refuse_unnamed(name: str) -> None:
    """Refuse a name that nobody could write later: what is registered is never removed."""
    if not name.strip():
        hint = "Name the release, for example hospital_b."
        raise UsageError("no_name", "the name of a release is empty", where=WHERE, hint=hint)


def digest(kept: Iterable[Path]) -> str:
    """A short name for what some files hold, the same for the same contents; empty for no file."""
    told = "".join(f"{file.name} {manifest.checksum(file)}\n" for file in sorted(kept))
    return hashlib.sha256(told.encode()).hexdigest()[:16] if told else ""


def _version_name(content: Manifest) -> str:
    return content.published[:16]


def _out(records: Iterable[Record]) -> list[Entry]:
    """The entries of public releases."""
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
    """Public releases: those with groups to attack, and those with counts, which put nobody in a group."""

    groups: tuple[Description, ...]
    noise: tuple[str, ...]  # their losses add up in the ledger
    counts: tuple[str, ...]  # marginals that say more than their join, which no attack here covers
    several: tuple[str, ...] = ()  # with several sensitive columns, of which an attack covers one only


def registered(register: Register, names: Iterable[str] | None = None) -> Out:
    """The named releases, or all; refuses those that changed since they were registered."""
    # loaded on first use, because a run in a project without other releases reads none
    from privacy_sql.history.described import describe, joinable

    found = register.find(register.entries() if names is None else names)
    groups: list[str] = []
    noise: list[str] = []
    beyond: list[str] = []
    several: list[str] = []
    for called, place in found.items():
        # a description names one sensitive column, and is about groups
        method, sensitive, joined = None, 1, True  # an unknown method published groups, as most do
        if place.name.endswith(manifest.SUFFIX):
            content = manifest.read(place)
            method = registry.known("methods", content.method)
            joined = method is None or method.publishes_rows or joinable(content.choice["marginals"])
            sensitive = len(content.in_role("sensitive"))
        if sensitive > 1:
            several.append(called)
        if method is not None and method.spends and not method.publishes_groups:
            noise.append(called)
        elif sensitive and not joined:
            beyond.append(called)
        elif sensitive == 1:  # nothing can be learned from it without a sensitive column
            groups.append(called)
    described = (replace(describe(found[called], 0), name=called) for called in groups)
    return Out(tuple(described), tuple(noise), tuple(beyond), tuple(several))


def as_published(
    register: Register, release: str | Path | Mapping[str, Any] | Description, number: int
) -> list[Description]:
    """A release given by its file; one of ours comes with what the register kept to read it."""
    from privacy_sql.history.described import describe, described_by

    release = described_by(Path(release)) if isinstance(release, str | Path) else release
    kept = register.like(release) if isinstance(release, Path) else []
    return [describe(place, number) for place in kept] if kept else [describe(release, number)]
