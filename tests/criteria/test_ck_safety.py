"""(c,k)-safety on tables: brute force over all formulas, replayed witnesses, bad parameters, suppression."""

from __future__ import annotations

from collections import Counter, defaultdict
from fractions import Fraction
from typing import Any

import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import privacy_sql as ps
from privacy_sql.counted.base import count
from privacy_sql.counted.grouping import Grouping
from privacy_sql.errors import PrivacySqlError, Undecided
from privacy_sql.judge import failing
from tests.oracles import worst_case as oracle

few = settings(deadline=None, max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
ROWS = st.lists(st.tuples(st.sampled_from("ab"), st.sampled_from("xyz")), min_size=1, max_size=4)
# groups in the order of their keys, as the engine numbers them; values most frequent first
FIG_3 = pd.DataFrame(
    [("F", v) for v in ("flu", "flu", "breast", "heart", "ovarian")]
    + [("M", v) for v in ("flu", "flu", "lung", "lung", "mumps")],
    columns=["sex", "disease"],
)


def groups_of(rows: list[tuple[str, str]]) -> list[list[int]]:
    """The counts of each group, groups in the order of their keys, values in one common order."""
    values = sorted({value for _, value in rows})
    by_key: dict[str, Counter[str]] = defaultdict(Counter)
    for key, value in rows:
        by_key[key][value] += 1
    return [[by_key[key][value] for value in values] for key in sorted(by_key)]


def verdict_on(engine: Any, rows: list[tuple[str, str]], c: str, k: int) -> ps.Verdict:
    table = ps.Table(pd.DataFrame(rows, columns=["key", "value"], dtype=object), ["key"], "value")
    (verdict,) = ps.check(engine, table, [ps.CKSafety(c, k)]).values()
    return verdict


@few
@given(rows=ROWS, k=st.integers(0, 1), c=st.sampled_from(["1/2", "2/3", "0.75", "1"]))
def test_safe_is_what_all_basic_implications_say(engine: Any, rows: Any, k: int, c: str) -> None:
    worlds = oracle.tables(groups_of(rows))
    worst = oracle.maximum_disclosure(worlds, oracle.basic_implications(worlds), k)
    verdict = verdict_on(engine, rows, c, k)
    assert verdict.value == worst
    assert verdict.safe is (worst < Fraction(c))


@few
@given(
    rows=st.lists(st.tuples(st.sampled_from("ab"), st.sampled_from("wxyz")), min_size=1, max_size=7),
    k=st.integers(0, 3),
)
def test_the_witness_of_the_verdict_attains_its_value(engine: Any, rows: Any, k: int) -> None:
    verdict = verdict_on(engine, rows, "1", k)
    groups = groups_of(rows)
    target, others = [], []
    for place in verdict.witness["places"]:
        counts = groups[place["group"] - 1]
        assert place["size"] == sum(counts)
        ranked = sorted(range(len(counts)), key=lambda v, counts=counts: -counts[v])
        assert place["counts"] == [counts[v] for v in ranked[: max(place["claims"])]]
        start = sum(map(sum, groups[: place["group"] - 1]))
        atoms = [(start + i, ranked[r]) for i, claimed in enumerate(place["claims"]) for r in range(claimed)]
        target += atoms[: place["target"]]
        others += atoms[place["target"] :]
    assert len(others) == len(verdict.witness["knows"]) == verdict.witness["facts"] <= k
    implications = [([atom], target) for atom in others]
    assert oracle.chance(oracle.tables(groups), target[0], implications) == verdict.value


def test_the_story_tells_the_facts_in_words(engine: Any) -> None:
    table = ps.Table(FIG_3, ["sex"], "disease")
    (verdict,) = ps.check(engine, table, [ps.CKSafety("0.6", 1)]).values()
    assert verdict.witness["knows"] == ["person 1 of group 2 does not have its 2nd commonest value"]
    assert "0.6667" in verdict.explain()
    assert not any(word in repr(verdict) + verdict.explain() for word in ("flu", "lung", "mumps"))
    assert verdict.witness.reveal()["values"] == {"flu": 2, "lung": 2, "mumps": 1}


@few
@given(rows=st.lists(st.tuples(st.sampled_from("abcd"), st.sampled_from("xyz")), min_size=1, max_size=14))
def test_groups_that_fail_leave_a_safe_rest(engine: Any, rows: Any) -> None:
    criterion = ps.CKSafety("7/10", 1)
    table = ps.Table(pd.DataFrame(rows, columns=["key", "value"], dtype=object), ["key"], "value")
    base = count(engine, table)
    grouping = Grouping.by(base, base.own_keys())
    bad = failing(grouping, criterion)
    keys = sorted({key for key, _ in rows})
    kept = [row for row in rows if keys.index(row[0]) + 1 not in _numbers(grouping, bad)]
    verdict = verdict_on(engine, rows, "7/10", 1)
    assert bool(bad) is not verdict.safe
    if kept:
        assert verdict_on(engine, kept, "7/10", 1).safe


def _numbers(grouping: Any, groups: set[int]) -> set[int]:
    return {grouping.number(group)["group"] for group in groups}


@pytest.mark.parametrize(
    ("c", "k"),
    [("0", 1), ("1.01", 1), ("-0.1", 1), ("nan", 1), ("inf", 1), ("x", 1), ("0.5", -1), ("0.5", 1.5)],
)
def test_a_limit_or_number_out_of_range_is_refused(c: Any, k: Any) -> None:
    with pytest.raises(PrivacySqlError) as raised:
        ps.CKSafety(c, k)
    assert raised.value.exit == 2 and "ck_safety" in str(raised.value)


@pytest.mark.parametrize("kind", ["set", "multiset"])
def test_tables_with_several_values_per_person_are_refused(engine: Any, kind: str) -> None:
    rows = pd.DataFrame({"id": ["p", "q"], "key": ["a", "a"], "value": ["x", "y"]})
    table = ps.Table(rows, ["key"], "value", identifier="id", values_per_person=kind)
    for ask in (
        lambda: ps.check(engine, table, [ps.CKSafety("0.5", 1)]),
        lambda: ps.disclosure_curve(engine, table, 1),
    ):
        with pytest.raises(PrivacySqlError, match="privacy_skyline"):
            ask()


def test_an_empty_table_is_never_safe(engine: Any) -> None:
    table = ps.Table(pd.DataFrame({"key": [], "value": []}, dtype=object), ["key"], "value")
    with pytest.raises(PrivacySqlError):
        ps.check(engine, table, [ps.CKSafety("1", 0)])


def test_revealing_shows_every_group_of_the_worst_case(engine: Any) -> None:
    rows = [("2*", v) for v in "aaaabbbcde"] + [("3*", v) for v in "bbbbccccfgh"]
    verdict = verdict_on(engine, rows, "1", 2)
    shown = verdict.witness.reveal()
    assert shown["keys"] == {"key": "2*"} and shown["others"][0]["keys"] == {"key": "3*"}
    assert {place["group"] for place in verdict.witness["places"]} == {
        shown["group"],
        shown["others"][0]["group"],
    }


@few
@given(rows=st.lists(st.tuples(st.sampled_from("ab"), st.sampled_from("xyz")), min_size=1, max_size=9))
def test_what_is_safe_has_what_the_criterion_says_is_necessary(engine: Any, rows: Any) -> None:
    criterion = ps.CKSafety("1", 1)
    table = ps.Table(pd.DataFrame(rows, columns=["key", "value"], dtype=object), ["key"], "value")
    assert [str(c) for c in criterion.necessary()] == ["l_diversity(l=3)"]
    if ps.check(engine, table, [criterion]):
        assert ps.check(engine, table, criterion.necessary())


def test_more_facts_than_can_be_computed_are_undecided_not_safe(engine: Any) -> None:
    rows = pd.DataFrame({"key": ["a"] * 600, "value": [f"v{i}" for i in range(600)]})
    table = ps.Table(rows, ["key"], "value")
    for facts in (501, 10**9):
        with pytest.raises(Undecided, match="500"):
            ps.check(engine, table, [ps.CKSafety("1", facts)])
    with pytest.raises(Undecided):
        ps.disclosure_curve(engine, table, 501)
    with pytest.raises(Undecided):
        ps.publish(engine, table, [ps.CKSafety("1", 501)], ps.Generalise(max_suppressed="0.9"))
    assert ps.check(engine, table.__class__(rows[:502], ["key"], "value"), [ps.CKSafety("1", 500)])
