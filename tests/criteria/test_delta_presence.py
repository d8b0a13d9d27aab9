"""δ-presence against counting by hand."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import privacy_sql as ps
from privacy_sql.errors import DataError, UsageError
from tests.oracles.population import extreme_shares

PERSON = st.sampled_from(["1", "2", "3", None])
SHARE = st.sampled_from([Fraction(0), Fraction(1, 4), Fraction(1, 2), Fraction(3, 4), Fraction(1)])


@settings(deadline=None, max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    inside=st.lists(PERSON, min_size=1, max_size=6),
    outside=st.lists(PERSON, max_size=6),
    bounds=st.tuples(SHARE, SHARE),
)
def test_both_extremes_are_those_counted_by_hand(
    engine: Any, inside: list[Any], outside: list[Any], bounds: tuple[Fraction, Fraction]
) -> None:
    everybody = [*inside, *outside]
    low, high = sorted(bounds)
    least, most = extreme_shares([(x,) for x in inside], [(x,) for x in everybody])
    table = ps.Table(_frame(inside), ["x"], population=_frame(everybody))
    (verdict,) = ps.check(engine, table, [ps.DeltaPresence(str(low), str(high))]).values()
    assert verdict.safe is (low <= least and most <= high)
    assert (verdict.witness["lowest_share"], verdict.witness["highest_share"]) == (str(least), str(most))
    assert verdict.value == (least if least - low < high - most else most)


def test_a_population_that_lacks_people_of_the_table_is_refused(engine: Any) -> None:
    table = ps.Table(_frame(["1", "2"]), ["x"], population=_frame(["1"]))
    with pytest.raises(DataError, match="fewer people"):
        ps.check(engine, table, [ps.DeltaPresence(0, 1)])


def test_bounds_the_wrong_way_round_are_refused() -> None:
    with pytest.raises(UsageError, match="low"):
        ps.DeltaPresence("0.9", "0.1")


def _frame(people: list[Any]) -> pd.DataFrame:
    return pd.DataFrame({"x": people}, dtype=object)
