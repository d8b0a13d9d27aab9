"""Names and values of every kind mean the same on every engine; Spark's turn is in test_spark.py."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from privacy_sql.query import Query
from tests.engines import odd_people


def test_odd_names_and_values_are_counted_and_published_as_they_are(engine: Any, tmp_path: Path) -> None:
    assert odd_people.told(engine, tmp_path) == (2, odd_people.expected())


def test_a_filled_relation_tells_how_many_rows_it_holds(engine: Any) -> None:
    held = engine.load({"n": ("bigint", [1, 1, 2, 3])}, "held")
    for least, n_rows in ((0, 3), (2, 2), (9, 0)):
        text = f"select n from {held} where n > {least} - 1 group by n"
        made, told = engine.filled(Query(text, "made"))
        (counted,) = engine.fetch(Query(f"select count(*) as n from {made}", "counted"))
        assert told == counted["n"] == n_rows
