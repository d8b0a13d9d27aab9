"""Household k-anonymity against its definitions, household by household."""

from __future__ import annotations

import random
from collections import Counter
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import privacy_sql as ps
from privacy_sql.kernels import alike_households
from tests.criteria.random_tables import GROUPS, few
from tests.oracles import households as oracle
from tests.seeds import OFTEN, seeds

HOMES = st.sampled_from(["h1", "h2", "h3", "h4", None])
WAYS = [{}, {"kind": "share"}, {"known": "all"}, {"known": 1}, {"known": 2}, {"known": 5}]
MEMBER = [way for way in WAYS if "known" not in way]
# rows say who lives where, so that a value of theirs can stand for the household in tests of properties
DRAWN = st.builds(lambda k: ps.HouseholdKAnonymity(k), st.integers(2, 3))


def keeps(asked: Any, rows: Any, known: Any) -> bool:
    """Whether published rows keep the requirement, their value being the household."""
    return oracle.keeps(rows, asked.k, asked.kind, asked.known)


def tried(draw: Any) -> ps.HouseholdKAnonymity:
    """A requirement near what small tables attain, for tests of its properties."""
    return ps.HouseholdKAnonymity(draw.randint(2, 3), **draw.choice(WAYS))


def table(rows: Any, **more: Any) -> ps.Table:
    frame = pd.DataFrame(rows, columns=["g", "h"], dtype=object)
    return ps.Table(frame, ["g"], household={"column": "h", "published": "number"}, **more)


@few
@given(
    way=st.sampled_from(WAYS),
    rows=st.lists(st.tuples(GROUPS, HOMES), min_size=1, max_size=9),
    k=st.integers(2, 4),
)
def test_households_are_counted_as_the_definition_says(
    engine: Any, way: dict[str, Any], rows: Any, k: int
) -> None:
    asked = ps.HouseholdKAnonymity(k, **way)
    (found,) = ps.check(engine, table(rows), [asked]).values()
    expected = oracle.measured(rows, asked.kind, asked.known)
    assert (found.value, found.safe) == (expected, oracle.keeps(rows, k, asked.kind, asked.known))


def of_homes(rows: Any, values: Any) -> list[tuple[Any, Any, Any]]:
    """Every person with the value of their household."""
    return [(label, home, values[home]) for label, home in rows]


VALUES_OF_HOMES = st.fixed_dictionaries(
    {home: st.sampled_from(["low", "high", None]) for home in ("h1", "h2", "h3", "h4", None)}
)


@few
@given(
    rows=st.lists(st.tuples(GROUPS, HOMES), min_size=1, max_size=9),
    values=VALUES_OF_HOMES,
    k=st.integers(1, 3),
    share=st.sampled_from(["1/2", "0.6", "2/3", "9/10"]),
)
def test_a_value_of_households_counts_once_for_each_of_those_that_look_alike(
    engine: Any, rows: Any, values: Any, k: int, share: str
) -> None:
    people = of_homes(rows, values)
    frame = pd.DataFrame(people, columns=["g", "h", "s"], dtype=object)
    tied = ps.Table(frame, ["g"], "s", household={"column": "h", "published": "number"})
    (found,) = ps.check(engine, tied, [ps.HouseholdKAnonymity(k, known="all", share=share)]).values()
    fewest, largest = oracle.measured(rows, "distinct", "all"), oracle.largest_share(people)
    assert found.safe is (fewest >= k and largest <= Fraction(share))
    assert (found.witness["households"], Fraction(found.witness["largest_share"])) == (fewest, largest)
    assert found.value == (largest if found.relation == "<=" else fewest)


def test_who_knows_a_couple_learns_the_value_that_many_values_of_its_group_hide(engine: Any) -> None:
    frame = pd.DataFrame({"g": ["p"] * 4, "h": ["1", "1", "2", "3"], "s": ["x", "x", "y", "z"]})
    assert ps.check(engine, ps.Table(frame, ["g"], "s", household="h"), [ps.LDiversity(3)])
    tied = ps.Table(frame, ["g"], "s", household={"column": "h", "published": "number"})
    (found,) = ps.check(engine, tied, [ps.HouseholdKAnonymity(1, known="all", share="1/2")]).values()
    assert not found.safe and found.value == 1 and found.witness["households"] == 1
    couples = pd.concat([frame, frame.assign(h=["4", "4", "5", "6"], s=["w", "w", "z", "y"])])
    tied = ps.Table(couples, ["g"], "s", household={"column": "h", "published": "number"})
    (found,) = ps.check(engine, tied, [ps.HouseholdKAnonymity(1, known="all", share="1/2")]).values()
    assert found.safe and found.value == Fraction(1, 2) and found.witness["households"] == 2


def test_values_that_differ_within_a_household_are_refused(engine: Any) -> None:
    frame = pd.DataFrame({"g": ["p", "p", "p"], "h": ["1", "1", "2"], "s": ["x", None, "x"]}, dtype=object)
    tied = ps.Table(frame, ["g"], "s", household={"column": "h", "published": "number"})
    with pytest.raises(ps.PrivacySqlError, match="members of 1 household have different values") as problem:
        ps.check(engine, tied, [ps.HouseholdKAnonymity(2, known="all", share="1/2")])
    assert (problem.value.code, problem.value.exit) == ("no_household_value", 3)
    with pytest.raises(ps.PrivacySqlError, match="needs a sensitive column"):
        ps.check(engine, table([("p", "1")]), [ps.HouseholdKAnonymity(2, known="all", share="1/2")])


def test_each_of_several_values_of_households_is_judged(engine: Any) -> None:
    frame = pd.DataFrame(
        {"g": ["p"] * 4, "h": ["1", "1", "2", "3"], "s": list("xxyz"), "t": list("ppqp")}, dtype=object
    )
    for joint, shares in ((False, {"1/2", "1"}), (True, {"1"})):
        tied = ps.Table(
            frame, ["g"], ["s", "t"], joint=joint, household={"column": "h", "published": "number"}
        )
        found = ps.check(engine, tied, [ps.HouseholdKAnonymity(1, known="all", share="1/2")])
        assert {verdict.witness["largest_share"] for verdict in found.values()} <= shares
        assert len(found) == (1 if joint else 2)


@pytest.mark.parametrize("seed", seeds(20))
def test_a_map_of_labels_or_leaving_one_out_keeps_the_share_of_alike_households(seed: int) -> None:
    draw = random.Random(f"alike {seed}")
    for _ in range(30):
        values = {home: draw.choice("xy") for home in range(6)}
        rows = of_homes(
            [(draw.choice("abcd"), draw.randrange(6)) for _ in range(draw.randint(2, 12))], values
        )
        before = oracle.largest_share(rows)
        label = {own: draw.choice("uv") for own in "abcd"}
        assert oracle.largest_share([(label[g], h, s) for g, h, s in rows]) <= before
        left = [row for row in rows if row[0] != "a"]
        assert not left or oracle.largest_share(left) <= before


@pytest.mark.parametrize("way", MEMBER, ids=[str(way) for way in MEMBER])
@pytest.mark.parametrize("max_suppressed", ["0", "1/2"])
def test_what_is_published_is_safe_with_levels_and_with_groups_left_out(
    engine: Any, way: dict[str, Any], max_suppressed: str
) -> None:
    n_safe = 0
    for seed in seeds(10, OFTEN):
        draw = random.Random(f"{seed} {way} {max_suppressed}")
        rows = [
            (draw.choice([20, 21, 25, 31, None]), draw.choice("ab"), draw.choice(["h1", "h2", "h3", None]), n)
            for n in range(draw.randint(4, 14))
        ]
        frame = pd.DataFrame(rows, columns=["age", "job", "h", "number"], dtype=object)
        frame = frame.astype({"age": "Int64"})
        people = ps.Table(
            frame,
            {"age": ps.Intervals(10), "job": ps.KeepOrDrop()},
            household="h",
            insensitive={"columns": ["number"], "acknowledge": "it says who is who"},
        )
        asked = ps.HouseholdKAnonymity(2, **way)
        try:
            release = ps.publish(engine, people, [asked], ps.FullDomain(max_suppressed=max_suppressed))
        except ps.PrivacySqlError as problem:
            assert problem.code in ("no_safe_choice", "nothing_safe")
            continue
        home = {number: h for _, _, h, number in rows}
        shown = [
            ((str(row["age"]), row["job"]), home[row["number"]])
            for row in release.base.engine.fetch(release.view)
        ]
        assert "h" not in release.columns
        assert release.safe is oracle.keeps(shown, 2, asked.kind, "member")
        n_safe += release.safe
    assert n_safe


def test_the_same_table_gets_the_verdict_of_the_l_diversity_of_its_households(engine: Any) -> None:
    draw = random.Random(4)
    for _ in range(5):
        rows = [(draw.choice("xyz"), draw.choice("abc")) for _ in range(draw.randint(3, 20))]
        frame = pd.DataFrame(rows, columns=["g", "h"])
        of_values = ps.Table(frame, ["g"], "h")
        diverse = ps.check(engine, of_values, [ps.LDiversity(2), ps.LDiversity(2, kind="probabilistic")])
        asked = [ps.HouseholdKAnonymity(2), ps.HouseholdKAnonymity(2, kind="share")]
        found = ps.check(engine, table(rows), asked)
        for one, other in zip(found.values(), diverse.values(), strict=True):
            assert (one.value, one.safe) == (other.value, other.safe)


@given(
    rows=st.lists(st.tuples(st.integers(1, 4), st.integers(1, 3), st.integers(1, 3)), max_size=8),
    known=st.integers(1, 4),
)
def test_parts_of_households_are_each_counted_once(rows: Any, known: int) -> None:
    counts = Counter({(home, group): n for home, group, n in rows})
    found = alike_households.members((home, group, n) for (home, group), n in counts.items())
    people = [(group, home) for (home, group), n in counts.items() for _ in range(n)]
    fewest = alike_households.fewest_with(found, known, 10**6)
    assert fewest is not None
    if people:
        assert min(fewest.values()) == oracle.measured(people, "distinct", known)
    assert alike_households.fewest_with(found, known, 0) is None or not people


@given(
    rows=st.lists(st.tuples(st.integers(1, 5), st.integers(1, 4)), min_size=1, max_size=14),
    values=st.lists(st.integers(0, 2), min_size=5, max_size=5),
    steps=st.sampled_from([0, 1, 2, 32]),
)
def test_alike_households_are_those_with_equal_multisets(rows: Any, values: Any, steps: int) -> None:
    """However many of their members are compared step by step, and the rest one by one."""
    home, group = (np.array(column) for column in zip(*rows, strict=True))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("privacy_sql.kernels.alike_households.MOST_STEPS", steps)
        alike = alike_households.Alike.of(home, group, np.ones(len(rows), np.int64))
    members = {h: Counter(g for own, g in rows if own == h) for h in sorted({*home.tolist()})}
    expected, shares = {}, {}
    for own in members.values():
        same = [other for other in members if members[other] == own]
        most = max(Counter(values[other - 1] for other in same).values())
        for g in own:
            expected[g] = min(expected.get(g, len(rows)), len(same))
            shares[g] = max(shares.get(g, Fraction(0)), Fraction(most, len(same)))
    assert alike.fewest() == expected
    found = alike.largest_shares(np.array([values[h - 1] for h in members]))
    assert {g: Fraction(*share) for g, share in found.items()} == shares


def test_all_members_are_asked_about_only_where_rows_tie_them(engine: Any) -> None:
    frame = pd.DataFrame({"g": ["x", "x"], "h": ["a", "b"]})
    with pytest.raises(ps.PrivacySqlError, match="links the members") as problem:
        ps.check(engine, ps.Table(frame, ["g"], household="h"), [ps.HouseholdKAnonymity(2, known="all")])
    assert problem.value.exit == 2
    with pytest.raises(ps.PrivacySqlError, match="no household column") as problem:
        ps.check(engine, ps.Table(frame, ["g"]), [ps.HouseholdKAnonymity(2)])
    assert problem.value.exit == 2
    with pytest.raises(ps.PrivacySqlError, match="household numbers cannot be published"):
        ps.publish(engine, table([("x", "a")]), [ps.KAnonymity(2)], ps.Generalise({}))


def test_a_table_of_people_who_count_for_several_counts_them(engine: Any) -> None:
    frame = pd.DataFrame({"g": ["x", "x"], "h": ["a", "b"], "n": [3, 1]})
    counted = ps.Table(frame, ["g"], household="h", count="n")
    (found,) = ps.check(engine, counted, [ps.HouseholdKAnonymity(2, kind="share")]).values()
    assert found.value == Fraction(3, 4)
    assert found.witness["largest_household"] == 3


@pytest.mark.parametrize(
    "params",
    [
        {"k": 0},
        {"k": 1},
        {"k": 1, "known": "all"},
        {"k": 2, "kind": "entropy"},
        {"k": 2, "known": "some"},
        {"k": 2, "known": 0},
        {"k": 2, "kind": "share", "known": "all"},
        {"k": 2, "share": "1/2"},
        {"k": 2, "known": 3, "share": "1/2"},
        {"k": 2, "known": "all", "share": 1},
        {"k": 2, "known": "all", "share": 0},
    ],
)
def test_a_limit_out_of_range_is_refused(params: dict[str, Any]) -> None:
    with pytest.raises(ps.PrivacySqlError):
        ps.HouseholdKAnonymity(**params)


@pytest.mark.parametrize(
    "household", [{"column": "h", "published": "yes"}, {"published": "no"}, {"column": 1}]
)
def test_a_household_that_is_not_declared_right_is_refused(household: Any) -> None:
    with pytest.raises(ps.PrivacySqlError, match="household"):
        ps.Table(pd.DataFrame({"g": ["x"], "h": ["a"]}), ["g"], household=household)


def test_of_rows_that_show_who_lives_together_nothing_else_is_judged(engine: Any) -> None:
    """Two who live together have flu, and two who live alone do not: one group of labels, two of homes."""
    frame = pd.DataFrame(
        {"g": ["x"] * 4, "h": ["1", "1", "2", "3"], "s": ["flu", "flu", "cold", "gout"]}, dtype=object
    )
    for asked in (ps.LDiversity(2), ps.KAnonymity(2), ps.IntervalDisclosure(0, "1/2")):
        tied = ps.Table(frame, ["g"], "s", household={"column": "h", "published": "number"})
        with pytest.raises(ps.PrivacySqlError, match="who lives together") as problem:
            ps.check(engine, tied, [ps.HouseholdKAnonymity(2, known="all"), asked])
        assert (problem.value.code, problem.value.exit) == ("members_tied", 2)
    alone = ps.Table(frame, ["g"], "s", household="h")
    assert ps.check(engine, alone, [ps.LDiversity(2), ps.HouseholdKAnonymity(2)])
    (worst,) = ps.check(engine, tied, [ps.HouseholdKAnonymity(2, known="all")]).values()
    assert (worst.value, worst.safe) == (1, False)
