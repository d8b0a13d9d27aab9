"""A checksum of the rows of a table that ignores their order."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from privacy_sql.engines import Engine
from privacy_sql.query.template import Sql, render


class DistinctRows(NamedTuple):
    """Distinct rows with their counts: the columns of the rows, and the column of counts."""

    relation: Sql
    n: Sql


def fingerprint(
    engine: Engine,
    relation: Sql,
    columns: Sequence[str],
    *,
    empty_is_null: bool = False,
    counted: Sql | None = None,
) -> dict[str, int]:
    """The row count and a checksum of the rows that ignores their order; a row may have a count."""
    words = {
        "relation": relation,
        "columns": list(columns),
        "empty_is_null": empty_is_null,
        "counted": counted,
    }
    hashes = render("counted/row_hashes.sql", **words)
    query = engine.added_digits(hashes) or render("counted/fingerprint.sql", **words)
    (found,) = engine.fetch(query)
    return found


def is_csv(place: object) -> bool:
    """Whether rows were written in a format that cannot tell NULL from empty text."""
    return isinstance(place, Path) and place.suffix.lower() == ".csv"


def of_table(engine: Engine, table: str) -> dict[str, int]:
    """The fingerprint of all columns of a table."""
    relation = engine.source(table)
    return fingerprint(engine, relation, list(engine.columns(relation)))
