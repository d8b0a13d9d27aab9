"""The engines tests run on: DuckDB always, the others when they are there."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

import pytest

import privacy_sql as ps
from privacy_sql import registry
from tests.engines import server

# the third has its rows on PostgreSQL, while its counts travel to embedded DuckDB
NAMES = ("duckdb", "postgres", "postgres_travelling")


def connected(name: str, **options: Any) -> Any:
    """An engine by name; searches stay where the rows are unless the name says that counts travel."""
    if name == "duckdb":
        return ps.connect()
    os.environ["PRIVACY_SQL_TEST_DSN"] = dsn()
    travel = {} if name.endswith("travelling") else {"travel": 0}
    made = ps.connect("postgres:", **{"dsn_env": "PRIVACY_SQL_TEST_DSN", **travel, **options})
    made.connection.execute("drop schema public cascade; create schema public")  # of the test before
    return made


@cache
def dsn() -> str:
    """A database of this worker's own, so that tables of one name do not meet."""
    import psycopg

    name = f"tests_{os.getpid()}"
    home = server.dsn()
    with psycopg.connect(home, autocommit=True) as connection:
        connection.execute(f"create database {name}".encode())
    return home.replace("dbname=postgres", f"dbname={name}")


@contextmanager
def without_duckdb(monkeypatch: Any) -> Iterator[None]:
    """A machine on which nothing may import DuckDB."""
    for cache_of_parts in (registry.get, registry.load):
        cache_of_parts.cache_clear()
    with monkeypatch.context() as patch:
        patch.setitem(sys.modules, "duckdb", None)
        patch.setitem(sys.modules, "privacy_sql.engines.duckdb", None)
        with pytest.raises(ImportError):
            ps.connect("duckdb:")
        yield
    registry.get.cache_clear()


@contextmanager
def other() -> Iterator[Any]:
    """A connection of somebody else to the same database."""
    import psycopg

    with psycopg.connect(os.environ["PRIVACY_SQL_TEST_DSN"], autocommit=True) as connection:
        yield connection


@contextmanager
def reader(owner: Any) -> Iterator[Any]:
    """An engine of a user who may read the schema of the tests and nothing else."""
    name, home = f"reader_{os.getpid()}", os.environ["PRIVACY_SQL_TEST_DSN"]
    for statement in (
        f"drop role if exists {name}",
        f"create role {name} login password 'reader'",
        f'grant usage on schema "Own Schema" to {name}',
        f'grant select on all tables in schema "Own Schema" to {name}',
    ):
        owner.connection.execute(statement)
    settings = dict(part.split("=") for part in home.split())
    settings.update(user=name, password="reader")
    os.environ["PRIVACY_SQL_TEST_READER"] = " ".join(f"{key}={value}" for key, value in settings.items())
    try:
        with ps.connect("postgres:", dsn_env="PRIVACY_SQL_TEST_READER") as made:
            yield made
    finally:
        owner.connection.execute(f"drop owned by {name}; drop role {name}")
