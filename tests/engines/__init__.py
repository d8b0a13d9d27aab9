"""The engines tests run on: DuckDB always, the others when they are there."""

from __future__ import annotations

import os
from functools import cache
from typing import Any

import privacy_sql as ps
from tests.engines import server

NAMES = ("duckdb", "postgres", "ptravel")


def connected(name: str, **options: Any) -> Any:
    """An engine by name; searches stay where the data is unless `travel` says otherwise."""
    if name == "duckdb":
        return ps.connect()
    os.environ["PRIVACY_SQL_TEST_DSN"] = _database()
    return ps.connect(
        "postgres:",
        **{"dsn_env": "PRIVACY_SQL_TEST_DSN", "travel": 0 if name == "postgres" else 20_000_000, **options},
    )


@cache
def _database() -> str:
    """A database of this worker's own, so that tables of one name do not meet."""
    import psycopg

    name = f"tests_{os.getpid()}"
    home = server.dsn()
    with psycopg.connect(home, autocommit=True) as connection:
        connection.execute(f"create database {name}".encode())
    return home.replace("dbname=postgres", f"dbname={name}")
