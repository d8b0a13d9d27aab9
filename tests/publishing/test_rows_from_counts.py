"""Rows that are laid out from counts are those of the source, in the order of what is published."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

import pandas as pd
import pytest

import privacy_sql as ps
from privacy_sql.engines.duckdb import PIECE, DuckDB
from privacy_sql.query import statements
from privacy_sql.query.template import Query, Sql
from tests import engines
from tests.seeds import seeds

TOWNS = {"a": ["x", "*"], "b": ["x", "*"], "c": ["y", "*"]}


def drawn(random: Random) -> pd.DataFrame:
    """A few people, some of whom nothing is known of."""
    return pd.DataFrame(
        [
            (random.choice([None, *range(9)]), random.choice([None, *TOWNS]), random.choice([None, *"uvw"]))
            for _ in range(random.randrange(1, 60))
        ],
        columns=["age", "town", "N_ROWS"],
    ).astype({"age": "Int64"})


def generalised(rows: pd.DataFrame, age: int, town: int) -> list[tuple[Any, ...]]:
    """Every row at its levels, straight from what a level is."""

    def band(value: Any) -> Any:
        return value if pd.isna(value) or not age else f"{value // 2 * 2}-{value // 2 * 2 + 1}"

    def place(value: Any) -> Any:
        if town == 2:  # everybody is there, those nothing is known of too
            return "*"
        return value if pd.isna(value) else [value, *TOWNS[value]][town]

    found = [(band(a), place(b), c) for a, b, c in rows.itertuples(index=False)]
    return [tuple(None if pd.isna(v) else v for v in row) for row in found]


def written(path: Path) -> list[tuple[Any, ...]]:
    with ps.connect("duckdb:", files=[path]) as engine:
        return engine.connection.execute(f"from '{path}'").fetchall()


@pytest.mark.parametrize("seed", seeds(6))
@pytest.mark.parametrize("sensitive", ["N_ROWS", None])
def test_the_rows_are_those_of_the_source_at_their_levels(
    tmp_path: Path, seed: int, sensitive: str | None
) -> None:
    random = Random(seed)
    rows, age, town, k = drawn(random), random.randrange(2), random.randrange(3), random.choice([1, 2])
    quasi = {"age": ps.Intervals(2), "town": ps.Tree(TOWNS)} | ({} if sensitive else {"N_ROWS": None})
    meant = generalised(rows, age, town)
    key = slice(0, 2) if sensitive else slice(0, 3)
    sizes = Counter(row[key] for row in meant)
    meant = [row for row in meant if sizes[row[key]] >= k]
    method = ps.Generalise({"age": age, "town": town}, max_suppressed="0.999")
    with engines.opened() as engine:
        release = ps.publish(engine, ps.Table(rows, quasi, sensitive), [ps.KAnonymity(k)], method)
        if not meant:
            assert not release.safe or release.rows_out
            return
        ps.write(engine, release, tmp_path / "out.parquet")
    assert Counter(written(tmp_path / "out.parquet")) == Counter(meant)


@pytest.mark.parametrize("seed", seeds(2))
@pytest.mark.parametrize("method", [ps.Generalise({"age": 1}), ps.FullDomain(), ps.Multidimensional()])
def test_they_are_the_rows_that_reading_the_source_again_gives_in_the_same_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int, method: Any
) -> None:
    rows = drawn(Random(seed))
    table = ps.Table(rows, {"age": ps.Intervals(2, 4, 8), "town": ps.Tree(TOWNS)}, "N_ROWS")
    with engines.opened() as engine:
        ps.write(
            engine, ps.publish(engine, table, [ps.KAnonymity(1)], method), counts := tmp_path / "a.parquet"
        )
        monkeypatch.setattr(DuckDB, "repeated", lambda *_: None)
        release = ps.publish(engine, table, [ps.KAnonymity(1)], method)
        ps.write(engine, release, read_again := tmp_path / "b.parquet")
    assert release.alike is None
    assert written(counts) == written(read_again)


def test_a_row_shows_more_than_counts_tell(tmp_path: Path) -> None:
    """Columns beside the roles are read from the source."""
    rows = pd.DataFrame({"age": [1, 1, 1, 1], "ill": [*"uvuv"], "seen": [5, 5, 5, 5]})
    with engines.opened() as engine:
        table = ps.Table(rows, ["age"], "ill", insensitive=["seen"])
        release = ps.publish(engine, table, [ps.KAnonymity(1)], ps.Generalise())
        assert release.alike is None
        ps.write(engine, release, tmp_path / "out.parquet")
    assert len(written(tmp_path / "out.parquet")) == 4


def of_several(random: Random) -> pd.DataFrame:
    """A few people with up to four values each, the same one twice or none at all among them."""
    rows = []
    for person in range(random.randrange(1, 30)):
        age, town = random.choice([None, *range(9)]), random.choice([None, *TOWNS])
        rows += [
            (person, age, town, random.choice([None, *"uvw"])) for _ in range(random.choice([1, 1, 2, 4]))
        ]
    random.shuffle(rows)
    return pd.DataFrame(rows, columns=["id", "age", "town", "ill"]).astype({"age": "Int64"})


def lines(rows: pd.DataFrame, kind: str, age: int, town: int, k: int) -> list[tuple[Any, ...]]:
    """A line for each value of a person, or each time they have it, or one; in groups of k people."""
    labels = generalised(rows[["age", "town", "ill"]], age, town)
    people: dict[int, tuple[tuple[Any, ...], list[Any]]] = {}
    for person, (a, b, value) in zip(rows["id"], labels, strict=True):
        people.setdefault(person, ((a, b), []))[1].extend([] if value is None else [value])
    sizes = Counter(shown for shown, _ in people.values())
    return [
        (*shown, value)
        for shown, values in people.values()
        if sizes[shown] >= k
        for value in ((sorted(set(values)) if kind == "set" else values) or [None])
    ]


@pytest.mark.parametrize("seed", seeds(5))
@pytest.mark.parametrize("kind", ["set", "multiset"])
def test_people_with_several_values_have_the_lines_of_their_definition(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int, kind: str
) -> None:
    random = Random(seed)
    rows, age, town, k = of_several(random), random.randrange(2), random.randrange(3), random.choice([1, 2])
    quasi = {"age": ps.Intervals(2), "town": ps.Tree(TOWNS)}
    table = ps.Table(rows, quasi, "ill", identifier="id", values_per_person=kind)
    method = ps.Generalise({"age": age, "town": town}, max_suppressed="0.999")
    meant = lines(rows, kind, age, town, k)
    with engines.opened() as engine:
        release = ps.publish(engine, table, [ps.KAnonymity(k)], method)
        if not meant:
            assert not release.safe or release.rows_out
            return
        assert release.alike is not None
        ps.write(engine, release, counts := tmp_path / "a.parquet")
        monkeypatch.setattr(DuckDB, "repeated", lambda *_: None)
        release = ps.publish(engine, table, [ps.KAnonymity(k)], method)
        assert release.alike is None
        ps.write(engine, release, read_again := tmp_path / "b.parquet")
    assert Counter(written(counts)) == Counter(meant)
    assert written(counts) == written(read_again)


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_their_order_is_that_of_the_counts_whatever_the_number_of_threads(tmp_path: Path, kind: str) -> None:
    """More lines than a thread reads at once, and some that are laid out in several pieces."""
    lines = f"""
        select i as a, case when i % 40000 = 7 then {2 * PIECE + 1} else i % 3 end as n
        from range(200000) t(i) order by a
    """
    found = set()
    for threads in (1, 2, 4):
        path = tmp_path / f"{threads}.{kind}"
        with ps.connect("duckdb:", threads=threads) as engine:
            counted = engine.create(Query(lines, "lines"))
            query = engine.repeated(counted, ["a"], Sql("n"))
            assert query is not None
            engine.write_file(query, path, kind)
        found.add(path.read_bytes())
    assert len(found) == 1
    pieces = [(i, 2 * PIECE + 1 if i % 40000 == 7 else i % 3) for i in range(200000)]
    assert [a for (a,) in written(path)] == [i for i, n in pieces for _ in range(n)]


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_the_audit_reads_what_was_written_once(tmp_path: Path, kind: str) -> None:
    rows = pd.DataFrame({"age": [30, 31, 41, 44] * 5, "ill": [*"uvwx"] * 5})
    table = ps.Table(rows, {"age": ps.Intervals(10)}, "ill")
    require = [ps.KAnonymity(2), ps.LDiversity(2), ps.TCloseness("0.9")]
    with engines.opened() as engine:
        release = ps.publish(engine, table, require, ps.Generalise({"age": 1}))
        with statements.listening() as heard:
            ps.write(engine, release, tmp_path / f"out.{kind}")
    steps = [one for one in heard if one.step in ("read back", "judge")]
    (written,) = [one for one in steps if one.name == "publishing/written"]
    (file,) = written.reads
    reading = [one.name for one in steps if file in one.reads and not one.name.startswith("looking")]
    assert reading == ["publishing/written"]


def test_what_reads_written_files_again_has_the_limits_of_its_connection() -> None:
    asked = "select current_setting('memory_limit'), current_setting('threads')"
    with ps.connect("duckdb:", memory_limit="300MB", threads=1) as engine, engine.beside() as beside:
        told = [each.connection.execute(asked).fetchall() for each in (engine, beside)]
    assert told[0] == told[1]
