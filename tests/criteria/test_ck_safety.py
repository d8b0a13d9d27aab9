"""(c,k)-safety on tables: brute force over all formulas, replayed witnesses, bad parameters, suppression."""

from __future__ import annotations

from collections import Counter, defaultdict
from fractions import Fraction
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import HealthCheck, assume, example, given, settings
from hypothesis import strategies as st

import privacy_sql as ps
from privacy_sql.counted.base import count
from privacy_sql.counted.grouping import Grouping
from privacy_sql.criteria import read
from privacy_sql.errors import PrivacySqlError, Undecided
from privacy_sql.judge import failing
from tests import engines
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


def verdict_on(engine: Any, rows: list[tuple[str, str]], c: str, k: int, own: Any = None) -> ps.Verdict:
    table = ps.Table(pd.DataFrame(rows, columns=["key", "value"], dtype=object), ["key"], "value")
    (verdict,) = ps.check(engine, table, [ps.CKSafety(c, k, own)]).values()
    return verdict


@few
@given(rows=ROWS, k=st.integers(0, 1), c=st.sampled_from(["1/2", "2/3", "0.75", "1"]))
@example(rows=[("a", "x"), ("a", "y")], k=0, c="1/2")  # at the limit, which is not below it
def test_safe_is_what_all_basic_implications_say(engine: Any, rows: Any, k: int, c: str) -> None:
    worlds = oracle.tables(groups_of(rows))
    worst = oracle.maximum_disclosure(worlds, oracle.basic_implications(worlds), k)
    verdict = verdict_on(engine, rows, c, k)
    assert verdict.value == worst
    assert verdict.safe is (worst < Fraction(c))


@few
@given(
    rows=ROWS,
    k=st.integers(0, 1),
    c=st.sampled_from(["1/2", "2/3", "1"]),
    own=st.dictionaries(
        st.sampled_from("xyz"),
        st.tuples(st.sampled_from(["1/4", "1/3", "1/2", "1"]), st.integers(0, 1)),
        min_size=1,
    ),
)
def test_limits_per_value_hold_where_no_basic_implications_make_that_value_likelier(
    engine: Any, rows: Any, k: int, c: str, own: Any
) -> None:
    worlds = oracle.tables(groups_of(rows))
    names = sorted({value for _, value in rows})
    sentences = oracle.basic_implications(worlds)
    rest = [n for n, name in enumerate(names) if name not in own]
    asked = [(rest, c, k), *(([names.index(v)], *limit) for v, limit in own.items() if v in names)]
    found = [
        (oracle.maximum_disclosure(worlds, sentences, facts, guessed), Fraction(limit))
        for guessed, limit, facts in asked
        if guessed
    ]
    worst = min(found, key=lambda part: (part[0] < part[1], part[1] - part[0]))
    limits = {value: {"c": limit, "k": facts} for value, (limit, facts) in own.items()}
    verdict = verdict_on(engine, rows, c, k, limits)
    assert verdict.safe is all(value < limit for value, limit in found)
    assert (verdict.value, verdict.limit) == worst
    assert len(verdict.notes) == len(set(own) - set(names))


@few
@given(
    rows=st.lists(st.tuples(st.sampled_from("ab"), st.sampled_from("wxyz")), min_size=1, max_size=7),
    k=st.integers(0, 3),
    value=st.sampled_from([None, *"wxyz"]),
)
def test_the_witness_of_the_verdict_attains_its_value(
    engine: Any, rows: Any, k: int, value: str | None
) -> None:
    # a limit that is far below the other one has least slack
    own = None if value is None else {value: {"c": "1/1000", "k": k}}
    verdict = verdict_on(engine, rows, "1", k if value is None else 0, own)
    assume(value is None or verdict.limit == Fraction(1, 1000))
    groups, names = groups_of(rows), sorted({value for _, value in rows})
    target, others = [], []
    for place in verdict.witness["places"]:
        counts = groups[place["group"] - 1]
        assert place["size"] == sum(counts)
        # of values that are as common the one that is guessed comes first
        asked = names.index(value) if value in names else None
        ranked = sorted(
            range(len(counts)), key=lambda v, counts=counts, asked=asked: (-counts[v], v != asked)
        )
        assert place["counts"] == [counts[v] for v in ranked[: max(place["claims"])]]
        start = sum(map(sum, groups[: place["group"] - 1]))
        orders = [ranked] * len(place["claims"])
        if place["target"]:
            guessed = ranked[0] if asked is None else asked
            assert counts[guessed] == verdict.witness["holders"]
            assert verdict.witness["guess"] == 1 + sum(n > counts[guessed] for n in counts)
            orders[0] = [guessed, *(v for v in ranked if v != guessed)]
        atoms = [
            (start + i, orders[i][r]) for i, claimed in enumerate(place["claims"]) for r in range(claimed)
        ]
        target += atoms[: place["target"]]
        others += atoms[place["target"] :]
    assert len(others) == len(verdict.witness["knows"]) == verdict.witness["facts"] <= k
    implications = [([atom], target) for atom in others]
    assert oracle.chance(oracle.tables(groups), target[0], implications) == verdict.value


def test_the_story_tells_the_facts_in_words(engine: Any) -> None:
    table = ps.Table(FIG_3, ["sex"], "disease")
    (verdict,) = ps.check(engine, table, [ps.CKSafety("0.6", 1)]).values()
    assert verdict.witness["knows"] == ["person 1 of group 2 does not have its 2nd most common value"]
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


@pytest.mark.parametrize(
    ("own", "said"),
    [
        ({}, "must name values"),
        ("flu", "must name values"),
        ({"flu": {"c": "0.5"}}, 'per_value "flu" of ck_safety says c and k'),
        ({5: {"c": "0.5", "k": 1}, "5": {"c": "0.9", "k": 1}}, 'names "5" twice'),
        ({"flu": {"c": "0.5", "kk": 1}}, 'Did you mean "k"'),
        ({"flu": {"c": "0", "k": 1}}, "above 0"),
        ({"flu": {"c": "1/2", "k": -1}, "gout": {"c": "2", "k": 1}}, "2 errors"),
    ],
)
def test_limits_of_a_value_that_cannot_be_meant_are_refused(own: Any, said: str) -> None:
    with pytest.raises(PrivacySqlError) as raised:
        ps.CKSafety("0.9", 1, own)
    assert raised.value.exit == 2 and said in str(raised.value)


def test_a_value_that_nobody_has_is_a_warning_and_in_a_project_an_error(engine: Any) -> None:
    table = ps.Table(FIG_3, ["sex"], "disease", domains={"disease": ["HIV", "flu"]})
    require = ps.CKSafety("0.9", 0, {"HIVV": {"c": "0.1", "k": 3}})
    (verdict,) = ps.check(engine, table, [require]).values()
    assert verdict.safe and verdict.value == Fraction(2, 5) and len(verdict.warnings) == 1
    with pytest.raises(PrivacySqlError) as raised:
        ps.check(engine, table, [require.in_project()])
    assert raised.value.exit == 2 and raised.value.hint == 'Did you mean "HIV"?'
    assert raised.value.where.endswith("require.ck_safety.per_value")
    assert str(require.in_project()) == str(require)
    assert read(str(require)).per_value == {"HIVV": {"c": "0.1", "k": 3}}


@pytest.mark.parametrize(
    "require",
    [
        ps.CKSafety("0.9", 1, {"HIV": {"c": "0.2", "k": 1}}),
        ps.PrivacySkyline(per_value={"HIV": [[0, 0, 0, "0.2"]]}),
    ],
    ids=lambda require: require.name,
)
def test_a_value_that_only_those_left_out_had_is_no_error_of_the_published_rows(
    engine: Any, tmp_path: Path, require: Any
) -> None:
    rows = [("3", v) for v in ["flu"] * 9 + ["cold"] * 6 + ["gout"] * 5] + [("9", "HIV")]
    table = ps.Table(pd.DataFrame(rows, columns=["age", "s"]), {"age": ps.KeepOrDrop()}, "s")
    method = ps.Generalise({"age": 0}, max_suppressed="0.1")
    release = ps.publish(engine, table, [require.in_project()], method)
    assert release.suppressed == 1
    ps.verify(ps.write(engine, release, tmp_path / "out.csv"))


@few
@given(
    rows=st.lists(st.tuples(st.sampled_from("abcd"), st.sampled_from("xyz")), min_size=1, max_size=14),
    k=st.integers(0, 2),
)
def test_groups_that_fail_for_one_value_leave_a_rest_that_is_safe_for_all(
    engine: Any, rows: Any, k: int
) -> None:
    own = {"x": {"c": "1/2", "k": k}}
    table = ps.Table(pd.DataFrame(rows, columns=["key", "value"], dtype=object), ["key"], "value")
    base = count(engine, table)
    grouping = Grouping.by(base, base.own_keys())
    bad = failing(grouping, ps.CKSafety("9/10", 1, own))
    keys = sorted({key for key, _ in rows})
    kept = [row for row in rows if keys.index(row[0]) + 1 not in _numbers(grouping, bad)]
    assert bool(bad) is not verdict_on(engine, rows, "9/10", 1, own).safe
    assert not kept or verdict_on(engine, kept, "9/10", 1, own).safe


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


def test_a_value_of_a_limit_is_named_as_it_reads_and_a_missing_one_is_refused() -> None:
    rows = pd.DataFrame({"g": ["x"] * 4, "s": [True, True, True, False]})
    with engines.opened() as engine:
        asked = ps.CKSafety("0.9", 0, per_value={True: {"c": "0.5", "k": 0}})
        (verdict,) = ps.check(engine, ps.Table(rows, ["g"], "s"), [asked]).values()
    assert not verdict.safe and verdict.value == Fraction(3, 4)
    for kind in (
        lambda: ps.CKSafety("0.9", 0, per_value={None: {"c": "0.5", "k": 0}}),
        lambda: ps.PrivacySkyline(per_value={None: [[0, 0, 0, "0.5"]]}),
    ):
        with pytest.raises(ps.PrivacySqlError, match="cannot name a missing value"):
            kind()
