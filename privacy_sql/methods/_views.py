"""The SELECTs that are published: columns at their levels, or sensitive values in a secret order."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Mapping, Sequence

from privacy_sql.counted.base import Base
from privacy_sql.counted.fingerprints import DistinctRows
from privacy_sql.counted.grouping import Grouping
from privacy_sql.errors import UsageError
from privacy_sql.query.template import Query, Sql, free_name, render

GROUP = "group_id"
COUNT = "n_people"


def shown(base: Base, levels: Mapping[str, int]) -> list[tuple[str, Sql, int | None, Sql | None]]:
    """The published columns in the source's order: name, internal name, level (None: unchanged), labels."""
    made: list[tuple[str, Sql, int | None, Sql | None]] = []
    for name in base.source_columns:
        if name in base.aliases:
            alias, level = base.aliases[name], levels.get(name, 0)
            made.append((name, Sql(alias), level, base.levels[alias] if level else None))
        elif name in base.others:
            made.append((name, Sql(base.others[name]), None, None))
    return made


def generalised(grouping: Grouping, levels: Mapping[str, int]) -> tuple[Query, DistinctRows | None]:
    """The view of a full-domain generalisation."""
    base = grouping.base
    keys = [
        (
            Sql(f"k{number}"),
            Sql(key.column),
            key.level,
            base.levels[key.column] if key.level else None,
            base.dictionaries[key.column],
        )
        for number, key in enumerate(grouping.keys, start=1)
    ]
    places = base.engine.create(render("methods/group_places.sql", members=grouping.members, keys=keys))
    columns = shown(base, levels)
    made = from_counts(grouping, places, [(name, alias) for name, alias, *_ in columns])
    if made is not None:
        return made
    return render("methods/generalise.sql", rows=grouping.rows, places=places, shown=columns), None


def from_counts(
    grouping: Grouping, places: Sql, columns: Sequence[tuple[str, Sql]]
) -> tuple[Query, DistinctRows] | None:
    """The rows of a table from its counted groups and values; None if a row shows more than these.

    `places` has the published labels of each group under the internal names of `columns`. Repeating counts as
    rows avoids reading the source again, and sorts groups instead of rows.
    """
    base = grouping.base
    # rows of people with several values are published as they are counted, unless they are placed one by one,
    # or a column says how many people a row stands for
    several = base.table.values_per_person != "one"
    if several and (grouping.placed is not None or base.table.count is not None):
        return None
    if not {alias for _, alias in columns} <= {"s", *base.columns}:
        return None
    names = [name for name, _ in columns]
    n = free_name("n_rows", names)
    if base.engine.repeated(places, names, n) is None:
        return None
    lines = grouping.histogram
    if base.holders is not None and base.table.sensitives:
        found = render(
            "methods/lines_of_groups.sql", histogram=lines, groups=grouping.groups, holders=grouping.holders
        )
        lines = base.engine.create(found, view=True)
    query = render(
        "methods/alike.sql",
        histogram=lines,
        places=places,
        values=base.dictionaries.get("s"),
        shown=columns,
        counted=n,
    )
    alike = DistinctRows(base.engine.create(query), n)
    view = base.engine.repeated(alike.relation, names, n)
    assert view is not None
    return view, alike


def refuse_unfit(base: Base, method: str) -> None:
    """Refuse people with several values, no sensitive values, or a column named like the group."""
    if base.table.values_per_person != "one":
        raise UsageError(
            "several_values",
            f"{method} with group numbers needs one row per person, or it shows how many values each has",
            where=base.table.name,
            hint="Publish by generalise or full_domain, or by multidimensional with generalised boxes.",
        )
    if not base.table.sensitives:
        raise UsageError("no_sensitive", f"{method} permutes sensitive values, but no column is sensitive")
    for name in (GROUP, COUNT):
        if name in base.source_columns:
            raise UsageError("taken_name", f'the source has a column "{name}"', hint="Rename it.")


def secret(base: Base, seed: int | None) -> Sql:
    """A relation with the key of every random order, from the operating system unless there is a seed."""
    key = secrets.token_hex(32) if seed is None else hashlib.sha256(str(seed).encode()).hexdigest()
    return base.engine.load({"key": ("varchar", [key])}, "secret")


def permuted(grouping: Grouping, mask: Mapping[str, int], key: Sql) -> Query:
    """One table: group number, quasi-identifiers (at the levels of `mask`), permuted sensitive values.

    martin2007, Sec. 2.1: an independent random permutation of the sensitive values in each group.
    """
    columns = shown(grouping.base, mask)
    return render(
        "methods/bucketize.sql",
        rows=grouping.rows,
        shown=columns,
        secret=key,
        group_id=Sql(GROUP),
        apart=False,
    )


def two_tables(grouping: Grouping, mask: Mapping[str, int]) -> dict[str, Query]:
    """Two tables, joined by group number: people with quasi-identifiers, and values with their counts."""
    base = grouping.base
    people = render(
        "methods/bucketize.sql",
        rows=grouping.rows,
        shown=shown(base, mask),
        secret=None,
        group_id=Sql(GROUP),
        apart=True,
    )
    values = render(
        "methods/bucket_values.sql",
        rows=grouping.rows,
        sensitive=base.table.sensitives[0],
        group_id=Sql(GROUP),
        counted=Sql(COUNT),
    )
    return {"people": people, "values": values}
