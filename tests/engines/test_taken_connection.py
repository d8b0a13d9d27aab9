"""An open connection of DuckDB as an engine, and the frames people bring and take away."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import duckdb
import pandas as pd
import pyarrow as pa
import pytest

import privacy_sql as ps
from privacy_sql.errors import EngineError, NotSafe, UsageError

PEOPLE = "select cast(20 + i % 5 as varchar) as age, ['a', 'b', 'c'][1 + i % 3] as ill from range(60) as r(i)"
OURS = "select count(*) from duckdb_tables() where temporary and table_name like 'ps%'"


class Stream:
    """A frame of a library that nobody has heard of, which speaks Arrow and is read once."""

    def __init__(self, table: pa.Table) -> None:
        self.reader = table.to_reader()

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self.reader.__arrow_c_stream__(requested_schema)


@pytest.fixture
def connection() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as made:
        made.execute(f"create table people as {PEOPLE}")
        yield made


def test_an_open_connection_is_asked_where_its_tables_are_and_left_as_it_was(
    connection: duckdb.DuckDBPyConnection, tmp_path: Path
) -> None:
    connection.execute("begin")
    connection.execute("create temp table mine as select 1 as one")
    connection.execute("commit")
    with ps.connect(connection) as engine, ps.connect(connection) as other:
        table = ps.Table("people", {"age": ps.Intervals(5)}, "ill")
        assert ps.check(engine, table, [ps.KAnonymity(2)])["k_anonymity(k=2)"].value == 12
        release = ps.publish(engine, table, [ps.KAnonymity(20)], ps.FullDomain())
        ps.verify(ps.write(engine, release, tmp_path / "out.csv"))
        assert ps.check(other, ps.Table("people", ["age"], "ill"), [ps.KAnonymity(2)])
        nobody = pd.DataFrame({"age": ["1"]})
        with pytest.raises(UsageError, match="no file or relation"):  # a variable of Python is no table
            ps.check(engine, ps.Table("nobody", ["age"]), [ps.KAnonymity(2)])
        assert len(nobody) == 1
    assert connection.execute(OURS).fetchall() == [(0,)]
    assert connection.execute("select one from mine").fetchall() == [(1,)]
    assert connection.execute("select current_setting('python_enable_replacements')").fetchall() == [(True,)]
    with pytest.raises(UsageError, match="closed"):
        ps.check(engine, table, [ps.KAnonymity(2)])


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 2, 0)])
@pytest.mark.parametrize("replaces", [True, False])
def test_engines_around_one_connection_are_closed_in_any_order(
    connection: duckdb.DuckDBPyConnection, order: tuple[int, ...], replaces: bool
) -> None:
    setting = "select current_setting('python_enable_replacements')"
    connection.execute(f"set python_enable_replacements = {replaces}")
    for _ in range(2):
        engines = [ps.connect(connection) for _ in order]
        elsewhere = ps.connect(connection.cursor())  # another connection, with a setting of its own
        for n in order:
            assert connection.execute(setting).fetchall() == [(False,)]  # as long as one is open
            engines[n].close()
            engines[n].close()
        assert connection.execute(setting).fetchall() == [(replaces,)]
        elsewhere.close()


def test_an_engine_whose_connection_was_closed_by_its_owner_can_be_closed(
    connection: duckdb.DuckDBPyConnection,
) -> None:
    table = ps.Table(pd.DataFrame({"age": ["1"] * 3}), ["age"], name="p")
    with ps.connect(connection) as engine:
        ps.check(engine, table, [ps.KAnonymity(2)])
        connection.close()
        for source in ("people", table.source):
            with pytest.raises(EngineError, match="somebody else closed"):
                ps.check(engine, ps.Table(source, ["age"], name="p"), [ps.KAnonymity(2)])
    with pytest.raises(UsageError, match="closed"):
        ps.check(engine, table, [ps.KAnonymity(2)])


def test_what_is_no_open_connection_is_refused(connection: duckdb.DuckDBPyConnection) -> None:
    with pytest.raises(UsageError, match="a int is not a connection"):
        ps.connect(3)  # type: ignore[arg-type]
    connection.close()
    with pytest.raises(UsageError, match="cannot be used"):
        ps.connect(connection)


KINDS: dict[str, Callable[[duckdb.DuckDBPyConnection], object]] = {
    "relation": lambda connection: connection.sql("from people"),
    "relation of another database": lambda connection: duckdb.connect().sql(PEOPLE),
    "stream": lambda connection: Stream(connection.sql(PEOPLE).to_arrow_table()),
    "reader": lambda connection: connection.sql(PEOPLE).to_arrow_table().to_reader(),
    "arrow": lambda connection: connection.sql(PEOPLE).to_arrow_table(),
    "pandas": lambda connection: connection.sql(PEOPLE).df(),
}


@pytest.mark.parametrize("kind", KINDS)
def test_any_frame_is_a_source_and_what_is_audited_comes_back_as_one(
    connection: duckdb.DuckDBPyConnection, kind: str
) -> None:
    with ps.connect(connection) as engine:
        table = ps.Table(KINDS[kind](connection), {"age": ps.Intervals(5)}, "ill", name="people")
        release = ps.publish(engine, table, [ps.KAnonymity(20)], ps.FullDomain())
        found = release.to_arrow()
        expected = sorted(
            (str(age), ill) for age, ill in connection.sql(f"select '20-24', ill from ({PEOPLE})").fetchall()
        )
        assert sorted(zip(*found.to_pydict().values(), strict=True)) == expected
        assert release.to_pandas().equals(found.to_pandas()) and found.column_names == ["age", "ill"]


def test_a_frame_that_speaks_arrow_is_a_source_of_an_engine_of_ours(engine: ps.Engine) -> None:
    with duckdb.connect() as there:
        arrow = there.sql(PEOPLE).to_arrow_table()
    found = ps.check(engine, ps.Table(Stream(arrow), ["age"], "ill"), [ps.KAnonymity(2), ps.LDiversity(2)])
    assert [verdict.value for verdict in found.values()] == [12, 3]


def test_rows_that_are_not_safe_never_come_back(connection: duckdb.DuckDBPyConnection) -> None:
    with ps.connect(connection) as engine:
        release = ps.publish(
            engine, ps.Table("people", ["age"], "ill"), [ps.KAnonymity(13)], ps.Generalise({})
        )
        for rows in (release.to_arrow, release.to_pandas, release.to_polars):
            with pytest.raises((NotSafe, ImportError)):
                rows()


def test_verdicts_and_searches_are_frames(connection: duckdb.DuckDBPyConnection) -> None:
    with ps.connect(connection) as engine:
        table = ps.Table("people", {"age": ps.Intervals(2, 4, 8)}, "ill")
        verdicts = ps.check(engine, table, [ps.KAnonymity(13), ps.LDiversity(3)]).to_frame()
        assert verdicts[["requirement", "safe", "value"]].to_numpy().tolist() == [
            ["k_anonymity(k=13)", False, 12],
            ["l_diversity(l=3)", True, 3],
        ]
        found = ps.search(engine, table, [ps.KAnonymity(13)])
        frame = found.to_frame()
    assert found.best is not None
    assert frame[frame.best].age.tolist() == [found.best["levels"]["age"]]
    assert frame[frame.minimal].age.tolist() == [choice["levels"]["age"] for choice in found.minimal]
    unsafe = [point["levels"]["age"] for point in found.frontier if not point["safe"]]
    assert frame[~frame.safe].age.tolist() == unsafe and unsafe


def test_a_frame_of_polars_is_read_and_what_was_audited_comes_back_as_one() -> None:
    polars = pytest.importorskip("polars", reason="needs polars: pip install polars")
    frame = polars.DataFrame({"age": ["3*"] * 3 + ["4*"] * 3, "ill": ["flu", "cold", "gout"] * 2})
    with ps.connect() as engine:
        release = ps.publish(engine, ps.Table(frame, ["age"], "ill"), [ps.KAnonymity(3)], ps.Generalise({}))
        published = release.to_polars()
    assert sorted(published.rows()) == sorted(frame.rows())


def test_a_table_of_ibis_is_read() -> None:
    ibis = pytest.importorskip("ibis", reason="needs Ibis: pip install ibis-framework[duckdb]")
    rows = ibis.memtable({"age": ["3*"] * 3 + ["4*"] * 4, "ill": ["flu"] * 7}).mutate(age=ibis._.age.upper())
    with ps.connect() as engine:
        found = ps.check(engine, ps.Table(rows, ["age"], "ill"), [ps.KAnonymity(3)])
    assert found["k_anonymity(k=3)"].value == 3


class Asking(Stream):
    """A frame whose rows come from a query on the connection that reads it, as a table of Ibis may."""

    def __init__(self, connection: duckdb.DuckDBPyConnection) -> None:
        self.connection = connection

    def to_pyarrow(self) -> object:
        return self.connection.sql(PEOPLE).to_arrow_table()

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        raise AssertionError("two statements on one connection wait for each other")


def test_a_query_on_the_taken_connection_itself_is_a_source(connection: duckdb.DuckDBPyConnection) -> None:
    with ps.connect(connection) as engine:
        table = ps.Table(Asking(connection), ["age"], "ill")
        found = ps.check(engine, table, [ps.KAnonymity(2), ps.LDiversity(2)])
    assert [verdict.value for verdict in found.values()] == [12, 3]


def test_a_stream_that_was_read_before_is_never_an_empty_table(engine: ps.Engine) -> None:
    arrow = pytest.importorskip("pyarrow", reason="needs pyarrow")
    rows = arrow.table({"age": ["3*"] * 4, "ill": ["flu", "cold"] * 2})
    reader = arrow.RecordBatchReader.from_batches(rows.schema, rows.to_batches())
    table = ps.Table(reader, ["age"], "ill")
    assert ps.check(engine, table, [ps.KAnonymity(4)])["k_anonymity(k=4)"].safe
    with pytest.raises(ps.PrivacySqlError, match=r"read only once|no rows|empty"):
        ps.check(engine, table, [ps.KAnonymity(4)])
