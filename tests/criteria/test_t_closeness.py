"""t-closeness with each distance against transport solved as a flow."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import privacy_sql as ps
from tests.criteria.random_tables import few, limits, rows, verdict
from tests.oracles import classical

PATHS = {
    "flu": ["lung", "organ", "*"],
    "cough": ["lung", "organ", "*"],
    "ulcer": ["stomach", "organ", "*"],
    "rash": ["skin", "surface", "*"],
    None: ["none", "none", "*"],
}
LIMIT = limits("0", "1")


@few
@given(table=rows(st.sampled_from(["a", "b", "c", None])), t=LIMIT)
def test_equal_distance_is_the_transport_of_the_definition(engine: Any, table: Any, t: Fraction) -> None:
    found = verdict(engine, table, ps.TCloseness(str(t)))
    assert (found.value, found.safe) == classical.t_closeness(table, t, classical.equal_distance)


@few
@given(table=rows(st.sampled_from(["9", "10", "10.0", "-1", " 3", "1e1"])), t=LIMIT)
def test_ordered_distance_is_the_transport_between_ranks_of_numbers(
    engine: Any, table: Any, t: Fraction
) -> None:
    found = verdict(engine, table, ps.TCloseness(str(t), "ordered"))
    numbers = [(group, Fraction(value.strip())) for group, value in table]
    distance = classical.ordered_distance([number for _, number in numbers])
    assert (found.value, found.safe) == classical.t_closeness(numbers, t, distance)


@few
@given(table=rows(st.sampled_from(list(PATHS))), t=LIMIT)
def test_hierarchical_distance_is_the_transport_in_the_tree(engine: Any, table: Any, t: Fraction) -> None:
    tree = ps.Tree({value: path for value, path in PATHS.items() if value is not None})
    found = verdict(engine, table, ps.TCloseness(str(t), "hierarchical"), sensitive_hierarchy=tree)
    distance = classical.hierarchical_distance(PATHS)
    assert (found.value, found.safe) == classical.t_closeness(table, t, distance)


def test_a_thousand_numbers_in_two_halves_lie_half_the_line_apart(engine: Any) -> None:
    table = [("low" if number < 500 else "high", str(number)) for number in range(1000)]
    assert verdict(engine, table, ps.TCloseness(1, "ordered")).value == Fraction(250, 999)
    assert verdict(engine, table, ps.TCloseness(1)).value == Fraction(1, 2)


def test_a_million_rows_keep_their_exact_distance(engine: Any) -> None:
    counts = [333_333, 333_334, 166_667, 166_666]
    frame = pd.DataFrame({"g": list("xxyy"), "s": ["1", "2", "1", "2"], "n": counts})
    table = ps.Table(frame, ["g"], "s", count="n")
    exact = abs(Fraction(333_333, 666_667) - Fraction(500_000, 1_000_000))
    other = abs(Fraction(166_667, 333_333) - Fraction(500_000, 1_000_000))
    for found in ps.check(engine, table, [ps.TCloseness(1), ps.TCloseness(1, "ordered")]).values():
        assert found.value == max(exact, other)


def test_beyond_sortable_sizes_an_ordered_distance_at_its_limit_is_not_safe(
    engine: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = [("x", "1"), ("y", "2")]
    assert verdict(engine, table, ps.TCloseness("1/2", "ordered")).safe
    monkeypatch.setattr("privacy_sql.criteria.t_closeness.SORTED_EXACTLY", 1)
    found = verdict(engine, table, ps.TCloseness("1/2", "ordered"))
    assert (found.safe, found.exact) == (False, False)


LARGE = [("x", "1", 3), ("x", "2", 1), ("y", "1", 1), ("y", "3", 3)]
TREE = ps.Tree({"1": ["low", "*"], "2": ["low", "*"], "3": ["high", "*"]})


@pytest.mark.parametrize("distance", ["equal", "ordered", "hierarchical"])
def test_more_people_than_whole_numbers_can_multiply_are_measured_in_floats(
    engine: Any, distance: str
) -> None:
    frame = pd.DataFrame(LARGE, columns=["g", "s", "n"])
    few, many = (
        ps.Table(frame.assign(n=frame["n"] * times), ["g"], "s", count="n", sensitive_hierarchy=TREE)
        for times in (1, 10**9)
    )
    asked = ps.TCloseness(1, distance)
    (exact,) = ps.check(engine, few, [asked]).values()
    (rounded,) = ps.check(engine, many, [asked]).values()
    assert float(rounded.value) == pytest.approx(float(exact.value), abs=1e-12) and not rounded.exact
    assert exact.exact and ps.check(engine, few, [ps.TCloseness(str(exact.value), distance)])
    assert not ps.check(engine, many, [ps.TCloseness(str(exact.value), distance)])  # equal cannot be told


def test_numbers_a_double_cannot_tell_apart_have_no_order(engine: Any) -> None:
    table = [("x", "9007199254740993"), ("y", "9007199254740992")]
    with pytest.raises(ps.PrivacySqlError) as problem:
        verdict(engine, table, ps.TCloseness(0, "ordered"))
    assert problem.value.exit == 3 and "90071" not in str(problem.value)
    assert verdict(
        engine, [("x", "9007199254740993"), ("y", "1")], ps.TCloseness(1, "ordered")
    ).value == Fraction(1, 2)


@pytest.mark.parametrize("stray", ["many", None, "nan", "inf", ""])
def test_ordered_distance_refuses_values_that_are_no_numbers(engine: Any, stray: str | None) -> None:
    with pytest.raises(ps.PrivacySqlError) as problem:
        verdict(engine, [("x", "1"), ("x", stray)], ps.TCloseness(1, "ordered"))
    assert problem.value.exit == 3
    assert "many" not in str(problem.value)


def test_hierarchical_distance_refuses_a_value_outside_the_tree(engine: Any) -> None:
    tree = ps.Tree({"a": ["*"]})
    with pytest.raises(ps.PrivacySqlError) as problem:
        verdict(engine, [("x", "a"), ("x", "b")], ps.TCloseness(1, "hierarchical"), sensitive_hierarchy=tree)
    assert problem.value.exit == 3


def test_hierarchical_distance_needs_a_hierarchy(engine: Any) -> None:
    with pytest.raises(ps.PrivacySqlError, match="hierarchy"):
        verdict(engine, [("x", "a")], ps.TCloseness(1, "hierarchical"))


@pytest.mark.parametrize("t", ["-0.1", "1.1", "nan", True])
def test_a_limit_out_of_range_is_refused(t: Any) -> None:
    with pytest.raises(ps.PrivacySqlError):
        ps.TCloseness(t)
