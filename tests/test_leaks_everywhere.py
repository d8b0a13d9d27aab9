"""Every verb, every class of error, every engine: no cell of any table in anything that was said or left.

Every cell of two tables is a canary. An engine is made to fail with each of its own errors, each quoting a
row, in the first statement and in later ones; afterwards stdout, stderr, logs, JSON and every file that
appeared (temporary and spilled ones too) are searched. tests/engines/test_spark.py does the same on Spark.
"""

from __future__ import annotations

import logging
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import pytest

import privacy_sql as ps
from privacy_sql import registry
from privacy_sql.engines.duckdb import DuckDB
from tests import canaries, engines
from tests.canaries import MARK, failing, holding, prepared, silent, tried

FILES, SERVER = canaries.verbs(), canaries.verbs("postgres:")
# they read no table, or only what was published
# what the explorer answers is read in tests/explorer
TABLELESS = {"budget", "demo", "experiment", "explore", "list", "reconstruct", "register"}


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of a project, with a private place to spill."""
    (tmp_path / "spill").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "spill"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def folder(place: Path) -> Path:
    """A project whose table and whose hierarchy hold nothing but canaries."""
    return canaries.project(place)


@pytest.fixture
def served(place: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The same with its rows on a PostgreSQL server, which libpq's environment names."""
    canaries.project(place, "postgres")
    with engines.connected("postgres") as home:
        for part in engines.dsn().split():
            name, _, value = part.partition("=")
            monkeypatch.setenv({"dbname": "PGDATABASE"}.get(name, f"PG{name.upper()}"), value)
        home.connection.execute("create table people (id text, age text, illness text, free text)")
        with home.connection.cursor() as cursor:
            cursor.executemany("insert into people values (%s, %s, %s, %s)", canaries.ROWS)
        yield place


def test_every_verb_that_reads_a_table_is_tried() -> None:
    assert set(registry.available("cli.verbs")) == {verb.split()[0] for verb in FILES} | TABLELESS


@pytest.mark.parametrize("form", ["", "--json"])
@pytest.mark.parametrize("verb", FILES)
def test_a_verb_that_succeeds_says_no_value_and_leaves_none_outside_the_release(
    folder: Path, verb: str, form: str
) -> None:
    prepared(verb)
    assert silent(verb, FILES[verb], *([form] if form else [])) in (0, 1)
    assert not holding(folder)


@pytest.mark.parametrize("verb", sorted(set(SERVER) - canaries.EMBEDDED_ONLY))
def test_a_verb_that_succeeds_on_a_server_says_no_value(served: Path, verb: str) -> None:
    prepared(verb)
    assert silent(verb, SERVER[verb]) in (0, 1)
    assert not holding(served)


@pytest.mark.parametrize("verb", sorted(set(FILES) - canaries.SILENT_ON_ROWS))
def test_an_error_of_the_engine_in_any_statement_of_a_verb_shows_no_row(folder: Path, verb: str) -> None:
    tried(DuckDB, verb, FILES[verb], canaries.faults(duckdb.Error, duckdb))
    assert not holding(folder)


@pytest.mark.parametrize("verb", sorted(set(SERVER) - canaries.SILENT_ON_ROWS - canaries.EMBEDDED_ONLY))
def test_an_error_of_a_server_in_any_statement_of_a_verb_shows_no_row(served: Path, verb: str) -> None:
    import psycopg

    from privacy_sql.engines.postgres import Postgres

    tried(Postgres, verb, SERVER[verb], canaries.faults(psycopg.Error, psycopg, psycopg.errors))
    assert not holding(served)


@pytest.mark.parametrize("text", canaries.BROKEN.values(), ids=canaries.BROKEN)
def test_an_error_the_engine_makes_itself_shows_no_row(
    engine: Any, place: Path, text: str, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    caplog.set_level(logging.DEBUG)
    people = pd.DataFrame(canaries.ROWS, columns=list(canaries.COLUMNS))
    query = ps.Query(f"select * from {engine.source(people)}", "people")
    engine.write_table(query, "people")
    assert canaries.provoked(engine, text, place) == 8
    assert MARK not in caplog.text + "".join(capfd.readouterr())
    assert not holding(place)


def test_an_interrupt_in_any_way_of_asking_is_an_interrupt_and_no_error(place: Path) -> None:
    with engines.opened() as home:
        for way in canaries.ways(home, ps.Query("select 1 as n", "one"), place):
            with (
                failing(DuckDB, lambda: duckdb.InterruptException(MARK), 1),
                pytest.raises(KeyboardInterrupt),
            ):
                way()


def test_a_fault_that_reaches_a_reader_is_found() -> None:
    """The search of this file finds a cell where one is shown."""
    with (
        failing(DuckDB, lambda: ValueError(MARK), 1),
        pytest.raises(ValueError, match=MARK),
        engines.opened() as home,
    ):
        home.fetch(ps.Query("select 1 as one"))


def test_a_witness_of_every_engine_shows_no_row(engine: Any) -> None:
    rows = pd.DataFrame(canaries.ROWS, columns=list(canaries.COLUMNS))
    table = ps.Table(rows, ["age"], "illness", identifier="id")
    for verdict in ps.check(
        engine, table, [ps.KAnonymity(9), ps.TCloseness("0.01"), ps.CKSafety("1/2", 2)]
    ).values():
        assert MARK not in f"{verdict!r} {verdict.explain()} {verdict.to_json()} {dict(verdict.witness)}"
