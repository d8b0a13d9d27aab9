"""The checksum of a table's rows changes with every change a reader could see, and only then."""

from __future__ import annotations

import hashlib
import random
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import privacy_sql as ps
from privacy_sql.counted.fingerprints import fingerprint
from privacy_sql.errors import NotSafe
from privacy_sql.query.template import Sql, render
from tests import engines
from tests.seeds import seeds

ROWS = [("a", "b"), ("a", None), ("", "b"), (None, None), ("a|b", "ü🦆")]
CHANGED = {
    "NULL is an empty text": [("a", "b"), ("a", ""), ("", "b"), (None, None), ("a|b", "ü🦆")],
    "an empty text is NULL": [("a", "b"), ("a", None), (None, "b"), (None, None), ("a|b", "ü🦆")],
    "NULL is a word": [("a", "b"), ("a", "null"), ("", "b"), (None, None), ("a|b", "ü🦆")],
    "two values trade places": [("a", "b"), (None, "a"), ("", "b"), (None, None), ("a|b", "ü🦆")],
    "a value moves to the next column": [("ab", ""), ("a", None), ("", "b"), (None, None), ("a|b", "ü🦆")],
    "a row is there twice": [*ROWS[:4], ROWS[0]],
    "a row is gone": ROWS[:4],
}


def marks(engine: Any, rows: list[Any], **words: bool) -> dict[str, int]:
    columns = [list(column) for column in zip(*rows, strict=True)]
    relation = engine.load({"x": ("varchar", columns[0]), "y": ("varchar", columns[1])}, "rows")
    return fingerprint(engine, relation, ["x", "y"], **words)


def test_the_order_of_rows_leaves_the_fingerprint_as_it_is(engine: Any) -> None:
    assert marks(engine, ROWS) == marks(engine, ROWS[::-1])


@pytest.mark.parametrize("rows", CHANGED.values(), ids=CHANGED)
def test_every_change_of_a_value_changes_the_fingerprint(engine: Any, rows: list[Any]) -> None:
    assert marks(engine, rows) != marks(engine, ROWS)


def test_engines_agree_on_the_fingerprint(engine: Any) -> None:
    with engines.opened() as other:
        assert marks(engine, ROWS) == marks(other, ROWS)


def by_definition(rows: list[tuple[str | None, ...]]) -> dict[str, int]:
    """The sums of four hexadecimal digits of the md5 of each row: the length of every value before it."""
    found = {"n_rows": len(rows), **{f"h{piece}": 0 for piece in range(1, 9)}}
    for row in rows:
        text = "".join("null:" if value is None else f"{len(value)}:{value}" for value in row)
        digits = hashlib.md5(text.encode()).hexdigest()
        for piece in range(8):
            found[f"h{piece + 1}"] += int(digits[4 * piece : 4 * piece + 4], 16)
    return found


@pytest.mark.parametrize("seed", seeds(3))
def test_the_fingerprint_is_that_of_its_definition(engine: Any, seed: int) -> None:
    draw = random.Random(seed)
    values = ["", None, "a", "10", "null:", "ü🦆", "x" * 300]
    rows = [(draw.choice(values), draw.choice(values)) for _ in range(draw.randrange(200))]
    assert marks(engine, [*rows, ("a", "a")]) == by_definition([*rows, ("a", "a")])
    counts = [draw.randrange(1, 10**6) for _ in values]
    relation = engine.load({"x": ("varchar", values), "n": ("bigint", counts)}, "rows")
    alone = [by_definition([(value,)]) for value in values]
    assert fingerprint(engine, relation, ["x"], counted=Sql("n")) == {
        mark: sum(n * one[mark] for n, one in zip(counts, alone, strict=True)) for mark in alone[0]
    }


def test_an_engine_that_adds_digits_faster_adds_the_same() -> None:
    with engines.opened() as engine:
        shown = {"columns": ["x", "y"], "empty_is_null": False, "counted": None}
        columns = [list(column) for column in zip(*ROWS, strict=True)]
        relation = engine.load({"x": ("varchar", columns[0]), "y": ("varchar", columns[1])}, "rows")
        for n, its in ((len(ROWS), relation), (0, Sql(f"(select * from {relation} where 1 = 0)"))):
            (found,) = engine.fetch(render("counted/fingerprint.sql", relation=its, **shown))
            assert fingerprint(engine, its, ["x", "y"]) == found and found["n_rows"] == n


def test_what_csv_does_not_tell_apart_is_one_where_it_is_asked_for(engine: Any) -> None:
    rows = CHANGED["NULL is an empty text"]
    assert marks(engine, rows, empty_is_null=True) == marks(engine, ROWS, empty_is_null=True)
    assert marks(engine, ROWS[:4], empty_is_null=True) != marks(engine, ROWS, empty_is_null=True)


@pytest.mark.parametrize(("before", "after"), [(None, ""), ("", None)])
def test_verify_finds_null_and_empty_text_put_for_each_other_in_a_table(
    engine: Any, tmp_path: Path, before: str | None, after: str | None
) -> None:
    rows = pd.DataFrame({"age": ["1"] * 3, "ill": ["flu", "cold", before]}, dtype=object)
    release = ps.publish(engine, ps.Table(rows, ["age"], "ill"), [ps.KAnonymity(3)], ps.Generalise())
    place = ps.write(engine, release, "table:published", manifest_to=tmp_path / "t.manifest.json")
    assert ps.verify(place, engine)["rows_out"] == 3
    old, new = ("is null", "''") if before is None else ("= ''", "null")
    engine.connection.execute(f"update published set ill = {new} where ill {old}")
    with pytest.raises(NotSafe):
        ps.verify(place, engine)


def test_a_release_with_null_and_empty_text_is_written_where_they_are_told_apart(
    engine: Any, tmp_path: Path
) -> None:
    rows = pd.DataFrame({"age": ["1"] * 4, "ill": ["flu", "", None, None]}, dtype=object)
    release = ps.publish(engine, ps.Table(rows, ["age"], "ill"), [ps.KAnonymity(4)], ps.Generalise())
    assert ps.verify(ps.write(engine, release, tmp_path / "out.parquet"))["rows_out"] == 4
    with pytest.raises(NotSafe, match="a CSV file cannot tell apart"):
        ps.write(engine, release, tmp_path / "out.csv")
