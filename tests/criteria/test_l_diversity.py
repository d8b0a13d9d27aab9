"""ℓ-diversity of the four kinds against brute force on random tables, and where tools go wrong."""

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

WITH_NULLS = rows(st.sampled_from(["a", "b", "c", "A", None]))


@few
@given(table=WITH_NULLS, ell=limits("1", "5"))
def test_the_fewest_values_are_what_counting_by_hand_gives(engine: Any, table: Any, ell: Fraction) -> None:
    found = verdict(engine, table, ps.LDiversity(str(ell)))
    assert (found.value, found.safe) == classical.distinct_l_diversity(table, ell)


@few
@given(table=WITH_NULLS, ell=st.integers(1, 5), c=limits("1/4", "4"), strict=st.booleans())
def test_the_least_c_is_that_of_the_definition(
    engine: Any, table: Any, ell: int, c: Fraction, strict: bool
) -> None:
    found = verdict(engine, table, ps.LDiversity(ell, "recursive", str(c), strict=strict))
    assert (found.value, found.safe) == classical.recursive_l_diversity(table, c, ell, strict)


@few
@given(table=WITH_NULLS, ell=limits("1", "5"))
def test_the_largest_share_is_that_of_the_definition(engine: Any, table: Any, ell: Fraction) -> None:
    found = verdict(engine, table, ps.LDiversity(str(ell), "probabilistic"))
    assert (found.value, found.safe) == classical.probabilistic_l_diversity(table, ell)


@few
@given(table=WITH_NULLS, ell=limits("1", "5", 3))
def test_entropy_is_decided_as_the_definition_decides_it(engine: Any, table: Any, ell: Fraction) -> None:
    found = verdict(engine, table, ps.LDiversity(str(ell), "entropy"))
    expected = classical.entropy_l_diversity(table, ell)
    assert found.safe is expected.safe
    assert float(found.value) == pytest.approx(float(expected.value), abs=1e-12)


def test_a_tie_of_a_million_rows_holds_and_one_row_less_does_not(engine: Any) -> None:
    def entropy(first: int) -> ps.Verdict:
        counts = [first, 250_000, 250_000, 250_000, 250_000]
        frame = pd.DataFrame({"g": ["x"] * 5, "s": list("abcde"), "n": counts})
        table = ps.Table(frame, ["g"], "s", count="n")
        return next(iter(ps.check(engine, table, [ps.LDiversity(4, "entropy")]).values()))

    assert entropy(1_000_000).value == 4
    assert entropy(1_000_000).safe
    assert entropy(999_999).safe
    assert not entropy(1_000_001).safe


def test_many_uniform_groups_at_the_limit_are_told_by_one(engine: Any) -> None:
    """A thousand exact ties and one group just short: the short one decides."""
    tied = [(f"g{number}", value) for number in range(1000) for value in "abc"]
    assert verdict(engine, tied, ps.LDiversity(3, "entropy")).safe
    short = verdict(
        engine, [*tied, ("h", "a"), ("h", "a"), ("h", "b"), ("h", "c")], ps.LDiversity(3, "entropy")
    )
    assert not short.safe
    assert short.witness["largest_count"] == 2


@pytest.mark.parametrize(
    "params",
    [
        {"l": 0},
        {"l": "x"},
        {"l": 2, "kind": "fuzzy"},
        {"l": 2, "kind": "recursive"},
        {"l": 2, "c": 3},
        {"l": "2.5", "kind": "recursive", "c": 3},
        {"l": 2, "kind": "recursive", "c": "nan"},
        {"l": 2, "kind": "recursive", "c": "inf"},
        {"l": 2, "kind": "recursive", "c": "1e999999999"},
        {"l": 2, "kind": "recursive", "c": 3, "strict": "no"},
    ],
)
def test_a_limit_out_of_range_is_refused(params: dict[str, Any]) -> None:
    with pytest.raises(ps.PrivacySqlError):
        ps.LDiversity(**params)


@pytest.mark.parametrize("kind", ["entropy", "recursive"])
def test_people_with_several_values_have_no_distribution_to_judge(engine: Any, kind: str) -> None:
    frame = pd.DataFrame({"id": ["p", "p"], "g": ["x", "x"], "s": ["a", "b"]})
    table = ps.Table(frame, ["g"], "s", identifier="id", values_per_person="set")
    c = 3 if kind == "recursive" else None
    with pytest.raises(ps.PrivacySqlError, match="several values"):
        ps.check(engine, table, [ps.LDiversity(2, kind, c)])


def test_a_value_everybody_has_beside_others_has_share_one(engine: Any) -> None:
    frame = pd.DataFrame({"id": ["p", "p", "q", "q"], "g": ["x"] * 4, "s": ["a", "b", "a", "c"]})
    table = ps.Table(frame, ["g"], "s", identifier="id", values_per_person="set")
    (found,) = ps.check(engine, table, [ps.LDiversity(2, "probabilistic")]).values()
    assert (found.value, found.safe) == (1, False)


def test_a_group_of_people_without_any_value_shows_none(engine: Any) -> None:
    frame = pd.DataFrame({"id": ["p", "q", "q"], "g": ["x", "y", "y"], "s": [None, "a", "b"]})
    table = ps.Table(frame, ["g"], "s", identifier="id", values_per_person="set")
    (found,) = ps.check(engine, table, [ps.LDiversity(2)]).values()
    assert (found.value, found.safe) == (0, False)
