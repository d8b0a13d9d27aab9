"""Parquet files whose columns hold few values are counted by the places of these, to the same base."""

from __future__ import annotations

import random
from collections import Counter
from math import prod
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import privacy_sql as ps
from privacy_sql.counted.base import count
from privacy_sql.engines import _packed_columns
from privacy_sql.engines.duckdb import DuckDB
from privacy_sql.query import statements
from privacy_sql.query.template import Query, Sql
from tests import engines
from tests.seeds import seeds

ODD = ["a", "b", "", "'", '"', "é", "Z", "10", "9", "1.0", "NULL", "x" * 50, " a", "a ", "&", None]


def written(folder: Path, draw: random.Random, n: int = 3000) -> Path:
    columns = {name: draw.sample(ODD, draw.randint(1, len(ODD))) for name in ("q", "two words", 'a"b', "s")}
    rows = pd.DataFrame(
        {name: [draw.choice(values) for _ in range(n)] for name, values in columns.items()}, dtype="string"
    )
    file = folder / "rows.parquet"
    with engines.opened() as engine:
        engine.write_file(Query(f"select * from {engine.source(rows)}", "rows"), file, "parquet")
    return file


def told(file: Path, **how: Any) -> tuple[Any, ...]:
    """Everything that is counted, in values; and the statements that counted it."""
    table = ps.Table(file, ["q", "two words", 'a"b'], "s", **how)
    with ps.connect("duckdb:") as engine, statements.listening([]) as heard:
        base = count(engine, table)
        shown = [*base.columns, "s"]
        joins = " ".join(
            f"join {base.dictionaries[column]} as d_{column} on d_{column}.code = b.{column}"
            for column in shown
        )
        values = ", ".join(f"d_{column}.value as {column}" for column in shown)
        found = engine.fetch(Query(f"select {values}, b.n_rows from {base.relation} as b {joins}", "base"))
        dictionaries = {
            column: [
                (row["code"], row["value"], row["n_rows"]) for row in engine.fetch(Query(f"from {its}", "d"))
            ]
            for column, its in base.dictionaries.items()
        }
    combinations = sorted((tuple(row.values()) for row in found), key=str)
    sizes = base.rows, base.combinations, base.statistics
    counted = {column: sorted(its) for column, its in dictionaries.items()}
    return combinations, counted, sizes, [statement.sql for statement in heard]


def packed(heard: list[str]) -> bool:
    return any("list_position" in sql for sql in heard)


@pytest.mark.parametrize("seed", seeds(12))
def test_a_packed_file_is_counted_as_any_other(
    seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = written(tmp_path, random.Random(seed))
    *plain, heard = told(file)
    assert not packed(heard)  # so few rows are not worth it
    monkeypatch.setattr(_packed_columns, "LARGE", 0)
    *found, heard = told(file)
    assert packed(heard) and found == plain
    assert not any("x" * 50 in sql for sql in heard)  # no statement has a value in its text


def test_combinations_too_many_for_doubles_are_counted_in_whole_numbers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A double holds every whole number up to 2 to the 53rd, so the numbers added must stay below it."""
    monkeypatch.setattr(_packed_columns, "LARGE", 0)
    wide, rows, n = 18, 2000, 10  # nine values and the code of what is missing
    draw = random.Random(3)
    columns = {f"q{i}": [draw.choice("abcdefghi") for _ in range(rows)] for i in range(wide)}
    file = tmp_path / "wide.parquet"
    with ps.connect("duckdb:") as engine:
        engine.write_file(
            Query(f"select * from {engine.source(pd.DataFrame(columns))}", "rows"), file, "parquet"
        )
        with statements.listening([]) as heard:
            base = count(engine, ps.Table(file, list(columns)))
        shown = ", ".join(f"d_{q}.value as {q}" for q in base.columns)
        joins = " ".join(f"join {base.dictionaries[q]} as d_{q} on d_{q}.code = b.{q}" for q in base.columns)
        found = base.engine.fetch(
            Query(f"select {shown}, b.n_rows from {base.relation} as b {joins}", "base")
        )
    (made,) = [one.sql for one in heard if one.name == "combinations"]
    assert "as double" not in made and prod([n] * wide) > _packed_columns.EXACT_DOUBLES
    assert Counter({tuple(row.values())[:-1]: row["n_rows"] for row in found}) == Counter(
        zip(*columns.values(), strict=True)
    )


@pytest.mark.parametrize(
    ("name", "most"), [("MOST_VALUES", 1), ("MOST_BYTES", 1), ("MOST_PACKED", 10), ("LARGE", 10**9)]
)
def test_what_does_not_fit_is_counted_in_one_reading(
    name: str, most: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = written(tmp_path, random.Random(1))
    *plain, _ = told(file)
    monkeypatch.setattr(_packed_columns, "LARGE", 0)
    monkeypatch.setattr(_packed_columns, name, most)
    *found, heard = told(file)
    assert found == plain and not packed(heard)


def test_columns_that_are_no_text_and_rows_that_are_filtered_are_counted_as_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_packed_columns, "LARGE", 0)
    file = written(tmp_path, random.Random(2))
    assert not packed(told(file, where="q = 'a' or q is null")[-1])
    with engines.opened() as engine, statements.listening([]) as heard:
        numbers = tmp_path / "numbers.parquet"
        engine.write_file(
            Query("select i % 3 as q, 'a' as s from range(50) as t(i)", "n"), numbers, "parquet"
        )
        assert count(engine, ps.Table(numbers, ["q"], "s")).rows == 50
    assert not packed([statement.sql for statement in heard])


def test_a_file_that_became_another_while_it_was_read_is_counted_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A value that was not there at the first reading is no missing one at the second."""
    monkeypatch.setattr(_packed_columns, "LARGE", 0)
    file = tmp_path / "rows.parquet"
    with ps.connect("duckdb:") as engine:
        text = "select case when i % 2 = 0 then 'a' else '{}' end as q, 'u' as s from range(10) as t(i)"
        engine.write_file(Query(text.format("b"), "rows"), file, "parquet")
        run = DuckDB._run

        def running(self: DuckDB, query: Query, *more: Any) -> Any:
            if query.origin == "combinations":
                with engines.opened() as other:
                    other.write_file(Query(text.format("c"), "rows"), file, "parquet")
            return run(self, query, *more)

        monkeypatch.setattr(DuckDB, "_run", running)
        session = engine.session([file])
        found = session.coded(session.source(file), [("q", Sql("q1")), ("s", Sql("s"))])
    assert found is None
