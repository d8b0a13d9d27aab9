"""Embedded DuckDB: values that count as equal are those a reader of the release cannot tell apart."""

from __future__ import annotations

import gc
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import pytest

import privacy_sql as ps
from privacy_sql.errors import DataError, EngineError
from privacy_sql.project.example import write as write_example
from privacy_sql.query.template import Query
from tests import engines
from tests.command_line import call

UNLIKE = {
    "letters that a collation holds equal": ("varchar collate nocase", "'Flu'", "'flu'"),
    "accents that a collation holds equal": ("varchar collate noaccent", "'cafe'", "'café'"),
    "spans of time that sum up alike": ("interval", "interval '30 days'", "interval '1 month'"),
    "lists with spans of time": ("interval[]", "[interval '30 days']", "[interval '1 month']"),
}


def opened() -> ps.Engine:
    return ps.connect()


def stored(folder: Path, kind: str, *values: str) -> str:
    with duckdb.connect(folder / "own.db") as connection:
        connection.execute(f"create table people (c {kind}, s varchar)")
        for number, value in enumerate(values):
            connection.execute(f"insert into people values ({value}, 's{number}')")
    return f"duckdb:{folder / 'own.db'}"


@pytest.mark.parametrize("what", UNLIKE)
def test_people_who_look_different_never_share_a_group(tmp_path: Path, what: str) -> None:
    with ps.connect(stored(tmp_path, *UNLIKE[what])) as engine:
        found = ps.check(engine, ps.Table("people", ["c"], "s"), [ps.KAnonymity(2)])
    assert not found and found["k_anonymity(k=2)"].value == 1


def test_a_view_over_collated_text_is_judged_by_what_it_shows(tmp_path: Path) -> None:
    place = stored(tmp_path, "varchar collate nocase", "'Flu'", "'flu'")
    with duckdb.connect(tmp_path / "own.db") as connection:
        connection.execute("create view seen as select s, [c] as c from people")
    with ps.connect(place) as engine:
        assert not ps.check(engine, ps.Table("seen", ["c"], "s"), [ps.KAnonymity(2)])


@pytest.mark.parametrize("kind", ["double", "float"])
def test_zero_has_one_sign_in_what_is_published(tmp_path: Path, kind: str) -> None:
    with ps.connect(stored(tmp_path, kind, "'0'", "'-0'")) as engine:
        made = ps.publish(engine, ps.Table("people", ["c"], "s"), [ps.KAnonymity(2)], ps.Generalise({}))
        assert made.safe
        ps.write(engine, made, tmp_path / "out.csv")
    lines = (tmp_path / "out.csv").read_text().splitlines()[1:]
    assert Counter(line.split(",")[0] for line in lines) == {"0.0": 2}


def test_a_frame_and_a_parquet_file_are_read_the_same_way(tmp_path: Path) -> None:
    rows = pd.DataFrame({"c": [0.0, -0.0], "s": ["x", "y"]})
    rows.to_parquet(tmp_path / "people.parquet")
    for number, source in enumerate((rows, tmp_path / "people.parquet")):
        with ps.connect() as engine:
            made: Any = ps.publish(
                engine, ps.Table(source, ["c"], "s", name="people"), [ps.KAnonymity(2)], ps.Generalise({})
            )
            ps.verify(ps.write(engine, made, tmp_path / f"{number}.csv"))
    assert (tmp_path / "0.csv").read_text() == (tmp_path / "1.csv").read_text() == "c,s\n0.0,x\n0.0,y\n"


def test_a_session_that_goes_while_rows_are_fetched_takes_none_of_them_with_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The collector may run anywhere, also between a statement and the fetching of its rows."""
    with ps.connect() as engine:
        session = engine.session()
        made = session.create(Query("select 1 as n", "made"))
        sessions = [session]
        del session
        run = type(engine)._run

        def collected(self: Any, query: Query, values: Any = None) -> Any:
            result = run(self, query, values)
            sessions.clear()
            gc.collect()
            return result

        monkeypatch.setattr(type(engine), "_run", collected)
        assert engine.fetch(Query("select 1 as n union all select 2 order by n", "two")) == [
            {"n": 1},
            {"n": 2},
        ]
        assert engine.fetch(Query("select 1 as n", "one")) == [{"n": 1}]
        assert not engine.has_table(made)


def test_a_kind_of_column_that_duckdb_cannot_read_is_refused_in_our_words() -> None:
    frame = pd.DataFrame({"month": pd.period_range("2020-01", periods=2, freq="M")})
    with ps.connect() as engine, pytest.raises(DataError, match="cannot read") as caught:
        ps.check(engine, ps.Table(frame, ["month"]), [ps.KAnonymity(1)])
    assert caught.value.code == "bad_column"


def test_rows_that_cannot_be_fetched_leave_an_engine_that_still_takes_frames(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    fine = ps.Table(pd.DataFrame({"q": ["x", "x"], "s": ["a", "b"]}), ["q"], "s")
    engines.none_kept()  # as long as any is open, DuckDB remembers the modules that it looked for
    with ps.connect() as engine:
        failing = Query("select case when i < 9000 then i else error('no') end as i from range(10000) t(i)")
        for fetch in (engine.fetch, engine.arrays):
            with pytest.raises(EngineError):
                fetch(failing)
            assert ps.check(engine, fine, [ps.KAnonymity(2)])["k_anonymity(k=2)"].safe
        # the rows of a statement that went through, and whose values Python cannot show
        monkeypatch.setitem(sys.modules, "pytz", None)
        with pytest.raises(EngineError):
            engine.fetch(Query("select timestamptz '2020-03-01 00:30:00+01' as t from range(3)"))
        assert ps.check(engine, fine, [ps.KAnonymity(2)])["k_anonymity(k=2)"].safe


OPENED_FOR = ["the file", "its folder", "another folder", "the folder of a link", "the file, with a database"]


@pytest.mark.parametrize("opened_for", OPENED_FOR)
def test_a_file_is_read_back_by_an_engine_that_was_opened_for_it_and_else_by_another_one(
    tmp_path: Path, opened_for: str
) -> None:
    """A link may lead out of a folder, and a database may have macros that are called as functions are."""
    home, links = tmp_path / "home", tmp_path / "links"
    home.mkdir(), links.mkdir()
    file = home / "people.csv"
    file.write_text("age\n30\n")
    (links / "people.csv").symlink_to(file)
    reached: Any = {"files": [file]} if "the file" in opened_for else {}
    reached = {"folders": [home]} if opened_for == "its folder" else reached
    read = links / "people.csv" if opened_for == "the folder of a link" else file
    place = stored(tmp_path, "varchar", "1") if opened_for.endswith("database") else ""
    with ps.connect(place or "duckdb:", **(reached or {"folders": [links]})) as engine:
        if place:
            engine.connection.execute("create macro read_csv(f, columns := 1, delim := 1) as table select 0")
        assert engine.fetch(Query("select 1 as one")) == [{"one": 1}]  # it is open from now on
        with engine.reader([read]) as reader:
            found = reader.fetch(Query(f"select age from {reader.source(read)}"))
            assert (reader.connection is engine.connection) == (opened_for == "the file")
        assert found == [{"age": "30"}]
        assert engine.fetch(Query("select 2 as two")) == [{"two": 2}]
        if not reached:
            with pytest.raises(ps.PrivacySqlError):
                engine.fetch(Query(f"select age from read_csv('{file}')"))


def test_a_run_opens_one_duckdb_and_reads_its_file_back_with_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_example(tmp_path)
    made: list[object] = []
    connect = duckdb.connect
    monkeypatch.setattr(
        duckdb, "connect", lambda *told, **more: made.append(connect(*told, **more)) or made[-1]
    )
    told = call("run", "--project", tmp_path)
    assert told.exit == 0, told.everything
    assert len(made) == 1
    (published,) = (tmp_path / "out").glob("*.manifest.json")
    assert call("verify", published).exit == 0


@pytest.mark.parametrize("kind", ["csv", "parquet"])
@pytest.mark.parametrize(
    ("name", "alike"),
    [("p[1]", "p1"), ("a*", "ab"), ("q?", "qr"), ("[!x]", "y"), ("d*/p", "dx/p"), ("[[]", "[")],
)
def test_a_name_with_characters_of_a_pattern_is_the_name_of_one_file(
    tmp_path: Path, name: str, alike: str, kind: str
) -> None:
    """Also where the engine may read the other files that the name would match as a pattern."""
    for stem, rows in ((name, [("20", "a"), ("21", "b")]), (alike, [("30", "a"), ("30", "b")])):
        (tmp_path / stem).parent.mkdir(exist_ok=True)
        frame = pd.DataFrame(rows, columns=["age", "ill"])
        place = tmp_path / f"{stem}.{kind}"
        frame.to_csv(place, index=False) if kind == "csv" else frame.to_parquet(place)
    with ps.connect("duckdb:", folders=[tmp_path]) as engine:
        for stem, ages in ((name, {"20", "21"}), (alike, {"30"})):
            source = tmp_path / f"{stem}.{kind}"
            told = ps.check(engine, ps.Table(source, ["age"], "ill"), [ps.KAnonymity(2)])
            assert bool(told) == (ages == {"30"})
            table = ps.Table(source, {"age": ps.KeepOrDrop()}, "ill")
            release = ps.publish(engine, table, [ps.KAnonymity(1)], ps.Generalise())
            out = tmp_path / "out" / source.name
            ps.write(engine, release, out, overwrite=True)
            assert {
                row["age"] for row in engine.fetch(Query(f"select age from {engine.source(out)}"))
            } == ages
    if kind == "parquet" and "/" not in name:
        with ps.connect() as engine:  # a folder of Parquet files is all of them, each once
            told = ps.check(engine, ps.Table(tmp_path, ["age"], "ill"), [ps.KAnonymity(2)])
            assert told["k_anonymity(k=2)"].value == 1  # 20 and 21, and 30 twice


def test_a_project_reads_its_own_source_and_not_its_population(tmp_path: Path) -> None:
    (tmp_path / "p[1].csv").write_text("age,ill\n" + "".join(f"{20 + n},flu\n" for n in range(20)))
    (tmp_path / "p1.csv").write_text("age,ill\n" + "30,flu\n" * 50)
    (tmp_path / "privacy.yml").write_text(
        "version: 1\nreleases:\n  people:\n    source: {file: 'p[1].csv'}\n    population: {file: p1.csv}\n"
        "    quasi_identifiers: [{column: age, hierarchy: {intervals: [10]}}]\n    sensitive: ill\n"
        "    require: {k_anonymity: {k: 5}}\n    method: {generalise: {levels: {age: 0}}}\n"
        "    output: {target: out/people.csv}\n"
    )
    assert call("run", "--project", tmp_path).exit == 1
    assert not (tmp_path / "out" / "people.csv").exists()
