"""Spark: for tables beyond one machine; `spark:local[2]`, or `spark:` for the running session.

Rows stay on the cluster. Temporary relations are checkpointed on the cluster, so that nothing is counted
twice. The cluster reads and writes Parquet, as a file or a folder; a CSV file goes through the driver.
"""

from __future__ import annotations

import contextlib
import itertools
import logging
import re
import shutil
import time
import weakref
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from privacy_sql.engines import Columns, Engine, Row, Source
from privacy_sql.engines import _arrow as arrows
from privacy_sql.engines._escaping import as_meant
from privacy_sql.engines._sources import existing, is_file, no_source, parts, unlike
from privacy_sql.errors import DataError, EngineError
from privacy_sql.query import statements
from privacy_sql.query.template import Query, Sql

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

log = logging.getLogger("privacy_sql")

TRAVEL = 20_000_000  # combinations; some 100 bytes each
# what every statement of ours is written for, and nothing of a statement's text in a log
SETTINGS = {
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.ansi.enabled": "true",
    "spark.sql.caseSensitive": "true",
    "spark.sql.variable.substitute": "false",
    "spark.sql.execution.arrow.pyspark.enabled": "true",
    "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",
}
QUIET = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "OFF",
    "spark.log.structuredLogging.enabled": "false",
    "spark.sql.catalogImplementation": "in-memory",
}
KINDS = {
    "string": "text",
    "boolean": "boolean",
    "date": "date",
    "double": "number",
    "float": "number",
    **dict.fromkeys(["tinyint", "smallint", "int", "bigint"], "integer"),
}
# no checksum files next to the data, and time stamps as other engines read them
WRITING = {"mapreduce.fileoutputcommitter.marksuccessfuljobs": "false"}
MISSING = ("TABLE_OR_VIEW_NOT_FOUND", "UNRESOLVED_COLUMN", "UNRESOLVED_ROUTINE", "SCHEMA_NOT_FOUND")
BAD_VALUE = ("CAST_INVALID_INPUT", "CAST_OVERFLOW", "NUMERIC_VALUE_OUT_OF_RANGE", "ARITHMETIC_OVERFLOW")
# pyspark writes the text of an error to stderr through these, even if it is caught
TELLING = ("SQLQueryContextLogger", "DataFrameQueryContextLogger")
_numbers = itertools.count(1)  # temporary views belong to Spark's session, which engines share


class Spark(Engine):
    """A Spark session: the running one, or one for a master such as `local[2]`."""

    dialect = "spark"
    keys = ("master",)
    travel = TRAVEL
    at_once = 8  # every statement is a job, and planning it takes longer than counting

    def __init__(
        self,
        place: str = "",
        *,
        master: str | None = None,
        settings: Mapping[str, str] | None = None,
        travel: int = TRAVEL,
        unsafe_debug: bool = False,
    ) -> None:
        self.travel = travel
        self._debug = unsafe_debug
        self._session = _opened(place or master or "", settings or {})
        self._left: list[str] = []
        self._mine: set[str] = set()
        self._written: list[str] = []

    # -- opening and closing -------------------------------------------------------------------------

    @property
    def connection(self) -> SparkSession:
        """The SparkSession, for other work."""
        return self._session

    def session(self, files: Iterable[Path] = (), folders: Iterable[Path] = ()) -> Spark:
        made = self._again(self.travel)
        made._left = self._left
        weakref.finalize(made, _forget, made._left, made._mine)
        return made

    def beside(self) -> Spark:
        return self._again(0)

    def _again(self, travel: int) -> Spark:
        made = Spark.__new__(Spark)
        made.travel, made._debug, made._session = travel, self._debug, self._session
        made._left, made._mine, made._written = [], set(), []
        return made

    def close(self) -> None:
        """Drop what was created; Spark's session stays open because others may use it."""
        _forget(self._left, self._mine)
        self._sweep()

    def version(self) -> str:
        return f"spark {self._session.version}"

    # -- relations in --------------------------------------------------------------------------------

    def source(self, source: Source) -> Sql:
        if is_file(source):
            return as_meant(self, source, self._plain(self._file(existing(Path(source)))))
        if isinstance(source, str):
            if not isinstance(source, Sql) and not self.has_table(source):
                raise no_source(source)
            return self._plain(self._sql(f"select * from {_named(source)}", "source"))
        from pyspark.sql import DataFrame

        if isinstance(source, DataFrame):
            return self._plain(source)
        return self._plain(self._session.createDataFrame(arrows.plain(arrows.of_frame(source))))

    def _file(self, files: list[Path]) -> DataFrame:
        path, *others = files
        if others:  # by their names, because Spark skips a hidden folder
            with self._explained("reading"):
                shapes = [self._session.read.parquet(_as_pattern(file)).dtypes for file in files]
                if any(shape != shapes[0] for shape in shapes):
                    raise unlike(path.parent)
                return self._session.read.parquet(*map(_as_pattern, files))
        if path.name.startswith((".", "_")):  # and such files, without a message
            return self._session.createDataFrame(arrows.plain(arrows.of_file(path)))
        if path.suffix.lower() == ".parquet":
            with self._explained("reading"):
                return self._session.read.parquet(_as_pattern(path))
        return self._session.createDataFrame(arrows.of_file(path))

    def _plain(self, frame: DataFrame) -> Sql:
        """A relation in which equal values look equal; other types become text."""
        shown = [f"{_plainly(name, kind)} as {_quote(name)}" for name, kind in frame.dtypes]
        with self._explained("source"):
            made = self._viewed(frame.selectExpr(*shown), "source")
        statements.size(self, made)
        return made

    def _viewed(self, frame: DataFrame, step: str) -> Sql:
        name = Sql(f"ps_{next(_numbers)}_{step}")
        frame.createOrReplaceTempView(name)
        self._mine.add(name)
        return name

    def columns(self, relation: Sql) -> dict[str, str]:
        found = self._sql(f"select * from {relation}", f"looking at {relation}")
        return {name: KINDS.get(kind, "other") for name, kind in found.dtypes}

    def load(self, columns: Columns, origin: str) -> Sql:
        return self.take(arrows.of_columns(columns), origin)

    def take(self, table: pa.Table, origin: str) -> Sql:
        made = self._viewed(self._session.createDataFrame(arrows.plain(table)), origin)
        statements.size(self, made, table.num_rows)
        return made

    # -- statements ----------------------------------------------------------------------------------

    def create(self, query: Query, *, view: bool = False) -> Sql:
        step = query.origin.rpartition("/")[2].split()[0]
        frame = self._sql(query.text(self.dialect), query.origin)
        if not view:
            with self._timed(query.origin):
                frame = frame.localCheckpoint()
                # reading a checkpoint twice in one statement confuses Spark's planner unless its columns are
                # new
                frame = frame.selectExpr(*(f"{_quote(name)} as {_quote(name)}" for name in frame.columns))
        made = self._viewed(frame, step)
        statements.made(self, made)
        return made

    def fetch(self, query: Query) -> list[Row]:
        frame = self._sql(query.text(self.dialect), query.origin)
        with self._timed(query.origin):
            rows = [dict(zip(frame.columns, row, strict=True)) for row in frame.collect()]
        statements.gave(len(rows))
        return rows

    def arrays(self, query: Query) -> dict[str, Any]:
        return arrows.arrays(self.arrow(query))

    def arrow(self, query: Query) -> pa.Table:
        frame = self._sql(query.text(self.dialect), query.origin)
        with self._timed(query.origin):
            found = frame.toArrow()
        statements.gave(found.num_rows)
        return found

    def drop(self, relation: Sql) -> None:
        if relation in self._mine:
            self._mine.remove(relation)
            self._session.catalog.dropTempView(relation)

    # -- relations out -------------------------------------------------------------------------------

    def write_file(self, query: Query, path: Path, kind: str) -> None:
        """The cluster writes Parquet as a folder; CSV is made from one, some rows at a time."""
        frame = self._sql(query.text(self.dialect), query.origin)
        if kind == "parquet":
            self._write_folder(frame, path, query.origin)
            return
        parts = path.with_name(f"{path.name}.parts")
        shown = [f"cast({_quote(name)} as string) as {_quote(name)}" for name in frame.columns]
        try:
            self._write_folder(frame.selectExpr(*shown), parts, query.origin)
            arrows.write_csv(parts, path)
        finally:
            shutil.rmtree(parts, ignore_errors=True)

    def _write_folder(self, frame: DataFrame, path: Path, origin: str) -> None:
        path.mkdir(mode=0o700)  # private until it is published; Spark adds its files
        with self._timed(origin):
            frame.write.mode("append").options(**WRITING).parquet(str(path.resolve()))
        for mark in path.glob(".*"):  # checksums of the local file system
            mark.unlink()

    def write_table(self, query: Query, table: str) -> None:
        self._sql(f"create table {_named(table)} using parquet as {query.text(self.dialect)}", query.origin)
        self._written.append(table)

    @contextlib.contextmanager
    def transaction(self) -> Iterator[None]:
        """Spark has no transactions, so tables written inside are removed if something fails."""
        self._written.clear()
        try:
            yield
        except BaseException:
            for table in self._written:
                with contextlib.suppress(EngineError):
                    self.drop_table(table)
            raise

    def rename_table(self, old: str, new: str) -> None:
        self._sql(f"alter table {_named(old)} rename to {_named(new)}", "rename")

    def hold_table(self, table: str) -> None:
        pass  # Spark has no locks

    def drop_table(self, table: str) -> None:
        self._sql(f"drop table if exists {_named(table)}", "drop")

    def has_table(self, table: str) -> bool:
        with self._explained("looking for a table"):
            return bool(self._session.catalog.tableExists(str(_named(table))))

    # -- one statement -------------------------------------------------------------------------------

    def _sql(self, text: str, origin: str) -> DataFrame:
        self._sweep()
        started = time.perf_counter()
        with self._explained(origin):
            frame = self._session.sql(text)
        statements.noted(self, Query(text, origin), time.perf_counter() - started)
        return frame

    def _sweep(self) -> None:
        while self._left:
            self._session.catalog.dropTempView(self._left.pop())

    @contextlib.contextmanager
    def _timed(self, origin: str) -> Iterator[None]:
        started = time.perf_counter()
        with self._explained(origin):
            yield
        # a statement's text may hold values of the data (a lookup, a condition), so its name is logged
        log.debug("%s on spark: %.3f s", origin, time.perf_counter() - started)
        statements.took(time.perf_counter() - started)

    @contextlib.contextmanager
    def _explained(self, origin: str) -> Iterator[None]:
        from py4j.protocol import Py4JError
        from pyspark.errors import PySparkException

        with contextlib.nullcontext() if self._debug else _untold():
            try:
                yield
            except (PySparkException, Py4JError) as problem:
                raise explain(problem, origin) from (problem if self._debug else None)


@contextlib.contextmanager
def _untold() -> Iterator[None]:
    """Keep pyspark from logging our errors, which may quote rows; it still logs those of others."""
    from pyspark.logger import PySparkLogger

    loggers = [PySparkLogger.getLogger(name) for name in TELLING]
    before = [logger.disabled for logger in loggers]
    try:
        for logger in loggers:
            logger.disabled = True
        yield
    finally:
        for logger, disabled in zip(loggers, before, strict=True):
            logger.disabled = disabled


def explain(problem: Exception, origin: str) -> EngineError | DataError:
    """An error of Spark without its text, which may quote rows."""
    from pyspark.errors import PySparkException

    condition = (problem.getCondition() or "") if isinstance(problem, PySparkException) else ""
    if condition.startswith(BAD_VALUE):
        return DataError("bad_value", "a value does not convert to the expected type", where=origin)
    if condition.startswith("TABLE_OR_VIEW_ALREADY_EXISTS"):
        return EngineError("taken", "a table of that name already exists", where=origin, hint="Run it again.")
    if condition.startswith(MISSING):
        return EngineError("no_relation", "a table, column or function does not exist", where=origin)
    reason = condition if condition.replace("_", "").replace(".", "").isalnum() else type(problem).__name__
    return EngineError(
        "engine", f"{origin} failed on spark: {reason}", hint="Run with --unsafe-debug for its text."
    )


def _opened(master: str, settings: Mapping[str, str]) -> SparkSession:
    try:
        from pyspark.sql import SparkSession
    except ImportError:
        raise EngineError(
            "connect", "pyspark is not installed", hint='pip install "privacy-sql[spark]"; it needs Java 17.'
        ) from None
    running = SparkSession.getActiveSession()
    if running is None:
        builder = SparkSession.builder.appName("privacy_sql")
        if master:
            builder = builder.master(master)
        for name, value in {**QUIET, **settings}.items():
            builder = builder.config(name, value)
        running = builder.getOrCreate()
        running.sparkContext.setLogLevel("OFF")
    for name, value in SETTINGS.items():
        running.conf.set(name, value)
    return running


def _as_pattern(path: Path) -> str:
    """The pattern that only this path matches: Spark takes every path for one."""
    return re.sub(r"[*?{}\[\]\\]", r"\\\g<0>", str(path.resolve()))


def _quote(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


def _named(name: str) -> str:
    return name if isinstance(name, Sql) else ".".join(map(_quote, parts(name)))


def _plainly(name: str, kind: str) -> str:
    if kind in ("double", "float"):  # -0 is equal to 0
        return f"{_quote(name)} + cast(0 as {kind})"
    if kind in KINDS or kind.startswith(("decimal", "timestamp")):
        return _quote(name)
    return f"cast({_quote(name)} as string)"


def _forget(left: list[str], relations: set[str]) -> None:
    """Report what a session created when nobody can use it any more."""
    left.extend(relations)
    relations.clear()
