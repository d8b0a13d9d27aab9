"""PostgreSQL's types and errors in the terms that all engines share."""

from __future__ import annotations

import psycopg
import pyarrow as pa

from privacy_sql.errors import DataError, EngineError
from privacy_sql.query.template import quote

# pg_type numbers, which never change
TEXT = frozenset({18, 19, 25, 1042, 1043})
KINDS = {16: "boolean", 1082: "date", 700: "number", 701: "number"} | dict.fromkeys([20, 21, 23], "integer")
DECIMAL = 1700
ARROW = {
    16: pa.bool_(),
    20: pa.int64(),
    21: pa.int16(),
    23: pa.int32(),
    700: pa.float32(),
    701: pa.float64(),
    1082: pa.date32(),
    1114: pa.timestamp("us"),
    1184: pa.timestamp("us", "UTC"),
}
ORDERED = 'collate "C"'  # by code point, as on the other engines, whatever the database's locale
TYPES = {"bigint": "bigint", "double": "double precision", "varchar": f"text {ORDERED}"}


def plainly(column: psycopg.Column) -> str:
    """A column in which equal values look equal."""
    name = quote(column.name)
    if column.type_code in TEXT:
        return f"cast({name} as text) {ORDERED}"
    if column.type_code in (700, 701):  # -0 is equal to 0
        return f"{name} + cast(0 as {column.type_display})"
    if column.type_code == DECIMAL:  # 1.0 is equal to 1.00
        return f"{name}" if column.precision is not None else f"trim_scale({name})"
    if column.type_code in ARROW:
        return str(name)
    return f"cast({name} as text) {ORDERED}"


def arrow_type(column: psycopg.Column) -> pa.DataType:
    """The Arrow type of a column; types without one travel as text."""
    if column.type_code == DECIMAL and column.precision and column.precision <= 38:
        return pa.decimal128(column.precision, column.scale or 0)
    return ARROW.get(column.type_code, pa.string())


def type_of(kind: pa.DataType) -> str:
    """PostgreSQL's name for an Arrow type."""
    for number, same in ARROW.items():
        if kind == same:
            return psycopg.adapters.types[number].regtype
    if pa.types.is_decimal(kind):
        return f"numeric({kind.precision}, {kind.scale})"
    return TYPES["varchar"]


def explain(problem: psycopg.Error, origin: str) -> EngineError | DataError:
    """An error of PostgreSQL without its text, which may quote rows."""
    state = problem.sqlstate or ""
    if state in ("22P04", "22021"):  # COPY: bad line, bad encoding
        return DataError(
            "bad_file",
            "a file is not well-formed CSV in UTF-8, or not Parquet",
            where=origin,
            hint="Every line needs as many fields as the header, and the same line ending.",
        )
    if state in ("22P02", "22003", "22007", "22008"):
        return DataError("bad_value", "a value does not convert to the expected type", where=origin)
    if state in ("42P01", "42703", "42883", "3F000"):
        return EngineError("no_relation", "a table, column or function does not exist", where=origin)
    if state == "42P07":
        return EngineError("taken", "a table of that name already exists", where=origin, hint="Run it again.")
    if state == "2BP01":
        return EngineError(
            "in_use",
            "a view depends on the table to be replaced",
            where=origin,
            hint="Write to a new name.",
        )
    if state == "55P03":
        return EngineError(
            "locked",
            "another session keeps a lock on a table that is needed",
            where=origin,
            hint="Wait until it is done, or end it (pg_locks names it); then run again.",
        )
    if state == "42501":
        return EngineError(
            "no_permission", "the connection has no access to that file or table", where=origin
        )
    return EngineError(
        "engine",
        f"{origin} failed on postgres: {type(problem).__name__}",
        hint="Run with --unsafe-debug for its text.",
    )
