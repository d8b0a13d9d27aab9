"""k-map against counting by hand."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import privacy_sql as ps
from privacy_sql.errors import DataError, UsageError
from tests.oracles.population import fewest_fitting

CELL = st.sampled_from(["1", "2", "31", None])
PERSON = st.tuples(CELL, CELL)


@settings(deadline=None, max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    inside=st.lists(PERSON, min_size=1, max_size=6), outside=st.lists(PERSON, max_size=6), k=st.integers(1, 4)
)
def test_the_fewest_fitting_people_are_those_counted_by_hand(
    engine: Any, inside: list[Any], outside: list[Any], k: int
) -> None:
    everybody = [*inside, *outside]
    table = ps.Table(_frame(inside), ["x", "y"], population=_frame(everybody))
    (verdict,) = ps.check(engine, table, [ps.KMap(k)]).values()
    assert verdict.value == fewest_fitting(inside, everybody)
    assert verdict.safe is (verdict.value >= k)


def test_the_population_is_generalised_as_the_table_is(engine: Any) -> None:
    table = ps.Table(
        pd.DataFrame({"age": ["31", "38", "24"]}),
        {"age": ps.Intervals(10)},
        population=pd.DataFrame({"age": ["30", "31", "38", "39", "24", "29", "55"]}),
    )
    release = ps.publish(engine, table, [ps.KMap(2)], ps.Generalise({"age": 1}))
    assert release.verdicts["k_map(k=2)"].value == 2


def test_a_population_that_lacks_people_of_the_table_is_refused(engine: Any) -> None:
    table = ps.Table(_frame([("1", "1"), ("1", "1")]), ["x", "y"], population=_frame([("1", "1")]))
    with pytest.raises(DataError, match="fewer people"):
        ps.check(engine, table, [ps.KMap(1)])


def test_a_population_without_a_key_column_is_refused(engine: Any) -> None:
    table = ps.Table(_frame([("1", "1")]), ["x", "y"], population=pd.DataFrame({"x": ["1"]}))
    with pytest.raises(UsageError, match='no column "y"'):
        ps.check(engine, table, [ps.KMap(1)])


def test_without_a_population_it_is_refused(engine: Any) -> None:
    with pytest.raises(UsageError, match="population"):
        ps.check(engine, ps.Table(_frame([("1", "1")]), ["x"]), [ps.KMap(1)])


def _frame(people: list[Any]) -> pd.DataFrame:
    return pd.DataFrame(people, columns=["x", "y"], dtype=object)
