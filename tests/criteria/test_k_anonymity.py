"""k-anonymity against brute force on random tables."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pandas as pd
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import privacy_sql as ps

CELL = st.sampled_from(["a", "b", "A", None])


@settings(deadline=None, max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rows=st.lists(st.tuples(CELL, CELL), min_size=1, max_size=8), k=st.integers(1, 4))
def test_the_smallest_group_is_what_counting_by_hand_gives(engine: Any, rows: list[Any], k: int) -> None:
    table = ps.Table(pd.DataFrame(rows, columns=["x", "y"], dtype=object), ["x", "y"])
    (verdict,) = ps.check(engine, table, [ps.KAnonymity(k)]).values()
    smallest = min(Counter(rows).values())
    assert verdict.value == smallest
    assert verdict.safe is (smallest >= k)
