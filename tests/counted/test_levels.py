"""Hierarchies in the counted base: every value at every level, or an error that says how many have none."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest

import privacy_sql as ps
from privacy_sql.counted.base import Base, count
from privacy_sql.errors import DataError
from privacy_sql.query.template import Query

CANARY = "canary-4711"


def counted(engine: Any, values: list[Any], hierarchy: Any) -> Base:
    return count(engine, ps.Table(pd.DataFrame({"x": values}), {"x": hierarchy}, name="people"))


def labels(base: Base, level: int) -> dict[Any, Any]:
    rows = base.engine.fetch(Query(f"select l0, l{level} as label from {base.levels['q1']}"))
    return {row["l0"]: row["label"] for row in rows}


@pytest.mark.parametrize(
    ("hierarchy", "values", "hint"),
    [
        (ps.Tree({"a": ["*"], "b": ["*"]}), ["a", CANARY, CANARY], "Add the missing values"),
        (ps.Tree({"a": ["A", "*"]}), ["a", CANARY, CANARY], "Add the missing values"),
        (ps.Intervals(5), ["1", CANARY, CANARY], "must be numbers"),
        (ps.Breaks(5), ["1", CANARY, CANARY], "must be numbers"),
        (ps.Dates("year"), ["2024-01-01", CANARY, CANARY], "such as 2024-03-05"),
    ],
    ids=repr,
)
def test_values_without_a_label_are_counted_and_never_shown(
    engine: Any, hierarchy: Any, values: list[str], hint: str
) -> None:
    with pytest.raises(DataError, match=f"of x does not cover 1 value .2 rows.*{hint}") as caught:
        assert counted(engine, values, hierarchy).levels
    assert CANARY not in str(caught.value)


@pytest.mark.parametrize(
    "hierarchy",
    [ps.Tree({"1": ["*"]}), ps.Intervals(5), ps.Breaks(5), ps.Mask(1), ps.KeepOrDrop()],
    ids=repr,
)
def test_null_needs_no_entry_and_joins_the_others_at_the_top(engine: Any, hierarchy: Any) -> None:
    base = counted(engine, ["1", None], hierarchy)
    assert labels(base, hierarchy.height) == {"1": "*", None: "*"}


def test_whole_bands_stay_whole_for_whole_numbers(engine: Any) -> None:
    assert labels(counted(engine, [20.0, 24.0], ps.Intervals(5)), 1) == {20.0: "20-24", 24.0: "20-24"}


def test_whole_bands_become_half_open_when_a_column_holds_a_fraction(engine: Any) -> None:
    base = counted(engine, ["20", "24.5", "25"], ps.Intervals(5))
    assert labels(base, 1) == {"20": "[20, 25)", "24.5": "[20, 25)", "25": "[25, 30)"}
    assert base.table.hierarchies["x"] == ps.Intervals(5.0)


def test_a_value_that_is_no_number_does_not_make_bands_half_open(engine: Any) -> None:
    assert counted(engine, ["20", "x.5"], ps.Intervals(5)).table.hierarchies["x"] == ps.Intervals(5)
