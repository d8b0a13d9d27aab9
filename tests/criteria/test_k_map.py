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


def test_a_value_outside_the_hierarchy_is_refused_and_fits_nobody_whose_value_is_missing(
    engine: Any,
) -> None:
    """Ten strangers without a label fitted the one person without a value."""
    jobs = ps.Tree({"a": ["x", "*"], "b": ["x", "*"]})
    inside = pd.DataFrame({"job": ["a", None]}, dtype=object)
    for strangers, method in (
        (["elsewhere"] * 9, ps.Generalise({"job": 1})),
        (["elsewhere"], ps.Generalise({"job": 2})),
    ):
        everybody = pd.DataFrame({"job": ["a", None, *strangers]}, dtype=object)
        for asked in (ps.KMap(1), ps.DeltaPresence(0, 1)):
            with pytest.raises(DataError, match="does not cover 1 value") as caught:
                ps.publish(engine, ps.Table(inside, {"job": jobs}, population=everybody), [asked], method)
            assert caught.value.exit == 3 and "elsewhere" not in str(caught.value)
    ages = ps.Table(
        pd.DataFrame({"age": ["30", None]}, dtype=object),
        {"age": ps.Intervals(10)},
        population=pd.DataFrame({"age": ["30", None, "unknown"]}, dtype=object),
    )
    with pytest.raises(DataError, match="does not cover 1 value"):
        ps.publish(engine, ages, [ps.KMap(1)], ps.Generalise({"age": 1}))


@pytest.mark.everywhere
@settings(deadline=None, max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(people=st.lists(PERSON, min_size=1, max_size=8), inside=st.sets(st.integers(0, 7)))
def test_the_population_are_those_who_keep_the_condition_of_the_table(
    engine: Any, people: list[Any], inside: set[int]
) -> None:
    rows = [person for number, person in enumerate(people) if number in inside]
    kept = [person for person in rows if person[1] is not None and float(person[1]) < 30]
    table = ps.Table(_frame(rows), ["x"], population=_frame(people), where="y < 30")
    if not kept:
        return
    (verdict,) = ps.check(engine, table, [ps.KMap(1)]).values()
    everybody = [(x,) for x, y in people if y is not None and float(y) < 30]
    assert verdict.value == fewest_fitting([(x,) for x, _ in kept], everybody)


@pytest.mark.parametrize("asked", [ps.KMap(1), ps.DeltaPresence(0, 1)], ids=str)
def test_a_population_that_cannot_be_filtered_as_the_table_is_refused(engine: Any, asked: Any) -> None:
    rows = _frame([("1", "1"), ("2", "2")])
    table = ps.Table(rows, ["x"], population=rows[["x"]], where="y = '1'")
    with pytest.raises(UsageError, match='names no column "y"') as caught:
        ps.check(engine, table, [asked])
    assert caught.value.exit == 2
