"""Publish a release in one transaction: whatever happens, either the old or the new release is in place.

`publish` is the list of the steps: write, read back, judge, fingerprint, describe, register, swap. First it
locks the folder and repairs what a killed run left. It writes the record of intent after describing, and
removes it at the end. Until the record nothing is visible; from then on `intents.settle` finishes or undoes
what a kill leaves, and an error is undone here. The register comes before the swap, so that its readers see
everything published, whenever a run was killed.

One order for every form: a file, a folder, several files, a table, several tables.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import signal
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from privacy_sql import files as writing
from privacy_sql import manifest
from privacy_sql.counted.fingerprints import of_table
from privacy_sql.engines import Engine
from privacy_sql.engines._escaping import escaped
from privacy_sql.errors import EngineError, PrivacySqlError, PublishedNotRecorded, UsageError, did_you_mean
from privacy_sql.history.register import Private, Register
from privacy_sql.judge import Verdicts
from privacy_sql.manifest import Manifest, Output, WrittenFile, WrittenFiles, WrittenTable, WrittenTables
from privacy_sql.publishing import intents, targets
from privacy_sql.publishing.intents import File, Intent, Relation
from privacy_sql.query.statements import step
from privacy_sql.query.template import Query

FORMULAS = ("warn", "escape")  # how to treat cells that a spreadsheet would run; the first is the default


@dataclass
class Files:
    """One or several files or folders. `place` is the manifest's place; its folder is locked meanwhile.

    `finals` and `views` are by part; a release of one table has one part with an empty name.
    """

    release: str
    engine: Engine
    place: Path
    finals: Mapping[str, Path]
    views: Mapping[str, Query]
    token: str  # of the hidden names
    kept: Sequence[targets.Kept] = ()  # its inputs, which it must not replace
    escape: bool = False  # cells of CSV that a spreadsheet would run are stopped by an apostrophe
    accepted: dict[str, str] = field(init=False, default_factory=dict)
    old: Mapping[str, Any] = field(init=False, default_factory=dict)
    waits = False

    def refuse_taken(self, *, overwrite: bool) -> None:
        """Refuse to replace what must stay."""
        finals = list(self.finals.values())
        self.old = targets.admit(self.place, finals, self.release, overwrite=overwrite, kept=self.kept)

    @contextlib.contextmanager
    def written(self) -> Iterator[Mapping[str, Path]]:
        """Write everything to hidden places, by part; removes at the end what was not swapped."""
        hidden = dict(zip(self.finals, map(self._hidden, self.finals.values()), strict=True))
        try:
            for part, path in hidden.items():
                view = self.views[part]
                if isinstance(path, writing.Escaped):
                    view = escaped(self.engine, view)
                self.engine.write_file(view, path, writing.kind_of(self.finals[part]))
                writing.sync_all(path)
            self.accepted = {part: manifest.checksum(path) for part, path in hidden.items()}
            yield hidden
        finally:
            for path in hidden.values():
                writing.remove(path)

    def auditor(self) -> AbstractContextManager[Engine]:
        """An engine to read the written files."""
        return self.engine.reader(list(map(self._hidden, self.finals.values())))

    def output(self) -> Output:
        """What the manifest says about each part, so that any change can be found."""
        parts = tuple(
            WrittenFile(
                file=final.name,
                sha256=self.accepted[part],
                bytes=manifest.size(self._hidden(final)),
                csv=writing.ESCAPED if isinstance(self._hidden(final), writing.Escaped) else None,
            )
            for part, final in self.finals.items()
        )
        return parts[0] if "" in self.finals else WrittenFiles(files=parts)

    def intent(self) -> tuple[tuple[File, ...], tuple[Relation, ...]]:
        """The files and tables that will appear."""
        files = self.finals.items()
        return tuple(
            intents.waiting(final, self.token, self.accepted[part], self.old.get(final.name))
            for part, final in files
        ), ()

    def swap(self, intent: Intent) -> None:
        """Put them in place, the manifest last."""
        for file in intent.files:
            intents.appear(file, self.place.parent, overwrite=intent.overwrite)

    def _hidden(self, final: Path) -> Path:
        place = writing.hidden(final, self.token)
        return writing.Escaped(place) if self.escape and writing.kind_of(final) == "csv" else place


@dataclass
class Tables:
    """One table or several; the same as for files, in a transaction of the engine."""

    release: str
    engine: Engine
    place: Path
    finals: Mapping[str, str]
    views: Mapping[str, Query]
    token: str  # of the hidden names
    kept: Sequence[targets.Kept] = ()  # its inputs, which it must not replace
    old: Mapping[str, Any] = field(init=False, default_factory=dict)
    marks: dict[str, dict[str, int]] = field(init=False, default_factory=dict)
    waits = True

    def refuse_taken(self, *, overwrite: bool) -> None:
        """Refuse to replace what must stay."""
        finals = list(self.finals.values())
        self.old = targets.admit_tables(
            self.engine, self.place, finals, self.release, overwrite=overwrite, kept=self.kept
        )

    @contextlib.contextmanager
    def written(self) -> Iterator[Mapping[str, str]]:
        """Write everything under other names, in one transaction."""
        hidden = {part: self._hidden(part) for part in self.finals}
        with intents.begun(self.place, hidden.values()), self.engine.transaction():
            for part, table in hidden.items():
                self.engine.write_table(self.views[part], table)
            yield hidden

    @contextlib.contextmanager
    def auditor(self) -> Iterator[Engine]:
        """The engine itself: nobody else sees the tables yet."""
        yield self.engine

    def output(self) -> Output:
        """What the manifest says about each part, so that any change can be found."""
        # inside the transaction, so that the manifest vouches for the judged rows, whoever writes afterwards
        self.marks = {part: of_table(self.engine, self._hidden(part)) for part in self.finals}
        parts = tuple(
            WrittenTable.of_json({"relation": table, **self.marks[part]})
            for part, table in self.finals.items()
        )
        return parts[0] if "" in self.finals else WrittenTables(relations=parts)

    def intent(self) -> tuple[tuple[File, ...], tuple[Relation, ...]]:
        """The tables that will appear."""
        return (), tuple(
            Relation(
                table,
                self._hidden(part),
                self.marks[part],
                self._beside("old", part, table),
                self.old.get(table),
            )
            for part, table in self.finals.items()
        )

    def swap(self, intent: Intent) -> None:
        """Put them in place; they appear when the transaction ends, and the manifest after that."""
        intents.refuse_changed(intent.files[-1], self.place.parent)
        for relation in intent.tables:
            intents.appear_table(relation, self.engine)

    def _hidden(self, part: str) -> str:
        return self._beside("new", part, self.finals[part])

    def _beside(self, what: str, part: str, table: str) -> str:
        schema, dot, _ = table.rpartition(".")
        return f"{schema}{dot}ps_{what}_{self.token}{part and '_'}{part}"


Form = Files | Tables
Judge = Callable[[Engine, Mapping[str, Any]], Verdicts]


def escapes(csv: Mapping[str, Any] | None) -> bool:
    """Whether to write CSV with an apostrophe before cells that a spreadsheet would run; refuses other words.

    >>> escapes({"formulas": "escape"}), escapes({"formulas": "warn"}), escapes(None)
    (True, False, False)
    """
    asked = csv or {}
    if not isinstance(asked, Mapping) or set(asked) - {"formulas"}:
        raise UsageError("bad_csv", "csv has only one key, formulas", hint="Write {formulas: escape}.")
    word = asked.get("formulas", FORMULAS[0])
    if word not in FORMULAS:
        hint = did_you_mean(str(word), FORMULAS, listed=True)
        raise UsageError("bad_csv", f"formulas must be {' or '.join(FORMULAS)}", hint=hint)
    return bool(word == "escape")


def publish(
    form: Form,
    *,
    overwrite: bool,
    judge: Judge,
    describe: Callable[[Verdicts, Output], Manifest],
    register: Register | None = None,
    private: Private | None = None,
    told: Callable[[Path], None] = lambda place: None,
) -> Path:
    """Publish a release; returns the path of its manifest.

    `judge` compares what was written with what was intended, and judges the requirements again
    (`audit.audit`); `describe` makes the manifest; `private` writes what is needed to read the
    release next to its copy in the register; `told` is called as soon as the release is published.
    """
    place = form.place
    try:
        with writing.only_writer(place.parent, wait=form.waits), _undisturbed() as undisturbed:
            intents.settle_held(place, form.engine, register)
            intents.sweep(place)
            form.refuse_taken(overwrite=overwrite)
            intent: Intent | None = None
            swapped = False
            try:
                with step("write"), form.written() as written:
                    with step("read back"), form.auditor() as auditor, step("judge"):
                        verdicts = judge(auditor, written)
                    with step("fingerprint"):
                        output = form.output()
                    with step("describe"):
                        paper = describe(verdicts, output)
                    undisturbed()
                    intent = _intended(form, paper, overwrite, register)
                    with step("register"):
                        if register is not None:
                            hidden = {file.name: place.parent / file.hidden for file in intent.files}
                            register.keep(form.release, place, hidden, private=private)
                    with step("swap"):
                        form.swap(intent)
                        swapped = True
            except BaseException as problem:
                if not _is_out(intent, form, swapped, problem, register):
                    raise
            told(place)
            assert intent is not None
            _complete(intent, form)
    except OSError as problem:
        raise writing.unwritable(place.parent, problem) from None
    return place


def dry_write(form: Form, *, judge: Judge) -> None:
    """Write, read back, judge and fingerprint a release, then remove what was written."""
    with contextlib.suppress(_TakenBack), step("write"), form.written() as written:
        with step("read back"), form.auditor() as auditor, step("judge"):
            judge(auditor, written)
        with step("fingerprint"):
            form.output()
        raise _TakenBack


class _TakenBack(Exception):
    """Ends a transaction without a commit."""


def _intended(form: Form, paper: Manifest, overwrite: bool, register: Register | None) -> Intent:
    """Write the record of intent to disk, after the manifest it names."""
    place, raw = form.place, paper.to_bytes()
    files, tables = form.intent()
    own = intents.waiting(place, form.token, hashlib.sha256(raw).hexdigest(), form.old.get(place.name))
    names = {file.name for file in (*files, own)}
    intent = Intent(
        release=form.release,
        files=(*files, own),
        tables=tables,
        gone=intents.gone(place, names) if overwrite else (),
        register=os.path.relpath(register.path.resolve(), place.parent.resolve()) if register else None,
        overwrite=overwrite,
        known=register is not None and register.holds(paper),
    )
    try:
        writing.write_synced(place.parent / own.hidden, raw)
        intents.record(intent, place)
    except BaseException:
        # nothing has appeared yet
        for path in (place.parent / own.hidden, intents.path_of(place)):
            writing.remove(path)
        raise
    return intent


def _is_out(
    intent: Intent | None, form: Form, swapped: bool, problem: BaseException, register: Register | None
) -> bool:
    """After an error: whether the release is published all the same; undoes it if not."""
    if intent is None:
        return False
    if not (swapped and intent.tables):
        try:
            kept = intents.undo(intent, form.place, form.engine, register)
        except (OSError, PrivacySqlError):
            if not intent.tables:
                raise PublishedNotRecorded(intent.release, problem) from problem
            # the engine is gone together with its transaction; the next run removes the record
            return False
        if kept:
            raise _elsewhere(kept) from problem
        return False
    # the answer to COMMIT is missing, but the table itself shows the result
    try:
        intents.settle_held(form.place, form.engine, register)
    except EngineError:
        names = ", ".join(relation.name for relation in intent.tables)
        hint = "Run it again; the next run finishes or undoes it."
        raise EngineError(
            "commit_unknown",
            f"the connection ended during the commit of {names}, which may be published",
            hint=hint,
        ) from problem
    return form.place.is_file() and manifest.checksum(form.place) == intent.files[-1].sha256


def _complete(intent: Intent, form: Form) -> None:
    """The remaining steps after publication: the manifest of tables, and removing what was put aside."""
    folder, own = form.place.parent, intent.files[-1]
    try:
        if (folder / own.hidden).exists():
            intents.appear(own, folder, overwrite=True)
    except (OSError, PrivacySqlError) as problem:
        raise PublishedNotRecorded(intent.release, problem) from problem
    # the next run removes leftovers; they do not make this one fail
    kept: list[str] = []
    with contextlib.suppress(OSError, PrivacySqlError):
        kept = intents.close(intent, form.place, form.engine)
    if kept:
        raise PublishedNotRecorded(intent.release, _elsewhere(kept))


def _elsewhere(kept: list[str]) -> UsageError:
    """Say where the files are that had to make room for what somebody else wrote to the targets."""
    hint = (
        "Look what each holds: it is kept, and no run removes it. Give it its name back, or move both away."
    )
    return UsageError("target_exists", "; ".join([intents.MEANWHILE, *kept]), hint=hint)


@contextlib.contextmanager
def _undisturbed() -> Iterator[Callable[[], None]]:
    """Delay interrupts from the call of the yielded function to the end of the block."""
    came: list[int] = []
    before: dict[int, Any] = {}

    def begin() -> None:
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
                before[number] = signal.signal(number, lambda number, _: came.append(number))

    try:
        yield begin
    finally:
        for number, handler in before.items():
            signal.signal(number, handler or signal.SIG_DFL)
    if came:
        signal.raise_signal(came[0])
