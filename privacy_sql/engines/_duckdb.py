"""DuckDB's columns, read so that equal values look equal, and its errors without quoted values."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

import duckdb

from privacy_sql.errors import DataError, EngineError
from privacy_sql.query.template import Sql, quote

# phrases in DuckDB's errors about unreadable files
BROKEN_FILE = ("CSV ", "sniffing file", "nicode", "GZIP stream", "magic bytes", "Parquet file")

# a collation belongs to a column, and DuckDB shows it only in the SQL that created the column
COLLATED = """
select 1 from duckdb_tables() where sql ilike '%collate%'
union all
select 1 from duckdb_views() where not internal and sql ilike '%collate%'
"""

# types whose values are equal exactly if their text is; of other types, the text is read
PLAIN = frozenset(
    [
        *("BOOLEAN", "DATE", "TIME", "UUID", "BLOB"),
        *("TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS", "TIMESTAMP WITH TIME ZONE"),
        *("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT"),
        *("UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT", "UHUGEINT"),
    ]
)


def plainly(name: str, kind: str, collated: bool) -> Sql:
    """A column whose values are equal only if a reader of the release sees no difference.

    >>> print(plainly("size", "DOUBLE", collated=False), plainly("age", "INTEGER", collated=True))
    "size" + 0 "age"
    >>> print(plainly("seen", "VARIANT", collated=False))
    decode(encode(cast("seen" as varchar)))
    """
    column = quote(name)
    if kind in ("DOUBLE", "FLOAT"):  # -0 is equal to 0
        return Sql(f"{column} + 0")
    if kind == "VARCHAR":  # a collation may treat Flu and flu as equal; bytes have no collation
        return Sql(f"decode(encode({column}))") if collated else column
    if kind in PLAIN or kind.startswith("DECIMAL("):
        return column
    return Sql(f"decode(encode(cast({column} as varchar)))")


def explain(problem: duckdb.Error, origin: str, files: Iterable[Path] = ()) -> EngineError | DataError:
    """An error of DuckDB without its text, which may quote rows; for a broken file, its name and the line."""
    kind = type(problem).__name__.removesuffix("Exception")
    # views over files are read late, so a broken line fails in the first statement that reads it
    reason = str(problem).partition("\nLINE ")[0]
    if "GZIP stream" in reason:
        broken = [file.name for file in files if f": {file}" in reason]
        name = broken[0] if len(broken) == 1 else "a .gz file"
        told = f"{name} is truncated, or is not a gzip file"
        return DataError("bad_file", told, where=origin, hint="Copy or download it again.")
    if "already been consumed" in reason:
        hint = "Make a table of it first, such as reader.read_all()."
        return DataError("read_once", "a stream of rows can be read only once", where=origin, hint=hint)
    if any(word in reason for word in BROKEN_FILE):
        return DataError(
            "bad_file",
            "a file is not well-formed CSV in UTF-8, or not Parquet",
            where=_place(reason, files) or origin,
            hint="Every line needs as many fields as the header, and the same line ending.",
        )
    if kind in ("Conversion", "OutOfRange"):
        return DataError("bad_value", "a value does not convert to the expected type", where=origin)
    if kind == "Catalog" and "already exists" in reason:
        return EngineError("taken", "a table of that name already exists", where=origin, hint="Run it again.")
    if kind == "Catalog":
        return EngineError("no_relation", "a table, column or function does not exist", where=origin)
    if kind == "Permission":
        return EngineError(
            "no_permission", "the connection has no access to that file or table", where=origin
        )
    return EngineError(
        "engine", f"{origin} failed on duckdb: {kind}", hint="Run with --unsafe-debug for its text."
    )


def _place(reason: str, files: Iterable[Path]) -> str:
    """Which of the named files is broken, and in which line; the rest of the text may be a row.

    >>> told = (
    ...     "Invalid Input Error: CSV Error on Line: 3\\nOriginal Line: 1,flu\\n  file = /data/people.csv\\n"
    ... )
    >>> _place(told, [Path("/data/people.csv")])
    'people.csv, line 3'
    """
    broken = [file.name for file in files if f"file = {file}\n" in reason]
    line = re.match(r"[A-Za-z ]*: CSV Error on Line: ([0-9]+)\n", reason)
    if len(broken) != 1:
        return ""
    return f"{broken[0]}, line {line[1]}" if line else broken[0]
