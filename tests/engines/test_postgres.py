"""A real PostgreSQL server: who may do what, what a name may be, and what a value keeps on its way."""

from __future__ import annotations

import datetime
import os
from collections import Counter
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import privacy_sql as ps
from privacy_sql.errors import EngineError, NotSafe, UsageError
from privacy_sql.project import example
from tests import engines, test_docs
from tests.conftest import ROOT

AWKWARD = 'Say "hi"; drop'
PEOPLE = """
create schema "Own Schema";
create table "Own Schema"."select" (
    "{}" text, "Group" numeric, "order" boolean, day date, stamp timestamp, weight double precision,
    ill varchar(9)
);
insert into "Own Schema"."select" values
    ('01', 1.0, true, '2020-01-31', '2020-01-31 10:00:00', -0.0, 'flu'),
    ('01', 1.00, true, '2020-01-31', '2020-01-31 10:00:00', 0.0, 'cold'),
    ('1', null, false, null, '2020-02-01 10:00:00.5', 1.5, null),
    ('1', null, false, null, '2020-02-01 10:00:00.5', 1.5, 'flu')
""".format(AWKWARD.replace('"', '""'))
PUBLIC = "select tablename from pg_tables where schemaname = 'public'"
RELATION = '"Own Schema"."select"'
QUASI = [AWKWARD, "Group", "order", "day", "stamp", "weight"]


def opened() -> Any:
    return engines.connected("postgres")


@pytest.fixture
def server() -> Iterator[Any]:
    with opened() as made:
        made.connection.execute('drop schema if exists "Own Schema" cascade')
        made.connection.execute(PEOPLE)
        yield made


def _table() -> ps.Table:
    return ps.Table(RELATION, QUASI, "ill")


def test_names_and_types_of_every_kind_are_counted_as_they_are(server: Any) -> None:
    verdict = ps.check(server, _table(), [ps.KAnonymity(2)])["k_anonymity(k=2)"]
    # two groups of two: 1.0 is 1.00, and -0 is 0
    assert (verdict.safe, verdict.value) == (True, 2)


def test_equal_values_leave_with_equal_text(server: Any, tmp_path: Path) -> None:
    release = ps.publish(server, _table(), [ps.KAnonymity(2)], ps.Generalise({}))
    ps.write(server, release, tmp_path / "out.csv")
    lines = Counter(line.rpartition(",")[0] for line in (tmp_path / "out.csv").read_text().splitlines()[1:])
    assert sorted(lines.values()) == [2, 2]


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_files_hold_the_rows_of_the_view_in_their_types(server: Any, tmp_path: Path, ending: str) -> None:
    release = ps.publish(server, _table(), [ps.KAnonymity(2)], ps.Generalise({}))
    ps.verify(ps.write(server, release, tmp_path / f"out.{ending}"))
    if ending == "parquet":
        found = pd.read_parquet(tmp_path / "out.parquet")
        assert found["order"].tolist().count(True) == 2
        assert datetime.date(2020, 1, 31) in found["day"].tolist()


def test_a_published_table_is_written_in_one_transaction(
    server: Any, tmp_path: Path, monkeypatch: Any
) -> None:
    release = ps.publish(server, _table(), [ps.KAnonymity(2)], ps.Generalise({}))
    seen: list[list[Any]] = []

    def refuse(*_: Any) -> None:
        with engines.other() as stranger:
            seen.append(stranger.execute(PUBLIC).fetchall())
        raise NotSafe("audit", "refused by the test")

    monkeypatch.setattr("privacy_sql.publishing.audit.audit", refuse)
    with pytest.raises(NotSafe):
        ps.write(server, release, "table:public.out", manifest_to=tmp_path / "m.manifest.json")
    assert seen == [[]]
    assert not server.has_table("public.out")
    assert not (tmp_path / "m.manifest.json").exists()
    assert server.fetch(ps.Query("select count(*) as n from pg_tables where schemaname = 'public'")) == [
        {"n": 0}
    ]


def test_a_published_table_may_be_replaced_and_verified(server: Any, tmp_path: Path) -> None:
    release = ps.publish(server, _table(), [ps.KAnonymity(2)], ps.Generalise({}))
    place = tmp_path / "m.manifest.json"
    ps.write(server, release, 'table:"Own Schema"."The out"', manifest_to=place)
    ps.verify(place, server)
    ps.write(server, release, 'table:"Own Schema"."The out"', overwrite=True, manifest_to=place)
    server.connection.execute('update "Own Schema"."The out" set ill = null')
    with pytest.raises(NotSafe):
        ps.verify(place, server)


def test_a_user_who_may_only_read_can_check(server: Any) -> None:
    with engines.reader(server) as reader:
        assert ps.check(reader, _table(), [ps.KAnonymity(2), ps.LDiversity(2)])
        release = ps.publish(reader, _table(), [ps.KAnonymity(2)], ps.Generalise({}))
        with pytest.raises(EngineError, match="has no access"):
            ps.write(reader, release, 'table:"Own Schema".stolen')


def test_what_is_not_there_is_said_without_its_text(server: Any) -> None:
    with pytest.raises(UsageError, match="no file or relation"):
        ps.check(server, ps.Table("nowhere", ["a"]), [ps.KAnonymity(2)])
    with pytest.raises(ps.PrivacySqlError) as problem:
        server.fetch(ps.Query("select cast('secret' as bigint) as n"))
    assert "secret" not in str(problem.value)


def test_a_password_in_the_words_of_a_connection_is_refused() -> None:
    for place in ("host=h password=p", "//user:p@host/db"):
        with pytest.raises(UsageError, match="credentials"):
            ps.connect(f"postgres:{place}")
    with pytest.raises(UsageError, match="NOWHERE_DSN is not set"):
        ps.connect("postgres:", dsn_env="NOWHERE_DSN")


def test_a_server_that_is_away_is_an_error_of_the_engine() -> None:
    with pytest.raises(EngineError, match="cannot connect"):
        ps.check(ps.connect("postgres:host=127.0.0.1 port=1"), ps.Table("t", ["a"]), [ps.KAnonymity(2)])


def test_counts_travel_when_they_are_few_and_stay_when_they_are_many(server: Any) -> None:
    from privacy_sql.counted.base import count

    for limit, travels in ((0, False), (1, False), (2, True)):
        server.travel = limit
        base = count(server, ps.Table(RELATION, QUASI))
        assert base.combinations == 2
        assert (type(base.engine).__name__ == "Travelled") is travels


def test_everything_runs_on_the_server_when_duckdb_is_not_there(
    server: Any, tmp_path: Path, monkeypatch: Any
) -> None:
    rows = pd.DataFrame(
        {"age": ["30", "31", "41", "44"] * 3, "job": ["a", "b"] * 6, "ill": ["flu", "cold", "flu"] * 4}
    )
    table = ps.Table(rows, {"age": ps.Intervals(5, 10), "job": ps.KeepOrDrop()}, "ill")
    methods = (ps.FullDomain(), ps.Multidimensional(), ps.Marginals(), ps.Generalise({"age": 2, "job": 1}))
    with engines.without_duckdb(monkeypatch):
        for number, method in enumerate(methods):
            require = ps.KLink(2) if isinstance(method, ps.Marginals) else ps.KAnonymity(2)
            release = ps.publish(server, table, [require], method)
            assert release.safe
            ps.verify(ps.write(server, release, tmp_path / f"{number}.csv"))


def test_a_closed_connection_leaves_no_view_that_keeps_a_table(server: Any) -> None:
    server.connection.execute("create table kept (age text)")
    with server.beside() as engine:
        engine.source("kept")
        # the server takes its time to forget these after the end
        made = "; ".join(f"create temp table held_{number} (n text)" for number in range(500))
        engine.connection.execute(made)
    ours = "select count(*) from pg_views where definition like '%kept%'"
    assert server.connection.execute(ours).fetchall() == [(0,)]
    server.connection.execute("drop table kept")


def test_the_walk_through_prints_what_it_says(server: Any, tmp_path: Path, monkeypatch: Any) -> None:
    example.write(tmp_path)
    monkeypatch.chdir(tmp_path)
    dsn = dict(part.split("=") for part in os.environ["PRIVACY_SQL_TEST_DSN"].split())
    for name, value in dsn.items():
        monkeypatch.setenv(f"PG{'DATABASE' if name == 'dbname' else name.upper()}", value)
    run = server.connection.execute
    run("drop schema if exists survey cascade; create schema survey")
    header = (tmp_path / "data" / "people.csv").read_text().partition("\n")[0].split(",")
    run(f"create table survey.people ({', '.join(f'{name} text' for name in header)})")
    with server.connection.cursor().copy("copy survey.people from stdin (format csv, header)") as copy:
        copy.write((tmp_path / "data" / "people.csv").read_bytes())
    test_docs.run(ROOT / "docs" / "walkthroughs" / "postgres.md")
    run("drop schema survey cascade")


NUMBERS = """
select
    cast(i as bigint) as n,
    cast(i % 7 as smallint) as small,
    cast(-i as integer) as negative,
    cast(i as double precision) / 3 as share
from generate_series({first}, 300000) as t (i)
"""


@pytest.mark.parametrize("first", [1, 300_001])
def test_numbers_arrive_as_they_are_however_many(server: Any, first: int) -> None:
    server.connection.execute(f"create temp table numbers as {NUMBERS.format(first=first)}")
    made = server.arrow(ps.Query("select n, small, negative, share from numbers order by n"))
    rows = range(first, 300_001)
    assert [str(field.type) for field in made.schema] == ["int64", "int16", "int32", "double"]
    assert made["n"].to_pylist() == list(rows)
    assert made["negative"].to_pylist() == [-i for i in rows]
    assert made["share"].to_pylist() == [i / 3 for i in rows]
    assert made["small"].to_pylist() == [i % 7 for i in rows]


@pytest.mark.parametrize("missing", [1, 299_999, 300_000])
def test_a_number_that_is_missing_stays_missing(server: Any, missing: int) -> None:
    server.connection.execute(f"create temp table numbers as {NUMBERS.format(first=1)}")
    server.connection.execute(f"update numbers set share = null, n = null where n = {missing}")
    made = server.arrow(ps.Query("select n, share from numbers"))
    assert (len(made), made["n"].null_count, made["share"].null_count) == (300_000, 1, 1)
    assert server.fetch(ps.Query("select 1 as one")) == [{"one": 1}]


def test_values_keep_their_types_on_the_way_out(server: Any) -> None:
    (row,) = server.fetch(
        ps.Query("select cast(1 as bigint) as n, cast('0.5' as double) as x, true as b, 'a' as t")
    )
    assert row == {"n": 1, "x": 0.5, "b": True, "t": "a"}
    made = server.arrow(
        ps.Query("select cast('1.50' as decimal(5, 2)) as d, cast(null as varchar) as t, '' as e")
    )
    assert made.to_pylist() == [{"d": Decimal("1.50"), "t": None, "e": ""}]
