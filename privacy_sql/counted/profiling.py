"""What is in a table, in counts: distinct values, NULLs, and values that occur once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from privacy_sql.engines import Engine
from privacy_sql.query.template import render


def profile(engine: Engine, source: Any) -> list[dict[str, Any]]:
    """One row of counts per column of a source, in its order."""
    named = [Path(source)] if isinstance(source, (str, Path)) and Path(source).is_file() else []
    session = engine.session(named)
    relation = session.source(source)
    made = []
    for column, kind in session.columns(relation).items():
        (counts,) = session.fetch(render("counted/profile.sql", source=relation, column=column))
        made.append({"column": column, "kind": kind, **counts})
    return made
