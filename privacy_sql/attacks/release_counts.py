"""A published release, counted for the attacks as small relations of codes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from privacy_sql.attacks.joined_marginals import joined
from privacy_sql.counted import fingerprints
from privacy_sql.counted.base import Base, count
from privacy_sql.counted.grouping import Grouping
from privacy_sql.engines import Engine
from privacy_sql.errors import NotSafe
from privacy_sql.hierarchies.base import text_of
from privacy_sql.history.described import Description
from privacy_sql.query.template import Sql, names, render
from privacy_sql.table import Table


@dataclass(frozen=True)
class LabelledGroups:
    """Groups and the labels that they print, as codes on the engine where people are located."""

    aliases: Mapping[str, str]  # published column -> q1..
    labels: Mapping[str, Sql]  # q1.. -> (code, value)
    members: Sql  # g, q1..


@dataclass(frozen=True)
class CountedRelease(LabelledGroups):
    """A counted release: small relations of codes."""

    histogram: Sql  # g, s
    groups: Sql  # g, n_people
    values: Mapping[int, str | None]  # code of a sensitive value -> its name
    group_names: Sql | None  # g, value
    home: Engine  # its relations live as long as this session


def counted(engine: Engine, description: Description, columns: list[str]) -> CountedRelease:
    """Count a release: a file in an embedded engine, whose small result travels; a relation where it is."""
    if isinstance(description.source, Path):
        with engine.beside() as apart:
            return _moved(apart, engine, _counted_here(apart, description, columns))
    return _counted_here(engine, description, columns)


def _counted_here(engine: Engine, description: Description, columns: list[str]) -> CountedRelease:
    # a connection can read only the files it was opened with, so all are named before reading the first
    engine = engine.session(description.files)
    # one of our tables may have a later version by now, and attacking that says nothing about this release
    for name, marks in description.tables.items():
        if not engine.has_table(name) or fingerprints.of_table(engine, name) != marks:
            raise NotSafe(
                "output_changed",
                f"{name} no longer has the rows published as {description.name}",
                hint="Publish each version to a separate table; what was published once stays public.",
            )
    beside = description.values is None  # otherwise the sensitive values are in a separate table
    table = Table(
        joined(engine, description, columns) if description.parts else description.source,
        columns,
        description.sensitive if beside else None,
        group=description.group,
        count=description.people or (description.count if beside else None),
        name=description.name,
    )
    base = count(engine, table)
    grouping = Grouping.by(base, base.own_keys())
    inside = names(base.aliases.values())
    members = render("attacks/members.sql", candidate=grouping.candidate, columns=inside)
    named = _group_names(grouping) if "grp" in base.dictionaries else None
    if description.values is None:
        histogram, values = grouping.histogram, sensitive_names(base, description)
    else:
        assert named is not None
        histogram, values = _values_apart(base.engine, description, named)
    return CountedRelease(
        aliases=base.aliases,
        labels={alias: base.dictionaries[alias] for alias in base.aliases.values()},
        members=base.engine.create(members),
        histogram=histogram,
        groups=grouping.groups,
        values=values,
        group_names=named,
        home=base.engine,
    )


def _group_names(grouping: Grouping) -> Sql:
    base = grouping.base
    return base.engine.create(
        render("attacks/group_names.sql", candidate=grouping.candidate, dictionary=base.dictionaries["grp"])
    )


def _values_apart(engine: Engine, description: Description, people: Sql) -> tuple[Sql, dict[int, str | None]]:
    """The sensitive values of a release that has them in a separate table, by the groups of its people."""
    table = Table(
        description.values,
        [],
        description.sensitive,
        group=description.group,
        count=description.count,
        name=f"values of {description.name}",
    )
    base = count(engine, table)
    grouping = Grouping.by(base, base.own_keys())
    query = render(
        "attacks/matched_values.sql",
        histogram=grouping.histogram,
        names=_group_names(grouping),
        people=people,
    )
    return engine.create(query), sensitive_names(base, description)


def _moved(source: Engine, target: Engine, read: CountedRelease) -> CountedRelease:
    """The same counts on another engine."""

    def moved(relation: Sql, columns: Mapping[str, str]) -> Sql:
        query = render("counted/listed.sql", relation=relation, columns=names(columns))
        if source.columns(relation).get("value") in ("date", "other"):
            # arrays have only time stamps, and a date that arrives as midnight would match nobody
            rows = source.fetch(query)
            held = {name: (kind, [row[name] for row in rows]) for name, kind in columns.items()}
        else:
            found = source.arrays(query)
            held = {name: (kind, found[name].tolist()) for name, kind in columns.items()}
        # a Parquet file has numbers, and labels travel as text
        for name, (kind, values) in held.items():
            if kind == "varchar":  # NULL among numbers arrives as NaN
                values = [None if value is None or value != value else text_of(value) for value in values]
            held[name] = kind, values
        return target.load(held, "moved")

    inside = dict.fromkeys(["g", *read.aliases.values()], "bigint")
    return CountedRelease(
        aliases=read.aliases,
        labels={
            alias: moved(relation, {"code": "bigint", "value": "varchar"})
            for alias, relation in read.labels.items()
        },
        members=moved(read.members, inside),
        histogram=moved(read.histogram, dict.fromkeys(["g", "s"], "bigint")),
        groups=moved(read.groups, dict.fromkeys(["g", "n_people"], "bigint")),
        values=read.values,
        group_names=read.group_names and moved(read.group_names, {"g": "bigint", "value": "varchar"}),
        home=target,
    )


def sensitive_names(base: Base, description: Description | None = None) -> dict[int, str | None]:
    """The sensitive values of a table by code, with the names that all releases share."""
    query = render("counted/listed.sql", relation=base.dictionaries["s"], columns=names(["code", "value"]))
    found = {row["code"]: row["value"] for row in base.engine.fetch(query)}
    if description is not None:
        return {code: description.canonical(value) for code, value in found.items()}
    return {code: None if value is None else text_of(value) for code, value in found.items()}
