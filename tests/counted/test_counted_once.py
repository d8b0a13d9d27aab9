"""A table that is counted once answers as often as it is asked, and nothing reads its rows again."""

from __future__ import annotations

import gc
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import privacy_sql as ps
from privacy_sql.counted import base
from privacy_sql.errors import PrivacySqlError
from privacy_sql.parameters import given
from tests import engines

ROWS = {
    "age": ["30", "31", "30", "41", "44", "44"],
    "job": ["cook", "cook", "baker", "nurse", "nurse", "nurse"],
    "illness": ["flu", "cold", "flu", "cold", "flu", "cold"],
}
REQUIRE = [ps.KAnonymity(2), ps.LDiversity(2)]
JOBS = ps.Tree({"cook": ["food", "*"], "baker": ["food", "*"], "nurse": ["care", "*"]})


def table(source: Any, **more: Any) -> ps.Table:
    return ps.Table(source, {"age": ps.Intervals(10), "job": JOBS}, "illness", **more)


def answers(engine: Any, people: ps.Table) -> list[Any]:
    """What every verb that takes a table says of it."""
    found = ps.search(engine, people, REQUIRE)
    release = ps.publish(engine, people, REQUIRE, ps.FullDomain(max_suppressed="0.2"))
    checked = ps.check(engine, people, REQUIRE)
    return [
        {name: verdict.to_json() for name, verdict in checked.items()},
        found.to_json(),
        release.choice,
        {name: verdict.to_json() for name, verdict in release.verdicts.items()},
        ps.disclosure_curve(engine, people, facts=2),
    ]


def test_every_verb_takes_a_counted_table_and_counts_nothing_again(
    engine: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = table(pd.DataFrame(ROWS))
    expected = answers(engine, plain)
    people = ps.count(engine, plain)

    def again(*_: Any) -> Any:
        raise AssertionError("the table was counted again")

    monkeypatch.setattr(base, "counted", again)
    assert answers(engine, people) == expected
    said = {"counted": None}
    assert given(people) | said == given(plain) | said and "counted" not in repr(people)
    with pytest.raises(AssertionError, match="counted again"):
        ps.check(engine, plain, REQUIRE)


def test_rows_added_to_a_frame_after_the_count_are_not_seen(engine: Any) -> None:
    frame = pd.DataFrame(ROWS)
    people = ps.count(engine, table(frame))
    frame.loc[0, "illness"] = "mumps"
    assert ps.check(engine, people, [ps.LDiversity(1)])
    assert ps.publish(engine, people, [ps.KAnonymity(1)], ps.Generalise({})).rows_out == 6


def test_a_file_that_changes_after_the_count_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    pd.DataFrame(ROWS).to_csv(path, index=False)
    with engines.opened() as engine:
        people = ps.count(engine, table(path))
        assert ps.check(engine, people, [ps.KAnonymity(1)])
        pd.DataFrame(ROWS).iloc[:3].to_csv(path, index=False)
        with pytest.raises(PrivacySqlError, match=r"people\.csv changed during the run"):
            ps.check(engine, people, [ps.KAnonymity(1)])


def test_a_table_counted_elsewhere_is_refused_and_other_roles_are_counted_anew() -> None:
    with engines.opened() as engine, engines.opened() as other:
        people = ps.count(engine, table(pd.DataFrame(ROWS)))
        with pytest.raises(PrivacySqlError, match="different engine counted"):
            ps.check(other, people, REQUIRE)
        (verdict,) = ps.check(engine, replace(people, where="age = '44'"), [ps.KAnonymity(1)]).values()
        assert verdict.value == 2


def test_several_sensitive_columns_are_counted_once_for_all_of_them() -> None:
    with engines.opened() as engine:
        both = ps.Table(pd.DataFrame(ROWS), {"age": ps.Intervals(10)}, ["illness", "job"])
        people = ps.count(engine, both)
        assert len(ps.check(engine, people, [ps.KAnonymity(1)])) == 2
        assert ps.search(engine, people, [ps.KAnonymity(1)]).best is not None
        with pytest.raises(PrivacySqlError, match="one sensitive column at a time"):
            ps.disclosure_curve(engine, people, facts=1)


def test_what_is_made_of_the_counts_goes_with_whoever_asked() -> None:
    """A page asks for hours; before, every question left its relations until the engine was closed."""
    with engines.opened() as engine:
        people = ps.count(engine, table(pd.DataFrame(ROWS)))
        made = ps.Query(
            "select (select count(*) from duckdb_tables()) + (select count(*) from duckdb_views()) as n"
        )

        def asked() -> int:
            answers(engine, people)
            people.judge({"age": 1}, REQUIRE)
            people.risks({"age": 1})
            gc.collect()
            return int(engine.fetch(made)[0]["n"])

        assert asked() == asked() == asked()
