"""What the rows of a table amount to, whatever their order."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from privacy_sql.engines import Engine
from privacy_sql.query.template import Sql, render


class Alike(NamedTuple):
    """Rows whose alike ones are counted together: the columns of the rows, and how many each stands for."""

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
    """Row count and a checksum of the rows that ignores their order; a row may stand for several."""
    query = render(
        "counted/fingerprint.sql",
        relation=relation,
        columns=list(columns),
        empty_is_null=empty_is_null,
        counted=counted,
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
