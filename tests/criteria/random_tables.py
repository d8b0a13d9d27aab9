"""Small random tables, and what a criterion says about one: for tests against brute force."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

import privacy_sql as ps

GROUPS = st.sampled_from(["x", "y", "z", None])
# numbers as text, so that every criterion can read them; 10 sorts before 9 as text
VALUES = st.sampled_from(["9", "10", "-1", "2.5"])

few = settings(deadline=None, max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])


def rows(values: Any = VALUES) -> Any:
    """(group, sensitive value) of one to eight people; half the time so few groups that values repeat."""
    crowded = st.lists(st.tuples(st.sampled_from(["x", None]), values), min_size=5, max_size=8)
    return st.one_of(crowded, st.lists(st.tuples(GROUPS, values), min_size=1, max_size=8))


def limits(low: str, high: str, max_denominator: int = 12) -> Any:
    return st.fractions(min_value=low, max_value=high, max_denominator=max_denominator)


def verdict(engine: Any, table: Sequence[tuple[Any, Any]], criterion: Any, **settings: Any) -> ps.Verdict:
    frame = pd.DataFrame(list(table), columns=["g", "s"], dtype=object)
    (found,) = ps.check(engine, ps.Table(frame, ["g"], "s", **settings), [criterion]).values()
    return found
