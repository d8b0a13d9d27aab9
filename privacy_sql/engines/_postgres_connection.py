"""The connection to a PostgreSQL server: where it is, its settings, and what the next statement drops."""

from __future__ import annotations

import contextlib
import itertools
import os
from typing import Any

import psycopg

from privacy_sql.errors import EngineError, UsageError

# the settings that our statements assume, whatever the server's defaults
SETTINGS = """
set client_min_messages = error; set timezone = 'UTC'; set datestyle = 'ISO, YMD';
set intervalstyle = 'postgres'; set extra_float_digits = 1; set standard_conforming_strings = on;
set client_encoding = 'UTF8'; set jit = off
"""

# how long a statement waits for a lock of somebody else
LOCK_TIMEOUT = "10s"

# how many relations one statement drops; it locks each of them
AT_ONCE = 200


class PostgresConnection:
    """One connection, opened on first use; the next statement drops relations that nobody holds any more."""

    def __init__(self, place: str, debug: bool) -> None:
        self.place = place
        self.debug = debug
        self.numbers = itertools.count(1)
        # a finalizer may run in the middle of a statement, so it only notes what to drop
        self.left: list[str] = []
        self.seen: dict[str, list[str]] = {}  # our views of a table, which would block dropping it
        self._closed = False
        self._live: psycopg.Connection[Any] | None = None

    @property
    def live(self) -> psycopg.Connection[Any]:
        if self._closed:
            raise UsageError("closed", "this connection is closed", hint="Open a new connection.")
        if self._live is None:
            try:
                made = psycopg.connect(self.place, autocommit=True, prepare_threshold=None)
                made.execute(SETTINGS)
                made.execute(f"set lock_timeout = '{LOCK_TIMEOUT}'".encode())
            except psycopg.Error as problem:
                raise EngineError(
                    "connect",
                    "cannot connect to PostgreSQL",
                    hint="Set PGHOST, PGDATABASE, PGUSER and PGPASSWORD, or use a service file.",
                ) from (problem if self.debug else None)
            self._live = made
        return self._live

    def close(self) -> None:
        if self._live is not None:
            # the server notices our end later; until then our views would block dropping tables
            self.left.extend(f"{view} view" for views in self.seen.values() for view in views)
            with contextlib.suppress(psycopg.Error):
                self._live.rollback()
                self.sweep()
            self._live.close()
        self._live, self._closed = None, True

    def sweep(self) -> None:
        """Drop what nobody holds any more, a few at a time."""
        while self.left:
            left, self.left[:] = self.left[:], []
            if self.live.info.transaction_status == psycopg.pq.TransactionStatus.INERROR:
                return
            for kind in ("view", "table"):
                # a rollback may have removed some, and their names may belong to somebody else by now
                names = [f"pg_temp.{name}" for name, made in (e.split() for e in left) if made == kind]
                for first in range(0, len(names), AT_ONCE):
                    few = ", ".join(names[first : first + AT_ONCE])
                    self.live.execute(f"drop {kind} if exists {few} cascade".encode())


def where(place: str, dsn_env: str | None) -> str:
    """Where the server is, from the environment; a password in the connection URL is refused."""
    if dsn_env is not None:
        if dsn_env not in os.environ:
            raise UsageError(
                "no_dsn", f"the environment variable {dsn_env} is not set", hint="Set it to a libpq DSN."
            )
        return os.environ[dsn_env]
    if "password" in place or "@" in place:
        hint = "Use PGPASSWORD, a service file or dsn_env."
        raise UsageError("inline_secret", "do not put credentials into the connection URL", hint=hint)
    return place
