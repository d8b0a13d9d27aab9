"""(α,k)-anonymity against brute force on random tables."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import privacy_sql as ps
from tests.criteria.random_tables import few, limits, rows, verdict
from tests.oracles import classical

WATCHED = st.none() | st.lists(st.sampled_from(["9", "10", "-1", "2.5"]), min_size=1, max_size=3, unique=True)


@few
@given(table=rows(), alpha=limits("0", "1"), k=st.integers(1, 4), watched=WATCHED)
def test_share_and_size_are_those_of_the_definition(
    engine: Any, table: Any, alpha: Fraction, k: int, watched: Any
) -> None:
    found = verdict(engine, table, ps.AlphaKAnonymity(str(alpha), k, watched))
    share, safe = classical.alpha_k_anonymity(table, alpha, k, watched)
    assert found.safe is safe
    only_size_fails = share <= alpha and not safe
    assert found.value == (classical.k_anonymity(table, k).value if only_size_fails else share)


def test_a_group_without_a_watched_value_has_its_people_counted(engine: Any) -> None:
    table = [("x", "a"), ("x", "b"), ("y", "b")]
    assert not verdict(engine, table, ps.AlphaKAnonymity("1/2", 2, ["a"])).safe
    assert verdict(engine, [*table, ("y", "b")], ps.AlphaKAnonymity("1/2", 2, ["a"])).safe


@pytest.mark.parametrize("params", [{"values": []}, {"alpha": "1.5"}, {"k": 0}, {"alpha": "nan"}])
def test_a_parameter_out_of_range_is_refused(params: dict[str, Any]) -> None:
    with pytest.raises(ps.PrivacySqlError):
        ps.AlphaKAnonymity(**{"alpha": "0.5", "k": 2, **params})


def test_a_watched_value_that_does_not_occur_is_said(engine: Any) -> None:
    found = verdict(engine, [("x", "a"), ("x", "b")], ps.AlphaKAnonymity("1/2", 2, ["a", "B"]))
    assert found.safe
    assert any("1 of the watched values" in note for note in found.notes)
