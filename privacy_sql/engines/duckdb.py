"""DuckDB, embedded: the default engine, which needs no server.

Its connection is locked before the first statement. Spill files go to a private folder of the run, which is
removed at exit or swept at the next start.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import time
import weakref
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb

from privacy_sql import deadlines
from privacy_sql.engines import Columns, Engine, Row, Source
from privacy_sql.engines._duckdb_connection import DuckDBConnection, TakenConnection
from privacy_sql.engines._escaping import as_meant
from privacy_sql.engines._packed_columns import PackedColumns
from privacy_sql.engines._repeated_lines import PIECES, Lines, repeat
from privacy_sql.engines._sources import (
    as_pattern,
    csv_header,
    existing,
    is_file,
    named,
    no_frame,
    no_source,
    parts,
    refuse_broken,
    unlike,
)
from privacy_sql.errors import DataError, EngineError, PrivacySqlError
from privacy_sql.query import statements
from privacy_sql.query.template import Query, Sql, free_name, literal, quote

if TYPE_CHECKING:
    import pyarrow as pa

    from privacy_sql.engines import WholeNumbers

KINDS = {
    "VARCHAR": "text",
    "BOOLEAN": "boolean",
    "DATE": "date",
    "DOUBLE": "number",
    "FLOAT": "number",
    **dict.fromkeys(["TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT"], "integer"),
    **dict.fromkeys(["UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT", "UHUGEINT"], "integer"),
}
# half of the 32 digits of a hash is one number, and its pieces are shifted out of it
DIGITS_OF_HALVES = ", ".join(
    f"cast('0x' || substring(h, {start}, 16) as ubigint) as {half}"
    for half, start in (("first", 1), ("second", 17))
)
PIECES_OF_HALVES = [
    f"(({half} >> {shift}) & 65535)" for half in ("first", "second") for shift in (48, 32, 16, 0)
]
SUMS_OF_PIECES = ", ".join(
    f"cast(coalesce(sum(n * cast({piece} as bigint)), 0) as bigint) as h{number}"
    for number, piece in enumerate(PIECES_OF_HALVES, start=1)
)
PIECE = 1000  # rows that are repeated at once


# frames that can be read any number of times
READ_AGAIN = {
    ("pandas", "DataFrame"),
    ("pyarrow", "Table"),
    ("_duckdb", "DuckDBPyRelation"),
    ("duckdb", "DuckDBPyRelation"),
}

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


class DuckDB(Engine):
    """Embedded DuckDB: `duckdb:` in memory or `duckdb:file.db`."""

    dialect = "duckdb"
    keys = ("path", "memory_limit", "threads")  # the path is the place, from the project's folder
    embedded = True
    undoes = True

    def __init__(
        self,
        place: str = "",
        *,
        memory_limit: str | None = None,
        threads: int | None = None,
        files: Iterable[Path | str] = (),
        folders: Iterable[Path | str] = (),
        unsafe_debug: bool = False,
    ) -> None:
        limits = {"memory_limit": memory_limit, "threads": threads}
        self._to = DuckDBConnection(place, limits, map(Path, files), map(Path, folders), unsafe_debug)
        self._mine: dict[str, str] = {}
        self._lines: dict[str, Lines] = {}  # the CSV files that are sources
        self._parquet: dict[str, Path] = {}  # the Parquet files that are
        self._looked: dict[str, dict[str, str]] = {}  # relations of ours with the kinds of their columns

    @classmethod
    def around(cls, connection: object, *, unsafe_debug: bool = False) -> Engine:
        """An engine on an open connection, which stays open."""
        if not isinstance(connection, duckdb.DuckDBPyConnection):
            return super().around(connection)
        made = cls.__new__(cls)
        made._to = TakenConnection(connection, unsafe_debug)
        made._mine, made._lines, made._parquet, made._looked = {}, {}, {}, {}
        return made

    # -- opening and closing -------------------------------------------------------------------------

    @property
    def connection(self) -> duckdb.DuckDBPyConnection:
        """The live connection of DuckDB's own library, for other work."""
        return self._to.live

    def session(self, files: Iterable[Path] = (), folders: Iterable[Path] = ()) -> DuckDB:
        made = DuckDB.__new__(DuckDB)
        made._to = self._to.reaching(set(map(Path.resolve, files)), set(map(Path.resolve, folders)))
        made._mine, made._lines, made._parquet, made._looked = {}, {}, {}, {}
        # when nobody can use a session any more, its relations can be dropped
        left, mine = made._to.left, made._mine
        weakref.finalize(made, left.extend, mine.items())
        return made

    def close(self) -> None:
        self._to.close()
        self._mine.clear()

    def version(self) -> str:
        return f"duckdb {duckdb.__version__}"

    # -- relations in --------------------------------------------------------------------------------

    def source(self, source: Source) -> Sql:
        if is_file(source):
            return as_meant(self, source, self._plain(self._file(existing(Path(source)))))
        if isinstance(source, str):
            if not isinstance(source, Sql) and not self.has_table(source):
                raise no_source(source)
            # our own relations have plain columns
            theirs = not isinstance(source, Sql)
            return self._plain(
                named(source), theirs and bool(self.fetch(Query(COLLATED, "looking for collations")))
            )
        return self._plain(self._frame(source))

    def _plain(self, relation: Sql, collated: bool = False) -> Sql:
        looking = Query(f"select * from {relation} limit 0", f"looking at {relation}")
        columns = dict(self._described(looking))
        plain = {name: plainly(name, kind, collated) for name, kind in columns.items()}
        if list(plain.values()) == list(map(quote, plain)):
            statements.size(self, relation)
            if relation in self._mine:
                self._looked[relation] = {name: KINDS.get(kind, "other") for name, kind in columns.items()}
            return relation
        shown = ", ".join(f"{shown} as {quote(name)}" for name, shown in plain.items())
        return self.create(Query(f"select {shown} from {relation}", "source"), view=True)

    def _file(self, files: list[Path]) -> Sql:
        path, *others = files
        if path.suffix.lower() == ".parquet":
            # a folder called k=5 is not a column of its files
            read = [f"read_parquet({literal(as_pattern(f))}, hive_partitioning = false)" for f in files]
            origin = f"reading {path.name}"
            shapes = [self._described(Query(f"select * from {one} limit 0", origin)) for one in read]
            if any(shape != shapes[0] for shape in shapes):
                raise unlike(path.parent)
            together = " union all ".join(f"select * from {one}" for one in read)
            made = self.create(Query(together, origin), view=True)
            if not others:
                self._parquet[made] = path.resolve()
            return made
        assert not others
        separator, header = csv_header(path)
        refuse_broken(path)
        columns = ", ".join(f"{literal(name)}: 'VARCHAR'" for name in header)
        options = f"columns = {{{columns}}}, delim = {literal(separator)}, header = true, auto_detect = false"
        options += f", {PIECES}"
        strict = "quote = '\"', escape = '\"', nullstr = '', strict_mode = true, null_padding = false"
        text = f"select * from read_csv({literal(as_pattern(path))}, {options}, {strict})"
        query = Query(text, f"reading {path.name}")
        made = self.create(query, view=True)
        self._lines[made] = Lines(path.resolve(), separator, header)
        return made

    def alike(self, source: Sql) -> tuple[Sql, Sql] | None:
        lines = self._lines.get(source)
        if lines is None or len(lines.header) == 1 or not repeat(lines.path):
            return None
        try:
            counted = self.create(lines.counted())
        except PrivacySqlError:  # the CSV reader reports any error
            return None
        try:
            if not lines.are_all(self.fetch(lines.looked_at(counted))[0]):
                return None
            n_rows = free_name("n_rows", lines.header)
            return self.create(lines.taken_apart(counted, n_rows)), n_rows
        finally:
            self.drop(counted)

    def coded(self, source: Sql, columns: Sequence[tuple[str, Sql]]) -> tuple[Sql, Sql, int] | None:
        if source not in self._parquet:
            return None
        packed = PackedColumns(self._parquet[source], source, columns)
        if not packed.are_small(self.fetch(packed.looked_at())[0]):
            return None
        made = [self.create(packed.dictionaries())]
        try:
            sizes = [row["size"] for row in self.fetch(packed.sizes(made[0]))]
            if not packed.fit(sizes):
                return None
            self._run(packed.listed(made[0]))
            combinations, n_combinations = self.filled(packed.combinations(made[0], sizes))
            made.append(combinations)
            self._run(Query(f"reset variable {made[0]}", "listing values"))
            # the file is read twice: where it became another in between, it is counted in one reading
            if self.fetch(packed.n_new(made[1]))[0]["n_new"]:
                return None
            return self.create(packed.counted(made[1], made[0])), made.pop(), n_combinations
        finally:
            for relation in made:
                self.drop(relation)

    def _described(self, query: Query) -> list[tuple[str, str]]:
        """The columns of a query with their types, in their order."""
        return [(name, str(kind)) for name, kind, *_ in self._run(query).description or []]

    def _frame(self, frame: object) -> Sql:
        name = self._name("frame")
        frame = self._to.answered(frame)
        try:
            if isinstance(frame, duckdb.DuckDBPyRelation) and not self._reads(frame):
                frame = frame.to_arrow_table()
            self._to.live.register(name, frame)
        except duckdb.ConnectionException as problem:
            raise explain(problem, "frame") from (problem if self._to.debug else None)
        except duckdb.NotImplementedException as problem:  # a pandas type that DuckDB does not know
            hint = "Convert it to text, numbers or dates first."
            raise DataError(
                "bad_column", "a column of the frame has a type DuckDB cannot read", hint=hint
            ) from (problem if self._to.debug else None)
        except (TypeError, duckdb.InvalidInputException):
            raise no_frame(frame) from None
        self._mine[name] = "view"
        kind = type(frame)
        if (kind.__module__.partition(".")[0], kind.__name__) not in READ_AGAIN:
            read = self._name("frame")
            self._run(Query(f"create temp table {read} as select * from {name}", "frame"))
            self._mine[read] = "table"
            self.drop(name)
            name = read
        statements.size(self, name)
        return name

    def _reads(self, relation: duckdb.DuckDBPyRelation) -> bool:
        """Whether a relation belongs to this connection and not to another database."""
        name = self._name("looking")
        try:
            self._to.live.register(name, relation)
            self._to.live.execute(f"select 1 from {name} limit 0")
        except duckdb.Error:
            return False
        self._mine[name] = "view"
        self.drop(name)
        return True

    def _name(self, step: str) -> Sql:
        return Sql(f"ps_{next(self._to.numbers)}_{step}")

    def columns(self, relation: Sql) -> dict[str, str]:
        if relation in self._looked:
            return dict(self._looked[relation])
        described = self._run(
            Query(f"select * from {relation} limit 0", f"looking at {relation}")
        ).description
        return {name: KINDS.get(str(kind), "other") for name, kind, *_ in described or []}

    # -- statements ----------------------------------------------------------------------------------

    def create(self, query: Query, *, view: bool = False) -> Sql:
        return self._made(query, "view" if view else "table")[0]

    def filled(self, query: Query) -> tuple[Sql, int]:
        name, n_rows = self._made(query, "table")
        assert n_rows is not None
        return name, n_rows

    def _made(self, query: Query, kind: str) -> tuple[Sql, int | None]:
        name = self._name(query.origin.rpartition("/")[2].split()[0])
        result = self._run(Query(f"create temp {kind} {name} as {query.text('duckdb')}", query.origin))
        self._mine[name] = kind
        n_rows = result.fetchall()[0][0] if kind == "table" else None
        statements.made(self, name, n_rows)
        return name, n_rows

    def load(self, columns: Columns, origin: str) -> Sql:
        name = self._name(origin)
        parts = ", ".join(f"unnest(cast(? as {kind}[])) as {column}" for column, (kind, _) in columns.items())
        values = [list(column) for _, column in columns.values()]
        self._run(Query(f"create temp table {name} as select {parts}", origin), values)
        self._mine[name] = "table"
        statements.made(self, name, max(map(len, values), default=0))
        return name

    def load_whole_numbers(self, columns: WholeNumbers, origin: str) -> Sql:
        shown = ", ".join(f"cast({column} as bigint) as {column}" for column in columns)
        return self._taken(dict(columns), shown, len(next(iter(columns.values()))), origin)

    def repeated(self, counted: Sql, columns: Sequence[str], n: Sql) -> Query:
        shown = ", ".join(map(quote, columns))
        start = free_name("start", [*columns, n])
        # one thread counts what passes a limit, so rows are written as they come, and none waits in
        # memory; that all are let through nobody knows beforehand
        lines = f"select * from {counted} limit (select count(*) from {counted})"
        # in two steps, because a list is built completely before it becomes rows
        pieces = f"select {shown}, {n}, unnest(range(0, {n}, {PIECE})) as {start} from ({lines})"
        rows = f"select {shown}, unnest(range(least({PIECE}, {n} - {start}))) from ({pieces})"
        return Query(f"select {shown} from ({rows})", "published rows", one_by_one=True)

    def added_digits(self, hashes: Query) -> Query:
        text = f"with hashed as ({hashes.sql}), numbers as (select n, {DIGITS_OF_HALVES} from hashed)"
        return Query(
            f"{text} select cast(coalesce(sum(n), 0) as bigint) as n_rows, {SUMS_OF_PIECES} from numbers",
            "counted/fingerprint",
        )

    def fetch(self, query: Query) -> list[Row]:
        result = self._run(query)
        names = [column[0] for column in result.description or []]
        with self._explained(query), self._all_read():
            rows = [dict(zip(names, row, strict=True)) for row in result.fetchall()]
        statements.gave(len(rows))
        return rows

    def arrays(self, query: Query) -> dict[str, Any]:
        result = self._run(query)
        with self._explained(query), self._all_read():
            found = dict(result.fetchnumpy())
        statements.gave(len(next(iter(found.values()), ())))
        return found

    def arrow(self, query: Query) -> pa.Table:
        started = time.perf_counter()
        with self._explained(query), self._all_read():
            found = self._to.live.sql(query.sql).to_arrow_table()
        statements.ran(self, query, time.perf_counter() - started)
        statements.gave(found.num_rows)
        return found

    def take(self, table: pa.Table, origin: str) -> Sql:
        return self._taken(table, "*", table.num_rows, origin)

    def _taken(self, given: object, shown: str, n_rows: int, origin: str) -> Sql:
        """Columns in memory as a temporary relation."""
        name, frame = self._name(origin), self._name("frame")
        with self._explained(Query("", origin)):
            self._to.live.register(frame, given)
        try:
            self._run(Query(f"create temp table {name} as select {shown} from {frame}", origin))
        finally:
            self._to.live.unregister(frame)
        self._mine[name] = "table"
        statements.made(self, name, n_rows)
        return name

    def beside(self) -> DuckDB:
        return DuckDB(**self._to.limits, unsafe_debug=self._to.debug)

    @contextlib.contextmanager
    def reader(self, files: Sequence[Path]) -> Iterator[Engine]:
        # a database may have macros with the names of functions, which would be called instead of these
        own = self._to.place == ":memory:" and self._to.files.issuperset(map(Path.resolve, files))
        with contextlib.nullcontext(self) if own else self.beside() as home:
            yield home.session(files)

    def drop(self, relation: Sql) -> None:
        kind = self._mine.pop(relation, None)
        self._looked.pop(relation, None)
        if kind:
            self._run(Query(f"drop {kind} temp.{relation}", "drop"))

    # -- relations out -------------------------------------------------------------------------------

    def write_file(self, query: Query, path: Path, kind: str) -> None:
        with self._explained(query):
            self._to.live.execute("select 1").fetchall()  # rows that wait would keep out a frame
        options = {"csv": "format csv, header true", "parquet": "format parquet"}[kind]
        if query.one_by_one:  # no order to restore
            options += ", preserve_order false"
        # DuckDB can reach only its own private folder; the file moves from there
        made = Path(str(self._to.private)) / f"{next(self._to.numbers)}.{kind}"
        made.touch(mode=0o600)
        self._run(Query(f"copy ({query.text('duckdb')}) to {literal(str(made))} ({options})", query.origin))
        made.chmod(0o600)  # DuckDB may have created its own file there
        try:
            os.rename(made, path)
        except OSError:  # another file system: nobody else may read what has not been audited
            handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(handle, "wb") as out, made.open("rb") as rows:
                shutil.copyfileobj(rows, out, 1 << 20)
            made.unlink()

    def write_table(self, query: Query, table: str) -> None:
        self._run(Query(f"create table {named(table)} as {query.text('duckdb')}", query.origin))

    @contextlib.contextmanager
    def transaction(self) -> Iterator[None]:
        self._run(Query("begin", "begin"))
        try:
            yield
            self._run(Query("commit", "commit"))
        except BaseException:
            with contextlib.suppress(duckdb.Error):
                self._to.live.execute("rollback")
            raise

    def rename_table(self, old: str, new: str) -> None:
        bare = parts(new)[-1]
        self._run(Query(f"alter table {named(old)} rename to {quote(bare)}", "rename"))

    def hold_table(self, table: str) -> None:
        pass  # nobody can lock a table here; `replace_table` finds what others wrote

    def replace_table(self, new: str, name: str, aside: str) -> None:
        columns = self.columns(named(name))
        shown = ", ".join(map(quote, columns))
        rows = Query(f"select count(*) as n_rows, sum(hash({shown})) as hashes from {named(name)}", "hold")
        # DuckDB lets somebody write to a table that is being dropped, but not to one with a new column
        held = free_name("held", columns)
        self._run(Query(f"alter table {named(name)} add column {held} boolean", "hold"))
        # this transaction does not see what was committed after it began, but another connection does
        (seen,) = self.fetch(rows)
        started = time.perf_counter()
        with self._explained(rows), contextlib.closing(self._to.live.cursor()) as other:
            (path,) = self._to.live.execute("select current_setting('search_path')").fetchall()[0]
            other.execute(f"set search_path = {literal(path)}")
            committed = other.execute(rows.sql).fetchone()
        statements.ran(self, rows, time.perf_counter() - started)
        if tuple(seen.values()) != committed:
            raise _conflict("hold")
        super().replace_table(new, name, aside)

    def drop_table(self, table: str) -> None:
        self._run(Query(f"drop table if exists {named(table)}", "drop"))

    def has_table(self, table: str) -> bool:
        try:
            self._run(Query(f"select 1 from {named(table)} limit 0", "looking for a table"))
        except EngineError as problem:
            if problem.code not in ("no_relation", "no_permission"):
                raise
            return False
        return True

    # -- one statement -------------------------------------------------------------------------------

    def _run(self, query: Query, values: list[Any] | None = None) -> duckdb.DuckDBPyConnection:
        started = time.perf_counter()
        try:
            with self._explained(query):
                # what sessions left behind goes before a statement, and never while its rows are fetched
                while self._to.left:
                    name, kind = self._to.left.pop()
                    with contextlib.suppress(duckdb.Error):
                        # a rollback may have removed it, and its name may belong to somebody else by now
                        self._to.live.execute(f"drop {kind} if exists temp.{name}")
                return self._to.live.execute(query.sql, values)
        finally:
            statements.ran(self, query, time.perf_counter() - started)

    @contextlib.contextmanager
    def _all_read(self) -> Iterator[None]:
        """Leave no rows half read after an error: as long as some wait, DuckDB takes no frame."""
        try:
            yield
        except BaseException:
            with contextlib.suppress(duckdb.Error):
                self._to.live.execute("select 1").fetchall()
            raise

    @contextlib.contextmanager
    def _explained(self, query: Query) -> Iterator[None]:
        """Convert DuckDB's errors into ours, because they may quote rows; some come only with the rows."""
        try:
            yield
        except duckdb.InterruptException:
            raise KeyboardInterrupt from None
        except RuntimeError as problem:
            # how a signal in the middle of a statement shows
            if "interrupted" in str(problem):
                raise KeyboardInterrupt from None
            raise
        except duckdb.Error as problem:
            if deadlines.stopped():  # for example while a frame was being read
                raise KeyboardInterrupt from None
            told = explain(problem, query.origin, self._to.files)
            raise told from (problem if self._to.debug else None)


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
    if kind == "Connection" and "already closed" in reason:
        told = "somebody else closed this connection"
        return EngineError("closed", told, where=origin, hint="Open a new connection.")
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
    if "write-write conflict" in reason or "Could not commit" in reason:
        return _conflict(origin)
    if kind == "Catalog":
        return EngineError("no_relation", "a table, column or function does not exist", where=origin)
    if kind == "Permission":
        return EngineError(
            "no_permission", "the connection has no access to that file or table", where=origin
        )
    if kind == "IO" and "Permission denied" in reason:
        hint = "Check the permissions of the file and its folder."
        return EngineError("no_permission", f"{origin} failed: permission denied", hint=hint)
    return EngineError(
        "engine", f"{origin} failed on duckdb: {kind}", hint="Run with --unsafe-debug for its text."
    )


def _conflict(origin: str) -> EngineError:
    told = "somebody else changed the same table at the same time"
    return EngineError("conflict", told, where=origin, hint="Run it again.")


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
