"""What the rows of a table amount to, whatever their order."""

from __future__ import annotations

from collections.abc import Sequence

from privacy_sql.engines import Engine
from privacy_sql.query import Sql, render


def fingerprint(engine: Engine, relation: Sql, columns: Sequence[str]) -> dict[str, int]:
    """Row count and a checksum of the rows that ignores their order."""
    (found,) = engine.fetch(render("fingerprint.sql", relation=relation, columns=list(columns)))
    return found


def of_table(engine: Engine, table: str) -> dict[str, int]:
    """The fingerprint of all columns of a table."""
    relation = engine.source(table)
    return fingerprint(engine, relation, list(engine.columns(relation)))
