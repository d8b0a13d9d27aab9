"""What is in a table, in counts: distinct values, NULLs, and values that occur once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from privacy_sql.engines import Engine
from privacy_sql.query.template import Sql, render


def profile(engine: Engine, source: object) -> list[dict[str, Any]]:
    """One row of counts per column of a source, in its order; a file is read once, not for every column."""
    named = [Path(source)] if isinstance(source, (str, Path)) and Path(source).is_file() else []
    session = engine.session(named)
    relation = session.source(source)
    kinds = session.columns(relation)
    if named:
        everything = Sql("true")
        copied = render("counted/where.sql", source=relation, condition=everything, columns=list(kinds))
        relation = session.create(copied)
    made = []
    for column, kind in kinds.items():
        (counts,) = session.fetch(render("counted/profile.sql", source=relation, column=column))
        made.append({"column": column, "kind": kind, **counts})
    return made
