"""PostgreSQL: a server of the user; `postgres:` finds it through libpq's environment.

Rows stay on the server. The relations created there on the way are temporary, so a user with read access can
check. A published table is written in one transaction. Arrow goes in and out through COPY, on the connection
that has the temporary relations.
"""

from __future__ import annotations

import contextlib
import io
import os
import time
import weakref
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import psycopg
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from privacy_sql.engines import Columns, Engine, Row, Source
from privacy_sql.engines import _arrow as arrows
from privacy_sql.engines import _copy as binary
from privacy_sql.engines import _postgres_words as words
from privacy_sql.engines._escaping import as_meant
from privacy_sql.engines._postgres_connection import PostgresConnection, where
from privacy_sql.engines._sources import (
    csv_header,
    existing,
    is_file,
    named,
    no_source,
    parts,
    text_of,
    without_end_marks,
)
from privacy_sql.errors import DataError
from privacy_sql.query import statements
from privacy_sql.query.template import Query, Sql, literal, quote

TRAVEL = 20_000_000  # combinations; some 100 bytes each


class Postgres(Engine):
    """A PostgreSQL server: `postgres:`, or `postgres:service=warehouse` for an entry of the service file."""

    dialect = "postgres"
    keys = ("dsn_env",)
    travel = TRAVEL
    one_text = False  # columns may have their own collations
    undoes = True

    def __init__(
        self, place: str = "", *, dsn_env: str | None = None, travel: int = TRAVEL, unsafe_debug: bool = False
    ) -> None:
        self.travel = travel
        self._to = PostgresConnection(where(place, dsn_env), unsafe_debug)
        self._mine: dict[str, str] = {}

    # -- opening and closing -------------------------------------------------------------------------

    @property
    def connection(self) -> psycopg.Connection[Any]:
        """The live connection of psycopg, for work beside ours."""
        return self._to.live

    def session(self, files: Iterable[Path] = (), folders: Iterable[Path] = ()) -> Postgres:
        made = Postgres.__new__(Postgres)
        made.travel, made._to, made._mine = self.travel, self._to, {}
        # when nobody can use a session any more, its relations can be dropped
        left, mine = made._to.left, made._mine
        weakref.finalize(made, lambda: left.extend(f"{name} {kind}" for name, kind in mine.items()))
        return made

    def beside(self) -> Postgres:
        made = Postgres(travel=0, unsafe_debug=self._to.debug)
        made._to.place = self._to.place
        return made

    def close(self) -> None:
        self._to.close()
        self._mine.clear()

    def version(self) -> str:
        return f"postgres {self.connection.info.server_version // 10000}"

    # -- relations in --------------------------------------------------------------------------------

    def source(self, source: Source) -> Sql:
        if is_file(source):
            path, *others = existing(Path(source))
            if path.suffix.lower() == ".parquet":
                return self._plain(self.take(arrows.of_parquets([path, *others]), "reading"))
            separator, header = csv_header(path)
            name = self._table("reading", {column: "varchar" for column in header})
            columns = ", ".join(map(quote, header))
            options = f"format csv, header true, delimiter {literal(separator)}, force_null ({columns})"
            query = Query(f"copy {name} ({columns}) from stdin with ({options})", f"reading {path.name}")
            with text_of(path) as text, self._copying(query) as copy:
                for block in without_end_marks(text):
                    copy.write(block)
            statements.made(self, name)
            self._run(Query(f"analyze {name}", "analyze"))
            return as_meant(self, source, name)
        if isinstance(source, str):
            if not isinstance(source, Sql) and not self.has_table(source):
                raise no_source(source)
            made = self._plain(named(source))
            self._to.seen.setdefault(named(source), []).append(made)
            return made
        return self._plain(self.take(arrows.of_frame(source), "frame"))

    def _plain(self, relation: Sql) -> Sql:
        """A relation in which equal values look equal: numbers without trailing zeros, the rest as text."""
        columns = self._described(Query(f"select * from {relation}", f"looking at {relation}"))
        shown = ", ".join(f"{words.plainly(column)} as {quote(column.name)}" for column in columns)
        # PostgreSQL's own SQL, which needs no translation
        return self._created("view", Query(f"select {shown} from {relation}", "source"))[0]

    def _table(self, step: str, columns: dict[str, str]) -> Sql:
        """Create an empty temporary table; types are ours or PostgreSQL's names."""
        name = self._name(step)
        made = ", ".join(f"{quote(column)} {words.TYPES.get(kind, kind)}" for column, kind in columns.items())
        self._run(Query(f"create temp table {name} ({made})", step))
        self._mine[name] = "table"
        return name

    def _name(self, step: str) -> Sql:
        return Sql(f"ps_{next(self._to.numbers)}_{step}")

    def columns(self, relation: Sql) -> dict[str, str]:
        found = self._described(Query(f"select * from {relation}", f"looking at {relation}"))
        return {
            column.name: "text"
            if column.type_code in words.TEXT
            else words.KINDS.get(column.type_code, "other")
            for column in found
        }

    def load(self, columns: Columns, origin: str) -> Sql:
        return self.take(arrows.of_columns(columns), origin)

    def take(self, table: pa.Table, origin: str) -> Sql:
        table = arrows.plain(table)
        name = self._table(origin, {field.name: words.type_of(field.type) for field in table.schema})
        query = Query(f"copy {name} from stdin with (format csv)", origin)
        options = pa.csv.WriteOptions(include_header=False)
        with self._copying(query) as copy:
            for batch in table.to_batches(max_chunksize=100_000):
                text = io.BytesIO()
                pa.csv.write_csv(batch, text, options)
                copy.write(text.getbuffer())
        statements.made(self, name, table.num_rows)
        self._run(Query(f"analyze {name}", "analyze"))
        return name

    # -- statements ----------------------------------------------------------------------------------

    def create(self, query: Query, *, view: bool = False) -> Sql:
        return self._made(query, "view" if view else "table")[0]

    def filled(self, query: Query) -> tuple[Sql, int]:
        return self._made(query, "table")

    def _made(self, query: Query, kind: str) -> tuple[Sql, int]:
        name, n_rows = self._created(kind, Query(query.text(self.dialect), query.origin))
        if kind == "table":  # without statistics the planner joins in nested loops
            self._run(Query(f"analyze {name}", "analyze"))
        return name, n_rows

    def _created(self, kind: str, query: Query) -> tuple[Sql, int]:
        name = self._name(query.origin.rpartition("/")[2].split()[0])
        result = self._run(Query(f"create temp {kind} {name} as {query.sql}", query.origin))
        self._mine[name] = kind
        statements.made(self, name, result.rowcount if kind == "table" else None)
        return name, result.rowcount

    def fetch(self, query: Query) -> list[Row]:
        cursor = self._run(Query(query.text(self.dialect), query.origin))
        columns = [column.name for column in cursor.description or []]
        rows = [dict(zip(columns, row, strict=True)) for row in cursor.fetchall()]
        statements.gave(len(rows))
        return rows

    def arrays(self, query: Query) -> dict[str, Any]:
        return arrows.arrays(self.arrow(query))

    def arrow(self, query: Query) -> pa.Table:
        schema = self._schema(query)
        if binary.of_numbers(schema):
            copying = Query(f"copy ({query.text(self.dialect)}) to stdout with (format binary)", query.origin)
            with contextlib.suppress(binary.HasNull), self._copying(copying) as copy:
                return self._gathered(binary.batches(copy, schema), schema)
        return self._gathered(self._batches(query, schema), schema)

    def _gathered(self, batches: Iterator[pa.RecordBatch], schema: pa.Schema) -> pa.Table:
        table = pa.Table.from_batches(list(batches), schema)
        statements.gave(table.num_rows)
        return table

    def drop(self, relation: Sql) -> None:
        if kind := self._mine.pop(relation, None):
            self._run(Query(f"drop {kind} pg_temp.{relation}", "drop"))

    def _schema(self, query: Query) -> pa.Schema:
        found = self._described(Query(query.text(self.dialect), query.origin))
        return pa.schema([(column.name, words.arrow_type(column)) for column in found])

    def _described(self, query: Query) -> list[psycopg.Column]:
        shape = Query(f"select * from ({query.sql}) as described limit 0", query.origin)
        return self._run(shape).description or []

    def _batches(self, query: Query, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
        if not schema.names:
            return
        copying = Query(f"copy ({query.text(self.dialect)}) to stdout with (format csv)", query.origin)
        with self._copying(copying) as copy:
            yield from arrows.of_csv(copy, schema)

    # -- relations out -------------------------------------------------------------------------------

    def write_file(self, query: Query, path: Path, kind: str) -> None:
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as out:
            if kind == "csv":
                text = query.text(self.dialect)
                columns = [column.name for column in self._described(Query(text, query.origin))]
                out.write(arrows.header(columns))
                # as text first, because COPY writes a boolean as t or f
                shown = ", ".join(f"cast({quote(name)} as text)" for name in columns)
                query = Query(f"select {shown} from ({text}) as shown", query.origin)
                copying = Query(f"copy ({query.sql}) to stdout with (format csv)", query.origin)
                with self._copying(copying) as copy:
                    for block in copy:
                        out.write(block)
            else:
                schema = self._schema(query)
                with pa.parquet.ParquetWriter(out, schema) as writer:
                    for batch in self._batches(query, schema):
                        writer.write_batch(batch)

    def write_table(self, query: Query, table: str) -> None:
        self._run(Query(f"create table {named(table)} as {query.text(self.dialect)}", query.origin))

    @contextlib.contextmanager
    def transaction(self) -> Iterator[None]:
        self._run(Query("begin", "begin"))
        try:
            yield
            self._run(Query("commit", "commit"))
        except BaseException:
            with contextlib.suppress(psycopg.Error):
                self.connection.execute("rollback")
            raise

    def rename_table(self, old: str, new: str) -> None:
        self._run(Query(f"alter table {named(old)} rename to {quote(parts(new)[-1])}", "rename"))
        self._to.seen.setdefault(named(new), []).extend(self._to.seen.pop(named(old), []))

    def hold_table(self, table: str) -> None:
        self._run(Query(f"lock table {named(table)} in access exclusive mode", "hold"))

    def drop_table(self, table: str) -> None:
        for view in self._to.seen.get(named(table), []):  # a rollback restores it
            self._run(Query(f"drop view if exists pg_temp.{view} cascade", "drop"))
        self._run(Query(f"drop table if exists {named(table)}", "drop"))

    def has_table(self, table: str) -> bool:
        looking = Query(f"select to_regclass({literal(str(named(table)))}) as found", "looking for a table")
        return self.fetch(looking)[0]["found"] is not None

    # -- one statement -------------------------------------------------------------------------------

    def _run(self, query: Query) -> psycopg.Cursor[Any]:
        started = time.perf_counter()
        with self._explained(query):
            self._to.sweep()
            result: psycopg.Cursor[Any] = self.connection.execute(query.sql.encode())
        statements.ran(self, query, time.perf_counter() - started)
        return result

    @contextlib.contextmanager
    def _copying(self, query: Query) -> Iterator[psycopg.Copy]:
        """Copy rows in or out, a block at a time."""
        started = time.perf_counter()
        with self._explained(query), self.connection.cursor().copy(query.sql) as copy:
            yield copy
        statements.ran(self, query, time.perf_counter() - started)

    @contextlib.contextmanager
    def _explained(self, query: Query) -> Iterator[None]:
        try:
            yield
        except psycopg.Error as problem:
            raise words.explain(problem, query.origin) from (problem if self._to.debug else None)
        except (UnicodeError, pa.ArrowException, EOFError) as problem:
            wrong = DataError(
                "bad_file", "a value or line does not have the expected type", where=query.origin
            )
            raise wrong from (problem if self._to.debug else None)
