"""Groups of a counted base: which source rows are in them."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest

import privacy_sql as ps
from privacy_sql.counted.base import count
from privacy_sql.counted.grouping import Grouping
from privacy_sql.query.template import Query


@pytest.mark.parametrize("placed", [False, True])
def test_the_source_rows_of_groups_that_are_left_out_do_not_stay(engine: Any, placed: bool) -> None:
    frame = pd.DataFrame(
        {"age": ["31", "34", "38", "42", "45", "57"], "illness": ["flu", "cold", "flu", "gout", "flu", "flu"]}
    )
    base = count(engine, ps.Table(frame, {"age": ps.Intervals(10)}, "illness"))
    whole = Grouping.by(base, base.keys({"age": 1}))
    if placed:
        rows = whole.rows
        whole = whole.over(lambda: rows)
    sizes = {row["n_people"]: row["g"] for row in base.engine.fetch(Query(f"select * from {whole.groups}"))}
    stays = whole.without({sizes[1]}).without({sizes[1], sizes[2]})
    found = base.engine.fetch(Query(f"select g, r_q1 as age from {stays.rows}"))
    assert sorted(row["age"] for row in found) == ["31", "34", "38"]
    assert {row["g"] for row in found} == {sizes[3]}
