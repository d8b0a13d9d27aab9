"""A hierarchy file with the values of a column, for a person to fill in the label of each one level up."""

from __future__ import annotations

import csv
import os
import re
from pathlib import Path

from privacy_sql.counted.base import opened
from privacy_sql.engines import Engine
from privacy_sql.errors import EngineError, UsageError
from privacy_sql.query.template import render
from privacy_sql.table import Table

FOLDER = "hierarchies"
MOST_VALUES = 5000  # the most values that anybody would sort by hand


def file_name(column: str) -> str:
    """A safe file name for any column name.

    >>> file_name("zip code"), file_name("../../etc")
    ('zip_code', 'etc')
    """
    return re.sub(r"\W+", "_", column).strip("_") or "column"


def write(
    engine: Engine, table: Table, column: str, directory: Path, *, dry_run: bool = False
) -> tuple[str, int]:
    """Write a hierarchy of a column that only this user can read; returns its path and the number of values.

    Each value is its own label at first, so that the file is a valid hierarchy before anybody edits it.
    """
    sources = [Path(table.source)] if isinstance(table.source, Path) else []
    session = engine.session(sources)
    source, _ = opened(session, table)
    rows = session.fetch(render("project/values.sql", source=source, column=column, most=MOST_VALUES + 1))
    if len(rows) > MOST_VALUES:
        hint = "Use {intervals: [...]}, {mask: [...]} or {dates: [...]}, which need no list of values."
        raise UsageError("many_values", f"{column} has more than {MOST_VALUES} values", hint=hint)
    place = directory / FOLDER / f"{file_name(column)}.csv"
    written = place.relative_to(directory).as_posix()
    if place.exists():
        raise UsageError("hierarchy_exists", f"{written} exists", hint="Edit it, or move it away.")
    if not dry_run:
        try:
            place.parent.mkdir(parents=True, exist_ok=True)
            number = os.open(place, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with open(number, "w", encoding="utf-8", newline="") as stream:
                lines = csv.writer(stream, lineterminator="\n")
                lines.writerow([column, "group"])
                lines.writerows([row["value"], row["value"]] for row in rows)
        except OSError:
            raise EngineError("cannot_write", f"cannot write to {place.parent}") from None
    return written, len(rows)
