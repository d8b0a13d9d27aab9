"""The connection to embedded DuckDB, opened and locked on first use.

It can read only the named files and folders, loads no extension and cannot be reconfigured.
"""

from __future__ import annotations

import contextlib
import itertools
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping, MutableMapping
from operator import attrgetter
from pathlib import Path
from typing import Any, ClassVar

import duckdb

from privacy_sql import deadlines
from privacy_sql.engines._sources import as_pattern
from privacy_sql.engines._spill import private_folder, sweep
from privacy_sql.errors import EngineError, UsageError
from privacy_sql.query.template import literal

# relations that others created on this connection; a second connection would not see them
USERS_OWN = """
select 1 from duckdb_tables() where not (temporary and starts_with(table_name, 'ps_'))
union all
select 1 from duckdb_views() where not internal and not (temporary and starts_with(view_name, 'ps_'))
"""


OURS = """
select view_name, 'view' from duckdb_views() where temporary and starts_with(view_name, ?)
union all
select table_name, 'table' from duckdb_tables() where temporary and starts_with(table_name, ?)
"""
REPLACES = "python_enable_replacements"


class DuckDBConnection:
    """One DuckDB instance, locked on first use to the files and folders it was opened for."""

    def __init__(
        self,
        place: str,
        limits: Mapping[str, Any],
        files: Iterable[Path],
        folders: Iterable[Path],
        debug: bool,
    ) -> None:
        self.place = place or ":memory:"
        self.limits = limits
        self.files = set(map(Path.resolve, files))
        self.folders = set(map(Path.resolve, folders))
        self.debug = debug
        self.numbers: Iterator[object] = itertools.count(1)
        self.private: Path | None = None
        # a finalizer may run while a statement's rows are fetched, so it only notes what to drop
        self.left: list[tuple[str, str]] = []
        self._leave: Callable[[], Any] = bool
        self._closed = False
        self._live: duckdb.DuckDBPyConnection | None = None

    @property
    def live(self) -> duckdb.DuckDBPyConnection:
        """The connection, opened and locked on first use."""
        if self._closed:
            raise UsageError("closed", "this connection is closed", hint="Open a new connection.")
        if self._live is not None:
            return self._live
        sweep()
        self.private, self._leave = private_folder(self)
        try:
            connection = duckdb.connect(self.place)
        except duckdb.Error as problem:
            raise EngineError(
                "connect",
                f"cannot open {Path(self.place).name}",
                hint="Check that it is a DuckDB file, and close it in every other program.",
            ) from (problem if self.debug else None)
        for name, value in {**self.limits, "temp_directory": str(self.private)}.items():
            if value is not None:
                try:
                    connection.execute(f"set {name} = {literal(value)}")
                except duckdb.Error as problem:
                    raise UsageError(
                        "bad_limit",
                        f"DuckDB does not accept the {name} of this connection",
                        hint='For example memory_limit: "2GB" and threads: 2.',
                    ) from (problem if self.debug else None)
        # a name without a relation must not become a variable of the calling Python program
        connection.execute("set python_enable_replacements = false")
        reached = {"allowed_paths": self.files, "allowed_directories": {*self.folders, self.private}}
        for name, paths in reached.items():
            # a statement names a file by a pattern, which has to be allowed like what it matches
            spelt = sorted({*map(str, paths), *map(as_pattern, paths)})
            connection.execute(f"set {name} = [{', '.join(map(literal, spelt))}]")
        for name in ("autoinstall_known_extensions", "autoload_known_extensions", "enable_external_access"):
            connection.execute(f"set {name} = false")
        connection.execute("set enable_progress_bar = false")
        connection.execute("set lock_configuration = true")
        deadlines.watch(self)
        self._live = connection
        return connection

    def interrupt(self) -> None:
        """Stop the running statement, if any."""
        if self._live is not None:
            self._live.interrupt()

    def answered(self, frame: object) -> object:
        """A frame that can be read while a statement runs here."""
        return frame

    def reaching(self, files: set[Path], folders: set[Path]) -> DuckDBConnection:
        """A connection that also reaches these: this one while it is unlocked, otherwise a second one."""
        if self._live is None:
            self.files |= files
            self.folders |= folders
            return self
        # those that it was opened for, or that lie below its folders
        outside = map(attrgetter("parents"), files - self.files)
        if folders <= self.folders and not any(map(self.folders.isdisjoint, outside)):
            return self
        if self.place == ":memory:" and not self._live.execute(USERS_OWN).fetchall():
            return DuckDBConnection(self.place, self.limits, files, folders, self.debug)
        raise UsageError(
            "locked",
            "this connection is locked to the files it was opened for",
            hint='Name all files when you connect: ps.connect("duckdb:file.db", files=[...], folders=[...]).',
        )

    def close(self) -> None:
        if self._live is not None:
            self._live.close()
        self._live, self._closed = None, True
        self._leave()


class TakenConnection(DuckDBConnection):
    """A connection that somebody else opened: it stays open; our relations on it are dropped at the end."""

    taken = itertools.count(1)
    # by connection, how it was set before us, and who uses it: whoever closes last sets it back
    before: ClassVar[MutableMapping[duckdb.DuckDBPyConnection, object]] = weakref.WeakKeyDictionary()
    users: ClassVar[weakref.WeakSet[TakenConnection]] = weakref.WeakSet()

    def __init__(self, connection: duckdb.DuckDBPyConnection, debug: bool) -> None:
        super().__init__("", {}, (), (), debug)
        # several engines may share one connection, so each uses its own names
        self.mark = f"t{next(self.taken)}x"
        self.numbers = (f"{self.mark}{number}" for number in itertools.count(1))
        sweep()
        self.private, self._leave = private_folder(self)
        try:
            (replaces,) = connection.execute(f"select current_setting('{REPLACES}')").fetchall()[0]
            # a name without a relation must not become a variable of the calling Python program
            connection.execute(f"set {REPLACES} = false")
        except duckdb.Error as problem:
            hint = "It must be open, and its settings must not be locked."
            told = "the connection cannot be used"
            raise UsageError("bad_connection", told, hint=hint) from (problem if debug else None)
        self._live = connection
        self.before.setdefault(connection, replaces)
        self.users.add(self)
        deadlines.watch(self)

    def answered(self, frame: object) -> object:
        # a table of Ibis is a query, maybe on this very connection, where two would wait for each other
        read = getattr(frame, "to_pyarrow", None)
        return read() if callable(read) else frame

    def reaching(self, files: set[Path], folders: set[Path]) -> DuckDBConnection:
        return self

    def close(self) -> None:
        if self._live is not None:
            self.users.discard(self)
            # where its owner has closed it, nothing of ours is left on it
            with contextlib.suppress(duckdb.ConnectionException):
                for name, kind in self._live.execute(OURS, [f"ps_{self.mark}"] * 2).fetchall():
                    self._live.execute(f"drop {kind} if exists temp.{name}")
                if not any(other._live is self._live for other in self.users):
                    self._live.execute(f"set {REPLACES} = {self.before.pop(self._live)}")
        self._live, self._closed = None, True
        self._leave()
