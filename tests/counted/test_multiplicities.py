"""A column of multiplicities: rows that stand for nobody show nothing, and what is no count is refused."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest

import privacy_sql as ps

REQUIRE = [ps.KAnonymity(2), ps.LDiversity(2), ps.LDiversity(2, "entropy"), ps.TCloseness(1)]


def table(counts: list[Any], **settings: Any) -> ps.Table:
    frame = pd.DataFrame({"g": ["x", "x"], "s": ["a", "b"], "n": counts})
    return ps.Table(frame, ["g"], "s", count="n", **settings)


def test_a_row_counted_zero_times_shows_no_value(engine: Any) -> None:
    verdicts = ps.check(engine, table([2, 0]), REQUIRE)
    assert [verdict.value for verdict in verdicts.values()] == [2, 1, 1, 0]


def test_counts_may_come_as_text_like_those_of_a_csv_file(engine: Any) -> None:
    verdicts = ps.check(engine, table(["3", "1"]), REQUIRE)
    assert next(iter(verdicts.values())).value == 4


@pytest.mark.parametrize("wrong", [-1, None, 1.5, "seventeen", float("nan")])
def test_a_count_that_is_none_is_refused_with_exit_3(engine: Any, wrong: Any) -> None:
    with pytest.raises(ps.PrivacySqlError, match="in 1 row") as problem:
        ps.check(engine, table([2, wrong]), REQUIRE)
    assert problem.value.exit == 3
    assert "seventeen" not in str(problem.value)


def test_nobody_at_all_is_an_empty_table(engine: Any) -> None:
    with pytest.raises(ps.PrivacySqlError, match="no rows"):
        ps.check(engine, table([0, 0]), REQUIRE)


def test_one_person_is_not_counted_as_many() -> None:
    with pytest.raises(ps.PrivacySqlError, match="exclude"):
        ps.Table("people", ["g"], "s", identifier="id", count="n")
