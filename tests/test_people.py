"""A counted table answers about any choice of levels what is said of the table published at them."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import pandas as pd
import pytest

import privacy_sql as ps
from privacy_sql.counted import base
from privacy_sql.errors import PrivacySqlError, UsageError
from privacy_sql.lattice.in_memory import InMemory
from privacy_sql.studies._people_by_risk import MOST_FACTS, PARTS, Bar, of_groups, places_of
from tests import engines
from tests.oracles.people_by_risk import PARENTS, bars_of, groups_of
from tests.seeds import seeds

REQUIRE = [ps.KAnonymity(2), ps.LDiversity(2), ps.TCloseness("0.4"), ps.CKSafety(c="0.9", k=1)]
SEVERAL = [ps.KAnonymity(2), ps.PrivacySkyline(points=[[0, 1, 0, "0.9"]])]


def drawn(seed: int) -> list[Any]:
    draw = random.Random(seed)
    ages, jobs, ills = ["20", "25", "31", None], [*"abc", None], [*"fgh", None]
    return [
        (draw.randint(1, 9), draw.choice(ages), draw.choice(jobs), draw.choice(ills))
        for _ in range(draw.randint(1, 14))
    ]


def table(rows: list[Any], sensitive: Any = "ill", **more: Any) -> ps.Table:
    frame = pd.DataFrame(rows, columns=["who", "age", "job", "ill"], dtype=object)
    jobs = ps.Tree({job: [parent, "*"] for job, parent in PARENTS.items()})
    return ps.Table(frame, {"age": ps.Intervals(10), "job": jobs}, sensitive, **more)


def as_json(verdicts: Any) -> dict[str, Any]:
    return {name: verdict.to_json() for name, verdict in verdicts.items()}


def answered(ask: Any) -> Any:
    """An answer, or what it is refused for."""
    try:
        return as_json(ask())
    except PrivacySqlError as problem:
        return (problem.code, problem.message)


@pytest.mark.parametrize("seed", seeds(4))
@pytest.mark.parametrize("kept", [0, "0.5"])
def test_a_choice_is_judged_as_it_is_published(engine: Any, seed: int, kept: Any) -> None:
    plain = table(drawn(seed))
    people = ps.count(engine, plain)
    for levels in ({}, {"age": 1}, {"job": 1}, {"age": 2, "job": 1}):

        def published(levels: Any = levels) -> Any:
            method = ps.Generalise(levels, max_suppressed=kept)
            return ps.check(engine, ps.publish(engine, plain, REQUIRE, method), REQUIRE)

        assert answered(lambda at=levels: people.judge(at, REQUIRE, max_suppressed=kept)) == answered(
            published
        )


@pytest.mark.parametrize("several", ["set", "multiset"])
def test_so_is_one_of_people_with_several_values(engine: Any, several: str) -> None:
    rows = [("1", "20", "a", "f"), ("1", "20", "a", "g"), ("2", "25", "b", None), ("3", "31", "c", "f")]
    plain = table(rows, identifier="who", values_per_person=several)
    people = ps.count(engine, plain)
    for levels in ({}, {"age": 1}, {"age": 2, "job": 2}):
        made = ps.publish(engine, plain, SEVERAL, ps.Generalise(levels))
        assert as_json(people.judge(levels, SEVERAL)) == as_json(ps.check(engine, made, SEVERAL))


def test_so_is_one_of_several_sensitive_columns(engine: Any) -> None:
    frame = pd.DataFrame({"age": ["20", "25", "31", "31"], "ill": [*"ffgg"], "pay": [*"1221"]})
    plain = ps.Table(frame, {"age": ps.Intervals(10)}, ["ill", "pay"])
    people = ps.count(engine, plain)
    for level in (0, 1, 2):
        made = ps.publish(engine, plain, [ps.KAnonymity(1)], ps.Generalise({"age": level}))
        found = people.judge({"age": level}, [ps.KAnonymity(1)])
        assert len(found) == 2
        assert as_json(found) == as_json(ps.check(engine, made, [ps.KAnonymity(1)]))
    assert set(people.risks({"age": 1})["sensitive"]) == {"ill", "pay"}


def test_a_table_with_its_own_groups_is_judged_as_it_stands_and_has_no_levels(engine: Any) -> None:
    people = ps.count(engine, table(drawn(1), group="who"))
    asked = [ps.KAnonymity(1)]
    assert as_json(people.judge({}, asked)) == as_json(ps.check(engine, people, asked))
    with pytest.raises(UsageError, match='groups come from the column "who"'):
        people.judge({"age": 1}, asked)
    assert people.risks({})["people"].sum() == 2 * len(drawn(1))


def test_nothing_is_counted_again_and_other_roles_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with engines.opened() as engine:
        people = ps.count(engine, table(drawn(2)))

        def again(*_: Any) -> Any:
            raise AssertionError("the table was counted again")

        monkeypatch.setattr(base, "counted", again)
        people.judge({"age": 1}, REQUIRE)
        people.risks({"age": 1})
        with pytest.raises(UsageError, match="the roles have changed since the table was counted"):
            replace(people, drop=["who"]).judge({}, REQUIRE)


def test_a_level_that_there_is_not_is_refused() -> None:
    with engines.opened() as engine:
        people = ps.count(engine, table(drawn(3)))
        for ask in (lambda: people.judge({"age": 7}, REQUIRE), lambda: people.risks({"age": 7})):
            with pytest.raises(UsageError, match="age has the levels 0 to 2"):
                ask()
        with pytest.raises(UsageError, match="facts must be a whole number from 0 to 12"):
            people.risks({}, facts=MOST_FACTS + 1)


@pytest.mark.parametrize("facts", [0, 1, 2, 5])
@pytest.mark.parametrize("seed", seeds(3))
def test_people_are_in_the_bar_of_the_best_guess_about_them(engine: Any, seed: int, facts: int) -> None:
    rows = drawn(seed) * 2
    people = ps.count(engine, table(rows))
    for age, job in ((0, 0), (1, 0), (1, 1), (2, 2)):
        found = people.risks({"age": age, "job": job}, facts=facts)
        guesses = found[found.by == "guess"]
        expected, before = bars_of(rows, (age, job), facts, PARTS), bars_of(rows, (0, 0), facts, PARTS)
        assert guesses["people"].tolist() == [expected[place] for place in range(PARTS + 1)]
        assert guesses["source"].tolist() == [before[place] for place in range(PARTS + 1)]
        sizes = found[found.by == "group_size"]
        for low, high, n, groups, _ in sizes.drop(columns=["sensitive", "by"]).itertuples(index=False):
            these = [g.total() for g in groups_of(rows, (age, job)) if low <= g.total() <= high]
            assert (n, groups) == (sum(these), len(these))
        assert sizes["people"].sum() == sizes["source"].sum() == len(rows)


@pytest.mark.parametrize("facts", [0, 1, 3])
@pytest.mark.parametrize("several", ["one", "set"])
def test_arrays_say_what_statements_say(facts: int, several: str) -> None:
    with engines.opened() as engine:
        declared: dict[str, Any] = (
            {"identifier": "who", "values_per_person": several} if several != "one" else {}
        )
        rows = [(n, "20" if n % 3 else "31", "a", "fgh"[n % 2 + n // 7]) for n in range(12)]
        people = ps.count(engine, table(rows, **declared))
        counts = InMemory(people.counted.base, with_sensitive=True)
        if several != "one" and facts:
            for ask in (
                lambda: people.risks({}, facts=facts),
                lambda: of_groups(counts.groups((0, 0)), facts),
            ):
                with pytest.raises(UsageError, match="one sensitive value per person"):
                    ask()
            return
        for choice in ((0, 0), (1, 2), (2, 2)):
            groups = counts.groups(choice)
            found = people.risks(dict(zip(["age", "job"], choice, strict=True)), facts=facts)
            risks = of_groups(groups, facts)
            assert risks.guesses is not None and risks.people == 12
            for by, bars in (("guess", risks.guesses), ("group_size", risks.sizes)):
                told = found[(found.by == by) & ((found.people > 0) | (by == "guess"))]
                assert [_told(bar) for bar in bars] == list(
                    told[["low", "high", "people", "groups"]].itertuples(index=False, name=None)
                )
            places = places_of(groups, facts)
            assert [places.count(place) for place in range(PARTS + 1)] == [
                bar.groups for bar in risks.guesses
            ]


def _told(bar: Bar) -> tuple[float, float, int, int]:
    return float(bar.low), float(bar.high), bar.people, bar.groups


def test_a_table_without_a_sensitive_column_has_sizes_only() -> None:
    with engines.opened() as engine:
        people = ps.count(engine, table(drawn(4), sensitive=None))
        assert set(people.risks({"age": 1})["by"]) == {"group_size"}
