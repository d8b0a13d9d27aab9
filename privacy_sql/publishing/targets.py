"""What a release, a report or a picture may overwrite, and what it never may.

`admit` checks releases in files, `admit_tables` releases in tables, `admit_page` reports and pictures. What
privacy_sql reads or keeps is never a target, under any name: the real path, a hard link, another letter case.
Anything else that exists is replaced only if somebody asks for it and it is ours: a release with the same
name and a complete manifest that still matches.
"""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import itertools
import os
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from privacy_sql import files, manifest
from privacy_sql.engines import Engine
from privacy_sql.engines._sources import is_file, is_folder
from privacy_sql.engines._sources import parts as parts_of
from privacy_sql.errors import PrivacySqlError, UsageError, unread
from privacy_sql.history import chain, ledger, register
from privacy_sql.manifest import Manifest, WrittenFile, WrittenTable
from privacy_sql.parameters import given
from privacy_sql.publishing import private_files, verifying
from privacy_sql.query.template import Query, quote

if TYPE_CHECKING:
    from privacy_sql.table import Table

# our own files that have no special ending, by the beginning of their names
PROJECT_FILE = "privacy.yml"
OWN_NAMES = {
    PROJECT_FILE: "the project file",
    ledger.FILE_NAME: "the budget ledger",
    register.FILE_NAME: "the release register",
    private_files.KEY: "the key of the project",
}
ELSEWHERE = "Choose another target."


@dataclass(frozen=True)
class Kept:
    """A file, a folder or a relation that must stay unchanged, and its role."""

    place: Any  # a path, or the name of a relation
    what: str

    def touched_by(self, target: Path) -> bool:
        """Whether writing a target would change it."""
        place = Path(self.place)
        # text is the name of a relation, unless a file has that name; a folder does not count
        if not (isinstance(self.place, Path) or os.path.isfile(place) or is_folder(place)):
            return False
        with contextlib.suppress(OSError):  # one of them does not exist
            if os.path.samefile(target, place):
                return True
        mine, other = _folded(target), _folded(place)
        inside_a_folder = place.is_dir() and mine.startswith(f"{other}/")
        return mine == other or inside_a_folder or other.startswith(f"{mine}/")


def read_by(table: Table, *asked: object) -> list[Kept]:
    """Everything that a release is made from: its source, and each file that its table and parts name."""
    found = [Kept(table.source, f"the source of {table.name}")]
    if is_file(table.source):
        place = Path(table.source)
        pattern = not place.exists() and set("*?[") & set(place.name)
        if place.is_dir() or pattern:
            # the next run would read what is written into it
            folder = place.parent if pattern else place
            found = [Kept(folder, f"in the folder that {table.name} reads")]
    found.append(Kept(table.population, f"the population of {table.name}"))
    own = table.sensitive_hierarchy
    sensitive = own if isinstance(own, Mapping) else {" and ".join(table.sensitives): own}
    for column, kind in (*table.hierarchies.items(), *sensitive.items()):
        if kind is not None and kind.place:
            found.append(Kept(kind.place, f"the hierarchy of {column}"))
    for column, place in (table.distances or {}).items():
        found.append(Kept(place, f"the distances of {column}"))
    for part in asked:
        found += [Kept(place, f"a file that {table.name} reads") for place in _named_in(part)]
    return [kept for kept in found if isinstance(kept.place, (str, Path))]


def _named_in(part: object) -> Iterator[Path]:
    """The files that a requirement or a method names, and those that its descriptions read."""
    if isinstance(part, (str, Path)):
        place = Path(part)
        if os.path.isfile(place) or is_folder(place):
            yield place
            if place.suffix.lower() in (".yml", ".yaml", ".json"):
                from privacy_sql.history.described import describe

                behind: Iterable[Path] = ()
                with contextlib.suppress(PrivacySqlError):  # reported by the code that reads its content
                    behind = describe(place, 1).files
                yield from behind
    elif isinstance(part, Mapping):
        for inner in part.values():
            yield from _named_in(inner)
    elif isinstance(part, (list, tuple)):
        for inner in part:
            yield from _named_in(inner)
    elif dataclasses.is_dataclass(part) and not isinstance(part, type):
        for inner in given(part).values():
            yield from _named_in(inner)


# -- what is never a target -------------------------------------------------------------------------------


def refuse_kept(target: Path, kept: Iterable[Kept]) -> None:
    """Refuse a target that is, is inside, or contains something that privacy_sql reads or keeps."""
    what = _own(target)
    if what is not None:
        raise UsageError("target_in_use", f"{target.name} is {what}", where=str(target), hint=ELSEWHERE)
    _refuse_used(target, kept)


def _refuse_used(target: Path, kept: Iterable[Kept]) -> None:
    for each in kept:
        if each.touched_by(target):
            raise UsageError(
                "target_in_use", f"{target.name} is {each.what}", where=str(target), hint=ELSEWHERE
            )


def _folded(path: Path) -> str:
    """A real path without letter case, because some file systems ignore case."""
    return unicodedata.normalize("NFC", os.path.realpath(path)).casefold()


def _own(target: Path) -> str | None:
    """The role of a target that is a file of this tool."""
    for place in (target, Path(os.path.realpath(target))):
        name = place.name.casefold()
        known = [what for own, what in OWN_NAMES.items() if name.startswith(own.casefold())]
        if known:
            return known[0]
        if name.endswith(manifest.SUFFIX):
            return "a manifest"
        folders = str(place.parent).casefold().split(os.sep)
        if f"{Path(register.FILE_NAME).stem}.kept" in folders:
            return "a copy that the release register keeps"
        if ("target", "private") in itertools.pairwise(folders):
            return "in the private folder of the project"
        if is_folder(place.parent):
            return "in a folder of Parquet files, which is one table"
    if target.is_file():
        with manifest.opened(target) as stream:
            start = stream.read(len(chain.BEGINS))
        if start.startswith(chain.BEGINS):
            return "a budget ledger or a release register"
        if start.startswith(b"{"):
            with contextlib.suppress(PrivacySqlError, OSError):
                manifest.unchanged(target)  # by whatever name
                return "a manifest"
    return None


# -- files of a release -----------------------------------------------------------------------------------


def admit(
    place: Path, files: Sequence[Path], release: str, *, overwrite: bool, kept: Iterable[Kept] = ()
) -> dict[str, Any]:
    """Check that a release may be written to files, with its manifest at a place.

    Returns the checksums of existing files by name; only these may be replaced.
    """
    kept = list(kept)
    for file in (*files, place.with_name(place.name.removesuffix(manifest.SUFFIX))):
        refuse_kept(file, kept)
    _refuse_used(place, kept)
    taken = list(filter(_stands, files))
    if not taken and not _stands(place):
        return {}
    content = _manifest(place, release, taken)
    named = {place.with_name(part.file): part for part in content.files}
    for file in dict.fromkeys([*taken, *(name for name in named if _stands(name))]):
        if file not in named:
            raise _foreign(file, f"{place.name} does not name it")
        if not _as_written(named[file], content, place):
            raise _foreign(file, "it has changed since it was written: somebody may have edited it")
    if not overwrite:
        raise _exists((taken or [place])[0].name)
    return {file.name: named[file].sha256 for file in taken} | {place.name: _checksum_of(content)}


def _manifest(place: Path, release: str, taken: Sequence[Any]) -> Manifest:
    """What the manifest of this release says about existing files at its place."""
    if not _stands(place):
        raise _foreign(taken[0], "it has no manifest")
    try:
        _, content = verifying.found(place)
    except (PrivacySqlError, OSError) as problem:
        why = unread(problem) or "is not a valid manifest, or somebody changed it"
        raise _foreign(place, f"it {why}") from None
    if content.release != release:
        raise UsageError(
            "target_in_use",
            f"{place.name} is the manifest of the release {content.release}",
            where=str(place),
            hint=f"{ELSEWHERE} To give up that release, remove {place} and what it describes by hand.",
        )
    return content


def _checksum_of(content: Manifest) -> str:
    """The checksum of the file of a manifest."""
    return hashlib.sha256(content.to_bytes()).hexdigest()


def _as_written(
    part: WrittenFile | WrittenTable, content: Manifest, place: Path, engine: Engine | None = None
) -> bool:
    try:
        return verifying.as_written(part, content, place.parent, engine)
    except OSError:
        return False


def _foreign(place: str | Path, why: str) -> UsageError:
    """The refusal to overwrite what may be somebody's work; it says what to remove by hand."""
    name, verb = (place.name, "remove") if isinstance(place, Path) else (place, "drop")
    hint = (
        "privacy-sql replaces only its own unchanged files and tables."
        f" Choose another target, or {verb} {place} by hand if nobody needs it."
    )
    return UsageError("target_exists", f"{name} exists, and {why}", where=str(place), hint=hint)


def _exists(name: str) -> UsageError:
    return UsageError("target_exists", f"{name} exists", where=name, hint=files.REPLACE)


def _stands(place: Path) -> bool:
    """Whether anything has that name, including a dangling link."""
    try:
        return os.path.lexists(place)
    except ValueError:  # a name with NUL
        return False


# -- tables -----------------------------------------------------------------------------------------------


def admit_tables(
    engine: Engine,
    place: Path,
    tables: Sequence[str],
    release: str,
    *,
    overwrite: bool,
    kept: Iterable[Kept] = (),
) -> dict[str, Any]:
    """Check that a release may be written to tables, with its manifest at a place.

    Returns the fingerprints of existing tables, and the checksum of the manifest, by name.
    """
    kept = list(kept)
    _refuse_used(place, kept)
    for table in tables:
        used = [each for each in kept if isinstance(each.place, str) and _same_relation(engine, table, each)]
        if used:
            raise UsageError("target_in_use", f"{table} is {used[0].what}", where=table, hint=ELSEWHERE)
    taken = [table for table in tables if engine.has_table(table)]
    if not taken and not _stands(place):
        return {}
    content = _manifest(place, release, taken)
    named = {_folded_name(part.relation): part for part in content.tables}
    for table in taken:
        if _folded_name(table) not in named:
            raise _foreign(table, f"{place.name} does not describe it")
        if not _as_written(named[_folded_name(table)], content, place, engine):
            raise _foreign(table, "it has changed since it was written: somebody may have changed it")
    if not overwrite:
        raise _exists((taken or [place.name])[0])
    marks = {table: named[_folded_name(table)].fingerprint for table in taken}
    return {**marks, place.name: _checksum_of(content)}


def _same_relation(engine: Engine, table: str, kept: Kept) -> bool:
    """Whether two names mean the same relation; a name without a schema is in the schema of the connection.

    If that schema has no such relation, the name is in another schema on the search path, and a table here
    would hide it.
    """
    mine, other = _folded_name(table), _folded_name(kept.place)
    if len(mine) != len(other) and mine[-1] == other[-1]:
        (found,) = engine.fetch(Query("select current_schema() as home", "looking for the schema"))
        home = (str(found["home"]).casefold(),)
        short = min(table, kept.place, key=lambda name: len(_folded_name(name)))
        own = ".".join([quote(str(found["home"])), *map(quote, parts_of(short))])
        if len(_folded_name(short)) == 1 and engine.has_table(short) and not engine.has_table(own):
            return True
        mine, other = (name if len(name) > 1 else (*home, *name) for name in (mine, other))
    shared = min(len(mine), len(other))
    return mine[-shared:] == other[-shared:]


def _folded_name(table: str) -> tuple[str, ...]:
    try:
        return tuple(part.casefold() for part in parts_of(table))
    except PrivacySqlError:  # the name of a file, or None
        return (table.casefold(),)


# -- everything small ---------------------------------------------------------------------------------------


def admit_page(path: Path, is_ours: Callable[[bytes], bool]) -> None:
    """Check that a report or a picture may be written; it replaces a file only if its content is ours."""
    refuse_kept(path, ())
    if not _stands(path):
        return
    if not path.is_file():
        raise UsageError("target_exists", f"{path.name} is not a file", where=str(path), hint=ELSEWHERE)
    try:
        with manifest.opened(path) as stream:
            content = stream.read()
    except OSError as problem:
        raise _foreign(path, f"it {unread(problem)}") from None
    if not is_ours(content):
        raise _foreign(path, "privacy-sql did not write it, or somebody changed it")


def put_page(path: Path, content: bytes, is_ours: Callable[[bytes], bool], mode: int = 0o666) -> None:
    """Write a report or a picture. What somebody wrote there since the admission is refused like then."""
    files.write_alone(path, content, mode, lambda: admit_page(path, is_ours))


__all__ = ["Kept", "admit", "admit_page", "admit_tables", "put_page", "read_by", "refuse_kept"]
