"""The verbs: the only module that wires tables, engines, requirements and methods together."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import privacy_sql
from privacy_sql import deadlines, manifest, registry
from privacy_sql import files as writing
from privacy_sql.counted.base import Base, counted_once, no_rows, refuse_strangers
from privacy_sql.counted.base import count as counted
from privacy_sql.counted.fingerprints import is_csv
from privacy_sql.counted.grouping import Grouping, Judgeable
from privacy_sql.counted.profiling import of_many_people, says_whose
from privacy_sql.criteria import Criterion, one_of
from privacy_sql.engines import Engine, connect
from privacy_sql.engines._spill import private_folder
from privacy_sql.errors import DataError, NotSafe, PrivacySqlError, Undecided, UsageError, number_of
from privacy_sql.history import group_contents
from privacy_sql.history.register import Register
from privacy_sql.judge import Requirements, Verdicts, judge, refuse_no_list, refuse_unfit
from privacy_sql.manifest import Manifest, Output
from privacy_sql.methods import Method, Proposal, refuse_without_labels
from privacy_sql.publishing import (
    audit,
    intents,
    parts,
    public_record,
    publication,
    register_check,
    verifying,
)
from privacy_sql.publishing import baseline as guesses
from privacy_sql.publishing import formulas as in_cells
from privacy_sql.publishing.starred import read_as_anything
from privacy_sql.publishing.targets import Kept, read_by
from privacy_sql.query.statements import step
from privacy_sql.query.template import Query, Sql, render
from privacy_sql.release import Release, refuse_no_release
from privacy_sql.table import Table
from privacy_sql.verdict import Verdict

if TYPE_CHECKING:
    import pyarrow as pa

    from privacy_sql.lattice.result import SearchResult
    from privacy_sql.marginals.result import MarginalResult
    from privacy_sql.searches.full_domain import Goal

TABLE = "table:"
LIKE_AN_IDENTIFIER = 20  # with this many rows, a column without equal values is not a coincidence
FIRST_ROWS = 10_000  # in which a column that says whose row it is would repeat
GOALS = ("all", "best", "one")
# full-width letters and spaces of East Asian keyboards, and the plain ones they look like
WIDE = "".join(map(chr, [*range(0xFF01, 0xFF5F), 0x3000, 0xA0]))
NARROW = "".join(map(chr, [*range(0x21, 0x7F), 0x20, 0x20]))


def count(engine: Engine, table: Table) -> Table:
    """The table with its counts, which every verb accepts; `people.count` adds further questions."""
    refuse_strangers(engine, table)
    return counted_once(engine, table)


def check(engine: Engine, table: Table | Judgeable, require: Sequence[Criterion]) -> Verdicts:
    """Judge an unchanged table, a release before publication, or a set of marginals together.

    >>> import pandas as pd
    >>> import privacy_sql as ps
    >>> with ps.connect() as engine:
    ...     table = ps.Table(pd.DataFrame({"age": [30, 30, 41]}), ["age"])
    ...     bool(ps.check(engine, table, [ps.KAnonymity(2)]))
    False
    """
    refuse_no_list(require)
    given: object = table
    if not isinstance(given, Table | Judgeable):
        hint = "Name the roles of the columns: ps.Table(source, quasi, sensitive)."
        raise UsageError("bad_table", "check needs a Table, a Release or a MarginalSet", hint=hint)
    if isinstance(table, Release):  # readers of a release see only its rows
        return judge(table.grouping, Requirements.of(table.grouping.base.table, require).require)
    if not isinstance(table, Table):
        return judge(table.grouping, require)
    return _as_it_stands(engine, table, require)[1]


def _as_it_stands(engine: Engine, table: Table, require: Sequence[Criterion]) -> tuple[Grouping, Verdicts]:
    base = counted(engine, table, several=True)
    grouping = Grouping.by(base, base.own_keys())
    verdicts = judge(grouping, require)
    if note := read_as_anything(base):
        verdicts.notes = (str(note),)
    return grouping, verdicts


@dataclass(frozen=True)
class Examined:
    """What `check` found: the verdicts, the size of the table, and what it ignored."""

    verdicts: Verdicts
    rows: int
    groups: int
    ignored: tuple[str, ...]
    warnings: tuple[str, ...]
    baseline: guesses.Baseline


def examine(
    engine: Engine, table: Table, require: Sequence[Criterion], project: Path | None = None
) -> Examined:
    """Judge an unchanged table, in a project together with its registered releases.

    Each of several sensitive columns is judged with the others as quasi-identifiers, or all jointly.
    """
    grouping, verdicts = _as_it_stands(engine, table, require)
    base = grouping.base
    warnings = [warning for part in (base, *base.sides) for warning in look_alikes(part)]
    warnings += [*identifier_like(base), *rows_of_one_person(base)]
    if project is not None:
        warnings += register_check.compared(project, grouping, require)
    warnings += verdicts.notes
    found = guesses.of_table(engine, table, grouping)
    return Examined(verdicts, base.rows, grouping.n_groups, base.ignored, tuple(warnings), found)


def beside(release: Release) -> tuple[str, ...]:
    """Warnings about a release besides its verdicts; they say nothing about the rows of a noisy release."""
    if release.promise is not None:
        return ()
    base = release.base
    return (*look_alikes(base), *identifier_like(base), *rows_of_one_person(base))


def formulas(release: Release) -> tuple[str, ...]:
    """Warn about cells that a spreadsheet would take for formulas if the release is CSV."""
    engine: Engine = release.base.engine
    if release.alike is not None:
        return in_cells.warnings(engine, [release.alike])
    views = release.parts.values() or (release.view,)
    return in_cells.warnings(engine, [(engine.create(view, view=True), None) for view in views])


def look_alikes(base: Base) -> tuple[str, ...]:
    """Warn that sensitive values differ only in letter case, spaces or width, and count as different."""
    if not base.table.sensitives:
        return ()
    (found,) = base.engine.fetch(
        render("api/look_alikes.sql", values=base.dictionaries["s"], wide=WIDE, narrow=NARROW)
    )
    if found["n_values"] == found["n_folded"]:
        return ()
    alike = found["n_values"] - found["n_folded"]
    written = f"{base.table.sensitives[0]}: {number_of(alike, 'value')} written almost like another"
    return (f"{written}; they count as different values",)


def identifier_like(base: Base) -> list[str]:
    """Warn about each quasi-identifier that is different for everybody, like an identifier."""
    return [
        f"{column}: no value occurs twice, as in an identifier; name it with --identifier or leave it out"
        for column, alias in base.aliases.items()
        if base.statistics[alias]["n_values"] == base.rows >= LIKE_AN_IDENTIFIER
    ]


def rows_of_one_person(base: Base) -> list[str]:
    """Warn about each unused column that is named like whose row it is, if values repeat in the first rows.

    The first rows are enough: visits repeat there, too, and the source is not read to its end.
    """
    table = base.table
    unused = [name for name in (*base.ignored, *table.drop) if says_whose(name)]
    if not unused or table.identifier is not None or table.count:
        return []
    columns = [(name, Sql(f"n{place}"), Sql(f"v{place}")) for place, name in enumerate(unused)]
    rows = base.engine.first(base.source, unused, FIRST_ROWS)
    (found,) = base.engine.fetch(render("api/repeated.sql", rows=rows, columns=columns))
    base.engine.drop(rows)
    read = number_of(found["n_first"], "row")
    read = f"the first {read}" if found["n_first"] == FIRST_ROWS else read
    return [
        f"{name} has {number_of(found[n_values], 'value')} in {read}; each row was counted as one person."
        f" Add --identifier {name}, or `identifier: {{column: {name}}}` in privacy.yml"
        for name, n_rows, n_values in columns
        if found[n_values] < found[n_rows] and of_many_people(found[n_values], found["n_first"])
    ]


def publish(engine: Engine, table: Table, require: Sequence[Criterion], method: Method) -> Release:
    """Choose how to publish a table and judge the choice; only `write` publishes anything.

    The first steps of a run; `publication.publish` takes the others.

    >>> import pandas as pd
    >>> import privacy_sql as ps
    >>> rows = pd.DataFrame({"age": ["30", "31", "41", "44"], "illness": ["flu", "cold", "flu", "cold"]})
    >>> with ps.connect() as engine:
    ...     table = ps.Table(rows, {"age": ps.Intervals(10)}, "illness")
    ...     print(ps.publish(engine, table, [ps.KAnonymity(2)], ps.Generalise({"age": 1})).safe)
    True
    """
    refuse_strangers(engine, table)
    _refuse_no_method(method)
    asked = Requirements.of(table, require)
    if len(table.sensitives) > 1 and not method.several_sensitive:
        raise UsageError(
            "several_sensitive",
            f"{method.name} publishes one sensitive column",
            where=table.name,
            hint="Use full_domain or generalise, or publish one sensitive column and drop the others.",
        )
    # checks that need only the hierarchies run before anything is counted
    refuse_without_labels(method, asked)
    method.refuse_unfit(table, asked)
    if table.count:
        hint = "Repeat each row as often as it counts, or only check the table."
        raise UsageError(
            "counted_rows", "a table with a `count` column can be checked, not published", hint=hint
        )
    if table.members_tied:
        told = "household numbers cannot be published, because they show who lives together"
        raise UsageError("household_numbers", told, where=table.name, hint="Write `published: no`.")
    method.tell_size(table)
    with deadlines.within(method.seconds, table.name):  # from the first statement on
        with step("count"):
            base = counted(engine, table, several=True, frozen=True)
        if not method.promises:
            refuse_unfit(base, require)
            if not base.holds_rows:
                raise no_rows(table)
            # columns that stay as they are would tell which lines are of one person
            if table.values_per_person != "one" and table.insensitive:
                names = ", ".join(table.insensitive)
                told = (
                    f"people have several values each, and {names} would show which rows belong to one person"
                )
                hint = "Make it a quasi-identifier, declare it known (`known: true`), or drop it."
                raise UsageError("several_values", told, where=table.name, hint=hint)
        with step("propose"):
            proposal = method.propose(base, asked)
    with step("judge"):
        verdicts = proposal.promise() if proposal.promise else asked.judge(proposal.grouping)
    with step("view"):
        return released(base, proposal, verdicts, method, asked)


def _refuse_no_method(given: object) -> None:
    """Say in words what is not a method."""
    if not isinstance(given, Method):
        told = f"the method must be an object, not a {type(given).__name__}"
        raise UsageError("bad_argument", told, hint="For example ps.FullDomain().")


def search(
    engine: Engine,
    table: Table,
    require: Sequence[Criterion],
    method: Method | None = None,
    *,
    goal: Goal = "all",
) -> SearchResult | MarginalResult:
    """The safe choices of a table: all minimal ones, the best, or one; publishes nothing.

    A method without its own search is searched full-domain; `Marginals` gives its best collection.

    >>> import pandas as pd
    >>> import privacy_sql as ps
    >>> rows = pd.DataFrame({"age": ["30", "31", "41", "44"], "illness": ["flu", "cold", "flu", "cold"]})
    >>> with ps.connect() as engine:
    ...     table = ps.Table(rows, {"age": ps.Intervals(2, 10)}, "illness")
    ...     [choice["levels"] for choice in ps.search(engine, table, [ps.KAnonymity(2)]).minimal]
    [{'age': 2}]
    """
    from privacy_sql.methods.full_domain import FullDomain

    began = time.monotonic()
    chosen = method or FullDomain()
    refuse_strangers(engine, table)
    _refuse_no_method(chosen)
    one_of(goal, GOALS, "a search", "goal")
    asked = Requirements.of(table, require)
    chosen.refuse_search(table, asked)
    chosen.tell_size(table)
    with deadlines.within(chosen.seconds, table.name):
        asks = chosen.chooses_levels and guesses.may_single_out(table)
        people = counted_once(engine, table) if asks else table  # counted once for all
        base = counted(engine, people, several=True)
        refuse_unfit(base, require)
        if not base.holds_rows:
            raise no_rows(table)
        found = chosen.search(base, asked, goal)
    if not asks:
        return found
    left = None if chosen.seconds is None else chosen.seconds - (time.monotonic() - began)
    return _as_run_says(engine, people, require, chosen, found, left)


def _as_run_says(
    engine: Engine,
    people: Table,
    require: Sequence[Criterion],
    method: Method,
    found: SearchResult | MarginalResult,
    left: float | None,
) -> SearchResult | MarginalResult:
    """The result of a search with what `run` says of its best choice: insensitive columns may single out."""
    from privacy_sql.lattice.result import SearchResult
    from privacy_sql.methods.generalise import Generalise

    assert isinstance(found, SearchResult)
    if found.best is None:
        return found
    best, counts, notes = found.best["levels"], None, list(found.notes)
    refusal: PrivacySqlError | None = None
    who = f"somebody who also knows {', '.join(people.as_they_are)}"
    try:
        there = Generalise(best, max_suppressed=str(method.allowed))
        if left is not None and left <= 0:
            raise Undecided("undecided", "the time limit passed")
        with deadlines.within(left, people.name):
            release = publish(engine, people, require, there)
    except Undecided as problem:
        told = f"note        no combination was checked against {who}: {problem.message}"
        return replace(found, notes=(*notes, told))
    except UsageError as problem:  # whatever the levels
        refusal = problem
    else:
        refusal = release.refusal
        if release.baseline is not None:
            counts = release.baseline.to_json()
            notes += release.baseline.sentences(release.require)[-1:]
    if refusal is not None:
        notes.append(f"NOT SAFE    {refusal.message}")
    if counts is not None:
        notes.append(f"note        no other combination was checked against {who}")
    points = [
        {**point, "safe": point["safe"] and refusal is None} if point["levels"] == best else point
        for point in found.frontier
    ]
    return replace(found, baseline=counts, refusal=refusal, notes=tuple(notes), frontier=tuple(points))


def as_written(
    engine: Engine, table: Table, require: Sequence[Criterion], path: Path, allowed: Fraction
) -> Release:
    """A written release, made again at the levels of its manifest; the file has the same rows."""
    from privacy_sql.methods.generalise import Generalise

    place, _ = verifying.found(path)
    content = verifying.verified(path)
    levels = content.choice.get("levels")
    method = registry.known("methods", content.method)
    if method is None or not method.shows_labels or not levels or not content.files:
        told = f"{content.release} was not written as a file with one level per column"
        hint = "Name the published file with --source and the column of its groups with --group."
        raise UsageError("no_levels", told, where=place.name, hint=hint)
    release = publish(engine, table, require, Generalise(dict(levels), max_suppressed=str(allowed)))
    try:
        file = place.parent / content.files[0].file
        with engine.reader([file]) as auditor:
            audit.same_rows(auditor, file, release)
    except NotSafe:
        told = f"the source of {content.release} has changed since it was published"
        hint = "Publish it again, or restore the source."
        raise DataError("source_changed", told, where=place.name, hint=hint) from None
    return release


def released(
    base: Base,
    proposal: Proposal,
    verdicts: Mapping[str, Verdict],
    method: Method,
    asked: Requirements,
) -> Release:
    """A proposal and its verdicts as a release, with the view of the published rows."""
    view = base.engine.create(proposal.view, view=True)
    rows_in: int | None = base.rows
    rows_out, repeated = base.rows - proposal.suppressed, 0
    if proposal.published is not None:
        # counts of cells do not reveal the number of rows, and neither does the manifest
        rows_in, rows_out = proposal.counted, proposal.published
    elif base.holders is not None and (groups := proposal.grouping.one_table) is not None:
        # one line is published for each value, and one for each person without a value
        (found,) = base.engine.fetch(render("counted/rows.sql", relation=base.source))
        every = int(found["n_rows"])
        rows_in, rows_out, repeated = every, groups.n_lines, every - base.n_lines
    differ = bool(method.allowed or proposal.suppressed) or base.table.values_per_person != "one"
    release = Release(
        name=base.table.name,
        table=base.table,
        proposal=proposal,
        verdicts=verdicts,
        require=asked.require,
        method=method.name,
        rows_in=rows_in,
        rows_out=rows_out,
        repeated=repeated,
        step=public_record.step(verdicts) if differ and proposal.published is None else None,
        columns=base.engine.columns(view),
        base=base,
        audited_rows=audited_rows,
    )
    known = guesses.of_release(release)
    refusal = guesses.singled_out(release.table, release.require, known)
    return replace(release, baseline=known, refusal=refusal)


def write(
    engine: Engine,
    release: Release,
    target: str | Path,
    *,
    overwrite: bool = False,
    manifest_to: str | Path | None = None,
    csv: Mapping[str, Any] | None = None,
) -> Path:
    """Write a release to a file, a folder or `table:NAME`, audited from its own bytes; returns its manifest.

    `csv={"formulas": "escape"}` puts an apostrophe before cells of a CSV file that a spreadsheet would run.
    It refuses a release that is not safe, or whose published bytes do not meet the requirements.
    """
    refuse_no_release(release)
    writing.refuse_no_path(target, "a target")
    escape = publication.escapes(csv)
    try:
        if release.refusal is not None:
            raise release.refusal
        if not release.safe:
            failed = [requirement for requirement, verdict in release.verdicts.items() if not verdict.safe]
            raise NotSafe(
                "not_safe", f"{release.name} is not safe: {', '.join(failed)}", hint="Nothing was published."
            )
        refuse_read_alike(release, target)
    except PrivacySqlError:
        if not (isinstance(target, str) and (target.startswith(TABLE) or writing.no_place(target))):
            # what is refused must not keep what a killed run left
            intents.settle(manifest.manifest_path(_file(Path(target), release)), engine)
        raise
    return put_out(release, target, overwrite=overwrite, manifest_to=manifest_to, escape=escape)


def audited_rows(release: Release) -> pa.Table:
    """The rows of a release, read from a private file that is audited like any other and then removed."""
    if release.parts:
        told = f"{release.name} is published as {len(release.parts)} tables"
        raise UsageError("several_tables", told, hint="Write it to a folder and read the tables from there.")
    folder, leave = private_folder(release)
    try:
        place = folder / "rows" / "rows.parquet"
        write(release.base.engine, release, place)
        with connect() as reader:
            session = reader.session([place])
            return session.arrow(Query(f"select * from {session.source(place)}", "published rows"))
    finally:
        leave()


def put_out(
    release: Release,
    target: str | Path,
    *,
    overwrite: bool = False,
    manifest_to: str | Path | None = None,
    escape: bool = False,
    register: Register | None = None,
    kept: Sequence[Kept] = (),
    told: Callable[[Path], None] = lambda place: None,
    token: str | None = None,
) -> Path:
    """Write a safe release that reads as it was judged, and enter it into a locked register."""
    place = Path(manifest_to) if manifest_to else None
    form = form_of(release, target, place, kept, escape=escape, token=token)
    return publication.publish(
        form,
        overwrite=overwrite,
        judge=partial(_audited, release),
        describe=partial(describe, release),
        register=register,
        private=group_contents.writer(release) if register is not None else None,
        told=told,
    )


def refuse_read_alike(release: Release, target: str | Path) -> None:
    """Refuse CSV for rows that were judged as different but would read the same."""
    if not (isinstance(target, str) and target.startswith(TABLE)) and is_csv(_file(Path(target), release)):
        audit.refuse_read_alike(release)


def dry_write(release: Release, target: str | Path) -> None:
    """Write a release to a hidden place, audit it and remove it: `write` without a trace."""
    if release.promise is not None and release.rehearsal:
        return  # noise is not drawn, so there is nothing to write
    if isinstance(target, str) and target.startswith(TABLE):
        if not release.base.engine.undoes:
            return  # others would see its tables for a while
        folder = None
    else:
        # removed at the end, or at the next start if this run is killed
        folder, leave = private_folder(release)
        target = folder / Path(target).name
    try:
        form = form_of(release, target)
        publication.dry_write(form, judge=partial(_audited, release))
    finally:
        if folder is not None:
            leave()


def form_of(
    release: Release,
    target: str | Path,
    manifest_to: Path | None = None,
    kept: Sequence[Kept] = (),
    *,
    escape: bool = False,
    token: str | None = None,
) -> publication.Form:
    """The form of a written release: files, or tables of its engine."""
    token = token or secrets.token_hex(6)
    home: Engine = release.base.engine
    several = release.proposal.parts
    views = several or {"": release.proposal.view}
    kept = [*kept, *read_by(release.table, *release.require)]
    if isinstance(target, str) and target.startswith(TABLE):
        table = target.removeprefix(TABLE)
        place = manifest_to or Path("target") / f"{release.name}{manifest.SUFFIX}"
        tables = parts.part_tables(table, release) if several else {"": table}
        return publication.Tables(release.name, home, place, tables, views, token, kept)
    if reason := writing.no_place(str(target)):
        raise UsageError("bad_target", reason, hint="Name a path, such as out/people.csv.")
    file = _file(Path(target), release)
    files = parts.part_files(file, release) if several else {"": file}
    return publication.Files(
        release.name, home, manifest.manifest_path(file), files, views, token, kept, escape
    )


def _file(target: Path, release: Release) -> Path:
    if target.suffix:
        writing.kind_of(target)
        return target
    return target / f"{release.name}.csv"


def _audited(release: Release, auditor: Engine, written: Mapping[str, Any]) -> Verdicts:
    """The verdicts on what was written, after checking that the source is still the judged one."""
    base: Base = release.base
    base.refuse_changed()
    if release.proposal.parts:
        verdicts = parts.audited(auditor, written, release)
    else:
        verdicts = audit.audit(auditor, written[""], release)
    verdicts = audit.asked_again(verdicts, release)
    base.refuse_changed()
    return verdicts


def describe(release: Release, verdicts: Mapping[str, Verdict], output: Output) -> Manifest:
    """The manifest of a release, with the verdicts of what was written."""
    table, proposal = release.table, release.proposal
    hierarchies: dict[str, manifest.Labels] = {}
    for column, kind in table.hierarchies.items():
        # bands are written for fractions as soon as one row has one; if no band is printed, the manifest must
        # not reveal that either
        met = any(0 < level < kind.height for level in proposal.printed_levels(column))
        read = kind if met else release.base.declared[column]
        if read.height:
            hierarchies[column] = manifest.Labels(levels=tuple(read.level_names()), checksum=read.checksum())
    rows = public_record.rows(release.counts, release.step)
    told = [
        public_record.verdict(verdict.to_json(), by_rows=audit.by_rows(release, verdict.criterion))
        for verdict in verdicts.values()
    ]
    return Manifest(
        schema=manifest.SCHEMA,
        release=release.name,
        made=manifest.now(),
        versions=manifest.Versions(privacy_sql=privacy_sql.__version__, engine=release.base.engine.version()),
        rows_in=rows["rows_in"],
        rows_out=rows["rows_out"],
        suppressed=rows["suppressed"],
        repeated=rows["repeated"],
        rows_rounded_to=release.step,
        columns=tuple(
            manifest.Column(name=name, published_as=release.published_as(name)) for name in release.columns
        ),
        roles=table.roles,
        where=table.where,
        values_per_person=table.values_per_person,
        hierarchies=hierarchies,
        method=release.method,
        choice=public_record.choice(proposal.choice),
        search=public_record.search(proposal.search),
        verdicts=tuple(manifest.PublishedVerdict(**verdict) for verdict in told),
        baseline=release.baseline.to_json() if release.baseline else None,
        insensitive=guesses.declared(table),
        claims=proposal.claims,
        sql=proposal.view.public(),
        parts={name: view.public() for name, view in proposal.parts.items()},
        rehearsal="NOT FOR PUBLICATION: made with a seed" if proposal.rehearsal else None,
        signoff=release.signoff,
        determination=release.determination,
        output=output,
    )
