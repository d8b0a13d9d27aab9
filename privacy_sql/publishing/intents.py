"""The record of intent of a publication: it names the new bytes, so that a later run can finish or undo it.

It is written when everything new is hidden next to the target, judged and durable, and removed when all of it
has its final name. A kill in between may leave anything: some files swapped, a table committed without its
manifest. The next run that opens the target calls `settle`, which finishes, or restores the old release.

A record may come from anybody, with a folder that somebody received. So it is obeyed only if it names what a
run of this very release would have named, and only bytes with the checksums of the record are moved or
removed. Whoever only reads a release undoes nothing in a database.
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
from privacy_sql.errors import DataError, NotSafe, PrivacySqlError, UsageError
from privacy_sql.history.register import FILE_NAME, Register
from privacy_sql.manifest import Manifest

# the names under which tables are written before they are judged
HIDDEN = re.compile(r"ps_new_([0-9a-f]{12})((_\w+)?)")
# errors about a table that somebody else created, changed or dropped meanwhile
SOMEBODYS = ("taken", "conflict", "no_relation", "no_source")
SHA256 = re.compile("[0-9a-f]{64}")
MEANWHILE = "somebody else wrote to the target during the run"


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
    """The checksum of what has a name now, or None; a link to nowhere and a FIFO are somebody's, too."""
    if place.is_symlink() and not place.exists():
        return "a link that leads nowhere"
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


def settle(place: Path, engine: Engine | None = None, register: Register | None = None) -> str:
    """Finish or undo what a killed run left at the place of a release; says what was done, if anything.

    It also removes what a run left that was killed before its record, so that no later refusal keeps it.
    """
    said = _waited(place, engine, register, reads=False)
    sweep(place)
    return said


def sweep(place: Path) -> None:
    """Remove what killed runs of a release left hidden: it may hold rows that nobody audited.

    A run that is going on holds the folder, so its files stay, as does what a record still needs.
    """
    own, folder = place.name.removesuffix(manifest.SUFFIX), place.parent

    def ours(name: str) -> bool:
        if own in (name, whole(name)):  # another release may be called like a part of this one
            return not path_of(manifest.manifest_path(folder / name)).is_file()
        return name in (place.name, path_of(place).name, _note_of(place).name)

    if next(writing.hidden_in(folder, ours), None) is None:
        return
    try:
        # a busy folder is swept by the next run
        with contextlib.suppress(UsageError), writing.only_writer(folder):
            for left in writing.hidden_in(folder, ours) if not path_of(place).is_file() else ():
                writing.remove(left)
    except OSError as problem:
        raise writing.unwritable(folder, problem) from None


def settle_to_read(place: Path, engine: Engine | None = None) -> None:
    """The same for those who only read the release; they finish what was begun in a database, or leave it."""
    _waited(place, engine, None, reads=True)


def _waited(place: Path, engine: Engine | None, register: Register | None, *, reads: bool) -> str:
    begun = engine is not None and not reads and _note_of(place).is_file()
    if not path_of(place).is_file() and not begun:
        return ""
    # a live run holds the folder; wait for it, because its swap is short
    with writing.only_writer(place.parent, wait=True):
        return settle_held(place, engine, register, reads=reads)


def settle_held(
    place: Path, engine: Engine | None = None, register: Register | None = None, *, reads: bool = False
) -> str:
    """The same while the folder is already locked. Tables need the engine that has them."""
    try:
        intent = _read(place)
        if intent is None:
            if engine is not None and not reads:
                _drop_begun(_note_of(place), engine)
            return ""
        if intent.tables and engine is None:
            return ""
        if _registered(intent, place) and _whole(intent, place, engine):
            kept = finish(intent, place, engine)
            said = f"finished an interrupted run of {intent.release}: its release is published"
        elif reads and not _rolled_back(intent, engine):
            return ""
        else:
            kept = undo(intent, place, engine, register)
            said = f"undid an interrupted run of {intent.release}: nothing of it is published"
    except OSError as problem:
        raise writing.unwritable(place.parent, problem) from None
    return "; ".join([said, *([MEANWHILE] if kept else []), *kept])


def _rolled_back(intent: Intent, engine: Engine | None) -> bool:
    """Whether there is nothing to undo in a database or a register, because no table of it exists."""
    withdrawn = intent.register is None or intent.known or not intent.tables
    return withdrawn and not any(
        _given(engine).has_table(each.hidden)
        or _given(engine).has_table(each.aside)
        or (each.old is None and _has(engine, each.name, each))
        for each in intent.tables
    )


def _drop_begun(note: Path, engine: Engine) -> None:
    """Drop the hidden tables of a run that was killed before it wrote its record."""
    if not note.is_file():
        return
    with contextlib.suppress(ValueError):  # cut off by the kill: nothing was written yet
        for table in json.loads(note.read_bytes()):
            if HIDDEN.fullmatch(str(table).rpartition(".")[2]):
                engine.drop_table(table)
    writing.remove(note)


def _read(place: Path) -> Intent | None:
    written = path_of(place)
    if not written.is_file():
        return None
    with contextlib.suppress(ValueError, LookupError, TypeError, AttributeError, RecursionError):
        found = json.loads(written.read_bytes())
        intent = Intent(
            release=found["release"],
            files=tuple(File(**each) for each in found["files"]),
            tables=tuple(Relation(**each) for each in found["tables"]),
            gone=tuple((name, sha256) for name, sha256 in found["gone"]),
            register=found["register"],
            overwrite=found["overwrite"],
            known=found.get("known", True),
        )
        if _names_only_its_own(intent, place):
            return intent
    hint = "Remove it; `privacy-sql verify` says whether the release next to it is complete."
    raise DataError("bad_intent", f"{written.name} has changed since it was written", hint=hint)


def _names_only_its_own(intent: Intent, place: Path) -> bool:
    """Whether a record names what a run of this very release would have named, and nothing else."""
    own, last = place.name.removesuffix(manifest.SUFFIX), intent.files[-1]
    token = last.hidden[1:13]
    names = [file.name for file in intent.files] + [name for name, _ in intent.gone]
    parts = [name for name in names if name != last.name]
    checksums = [file.sha256 for file in intent.files] + [sha256 for _, sha256 in intent.gone]
    checksums += [file.old for file in intent.files if file.old is not None]
    folder, _, register = (intent.register or "").rpartition("/")
    return (
        last.name == place.name
        and re.fullmatch("[0-9a-f]{12}", token) is not None
        and len({*names}) == len(names)
        and all(own in (name, whole(name)) for name in parts)
        and not any(name in ("", ".", "..") or "/" in name or "\0" in name for name in parts)
        and all(
            (file.hidden, file.aside) == (f".{token}-{file.name}", f".{token}-{file.name}.old")
            and not (place.parent / file.hidden).is_symlink()
            for file in intent.files
        )
        and all(SHA256.fullmatch(sha256) for sha256 in checksums)
        and (not intent.tables or len(intent.files) == 1)
        and all(_beside(relation, token) for relation in intent.tables)
        and (not intent.register or (register == FILE_NAME and not folder.startswith("/")))
    )


def _beside(relation: Relation, token: str) -> bool:
    """Whether the hidden names of a table are the ones that a run makes for it."""
    schema, dot, _ = relation.name.rpartition(".")
    hidden = HIDDEN.fullmatch(relation.hidden.removeprefix(f"{schema}{dot}"))
    return (
        hidden is not None
        and hidden[1] == token
        and relation.hidden == f"{schema}{dot}ps_new_{token}{hidden[2]}"
        and relation.aside == f"{schema}{dot}ps_old_{token}{hidden[2]}"
    )


def whole(part: str) -> str:
    """The name of the target that a file would belong to.

    >>> whole("people.marginal_2.csv"), whole("people.csv")
    ('people.csv', 'people.csv')
    """
    place = Path(part)
    return f"{Path(place.stem).stem}{place.suffix}"


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


def _whole(intent: Intent, place: Path, engine: Engine | None) -> bool:
    """Whether everything new still exists, hidden or in place, and nobody else has taken its names."""
    folder, content = place.parent, _content(intent, place)
    return (
        content is not None
        and {part.relation for part in content.tables} == {each.name for each in intent.tables}
        and all(_is(folder / each.hidden, each) or _is(folder / each.name, each) for each in intent.files)
        and all(_has(engine, each.name, each) or _has(engine, each.hidden, each) for each in intent.tables)
        # every name has the old file, the new one or nothing, but not somebody else's work
        and all(standing(folder / each.name) in (None, each.old, each.sha256) for each in intent.files)
        and all(standing(folder / each.aside) in (None, each.old) for each in intent.files)
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


def finish(intent: Intent, place: Path, engine: Engine | None = None) -> list[str]:
    """Put the missing parts in place, the manifest last, then remove what was put aside, like `close`."""
    for relation in intent.tables:
        if not _given(engine).has_table(relation.name):
            _given(engine).rename_table(relation.hidden, relation.name)
        elif not _has(engine, relation.name, relation):
            appear_table(relation, _given(engine))
    for file in intent.files:
        if _is(place.parent / file.hidden, file):
            appear(file, place.parent, overwrite=intent.overwrite)
    return close(intent, place, engine)


def appear(file: File, folder: Path, *, overwrite: bool) -> None:
    """Give a file its name, putting an old one aside; what must not be replaced stays."""
    hidden, final, aside = map(folder.joinpath, (file.hidden, file.name, file.aside))
    if not _is(hidden, file):
        raise NotSafe("changed_bytes", f"{final.name} changed during the audit", hint="Run it again.")
    if not (hidden.is_file() and final.exists() and final.samefile(hidden)):
        if overwrite and standing(final) is not None:
            refuse_changed(file, folder)
            if aside.exists() and aside.samefile(final):
                writing.remove(aside)
            # not linked, because what somebody writes meanwhile comes along with a name
            os.rename(final, aside)
        with contextlib.suppress(OSError):
            writing.open_to_readers(hidden)
        try:
            writing.add_name(hidden, final, renamed=overwrite)
        except (FileExistsError, NotADirectoryError):
            raise UsageError("target_exists", f"{final.name} exists", hint=writing.REPLACE) from None
    writing.remove(hidden)
    writing.sync(folder)
    # the judged bytes are there now, and the ones put aside are those that may be replaced; else undo it
    if not _is(final, file) or standing(aside) not in (None, file.old):
        raise _changed(file.name)


def refuse_changed(file: File, folder: Path) -> None:
    """Refuse to replace what somebody else has written since the check."""
    if standing(folder / file.name) != file.old:
        raise _changed(file.name)


def appear_table(relation: Relation, engine: Engine) -> None:
    """Give a table its name, replacing only the one it may replace."""
    try:
        if relation.old is None:
            engine.rename_table(relation.hidden, relation.name)
            return
        engine.hold_table(relation.name)
        if of_table(engine, relation.name) != relation.old:
            raise _changed(relation.name)
        engine.replace_table(relation.hidden, relation.name, relation.aside)
    except PrivacySqlError as problem:
        if problem.code not in SOMEBODYS:
            raise
        raise _changed(relation.name) from None


def _changed(name: str) -> UsageError:
    return UsageError(
        "target_exists",
        f"somebody else wrote {name} during this run",
        where=name,
        hint="It was not touched. Move it away by hand, then run again.",
    )


def undo(
    intent: Intent, place: Path, engine: Engine | None = None, register: Register | None = None
) -> list[str]:
    """Restore the old release; remove only what the record says is new.

    Returns which files can neither stay nor go back, because somebody else wrote there, and their new names.
    """
    folder = place.parent
    if intent.register is not None and not intent.known and intent.tables:
        _withdraw(intent, place, _given(engine), register)
    for relation in intent.tables:
        assert engine is not None
        if engine.has_table(relation.aside):
            if _has(engine, relation.name, relation):
                engine.drop_table(relation.name)
            engine.rename_table(relation.aside, relation.name)
        elif relation.old is None and _has(engine, relation.name, relation):
            engine.drop_table(relation.name)
        engine.drop_table(relation.hidden)
    again = [_leaving(name, sha256, intent) for name, sha256 in intent.gone]
    kept = [told for file in (*reversed(intent.files), *again) for told in restore(file, folder)]
    writing.sync(folder)
    writing.remove(path_of(place))
    writing.sync(folder)
    return kept


def _withdraw(intent: Intent, place: Path, engine: Engine, register: Register | None) -> None:
    """Withdraw the entry of tables that nobody has seen, or later runs would miss them forever."""
    content, named = _content(intent, place), place.parent / str(intent.register)
    if content is None or any(_has(engine, each.name, each) for each in intent.tables):
        return
    if register is None or os.path.realpath(register.path) != os.path.realpath(named):
        told = f"a run of {intent.release} was interrupted, and its register is that of another project"
        raise DataError("interrupted_run", told, hint="The next `privacy-sql run` of its project undoes it.")
    register.withdraw(content)


def restore(file: File, folder: Path) -> list[str]:
    """Restore an old file or remove a new one; returns what had to get another name, and which."""
    hidden, final, aside = map(folder.joinpath, (file.hidden, file.name, file.aside))
    new, kept = folder / f"{file.hidden}.new", []
    if aside.exists() and final.exists() and final.samefile(aside):
        writing.remove(aside)
    elif standing(new) is not None or standing(aside) is not None or file.old is None:
        kept += _take_away(final, new, file.sha256)
    # if somebody's file has the name now, the old one gets another: left hidden, it would be swept
    if standing(final) != file.old or not _remove_ours(aside, file.old):
        kept += _put_back(aside, final)
    _remove_ours(hidden, file.sha256)
    return kept


def _take_away(final: Path, away: Path, sha256: str) -> list[str]:
    """Remove what has these bytes; it is renamed before the last look, because somebody may write there."""
    if standing(final) == sha256:
        os.rename(final, away)
    return [] if _remove_ours(away, sha256) else _put_back(away, final)


def _put_back(path: Path, final: Path) -> list[str]:
    """Give a hidden file its name back, if there is one; if that is taken, a name that no run removes."""
    if standing(path) is None:
        return []
    try:
        writing.add_name(path, final)
    except (FileExistsError, NotADirectoryError):
        return [_shown(path, final)]
    writing.remove(path)
    return []


def _shown(path: Path, final: Path) -> str:
    """Give what had a name before one that no run removes, and say which."""
    shown = path.with_name(path.name.removeprefix("."))
    os.rename(path, shown)
    return f"{final.name} as it was before is now {shown.name}"


def _remove_ours(path: Path, sha256: str | None) -> bool:
    """Remove what has these bytes, and nothing else."""
    if standing(path) is None or standing(path) != sha256:
        return False
    writing.remove(path)
    return True


def close(intent: Intent, place: Path, engine: Engine | None = None) -> list[str]:
    """The new release is in place: remove what was put aside, then the record.

    Returns what other people wrote that was put aside, and where it is now.
    """
    folder = place.parent
    kept = []
    for relation in intent.tables:
        assert engine is not None
        if engine.has_table(relation.aside):
            if of_table(engine, relation.aside) == relation.old:
                engine.drop_table(relation.aside)
            else:
                kept.append(f"{relation.name} as it was before is now {relation.aside}")
    for name, sha256 in intent.gone:
        kept += _take_away(folder / name, folder / _leaving(name, sha256, intent).aside, sha256)
    for file in intent.files:
        aside = folder / file.aside
        if not _remove_ours(aside, file.old) and standing(aside) is not None:
            kept.append(_shown(aside, folder / file.name))
    writing.remove(path_of(place))
    writing.sync(folder)
    return kept


def _leaving(name: str, sha256: str, intent: Intent) -> File:
    """A file of the old release that the new one lacks, as one that is put aside and nothing comes for it."""
    return waiting(Path(name), intent.files[-1].hidden[1:13], "no new one", sha256)


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
