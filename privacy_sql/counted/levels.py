"""Hierarchies on an engine: the labels of a column's distinct values at every level."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from privacy_sql.engines import Engine
from privacy_sql.errors import DataError, PrivacySqlError, number_of
from privacy_sql.hierarchies import Hierarchy, Tree
from privacy_sql.query.template import Sql, render
from privacy_sql.table import Table


def fitted(engine: Engine, table: Table, dictionaries: Mapping[str, Sql]) -> Table:
    """The table with bands written for fractions, `[20, 25)`, where a column in whole bands holds some."""
    kinds = dict(table.hierarchies)
    for number, (column, kind) in enumerate(table.hierarchies.items(), start=1):
        if kind.for_fractions() != kind:
            query = render(
                "counted/fractions.sql", dictionary=dictionaries[f"q{number}"], value=Sql("d.value")
            )
            (found,) = engine.fetch(query)
            kinds[column] = kind.for_fractions() if found["n_values"] else kind
    return replace(table, quasi=kinds) if kinds != table.hierarchies else table


def labels(engine: Engine, dictionary: Sql, kind: Hierarchy) -> Sql:
    """A dictionary's values at every level of a hierarchy: (code, n_rows, l0..lH)."""
    lookup = engine.load(_lookup(kind), "lookup") if isinstance(kind, Tree) else None
    return engine.create(
        render(
            "counted/levels.sql",
            dictionary=dictionary,
            height=kind.height,
            lookup=lookup,
            recipe=None if lookup else kind.recipe(),
            value=Sql("d.value"),
        )
    )


def codes(engine: Engine, levels: Sql, kind: Hierarchy) -> Sql:
    """The same labels as small integers: (code, c0..cH)."""
    return engine.create(render("counted/level_codes.sql", levels=levels, height=kind.height))


def unmapped(engine: Engine, levels: Sql, kind: Hierarchy, table: str, column: str) -> list[PrivacySqlError]:
    """The error for values a hierarchy does not cover: how many, never which."""
    (found,) = engine.fetch(render("counted/unmapped.sql", levels=levels, height=kind.height))
    if not found["n_values"]:
        return []
    return [
        DataError(
            "unmapped_value",
            f"the hierarchy of {column} does not cover {number_of(found['n_values'], 'value')}"
            f" ({number_of(found['n_rows'], 'row')})",
            where=f"{table}.{column}",
            hint=f"{kind.unmapped_hint} A project run lists them in target/private/unmapped.csv.",
        )
    ]


def _lookup(kind: Tree) -> dict[str, tuple[str, list[str]]]:
    by_level = zip(*kind.rows(), strict=True)
    return {f"l{level}": ("varchar", list(column)) for level, column in enumerate(by_level)}
