"""What the rows of a table amount to, whatever their order."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from privacy_sql.engines import Engine
from privacy_sql.query.template import Sql, render


def fingerprint(
    engine: Engine, relation: Sql, columns: Sequence[str], *, empty_is_null: bool = False
) -> dict[str, int]:
    """Row count and a checksum of the rows that ignores their order."""
    query = render(
        "counted/fingerprint.sql", relation=relation, columns=list(columns), empty_is_null=empty_is_null
    )
    (found,) = engine.fetch(query)
    return found


def is_csv(place: object) -> bool:
    """Whether rows were written to a form that does not tell NULL from an empty text."""
    return isinstance(place, Path) and place.suffix.lower() == ".csv"


def of_table(engine: Engine, table: str) -> dict[str, int]:
    """The fingerprint of all columns of a table."""
    relation = engine.source(table)
    return fingerprint(engine, relation, list(engine.columns(relation)))
