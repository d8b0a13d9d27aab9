"""Privacy skylines on tables: worlds and groundings, many groups, witnesses, bad input, suppression."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import privacy_sql as ps
from privacy_sql.counted.base import count
from privacy_sql.counted.grouping import Grouping
from privacy_sql.criteria import read
from privacy_sql.errors import PrivacySqlError
from privacy_sql.judge import failing, judge
from privacy_sql.kernels.skyline.breach_probability import Amounts, breach_probability
from privacy_sql.kernels.skyline.groups import Histograms
from tests.oracles.skyline import Oracle
from tests.seeds import seeds

few = settings(deadline=None, max_examples=8, suppress_health_check=[HealthCheck.function_scoped_fixture])
CASES = ("one", "set", "multiset")


def people_rows(release: list[tuple[int, dict[str, int]]], case: str) -> pd.DataFrame:
    """A table with these groups: values go round the people of a group, the rest have none."""
    rows: list[tuple[str, int, str | None]] = []
    for number, (people, counts) in enumerate(release):
        free, place = set(range(people)), 0
        for value, n in counts.items():
            for turn in range(n):
                person = (place if case == "one" else turn) % people
                rows.append((f"{number}.{person}", number, value))
                free.discard(person)
                place += 1
        rows += [(f"{number}.{person}", number, None) for person in sorted(free)]
    return pd.DataFrame(rows, columns=["id", "g", "s"], dtype=object)


def table_of(release: list[tuple[int, dict[str, int]]], case: str) -> ps.Table:
    return ps.Table(people_rows(release, case), ["g"], "s", identifier="id", values_per_person=case)


def tiny(rng: np.random.Generator, case: str) -> list[tuple[int, dict[str, int]]]:
    release = []
    for _ in range(rng.integers(1, 3)):
        people = int(rng.integers(2, 5 if case != "multiset" else 4))
        if case == "one":
            drawn = ["s", *rng.choice(["s", "a", "b"], size=people - 1, p=[0.2, 0.5, 0.3])]
            release.append((people, {str(v): drawn.count(v) for v in sorted(set(drawn))}))
        else:
            counts = {v: int(n) for v, n in zip("sab", rng.integers(0, [3, 3, 2]), strict=True) if n}
            release.append((people, {v: min(n, people - 1) for v, n in counts.items()}))
    return release


@pytest.mark.parametrize("case", CASES)
def test_safe_is_what_all_worlds_and_groundings_say(engine: Any, case: str) -> None:
    for seed in seeds(12):
        rng = np.random.default_rng(seed)
        release, amounts = tiny(rng, case), [int(n) for n in rng.integers(0, 3, size=3)]
        oracle = Oracle(release, case)
        asked = [value for value in ("a", "b", "s") if any(counts.get(value) for _, counts in release)]
        if not asked:
            continue
        worst = max(oracle.breach(value, *amounts) for value in asked)
        for limit in {worst, min(Fraction(1), worst + Fraction(1, 10**12)), Fraction(1)} - {Fraction(0)}:
            require = ps.PrivacySkyline([[*amounts, limit]])
            (verdict,) = ps.check(engine, table_of(release, case), [require]).values()
            assert (verdict.value, verdict.safe) == (worst, worst < limit), (seed, release, amounts)


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("seed", seeds(3))
def test_the_minima_found_in_sql_are_those_of_every_group(engine: Any, case: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    counts = np.stack([rng.multinomial(n, rng.dirichlet(np.ones(5))) for n in rng.integers(1, 40, size=60)])
    people = counts.sum(axis=1) if case == "one" else counts.max(axis=1) + rng.integers(1, 9, size=60)
    named = [{str(v): int(n) for v, n in enumerate(row) if n} for row in counts]
    release = list(zip(people.tolist(), named, strict=True))
    tables, table = Histograms.of(named, people.tolist()), table_of(release, case)
    points = list(product((0, 1, 3), (0, 1, 4), (0, 2, 9)))
    verdict = only(ps.check(engine, table, [ps.PrivacySkyline([[*point, 1] for point in points])]))
    for point, found in zip(points, verdict.points, strict=True):
        values = [
            breach_probability(tables.about(v, point[0], case), Amounts(*point), case) for v in tables.values
        ]
        assert found.value == max(values), point
        assert found.safe is (max(values) < 1)


def only(verdicts: Any) -> ps.Verdict:
    (verdict,) = verdicts.values()
    return verdict


def test_every_value_is_held_to_its_own_skyline_or_to_the_default(engine: Any) -> None:
    table = table_of([(10, {"rare": 1, "often": 6, "other": 3})], "one")
    strict, loose = [[0, 0, 0, "1/2"]], [[0, 0, 0, "2/3"]]
    assert not ps.check(engine, table, [ps.PrivacySkyline(strict)])
    assert ps.check(engine, table, [ps.PrivacySkyline(strict, per_value={"often": loose})])
    assert ps.check(engine, table, [ps.PrivacySkyline(per_value={"rare": strict})])
    verdict = only(ps.check(engine, table, [ps.PrivacySkyline(strict, per_value={"often": loose})]))
    assert (verdict.value, verdict.limit) == (Fraction(3, 5), Fraction(2, 3))


def test_the_five_people_of_the_paper_are_told_in_words_and_without_names(engine: Any) -> None:
    table = table_of([(7, {"Exec": 2, **dict.fromkeys("abcde", 1)})], "one")
    verdict = only(ps.check(engine, table, [ps.PrivacySkyline(per_value={"Exec": [[0, 5, 0, "0.95"]]})]))
    assert verdict.witness["amounts"] == {"ruled_out": 0, "known": 5, "family": 0}
    assert verdict.witness["knows"] == [
        "the values of 5 people of group 1, none of them the value in question"
    ]
    assert "Learning about 5 people is enough" in verdict.story and "Exec" not in verdict.story
    assert verdict.witness.reveal()["values"]["Exec"] == 2


def test_the_witness_names_both_groups_when_the_family_lives_elsewhere(engine: Any) -> None:
    release = [(8, {"s": 2, "a": 5, "b": 1}), (40, {"s": 20, "c": 7, "d": 7, "e": 6})]
    verdict = only(
        ps.check(engine, table_of(release, "one"), [ps.PrivacySkyline(per_value={"s": [[1, 0, 3, 1]]})])
    )
    known = verdict.witness
    oracle_free = breach_probability(
        Histograms.of([counts for _, counts in release]).about("s", 1, "one"), Amounts(1, 0, 3), "one"
    )
    assert verdict.value == oracle_free
    assert (known["size"], known["second_size"], known["family_in"]) == (8, 40, 2)


@pytest.mark.parametrize(
    ("points", "word"),
    [
        ([[0, 0, 0, "0"]], "above 0"),
        ([[0, 0, 0, "1.01"]], "at most 1"),
        ([[0, 0, 0, "nan"]], "above 0"),
        ([[0, 0, 0, "inf"]], "above 0"),
        ([[0, -1, 0, "0.5"]], "whole number"),
        ([[0, 1.5, 0, "0.5"]], "whole number"),
        ([[0, 10**10, 0, "0.5"]], "whole number"),
        ([[0, 0, "0.5"]], "four numbers"),
        ([[1, 1, 1, "0.5"], ["1", 1, 1, "1/2"]], "written twice"),
        ("0.5", "list of points"),
        ([], "needs points"),
    ],
)
def test_a_point_that_cannot_be_meant_is_refused(points: Any, word: str) -> None:
    with pytest.raises(PrivacySqlError, match=word) as raised:
        ps.PrivacySkyline(points)
    assert raised.value.exit == 2


def test_all_bad_points_are_told_at_once() -> None:
    with pytest.raises(PrivacySqlError) as raised:
        ps.PrivacySkyline([[0, 0, 0, 2], [0, -1, 0, "0.5"]])
    assert "point 1" in str(raised.value) and "point 2" in str(raised.value)


def test_a_person_in_two_groups_is_refused(engine: Any) -> None:
    rows = pd.DataFrame({"id": ["p", "p", "q"], "g": [1, 2, 1], "s": ["a", "b", None]})
    table = ps.Table(rows, ["g"], "s", identifier="id", values_per_person="set")
    with pytest.raises(PrivacySqlError) as raised:
        ps.check(engine, table, [ps.PrivacySkyline([[0, 0, 0, 1]])])
    assert raised.value.exit == 3


def test_the_requirement_reads_back_from_its_own_text() -> None:
    require = ps.PrivacySkyline([[1, 1, 5, "0.9"]], per_value={"Armed-Forces": [[5, 10, 5, "0.7"]]})
    assert str(require) == (
        "privacy_skyline(points=[[1, 1, 5, 0.9]], per_value={Armed-Forces: [[5, 10, 5, 0.7]]})"
    )
    assert (
        read(str(ps.PrivacySkyline([[1, 1, 5, "0.9"]]))).limits
        == ps.PrivacySkyline([[1, 1, 5, "0.9"]]).limits
    )


@pytest.mark.parametrize("case", CASES)
def test_without_the_groups_that_fail_the_rest_is_safe(engine: Any, case: str) -> None:
    for seed in seeds(6):
        rng = np.random.default_rng(seed)
        counts = np.stack(
            [rng.multinomial(n, rng.dirichlet(np.ones(3))) for n in rng.integers(1, 12, size=7)]
        )
        people = counts.sum(axis=1) if case == "one" else counts.max(axis=1) + rng.integers(0, 3, size=7)
        release = [
            (int(n), {v: int(c) for v, c in zip("sab", row, strict=True) if c})
            for n, row in zip(people, counts, strict=True)
        ]
        require = ps.PrivacySkyline([[1, 1, 1, "0.9"], [0, 2, 2, "0.8"]])
        base = count(engine, table_of(release, case))
        grouping = Grouping.by(base, base.own_keys())
        gone = {grouping.number(group)["group"] - 1 for group in failing(grouping, require)}
        assert bool(gone) is not bool(ps.check(engine, table_of(release, case), [require]))
        rest = [group for number, group in enumerate(release) if number not in gone]
        if any(counts for _, counts in rest):
            assert ps.check(engine, table_of(rest, case), [require])


def test_a_search_may_prune_only_when_everybody_has_one_value() -> None:
    require, table = ps.PrivacySkyline([[0, 0, 0, 1]]), {"source": "t.csv", "quasi": ["g"], "sensitive": "s"}
    assert require.on(ps.Table(**table)).safe_under_merging
    several = ps.Table(**table, identifier="id", values_per_person="multiset")
    assert not require.on(several).safe_under_merging
    assert str(require.on(several)) == str(require) == str(require.on(ps.Table(**table)))


@few
@given(data=st.data())
def test_merging_two_groups_of_one_value_each_never_makes_a_safe_table_unsafe(engine: Any, data: Any) -> None:
    cell = st.tuples(st.sampled_from("uvw"), st.sampled_from("sab"))
    rows = data.draw(st.lists(cell, min_size=2, max_size=14))
    require = ps.PrivacySkyline([[1, 1, 1, "0.9"], [0, 0, 2, "0.7"], [0, 2, 0, "3/4"]])
    merged = [("u" if group == "v" else group, value) for group, value in rows]
    before, after = (
        ps.check(engine, ps.Table(pd.DataFrame(r, columns=["g", "s"]), ["g"], "s"), [require])
        for r in (rows, merged)
    )
    assert bool(after) or not bool(before)


@pytest.mark.parametrize("case", CASES)
def test_a_search_finds_the_choices_that_asking_every_one_finds(engine: Any, case: str) -> None:
    rng = np.random.default_rng(5)
    quasi = {"a": ps.Intervals(2, 4), "b": ps.KeepOrDrop()}
    rows = pd.DataFrame(
        {
            "a": [str(n) for n in rng.integers(0, 8, size=40)],
            "b": rng.choice(["x", "y"], size=40),
            "s": rng.choice(["u", "v", "w"], size=40),
            "id": [str(n) for n in range(40)],
        }
    ).astype(object)
    table = ps.Table(rows, quasi, "s", identifier="id", values_per_person=case)
    require = ps.PrivacySkyline([[1, 1, 1, "0.95"], [0, 2, 0, "0.9"]])
    base = count(engine, table)
    safe = [
        levels
        for levels in product(*(range(kind.height + 1) for kind in table.hierarchies.values()))
        if judge(Grouping.by(base, base.keys(dict(zip(quasi, levels, strict=True)))), [require.on(table)])
    ]
    found = ps.search(engine, table, [require])
    lowest = [one for one in safe if not any(o != one and np.all(np.array(o) <= one) for o in safe)]
    if case == "one":
        assert found.summary()["explored"] < 8
    assert sorted(tuple(choice["levels"].values()) for choice in found.minimal) == sorted(lowest)


def test_a_question_without_an_answer_is_not_safe(engine: Any) -> None:
    require = ps.PrivacySkyline([[0, 0, 0, 1]])
    table = table_of([(4, {"s": 1, "a": 3})], "one")
    base = count(engine, table)
    evidence = require.gather(Grouping.by(base, base.own_keys()))
    lost = [{**row, "g": None} if row["s"] == evidence.rows[0]["s"] else row for row in evidence.rows]
    assert require.judge(evidence).safe
    verdict = require.judge(replace(evidence, rows=lost))
    assert not verdict.safe and verdict.value is None


@pytest.mark.parametrize("case", CASES)
def test_certainty_in_one_group_and_in_another_is_never_lost_in_sql(engine: Any, case: str) -> None:
    release = [(3, {"s": 1, "a": 2, "b": 0}), (9, {"s": 4, "a": 5}), (4, {"s": 2, "a": 1, "b": 1})]
    release = [(n, {v: c for v, c in counts.items() if c}) for n, counts in release]
    points = list(product((0, 1, 2, 9), (0, 2, 20), (0, 2, 20)))
    tables = Histograms.of([counts for _, counts in release], [n for n, _ in release])
    require = ps.PrivacySkyline([[*point, 1] for point in points])
    verdict = only(ps.check(engine, table_of(release, case), [require]))
    for point, found in zip(points, verdict.points, strict=True):
        values = [
            breach_probability(tables.about(v, point[0], case), Amounts(*point), case) for v in tables.values
        ]
        assert (found.value, found.safe) == (max(values), max(values) < 1), point


@pytest.mark.parametrize("case", CASES)
def test_more_family_than_a_group_holds_is_certainty_with_a_story(engine: Any, case: str) -> None:
    """Also where the other factor of the certain group is larger than that of a group nearby."""
    rng = np.random.default_rng(18)
    for turn in range(12):
        release = []
        for _ in range(rng.integers(2, 4)):
            people = int(rng.integers(2, 20))
            mine = int(rng.integers(1, people + 1))
            release.append((people, {v: n for v, n in (("s", mine), ("a", people - mine)) if n}))
        if turn == 0:
            release = [(4, {"s": 1, "a": 3}), (20, {"s": 10, "a": 10})]
        point = [int(rng.integers(3)), int(rng.integers(3)), int(rng.integers(3, 40))]
        tables = Histograms.of([counts for _, counts in release], [n for n, _ in release])
        verdict = only(ps.check(engine, table_of(release, case), [ps.PrivacySkyline([[*point, "0.99"]])]))
        values = [
            breach_probability(tables.about(v, point[0], case), Amounts(*point), case) for v in tables.values
        ]
        assert verdict.value == max(values), (release, point)
        assert verdict.story


def test_a_value_that_does_not_occur_is_a_warning_and_in_a_project_an_error(engine: Any) -> None:
    table = table_of([(4, {"Armed-Forces": 1, "Sales": 3})], "one")
    require = ps.PrivacySkyline([[0, 0, 0, "0.9"]], per_value={"Armed-Force": [[0, 0, 0, "0.1"]]})
    verdict = only(ps.check(engine, table, [require]))
    assert verdict.safe and len(verdict.warnings) == 1
    assert (verdict.value, verdict.points[1].value) == (Fraction(3, 4), 0)
    with pytest.raises(PrivacySqlError) as raised:
        ps.check(engine, table, [require.in_project()])
    # what only rows hold is in no error
    assert raised.value.exit == 2 and "Did you mean" not in raised.value.hint
    assert "Sales" not in f"{raised.value} {raised.value.hint}" and "Armed-Forces" not in str(raised.value)
    tree = ps.Tree({"Armed-Forces": ["other"], "Sales": ["other"], "Craft": ["other"]})
    for more in ({"sensitive_hierarchy": tree}, {"domains": {"s": ["Armed-Forces", "Sales"]}}):
        with pytest.raises(PrivacySqlError) as raised:
            ps.check(engine, replace(table, **more), [require.in_project()])
        assert 'Did you mean "Armed-Forces"?' in raised.value.hint and "Craft" not in str(raised.value)
    assert str(require.in_project()) == str(require) and "must_occur" not in require.in_project().params


@pytest.mark.parametrize("case", ["set", "multiset"])
def test_people_who_all_have_no_value_are_a_table_in_which_nothing_is_disclosed(
    engine: Any, case: str
) -> None:
    table = table_of([(2, {}), (3, {})], case)
    assert ps.breach_probability(engine, table, value="s", l=1, k=1, m=1) == 0
    assert ps.find_skyline(engine, table, value="s", limit="1/2") == [(None, None, None)]
    (verdict,) = ps.check(engine, table, [ps.KAnonymity(2)]).values()
    assert verdict.safe and verdict.value == 2


@pytest.mark.parametrize("case", CASES)
def test_the_witness_of_a_verdict_replayed_in_all_worlds_attains_its_value(engine: Any, case: str) -> None:
    for seed in seeds(8):
        rng = np.random.default_rng(seed)
        release, amounts = tiny(rng, case), [int(n) for n in rng.integers(0, 3, size=3)]
        for sigma in ("a", "b", "s"):
            if any(counts.get(sigma) for _, counts in release):
                require = ps.PrivacySkyline(per_value={sigma: [[*amounts, 1]]})
                verdict = only(ps.check(engine, table_of(release, case), [require]))
                assert replayed(release, case, sigma, verdict.witness) == verdict.value, (seed, sigma)


def replayed(release: Any, case: str, sigma: str, known: Any) -> Fraction | None:
    """How sure the adversary of a witness is in the worlds of a release."""
    oracle, least = Oracle(release, case), known["amounts"]
    g, counts = known["group"] - 1, release[known["group"] - 1][1]
    assert (known["size"], known["holders"]) == (release[g][0], counts[sigma])
    t, free = (g, 0), {n: [(n, i) for i in range(people)] for n, (people, _) in enumerate(release)}
    free[g].remove(t)
    ranked = sorted((v for v in counts if v != sigma), key=lambda v: -counts[v])[: least["ruled_out"]]
    assert known["ruled_out"] == [counts[v] for v in ranked]
    facts = []
    if least["known"]:
        there = known["known_in"] - 1
        left = [
            v
            for v, n in release[there][1].items()
            for _ in range(n)
            if v != sigma and (there != g or v not in ranked)
        ]
        facts = [(free[there].pop(), left[i] if case == "one" else sigma) for i in range(least["known"])]
    family = [free[known["family_in"] - 1].pop() for _ in range(least["family"])]
    told = oracle.about_others(facts) & oracle.about_target(t, sigma, ranked)
    return oracle.probability(oracle.has(t, sigma), told & oracle.about_family(t, sigma, family))
