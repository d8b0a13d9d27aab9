"""Repeated people are refused, or all rows of a person must agree."""

from __future__ import annotations

from privacy_sql.engines import Engine
from privacy_sql.errors import DataError, number_of, people
from privacy_sql.query.template import Sql, render
from privacy_sql.table import Table


def check_people(engine: Engine, source: Sql, table: Table) -> None:
    """Refuse repeated people unless the table declares them; then the rows of a person must agree."""
    if table.identifier is None:
        return
    (found,) = engine.fetch(render("counted/people.sql", source=source, identifier=table.identifier))
    if found["n_unnamed"]:
        missing = f"{table.identifier} is missing in {number_of(found['n_unnamed'], 'row')}"
        raise DataError("no_person", missing, where=table.name)
    if table.values_per_person == "one":
        if found["n_people"] != found["n_rows"]:
            several = "Set values_per_person of the sensitive column to set or multiset, or aggregate first."
            raise DataError(
                "repeated_person",
                f"{table.identifier} repeats: {found['n_rows']} rows are about {people(found['n_people'])}",
                where=table.name,
                hint=several if table.sensitives else "Keep one row of each person.",
            )
        return
    columns = [*table.quasi, *([table.group] if table.group else [])]
    (apart,) = engine.fetch(
        render("counted/scattered.sql", source=source, identifier=table.identifier, columns=columns)
    )
    if apart["n_people"]:
        differing = []  # columns where some person has several values
        for column in columns:
            (alone,) = engine.fetch(
                render("counted/scattered.sql", source=source, identifier=table.identifier, columns=[column])
            )
            if alone["n_people"]:
                differing.append(column)
        raise DataError(
            "scattered_person",
            f"the rows of {people(apart['n_people'])} differ in a quasi-identifier: {', '.join(differing)}",
            where=table.name,
            hint="All rows of a person must be in one group; give them the same quasi-identifiers first.",
        )


def check_multiplicities(engine: Engine, source: Sql, table: Table) -> None:
    if table.count is None:
        return
    (found,) = engine.fetch(render("counted/multiplicities.sql", source=source, counted=table.count))
    if found["n_rows"]:
        raise DataError(
            "bad_count",
            f"{table.count} is not a whole number of at least 0 in {number_of(found['n_rows'], 'row')}",
            where=table.name,
            hint="The column must say how many rows each row counts for.",
        )
