"""Read a release again from its published bytes and judge it as a stranger would.

The audit uses its own engine session on the written bytes. It trusts nothing from the search: it counts the
published rows, compares them with the intended ones, looks for labels that no hierarchy has, and judges every
requirement again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from privacy_sql.counted.base import OUT, count
from privacy_sql.counted.fingerprints import DistinctRows, fingerprint, is_csv
from privacy_sql.counted.grouping import Grouping
from privacy_sql.criteria import Criterion
from privacy_sql.engines import Engine
from privacy_sql.errors import NotSafe
from privacy_sql.judge import Verdicts, judge, required
from privacy_sql.methods._views import COUNT
from privacy_sql.publishing import baseline
from privacy_sql.query.statements import step
from privacy_sql.query.template import Query, Sql, free_name, names, render
from privacy_sql.release import Release
from privacy_sql.table import Table


@dataclass(frozen=True)
class Read:
    """What was written, read back once as distinct rows with counts."""

    engine: Engine
    rows: DistinctRows
    columns: Sequence[str]
    is_csv: bool


def audit(engine: Engine, published: str | Path, release: Release) -> Verdicts:
    """The verdicts on the published bytes; raises if they are not the intended rows."""
    with step("read back"):
        read = _read(engine, published)
        _same_rows(read, release)
        _known_labels(read.engine, read.rows.relation, release)
        if release.table.values_per_person != "one":
            _same_values(read, release)
    with step("judge"):
        _refuse_singled_out(read, release)
        if release.proposal.promise is not None:
            return _kept(Verdicts(release.proposal.promise()), release)
        verdicts = Verdicts(release.verdicts)  # published rows alone cannot decide some, which stay as judged
        asked = [c.as_published() for c in required(release) if decidable(c, release.table)]
        if asked:
            base = count(read.engine, published_table(read.rows.relation, release, read.rows.n), several=True)
            verdicts.update(judge(Grouping.by(base, base.own_keys()), asked))
        return _kept(verdicts, release)


def _read(engine: Engine, published: str | Path) -> Read:
    session = engine.session([published]) if not isinstance(published, str) else engine.session()
    relation = session.source(published)
    columns = list(session.columns(relation))
    counted = free_name("n_rows", columns)
    query = render("publishing/written.sql", written=relation, columns=columns, counted=counted)
    return Read(session, DistinctRows(session.create(query), counted), columns, is_csv(published))


def _refuse_singled_out(read: Read, release: Release) -> None:
    """Check that insensitive columns single nobody out in the published bytes either.

    If values are in random order, or people have several values, no reader can count people by their own
    insensitive columns; such releases are judged by their groups, or refused.
    """
    proposal = release.proposal
    if proposal.permuted or proposal.promise is not None or release.table.values_per_person != "one":
        return
    if release.table.as_they_are:
        found = baseline.of_published(read.engine, read.rows.relation, release, read.rows.n)
        refusal = baseline.singled_out(release.table, release.require, found)
        if refusal is not None:
            raise refusal


def audit_groups(engine: Engine, published: Mapping[str, Any], release: Release) -> Verdicts:
    """The verdicts on people and values in separate tables: only the values say what a group has."""
    with step("read back"):
        relations = {name: engine.source(place) for name, place in published.items()}
        same_parts(engine, published, relations, release)
        _known_labels(engine, relations["people"], release)
    with step("judge"):
        # the published values of each group decide these verdicts; the others stay as judged
        by_counts = [c.as_published() for c in required(release) if decidable(c, release.table)]
        verdicts = Verdicts(
            {str(criterion): release.verdicts[str(criterion)] for criterion in release.require}
        )
        if by_counts:
            values = published_table(published["values"], release)
            base = count(engine, replace(values, quasi={}, insensitive=(), count=COUNT))
            verdicts.update(judge(Grouping.by(base, base.own_keys()), by_counts))
        return _kept(verdicts, release)


def _kept(verdicts: Verdicts, release: Release) -> Verdicts:
    """The verdicts, if all are safe."""
    if not verdicts:
        failed = [requirement for requirement, verdict in verdicts.items() if not verdict.safe]
        raise NotSafe("audit", f"the published rows do not meet {', '.join(failed)}", where=release.name)
    return verdicts


def asked_again(verdicts: Verdicts, release: Release) -> Verdicts:
    """The verdicts, judging again those that depend on other releases, of which there may be more by now."""
    asked = [criterion for criterion in required(release) if criterion.needs_register]
    if not asked:
        return verdicts
    base = release.base
    for side in (base, *base.sides):
        side.memory.forget(OUT)
    return _kept(Verdicts({**verdicts, **judge(release.proposal.grouping, asked)}), release)


def by_rows(release: Release, criterion: str) -> bool:
    """Whether a verdict follows from the published rows, or from the promise of noise."""
    return release.proposal.promise is not None or all(
        decidable(each, release.table) for each in required(release) if each.name == criterion
    )


def decidable(criterion: Criterion, table: Table) -> bool:
    """Whether published rows alone decide a requirement.

    They do not if it reads the original quasi-identifiers or a population, or if a person may have several
    rows. Then `same_rows` and `_same_values` ensure that the written rows are exactly the judged ones.
    """
    return not criterion.needs_base and not criterion.needs_population and table.values_per_person == "one"


def published_table(published: str | Path, release: Release, counted: str | None = None) -> Table:
    """The published columns in their roles: quasi-identifiers without hierarchy, and no identifier."""
    table = release.table
    return Table(
        published,
        **published_roles(release),
        sensitive_hierarchy=table.sensitive_hierarchy,
        domains=table.domains,
        distances=table.distances,
        count=counted,
    )


def published_roles(release: Release) -> dict[str, Any]:
    """The declarations of a table of the published rows, as plain data."""
    table, proposal = release.table, release.proposal
    return {
        "quasi": [column for column in proposal.quasi if column not in table.also_sensitive],
        "sensitive": list(table.declared_sensitive),
        "joint": bool(table.joined),
        "also_known": list(table.also_known),
        "group": proposal.group,
        "sensitive_nulls": table.sensitive_nulls,
        "insensitive": [column for column in table.insensitive if column not in table.joined],
        "name": f"{release.name} as published",
    }


def same_rows(engine: Engine, published: str | Path, release: Release) -> None:
    """Check that the written rows are exactly the rows of the release's view, with the same counts."""
    _same_rows(_read(engine, published), release)


def _same_rows(read: Read, release: Release) -> None:
    """Check that the published rows are exactly the rows of the release's view, with the same counts."""
    columns = list(release.columns)
    if list(read.columns) != columns:
        raise NotSafe("audit", "the published columns are not those of the release", where=release.name)
    marks = fingerprint(
        read.engine, read.rows.relation, columns, empty_is_null=read.is_csv, counted=read.rows.n
    )
    # the view reads the source again, so the source must be the one that was counted and judged
    release.base.refuse_changed()
    home = release.base.engine
    view, alike = release.proposal.view, release.proposal.alike
    relation, n = alike or (home.rows_of(Query(view.sql, "published rows")), None)
    meant = fingerprint(home, relation, columns, empty_is_null=read.is_csv, counted=n)
    if marks["n_rows"] != release.rows_out or marks != meant:
        raise NotSafe("audit", "the published rows are not those of the release", where=release.name)


def _same_values(read: Read, release: Release) -> None:
    """Check that a reader of the rows counts the judged groups, with their values and missing values.

    The rows do not name the people of a group, so their number comes from the source. A file may merge values
    that were judged separately, as CSV does with empty text and a missing value.
    """
    if release.promise is not None:
        return
    found = count(read.engine, published_table(read.rows.relation, release, read.rows.n), several=True)
    theirs, ours = Grouping.by(found, found.own_keys()), release.groups
    missing = found.statistics["s"]["n_nulls"] if found.table.sensitives else 0
    judged = ours.n_groups, _n_values(ours), ours.n_lines - ours.n_rows
    if (theirs.n_groups, _n_values(theirs), missing) != judged:
        raise NotSafe(
            "audit",
            "in the written rows, other values are equal or missing than those that were judged",
            where=release.name,
            hint="CSV cannot tell empty text from a missing value; write Parquet, or replace one of them.",
        )


def refuse_read_alike(release: Release) -> None:
    """Refuse rows that differ only by empty text and NULL, which a CSV file cannot tell apart.

    Some requirements are not judged again on the written rows (other releases decide `composition`; beliefs
    and populations need the original columns), so their counts would differ from those of the file.
    """
    proposal = release.proposal
    if proposal.promise is not None:
        return
    home: Engine = release.base.engine
    alike: dict[str, None] = {}
    if proposal.alike:
        relations = [proposal.alike.relation]
    else:
        views = proposal.parts.values() or (proposal.view,)
        relations = [home.rows_of(Query(view.sql, "published rows")) for view in views]
    for relation in relations:
        kinds = home.columns(relation).items()
        texts = [name for name, kind in kinds if kind == "text" and name not in release.table.insensitive]
        if texts:
            (found,) = home.fetch(render("publishing/read_alike.sql", relation=relation, columns=texts))
            alike.update({name: None for name, both in zip(texts, found.values(), strict=True) if both})
    if alike:
        raise NotSafe(
            "read_alike",
            f"{', '.join(alike)}: has empty texts and missing values, which a CSV file cannot tell apart",
            where=release.name,
            hint="Write Parquet or a table, or replace one of them.",
        )


def _n_values(grouping: Grouping) -> int:
    """How many different values the groups have, without missing ones."""
    if not grouping.base.table.sensitives:
        return 0
    query = render("counted/listed.sql", relation=grouping.histogram, columns=names(["s"]))
    return sum(int(code) != 0 for code in grouping.base.engine.arrays(query)["s"])


def same_parts(
    engine: Engine, places: Mapping[str, Any], relations: Mapping[str, Sql], release: Release
) -> None:
    """Check that every table of a release is the intended one, row for row."""
    home: Engine = release.base.engine
    for name, view in release.parts.items():
        meant, csv = home.rows_of(view), is_csv(places[name])
        columns = list(home.columns(meant))
        same = list(engine.columns(relations[name])) == columns and fingerprint(
            engine, relations[name], columns, empty_is_null=csv
        ) == fingerprint(home, meant, columns, empty_is_null=csv)
        if not same:
            raise NotSafe("audit", f"the written {name} is not the one of the release", where=release.name)


def _known_labels(session: Engine, published: Sql, release: Release) -> None:
    """Check that every published label is one of the column's hierarchy at its level."""
    base = release.base
    generalised, columns, at_levels = [], [], []
    for column, level in release.proposal.levels.items():
        if level and column in release.columns:
            generalised.append((column, level))
            columns.append((column, Sql(f"c{len(generalised)}")))
            at_levels.append((base.levels[base.aliases[column]], level))
    if not generalised:
        return
    found = base.engine.fetch(render("publishing/known_labels.sql", columns=at_levels))
    held = {
        "position": ("bigint", [row["position"] for row in found]),
        "label": ("varchar", [row["label"] for row in found]),
    }
    known = session.load(held, "labels")
    query = render("publishing/labels.sql", published=published, columns=columns, known=known)
    (strange,) = session.fetch(query)
    for (column, level), n_values in zip(generalised, strange.values(), strict=True):
        if n_values:
            raise NotSafe("audit", f"{column} has values that are not labels of level {level}")
