"""Known columns against every set of columns counted by itself; what keeps it and what does not."""

from __future__ import annotations

import random
from fractions import Fraction
from itertools import combinations
from typing import Any

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import privacy_sql as ps
from privacy_sql.counted.base import count
from privacy_sql.counted.grouping import Grouping
from privacy_sql.criteria import make
from privacy_sql.query import statements
from tests import engines
from tests.criteria.random_tables import few
from tests.oracles import known_columns as oracle
from tests.seeds import seeds

LABEL = st.sampled_from(["x", "y", None])
PEOPLE = st.lists(st.tuples(st.tuples(LABEL, LABEL, LABEL), st.sampled_from("ab")), min_size=1, max_size=9)
SHARES = st.sampled_from([None, "1/2", "2/3", "3/4"])
DRAWN = st.builds(
    lambda m, k, share: ps.KnownColumns(m=m, k=k, share=share if k > 1 else share or "1/2"),
    st.integers(1, 3),
    st.integers(1, 3),
    SHARES,
)


def keeps(asked: Any, rows: Any, known: Any) -> bool:
    """Whether published rows keep the requirement."""
    share = None if asked.share is None else Fraction(str(asked.share))
    return oracle.keeps(rows, asked.m, asked.k, share)


def table(rows: Any) -> ps.Table:
    frame = pd.DataFrame([(*labels, s) for labels, s in rows], columns=["a", "b", "c", "s"], dtype=object)
    return ps.Table(frame, ["a", "b", "c"], "s")


@few
@given(rows=PEOPLE, m=st.integers(1, 4), k=st.integers(1, 4), share=SHARES)
def test_every_set_of_columns_is_counted_as_by_itself(
    engine: Any, rows: Any, m: int, k: int, share: str | None
) -> None:
    share = share or ("1/2" if k == 1 else None)
    asked = ps.KnownColumns(m=m, k=k, share=share)
    (found,) = ps.check(engine, table(rows), [asked]).values()
    assert found.safe is keeps(asked, rows, None)
    smallest = oracle.smallest(rows, m)
    assert found.witness["people_below"] == oracle.people_below(rows, m, k)
    if share is None:
        assert found.value == smallest
    else:
        shares = [oracle.largest_share(rows, some) for some in oracle.sets(3, m)]
        assert Fraction(found.witness["largest_share"]) == max(shares)
        assert found.value in (smallest, *shares)
    if m >= 3 and share is None:
        (same,) = ps.check(engine, table(rows), [ps.KAnonymity(k)]).values()
        assert (same.value, same.safe) == (found.value, found.safe)


@few
@given(rows=PEOPLE, first=st.integers(1, 4), second=st.integers(2, 4))
def test_named_sets_have_each_its_own_limit(engine: Any, rows: Any, first: int, second: int) -> None:
    sets = [{"columns": ["a"], "k": first, "share": "2/3"}, {"columns": ["b", "c"], "k": second}]
    (found,) = ps.check(engine, table(rows), [ps.KnownColumns(sets=sets)]).values()
    ones, others = oracle.crowds(rows, [0]), oracle.crowds(rows, [1, 2])
    share = oracle.largest_share(rows, [0])
    safe = min(ones) >= first and share <= Fraction(2, 3) and min(others) >= second
    assert found.safe is safe
    assert [point.smallest for point in found.points] == [min(ones), min(others)]


def test_mapping_the_labels_of_a_column_together_keeps_it_by_the_definition() -> None:
    draw = random.Random(7)
    kept = 0
    for _ in range(400):
        columns, known = draw.randint(1, 3), draw.randint(1, 3)
        rows = [
            (tuple(draw.choice(["x", "y", "z", None]) for _ in range(columns)), draw.choice("ab"))
            for _ in range(draw.randint(2, 14))
        ]
        k, share = draw.randint(1, 3), draw.choice([None, Fraction(1, 2), Fraction(3, 4)])
        if not oracle.keeps(rows, known, k, share):
            continue
        kept += 1
        place, label = draw.randrange(columns), {value: draw.choice("uv") for value in ["x", "y", "z", None]}
        coarser = [
            (tuple(label[own] if i == place else own for i, own in enumerate(labels)), value)
            for labels, value in rows
        ]
        assert oracle.keeps(coarser, known, k, share), (rows, coarser)
    assert kept > 40


def test_merging_two_groups_or_leaving_one_out_does_not_and_neither_is_declared() -> None:
    asked = ps.KnownColumns(m=1, k=2)
    assert not asked.safe_under_merging and not asked.safe_under_suppression
    assert not asked.safe_in_larger_groups and asked.safe_under_generalisation
    assert ps.KAnonymity(2).safe_under_generalisation and not ps.DeltaPresence(0, "1/2").safe_in_larger_groups
    rows = [(("0", "0"), "s"), (("0", "1"), "s"), (("1", "0"), "s"), (("1", "1"), "s")]
    merged = [((labels if labels[0] == "1" else ("0", "01")), s) for labels, s in rows]
    assert oracle.smallest(rows, 1) == 2 and oracle.smallest(merged, 1) == 1
    assert oracle.smallest(rows[1:], 1) == 1


@pytest.mark.parametrize("max_suppressed", ["0", "1/3"])
def test_a_search_finds_the_safe_choices_of_all(max_suppressed: str) -> None:
    """Every choice of levels by the definition; without suppression the search prunes by generalisation."""
    n_safe = 0
    with engines.opened() as engine:
        for seed in seeds(8):
            draw = random.Random(f"{seed} {max_suppressed}")
            people = [
                (draw.choice([20, 21, 25, 31]), draw.choice("ab"), draw.choice("pq"))
                for _ in range(draw.randint(5, 12))
            ]
            frame = pd.DataFrame(people, columns=["age", "job", "home"])
            kinds = {"age": ps.Intervals(10), "job": ps.KeepOrDrop(), "home": ps.KeepOrDrop()}
            asked = ps.KnownColumns(m=draw.randint(1, 2), k=draw.randint(2, 3))
            found = ps.search(
                engine, ps.Table(frame, kinds), [asked], ps.FullDomain(max_suppressed=max_suppressed)
            )
            safe = {
                (age, job, home)
                for age in range(3)
                for job in range(2)
                for home in range(2)
                if oracle.keeps(_labelled(people, age, job, home), asked.m or 0, asked.k, None)
            }
            if max_suppressed == "0":
                minimal = {
                    one
                    for one in safe
                    if not any(o != one and all(a <= b for a, b in zip(o, one, strict=True)) for o in safe)
                }
                told = {tuple(choice["levels"].values()) for choice in found.minimal}
                assert told == minimal, (people, asked)
                n_safe += len(safe)
            else:
                release = ps.publish(
                    engine, ps.Table(frame, kinds), [asked], ps.FullDomain(max_suppressed=max_suppressed)
                )
                rows = [(tuple(row.values()), "s") for row in engine.fetch(release.view)]
                assert release.safe and oracle.keeps(rows, asked.m or 0, asked.k, None)
                n_safe += 1
    assert n_safe


def _labelled(people: Any, age: int, job: int, home: int) -> Any:
    ages = (str, lambda n: n // 10, lambda n: "*")
    return [((ages[age](a), "*" if job else j, "*" if home else h), "s") for a, j, h in people]


def test_too_many_sets_are_refused_with_their_number(engine: Any) -> None:
    frame = pd.DataFrame({f"c{n}": ["x", "x"] for n in range(16)})
    wide = ps.Table(frame, list(frame))
    with pytest.raises(ps.PrivacySqlError, match="4,368 sets of 5 of 16 columns") as problem:
        ps.check(engine, wide, [ps.KnownColumns(m=5, k=2)])
    assert problem.value.exit == 2
    (found,) = ps.check(engine, wide, [ps.KnownColumns(m=3, k=2)]).values()  # 560 sets, many statements
    assert found.safe and found.witness["sets"] == 560


def test_a_set_of_a_column_that_is_not_published_is_refused(engine: Any) -> None:
    rows = [(("x", "y", "z"), "a")] * 2
    with pytest.raises(ps.PrivacySqlError, match='names "d"') as problem:
        ps.check(engine, table(rows), [ps.KnownColumns(sets=[{"columns": ["d"], "k": 2}])])
    assert problem.value.exit == 2


def test_a_method_whose_groups_have_no_labels_is_refused() -> None:
    with engines.opened() as engine:
        for method in (ps.Bucketize({}), ps.Multidimensional(), ps.Microaggregate(2)):
            with pytest.raises(ps.PrivacySqlError, match="a label for every column") as problem:
                ps.publish(engine, table([(("x", "y", "z"), "a")] * 4), [ps.KnownColumns(m=1, k=2)], method)
            assert problem.value.exit == 2


def test_sets_are_written_as_everywhere() -> None:
    asked = make("known_columns", {"sets": [{"columns": ["age", "zip"], "k": "5", "share": "0.5"}]})
    assert asked.limit == 5
    assert str(make("known_columns", {"m": "2", "k": "5"})) == "known_columns(m=2, k=5)"


@pytest.mark.parametrize(
    "params",
    [
        {},
        {"m": 0, "k": 2},
        {"m": 1},
        {"m": 2, "k": 1},
        {"m": 1, "k": 0},
        {"m": 1, "k": 2, "share": 1},
        {"m": 1, "k": 2, "share": "nan"},
        {"m": 1, "k": 2, "sets": [{"columns": ["a"], "k": 2}]},
        {"sets": [{"columns": [], "k": 2}]},
        {"sets": [{"columns": ["a", "a"], "k": 2}]},
        {"sets": [{"columns": ["a"], "k": 1}]},
        {"sets": [{"columns": ["a"], "k": 2, "l": 2}]},
        {"sets": [{"columns": ["a"], "k": 2, "share": "1.5"}]},
    ],
)
def test_a_requirement_that_asks_nothing_is_refused(params: dict[str, Any]) -> None:
    with pytest.raises(ps.PrivacySqlError) as problem:
        ps.KnownColumns(**params)
    assert problem.value.exit == 2


@pytest.mark.parametrize("seed", seeds(6))
def test_boxes_of_k_people_hide_everybody_among_k_whichever_columns_are_known(engine: Any, seed: int) -> None:
    """Why boxes are refused here and nothing is lost: k_anonymity of boxes keeps it for every set."""
    rng = random.Random(seed)
    rows = pd.DataFrame(
        {
            "a": [rng.randint(0, 9) for _ in range(40)],
            "b": [rng.randint(0, 9) for _ in range(40)],
            "c": [rng.choice("xyz") for _ in range(40)],
            "ill": [rng.choice("pqrs") for _ in range(40)],
        }
    )
    table = ps.Table(rows, ["a", "b", "c"], "ill")
    require = [ps.KAnonymity(3), ps.LDiversity(2, "probabilistic")]
    release = ps.publish(engine, table, require, ps.Multidimensional())
    assert release.safe
    shown = ps.Table(release.to_pandas(), ["a", "b", "c"], "ill")
    known = [ps.KnownColumns(m=m, k=3, share="0.5") for m in (1, 2, 3)]
    assert all(verdict.safe for verdict in ps.check(engine, shown, known).values())
    with pytest.raises(ps.PrivacySqlError) as problem:
        ps.publish(engine, table, [ps.KnownColumns(m=1, k=3)], ps.Multidimensional())
    assert problem.value.exit == 2 and "k_anonymity" in problem.value.hint


@pytest.mark.everywhere
def test_more_columns_than_a_number_has_bits_are_counted_set_by_set(engine: Any) -> None:
    rows = pd.DataFrame({f"c{n}": ["x", "x", None if n == 64 else "y", "y"] for n in range(70)})
    verdict = ps.check(engine, ps.Table(rows, list(rows)), [ps.KnownColumns(m=1, k=2)])[
        "known_columns(m=1, k=2)"
    ]
    assert not verdict.safe and verdict.value == 1 and verdict.witness["sets"] == 70
    few = ps.Table(rows[[f"c{n}" for n in range(60, 66)]], [f"c{n}" for n in range(60, 66)])
    (same,) = ps.check(engine, few, [ps.KnownColumns(m=1, k=2)]).values()
    assert same.value == 1 and same.witness["columns"] == verdict.witness["columns"]


@few
@given(rows=PEOPLE, m=st.integers(1, 3), k=st.integers(1, 4), share=SHARES)
def test_sets_counted_from_larger_ones_are_those_counted_by_themselves(
    engine: Any, rows: Any, m: int, k: int, share: str | None
) -> None:
    asked = ps.KnownColumns(m=m, k=k, share=share or ("1/2" if k == 1 else None))
    (by_itself,) = ps.check(engine, table(rows), [asked]).values()
    with pytest.MonkeyPatch.context() as patch:
        for name, value in (("LEAST_COVERED", 0), ("FEWER", Fraction(1, 10**6))):
            patch.setattr(f"privacy_sql.criteria.known_columns.{name}", value)
        (from_larger,) = ps.check(engine, table(rows), [asked]).values()
    assert from_larger.to_json() == by_itself.to_json()


def test_many_combinations_are_counted_from_larger_sets(engine: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two thousand combinations of five columns; their pairs are counted from tables of three columns."""
    for name, value in (("LEAST_COVERED", 1000), ("FEWER", 4)):
        monkeypatch.setattr(f"privacy_sql.criteria.known_columns.{name}", value)
    draw = random.Random(11)
    rows = [tuple(draw.choice([None, *range(6)]) for _ in range(5)) for _ in range(2000)]
    wide = ps.Table(pd.DataFrame(rows, columns=list("abcde"), dtype=object), list("abcde"))
    with statements.listening() as heard:
        (found,) = ps.check(engine, wide, [ps.KnownColumns(m=2, k=32)]).values()
    assert sum(one.name == "counted/counts_by" for one in heard) >= 2
    people = [(labels, "s") for labels in rows]
    crowds = [oracle.crowds(people, some) for some in combinations(range(5), 2)]
    assert found.value == min(map(min, crowds)) < 32
    assert found.witness["people_below"] == sum(min(of) < 32 for of in zip(*crowds, strict=True)) > 0


@few
@given(
    rows=PEOPLE,
    m=st.integers(1, 3),
    k=st.integers(1, 4),
    share=SHARES,
    places=st.sampled_from([0, 4, 4096]),
    keys=st.sampled_from([8, 2**62]),
)
def test_sets_counted_on_arrays_are_those_counted_in_sql_and_by_the_definition(
    engine: Any, rows: Any, m: int, k: int, share: str | None, places: int, keys: int
) -> None:
    """From tables of labels, from sorted labels, and from labels that are numbered again on the way."""
    share = share or ("1/2" if k == 1 else None)
    asked = ps.KnownColumns(m=m, k=k, share=share)
    (in_sql,) = ps.check(engine, table(rows), [asked]).values()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("privacy_sql.criteria.known_columns.LEAST_ON_ARRAYS", 0)
        patch.setattr("privacy_sql.criteria._known_sets.LEAST_PLACES", places)
        patch.setattr("privacy_sql.criteria._known_sets.MOST_KEYS", keys)
        with statements.listening() as heard:
            (on_arrays,) = ps.check(engine, table(rows), [asked]).values()
    assert any(one.name == "counted/codes" for one in heard)
    assert on_arrays.to_json() == in_sql.to_json()
    assert on_arrays.safe is keeps(asked, rows, None)
    assert on_arrays.witness["people_below"] == oracle.people_below(rows, m, k)


@few
@given(
    rows=PEOPLE,
    share=st.sampled_from(["1/2", "2/3", "0.66666666666666666667", f"0.{'6' * 40}"]),
    k=st.integers(1, 3),
)
def test_groups_below_a_limit_are_the_same_on_arrays(engine: Any, rows: Any, share: str, k: int) -> None:
    """Each group of all columns fails if one of its people is below a limit for some known columns."""
    base = count(engine, table(rows))
    groups = Grouping.by(base, base.own_keys())
    asked = ps.KnownColumns(m=2, k=k, share=share)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("privacy_sql.criteria.known_columns.LEAST_ON_ARRAYS", 0)
        failing = set(asked.failing(asked.gather(groups)))
    limit, expected = Fraction(share), set()
    sets = [some for some in oracle.sets(3, 2) if len(some) == 2]
    for labels, _ in rows:
        for some in sets:
            own = [row for row in rows if all(row[0][place] == labels[place] for place in some)]
            if len(own) < k or oracle.largest_share(own, some) > limit:
                expected.add(labels)
    named = {tuple(groups.revealed(g)["keys"].values()) for g in failing}
    assert named == expected


def test_people_with_several_values_are_counted_once_on_arrays(
    engine: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    frame = pd.DataFrame(
        [(1, "x", "p", "flu"), (1, "x", "p", "cold"), (2, "x", "q", None), (3, "y", "q", "flu")],
        columns=["id", "a", "b", "s"],
    )
    several = ps.Table(frame, ["a", "b"], "s", identifier="id", values_per_person="set")
    monkeypatch.setattr("privacy_sql.criteria.known_columns.LEAST_ON_ARRAYS", 0)
    (found,) = ps.check(engine, several, [ps.KnownColumns(m=1, k=2)]).values()
    assert found.value == 1 and found.witness["people_below"] == 2  # of a, y; and of b, p


@pytest.mark.parametrize("least", [0, 20_000])
def test_one_set_may_be_named_twice_with_limits_of_its_own(
    engine: Any, monkeypatch: pytest.MonkeyPatch, least: int
) -> None:
    monkeypatch.setattr("privacy_sql.criteria.known_columns.LEAST_ON_ARRAYS", least)
    rows = pd.DataFrame({"a": ["x", "x", "y", "y"], "b": ["p", "p", "p", None]})
    two = [{"columns": ["a", "b"], "k": 2}, {"columns": ["b", "a"], "k": 3}, {"columns": ["a"], "k": 2}]
    (found,) = ps.check(engine, ps.Table(rows, ["a", "b"]), [ps.KnownColumns(sets=two)]).values()
    assert not found.safe and found.value == 1 and found.witness["sets_below_limit"] == 2
    assert found.limit == 3
