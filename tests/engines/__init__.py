"""The engines tests run on: DuckDB always, the others when they are there."""

from __future__ import annotations

import contextlib
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import duckdb
import pytest

import privacy_sql as ps
from privacy_sql import registry
from privacy_sql.engines._duckdb_connection import USERS_OWN
from tests.engines import server

# the third has its rows on PostgreSQL, while its counts travel to embedded DuckDB
NAMES = ("duckdb", "postgres", "postgres_travelling")


# the DuckDB that stays open for the tests of this worker
_kept: list[ps.Engine] = []


@contextmanager
def opened() -> Iterator[ps.Engine]:
    """What `ps.connect()` gives, and in a build a session of one that the worker keeps open.

    Opening and closing DuckDB costs as much as ten statements, and most tests only need a place to count.
    At night each of them opens its own. After a test that closes, breaks or fills it there is a new one.
    """
    # a test that looks at what is left in the folder for temporary files has one of its own
    usual = os.environ.get("TMPDIR") or "/tmp"
    if os.environ.get("HYPOTHESIS_PROFILE") == "nightly" or tempfile.gettempdir() != usual:
        with ps.connect() as own:
            yield own
        return
    if _kept and not _as_new(_kept[0]):
        none_kept()
    if not _kept:
        places = [Path(usual), Path(__file__).parents[2]]
        _kept.append(ps.connect("duckdb:", folders=places))
    yield _kept[0].session()


@contextmanager
def lasting() -> Iterator[Callable[[], ps.Engine]]:
    """What opens an engine for whoever closes it: a session of one that is kept open."""
    with opened() as engine:

        def session() -> ps.Engine:
            made = engine.session()
            vars(made)["close"] = list  # does nothing
            return made

        yield session


def none_kept() -> None:
    """Close what is kept, for a test that needs no other DuckDB to be open in this process."""
    while _kept:
        _kept.pop().close()


def _as_new(engine: ps.Engine) -> bool:
    """Whether nothing of a test is left on the connection of an engine."""
    try:
        with contextlib.suppress(duckdb.TransactionException):
            engine.connection.rollback()
        return not engine.connection.execute(USERS_OWN).fetchall()
    except (ps.PrivacySqlError, duckdb.Error):  # closed or broken
        return False


def connected(name: str, **options: Any) -> Any:
    """An engine by name; searches stay where the rows are unless the name says that counts travel."""
    if name == "duckdb":
        return opened()
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
