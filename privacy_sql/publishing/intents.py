"""The record of intent of a publication: it names the new bytes, so that a later run can finish or undo it.

It is written when everything new is hidden next to the target, judged and durable, and removed when all of it
has its final name. A kill in between may leave anything: some files swapped, a table committed without its
manifest. The next run that opens the target calls `settle`, which finishes, or restores the old release. Only
bytes with the checksums of the record, and what it has put aside, are moved or removed.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from privacy_sql import files as writing
from privacy_sql import manifest
from privacy_sql.counted.fingerprints import of_table
from privacy_sql.engines import Engine
from privacy_sql.errors import DataError, EngineError, NotSafe, PrivacySqlError, UsageError
from privacy_sql.history.register import Register
from privacy_sql.manifest import Manifest

# the names under which tables are written before they are judged
HIDDEN = re.compile("ps_new_[0-9a-f]{12}(_.*)?")


@dataclass(frozen=True)
class File:
    """A file or folder that will get its final name; an old one with that name is put aside first."""

    name: str
    hidden: str
    sha256: str
    aside: str
    old: str | None  # the checksum of the one it may replace, or None


@dataclass(frozen=True)
class Relation:
    """A table that will get its final name."""

    name: str
    hidden: str
    marks: Mapping[str, int]
    aside: str
    old: Mapping[str, int] | None  # the fingerprint of the one it may replace, or None


@dataclass(frozen=True)
class Intent:
    """What a publication is about to put in place, the manifest last."""

    release: str
    files: tuple[File, ...]
    tables: tuple[Relation, ...] = ()
    gone: tuple[tuple[str, str], ...] = ()  # files of the old release that the new one lacks, with checksums
    register: str | None = None  # relative to the folder
    overwrite: bool = False
    known: bool = False  # the register had the same release before


def path_of(place: Path) -> Path:
    """The place of the record, for the release with the manifest `place`."""
    return place.with_name(f".{place.name}.intent")


def waiting(final: Path, token: str, sha256: str, old: str | None) -> File:
    """A hidden file next to its final place."""
    hidden = writing.hidden(final, token).name
    return File(final.name, hidden, sha256, f"{hidden}.old", old)


def standing(place: Path) -> str | None:
    """The checksum of what has a name now, or None."""
    return manifest.checksum(place) if place.exists() else None


def record(intent: Intent, place: Path) -> None:
    """Write the record to disk; from here on another run can finish the publication."""
    text = json.dumps(asdict(intent), sort_keys=True, ensure_ascii=False)
    writing.write_atomically(path_of(place), text.encode(), mode=0o600)


@contextlib.contextmanager
def begun(place: Path, tables: Iterable[str]) -> Iterator[None]:
    """Note tables written under hidden names; an engine without transactions keeps what a kill leaves."""
    note = _note_of(place)
    writing.sweep(note)
    writing.write_atomically(note, json.dumps(list(tables)).encode(), mode=0o600)
    try:
        yield
    finally:
        writing.remove(note)


def _note_of(place: Path) -> Path:
    return place.with_name(f".{place.name}.begun")


def settle(place: Path, engine: Engine | None = None) -> str:
    """Finish or undo what a killed run left at the place of a release; says what was done, if anything."""
    if not path_of(place).is_file():
        return ""
    # a live run holds the folder; wait for it, because its swap is short
    with writing.only_writer(place.parent, wait=True):
        return settle_held(place, engine)


def settle_held(place: Path, engine: Engine | None = None) -> str:
    """The same while the folder is already locked. Tables need the engine that has them."""
    try:
        intent = _read(path_of(place))
        if intent is None:
            note = _note_of(place)
            if engine is not None and note.is_file():
                # a run was killed before it wrote its record: drop its hidden tables
                with contextlib.suppress(ValueError):  # cut off by the kill: nothing was written yet
                    for table in json.loads(note.read_bytes()):
                        if HIDDEN.fullmatch(str(table).rpartition(".")[2]):
                            engine.drop_table(table)
                writing.remove(note)
            return ""
        if intent.tables and engine is None:
            return ""
        if _registered(intent, place) and _whole(intent, place.parent, engine):
            finish(intent, place, engine)
            return f"finished an interrupted run of {intent.release}: its release is published"
        undo(intent, place, engine)
    except OSError as problem:
        raise writing.unwritable(place.parent, problem) from None
    return f"undid an interrupted run of {intent.release}: nothing of it is published"


def _read(place: Path) -> Intent | None:
    if not place.is_file():
        return None
    try:
        found = json.loads(place.read_bytes())
        return Intent(
            release=found["release"],
            files=tuple(File(**each) for each in found["files"]),
            tables=tuple(Relation(**each) for each in found["tables"]),
            gone=tuple((name, sha256) for name, sha256 in found["gone"]),
            register=found["register"],
            overwrite=found["overwrite"],
            known=found.get("known", True),
        )
    except (ValueError, KeyError, TypeError):
        hint = "Remove it; `privacy-sql verify` says whether the release next to it is complete."
        raise DataError("bad_intent", f"{place.name} has changed since it was written", hint=hint) from None


def _registered(intent: Intent, place: Path) -> bool:
    """Whether the register holds the release. It is entered before anything appears, so else nothing has."""
    if intent.register is None:
        return True
    content = _content(intent, place)
    return content is not None and Register(place.parent / intent.register).holds(content)


def _content(intent: Intent, place: Path) -> Manifest | None:
    """The new manifest, hidden or in its place."""
    last = intent.files[-1]
    paths = (place.parent / last.hidden, place.parent / last.name)
    return next((manifest.read(path) for path in paths if _is(path, last)), None)


def _whole(intent: Intent, folder: Path, engine: Engine | None) -> bool:
    """Whether everything new still exists, hidden or in place, and nobody else has taken its names."""
    return (
        all(_is(folder / each.hidden, each) or _is(folder / each.name, each) for each in intent.files)
        and all(_has(engine, each.name, each) or _has(engine, each.hidden, each) for each in intent.tables)
        # every name has the old file, the new one or nothing, but not somebody else's work
        and all(standing(folder / each.name) in (None, each.old, each.sha256) for each in intent.files)
        and all(
            not _given(engine).has_table(each.name)
            or of_table(_given(engine), each.name) in (each.old, each.marks)
            for each in intent.tables
        )
    )


def _given(engine: Engine | None) -> Engine:
    assert engine is not None
    return engine


def _is(path: Path, file: File) -> bool:
    return path.exists() and manifest.checksum(path) == file.sha256


def _has(engine: Engine | None, table: str, relation: Relation) -> bool:
    assert engine is not None
    return engine.has_table(table) and of_table(engine, table) == relation.marks


def finish(intent: Intent, place: Path, engine: Engine | None = None) -> None:
    """Put the missing parts in place, the manifest last, then remove what was put aside."""
    for relation in intent.tables:
        if not _given(engine).has_table(relation.name):
            _given(engine).rename_table(relation.hidden, relation.name)
        elif not _has(engine, relation.name, relation):
            appear_table(relation, _given(engine))
    for file in intent.files:
        if (place.parent / file.hidden).exists():
            appear(file, place.parent, overwrite=intent.overwrite)
    close(intent, place, engine)


def appear(file: File, folder: Path, *, overwrite: bool) -> None:
    """Give a file its name, putting an old one aside; what must not be replaced stays."""
    hidden, final, aside = map(folder.joinpath, (file.hidden, file.name, file.aside))
    if not (final.exists() and hidden.is_file() and final.samefile(hidden)):
        if final.exists() and overwrite:
            refuse_changed(file, folder)
            _put_aside(final, aside)
        with contextlib.suppress(OSError):
            writing.open_to_readers(hidden)
        # a link fails if something appeared there meanwhile; a rename would replace it, unless it is a folder
        move = os.link if hidden.is_file() and not overwrite else os.rename
        try:
            if final.exists() and not overwrite:
                raise FileExistsError
            move(hidden, final)
        except (FileExistsError, NotADirectoryError):
            raise UsageError("target_exists", f"{final.name} exists", hint=writing.REPLACE) from None
    writing.remove(hidden)
    writing.sync(folder)
    # either the judged bytes are there now, or the old ones
    if not _is(final, file):
        restore(file, folder, ours=True)
        raise NotSafe("changed_bytes", f"{final.name} changed during the audit", hint="Run it again.")


def refuse_changed(file: File, folder: Path) -> None:
    """Refuse to replace what somebody else has written since the check."""
    if standing(folder / file.name) != file.old:
        raise _changed(file.name)


def appear_table(relation: Relation, engine: Engine) -> None:
    """Give a table its name, replacing only the one it may replace."""
    if relation.old is None:
        try:
            engine.rename_table(relation.hidden, relation.name)
        except EngineError as problem:
            raise (_changed(relation.name) if problem.code == "taken" else problem) from None
        return
    engine.hold_table(relation.name)
    if of_table(engine, relation.name) != relation.old:
        raise _changed(relation.name)
    engine.replace_table(relation.hidden, relation.name, relation.aside)


def _changed(name: str) -> UsageError:
    return UsageError(
        "target_exists",
        f"somebody else wrote {name} during this run",
        where=name,
        hint="It was not touched. Move it away by hand, then run again.",
    )


def _put_aside(final: Path, aside: Path) -> None:
    """Keep the old file under a hidden name; a folder, or any file without links, is renamed."""
    if aside.exists():
        return
    if final.is_file():
        try:
            os.link(final, aside)
            return
        except OSError:
            pass
    os.rename(final, aside)


def undo(intent: Intent, place: Path, engine: Engine | None = None) -> None:
    """Restore the old release; remove only what the record says is new."""
    folder = place.parent
    if intent.register is not None and not intent.known and intent.tables:
        # withdraw the entry of tables that nobody has seen, or later runs would miss them forever
        content = _content(intent, place)
        if content is not None and not any(_has(engine, each.name, each) for each in intent.tables):
            Register(place.parent / intent.register).withdraw(content)
    for relation in intent.tables:
        assert engine is not None
        if engine.has_table(relation.aside):
            if _has(engine, relation.name, relation):
                engine.drop_table(relation.name)
            engine.rename_table(relation.aside, relation.name)
        elif relation.old is None and _has(engine, relation.name, relation):
            engine.drop_table(relation.name)
        engine.drop_table(relation.hidden)
    for file in reversed(intent.files):
        restore(file, folder)
    writing.sync(folder)
    writing.remove(path_of(place))
    writing.sync(folder)


def restore(file: File, folder: Path, *, ours: bool = False) -> None:
    """Restore an old file or remove a new one; bytes that may not be ours stay."""
    hidden, final, aside = map(folder.joinpath, (file.hidden, file.name, file.aside))
    if aside.exists() and final.exists() and final.samefile(aside):
        writing.remove(aside)
    elif ours or not final.exists() or _is(final, file):
        if aside.exists():
            writing.remove(final)
            os.rename(aside, final)
        elif file.old is None:
            writing.remove(final)
    writing.remove(hidden)


def close(intent: Intent, place: Path, engine: Engine | None = None) -> None:
    """The new release is in place: remove what was put aside, then the record."""
    folder = place.parent
    for relation in intent.tables:
        assert engine is not None
        if engine.has_table(relation.aside):
            engine.drop_table(relation.aside)
    for name, sha256 in intent.gone:
        if (folder / name).exists() and manifest.checksum(folder / name) == sha256:
            writing.remove(folder / name)
    for file in intent.files:
        writing.remove(folder / file.aside)
    writing.remove(path_of(place))
    writing.sync(folder)


def gone(place: Path, names: set[str]) -> tuple[tuple[str, str], ...]:
    """The files of the current release that the new one does not have, with their checksums."""
    try:
        old = manifest.read(place).files
    except (OSError, PrivacySqlError):
        return ()
    return tuple(
        (each.file, each.sha256)
        for each in old
        if each.file not in names and Path(each.file).name == each.file
    )
