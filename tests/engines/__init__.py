"""The engines tests run on: DuckDB always, the others when they are there."""

from __future__ import annotations

import os
from functools import cache
from typing import Any

import privacy_sql as ps
from tests.engines import server

# the third has its rows on PostgreSQL, while its counts travel to embedded DuckDB
NAMES = ("duckdb", "postgres", "postgres_travelling")


def connected(name: str, **options: Any) -> Any:
    """An engine by name; searches stay where the rows are unless the name says that counts travel."""
    if name == "duckdb":
        return ps.connect()
    os.environ["PRIVACY_SQL_TEST_DSN"] = _database()
    travel = {} if name.endswith("travelling") else {"travel": 0}
    made = ps.connect("postgres:", **{"dsn_env": "PRIVACY_SQL_TEST_DSN", **travel, **options})
    made.connection.execute("drop schema public cascade; create schema public")  # of the test before
    return made


@cache
def _database() -> str:
    """A database of this worker's own, so that tables of one name do not meet."""
    import psycopg

    name = f"tests_{os.getpid()}"
    home = server.dsn()
    with psycopg.connect(home, autocommit=True) as connection:
        connection.execute(f"create database {name}".encode())
    return home.replace("dbname=postgres", f"dbname={name}")
