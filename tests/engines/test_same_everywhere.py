"""Names and values of every kind mean the same on every engine; Spark's turn is in test_spark.py."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import privacy_sql as ps
from privacy_sql.query.template import Query
from tests import engines
from tests.engines import odd_people, random_people
from tests.seeds import START


def test_odd_names_and_values_are_counted_and_published_as_they_are(engine: Any, tmp_path: Path) -> None:
    assert odd_people.told(engine, tmp_path) == (2, odd_people.expected())


@pytest.mark.parametrize("seed", [START + 3, START + 7])
def test_random_tables_of_odd_values_are_judged_and_published_as_on_duckdb(
    engine: Any, tmp_path: Path, seed: int
) -> None:
    (tmp_path / "other").mkdir()
    with engines.opened() as other:
        expected = list(random_people.told(other, seed, tmp_path / "other"))
    assert list(random_people.told(engine, seed, tmp_path)) == expected


def test_random_tables_show_every_answer(tmp_path: Path) -> None:
    with engines.opened() as engine:
        found = [told for seed in (2, 3, 5, 7) for _, told in random_people.told(engine, seed, tmp_path)]
    verdicts = {told[0] for told in found if isinstance(told, tuple)}
    assert verdicts == {True, False}
    assert {"not_safe", "unmapped_value"} <= {told for told in found if isinstance(told, str)}
    assert any(isinstance(told, dict) for told in found)


def test_times_of_a_zone_are_judged_and_shown(engine: Any) -> None:
    times = ["2020-03-01 00:30:00+01:00", "2020-02-29 23:30:00+00:00", "2020-02-29 12:00:00+00:00"]
    frame = pd.DataFrame({"seen": pd.to_datetime(times, utc=True), "s": ["a", "b", "a"]})
    table = ps.Table(frame, ["seen"], "s")
    k, bt = ps.check(engine, table, [ps.KAnonymity(2), ps.BTPrivacy([["0.5", "0.3"]])]).values()
    assert k.value == 1 and bt.safe is not None
    told = k.witness.reveal()
    assert told["keys"]["seen"] == pd.Timestamp(times[2]) and told["values"] == {"a": 1}


def test_a_filled_relation_tells_how_many_rows_it_holds(engine: Any) -> None:
    held = engine.load({"n": ("bigint", [1, 1, 2, 3])}, "held")
    for least, n_rows in ((0, 3), (2, 2), (9, 0)):
        text = f"select n from {held} where n > {least} - 1 group by n"
        made, told = engine.filled(Query(text, "made"))
        (counted,) = engine.fetch(Query(f"select count(*) as n from {made}", "counted"))
        assert told == counted["n"] == n_rows
