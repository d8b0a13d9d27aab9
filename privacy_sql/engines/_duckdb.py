"""Columns of DuckDB in a form in which equal values look equal."""

from __future__ import annotations

from privacy_sql.query import Sql, quote

# a collation belongs to a column, and DuckDB lists it nowhere but in the text that made the column
COLLATED = """
select 1 from duckdb_tables() where sql ilike '%collate%'
union all
select 1 from duckdb_views() where not internal and sql ilike '%collate%'
"""


def plainly(name: str, kind: str, collated: bool) -> Sql:
    """A column whose values are equal only where a reader of the release sees no difference.

    >>> print(plainly("size", "DOUBLE", collated=False), plainly("age", "INTEGER", collated=True))
    "size" + 0 "age"
    """
    column = quote(name)
    if kind in ("DOUBLE", "FLOAT"):  # -0 is equal to 0
        return Sql(f"{column} + 0")
    if kind == "VARCHAR":  # a collation may hold Flu and flu equal; bytes have none
        return Sql(f"decode(encode({column}))") if collated else column
    if any(word in kind for word in ("DOUBLE", "FLOAT", "INTERVAL", *(["VARCHAR"] if collated else []))):
        return Sql(f"cast({column} as varchar)")
    return column
