"""Whoever changed since a release of ours was published is found by its labels, against the definition."""

from __future__ import annotations

import csv
import random
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import privacy_sql as ps
from privacy_sql.history import group_contents
from privacy_sql.history.register import Register
from privacy_sql.query.template import names, render
from tests.oracles import composition as oracle
from tests.seeds import seeds

METHODS: dict[str, Callable[[], Any]] = {
    "recoding": lambda: ps.FullDomain(max_suppressed="0.5", local_recoding=True),
    "cells": lambda: ps.FullDomain(max_suppressed="0.5", suppress="cells"),
    "boxes": lambda: ps.Multidimensional(),
    "centres": lambda: ps.Microaggregate(3),
}
Person = tuple[str, int, str, str]  # who, age, sex, ill


def _table(people: list[Person]) -> ps.Table:
    frame = pd.DataFrame([(who, str(age), *rest) for who, age, *rest in people], dtype=object)
    frame.columns = pd.Index(["who", "age", "sex", "ill"])
    quasi = {"age": ps.Intervals(10), "sex": ps.KeepOrDrop()}
    return ps.Table(frame, quasi, "ill", name="people", insensitive=["who"], acknowledged="to compare")


def _kept(engine: Any, release: Any, folder: Path) -> Register:
    register = Register(folder / "register.jsonl")
    place = ps.write(engine, release, folder / "out.csv")
    register.keep("people", place, private=group_contents.writer(release))
    return register


def _ways(release: Any, printed: list[dict[str, str]], first: list[Person], one: Person) -> list[Any]:
    """What the first release leaves somebody of today: by what its groups hold, else by what they print."""
    grouping, apart = release.grouping, release.grouping.located_by == "members"
    by = {who: (age, sex) for who, age, sex, _ in first}
    held: dict[Any, list[Any]] = {}
    if "rounds" in release.choice:  # equal labels of one round are a group
        rows = [((row["age"], row["sex"]), row["who"], row["ill"]) for row in printed]
    else:
        who = grouping.base.others["who"]
        query = render("counted/listed.sql", relation=grouping.rows, columns=names([who, "g", "s"]))
        rows = [(row["g"], row[who], row["s"]) for row in grouping.base.engine.fetch(query)]
    for group, person, ill in rows:
        held.setdefault(group, []).append((*by[person], ill))
    _, age, sex, _ = one
    found = []
    for members in held.values():
        ages, sexes = {a for a, _, _ in members}, {s for _, s, _ in members}
        if grouping.located_by == "boxes":
            fits = min(ages) <= age <= max(ages) and (sex in sexes or len(sexes) > 1)
        else:
            fits = any((age, sex) == (a, s) for a, s, _ in members)
        if fits:
            found.append(frozenset(ill for *_, ill in members))
    if found:
        return found if apart else [frozenset.union(*found)]
    fitting: dict[int, list[Any]] = {}
    for (label, of_sex), values in oracle.groups_of(printed, ["age", "sex"], "ill").items():
        if release.method == "microaggregate":  # a centre does not say whom it leaves out
            fitting.setdefault(2, []).append(values)
            continue
        low, _, high = label.partition("-")
        reads = label == "*" or int(low) <= age <= int(high or low)
        if reads and of_sex in ("*", sex):
            fitting.setdefault(2 if "*" in (label, of_sex) else 0, []).append(values)
    if not fitting:
        return []
    best = fitting[min(fitting)]
    return best if min(fitting) or "rounds" in release.choice else [frozenset.union(*best)]


@pytest.mark.everywhere
@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("seed", seeds(3))
def test_a_year_later_everybody_is_found_by_contents_or_else_by_labels(
    engine: Any, tmp_path: Path, name: str, seed: int
) -> None:
    dice = random.Random(seed)
    first = [(f"p{n}", dice.randint(20, 49), dice.choice("FM"), dice.choice("abcd")) for n in range(14)]
    today = [
        (who, age + dice.choice([0, 1, 1]), sex, dice.choice([ill, "e"])) for who, age, sex, ill in first
    ]
    release = ps.publish(engine, _table(first), [ps.KAnonymity(2)], METHODS[name]())
    register = _kept(engine, release, tmp_path)
    with (tmp_path / "out.csv").open(newline="") as file:
        printed = list(csv.DictReader(file))
    people = [
        dict(zip(["age", "sex", "ill"], (age // 10, sex, ill), strict=True)) for _, age, sex, ill in today
    ]
    ways = [
        [oracle.own_ways(people, ["age", "sex"], "ill", now), _ways(release, printed, first, one)]
        for now, one in zip(people, today, strict=True)
    ]
    for level in (Fraction(1), Fraction(1, 2)):
        asked = ps.Composition("register", str(level), register=str(register.path))
        made = ps.publish(engine, _table(today), [asked], ps.Generalise({"age": 1, "sex": 0}))
        (verdict,) = made.verdicts.values()
        assert verdict.value == oracle.exposure(ways, level)
        assert verdict.witness["located"] + verdict.witness["contradicted"] >= sum(
            bool(there) for _, there in ways
        )


@pytest.mark.parametrize("name", METHODS)
def test_a_birthday_within_a_decade_hides_nobody(engine: Any, tmp_path: Path, name: str) -> None:
    ills = zip((20, 22, 24, 30, 32, 34, 40, 41, 42, 43), "fcgfcrfcfc", "fhafhafcfc", strict=True)
    both = [(f"p{n}", age, "F", ill, now) for n, (age, ill, now) in enumerate(ills)]
    first = [(who, age, sex, ill) for who, age, sex, ill, _ in both]
    later = [(who, age + 1 - 2 * (age == 43), sex, now) for who, age, sex, _, now in both]
    release = ps.publish(engine, _table(first), [ps.KAnonymity(3)], METHODS[name]())
    asked = ps.Composition("register", register=str(_kept(engine, release, tmp_path).path))
    (verdict,) = ps.publish(engine, _table(later), [asked], ps.Generalise({"age": 1})).verdicts.values()
    assert not verdict.safe and verdict.value >= Fraction(1, 2)


def test_an_age_that_was_missing_is_found_below_the_star_of_its_box(engine: Any, tmp_path: Path) -> None:
    first = pd.DataFrame({"age": [None, "24", "24", "55", "56", "57"], "ill": list("fcgxyx")}, dtype=object)
    today = pd.DataFrame({"age": ["31", "32", "33", "55", "56", "57"], "ill": list("fahxyx")}, dtype=object)
    quasi = {"age": ps.Intervals(10)}
    release = ps.publish(engine, ps.Table(first, quasi, "ill"), [ps.KAnonymity(3)], METHODS["boxes"]())
    asked = ps.Composition("register", register=str(_kept(engine, release, tmp_path).path))
    made = ps.publish(engine, ps.Table(today, quasi, "ill"), [asked], ps.Generalise({"age": 1}))
    (verdict,) = made.verdicts.values()
    assert (verdict.value, verdict.witness["located"]) == (Fraction(1, 2), 6)


@pytest.mark.parametrize("seed", seeds(30))
def test_a_population_is_found_by_the_labels_of_our_own_candidate(engine: Any, seed: int) -> None:
    """People were looked for by the exact values of the table, so that the order of publication counted."""
    dice = random.Random(seed)

    def drawn(n: int) -> list[tuple[int, str, str]]:
        return [(dice.randint(20, 49), dice.choice("FM"), dice.choice("abcd")) for _ in range(n)]

    ours, theirs, crowd = drawn(9), drawn(9), drawn(7)
    both = [
        [{"age": f"{age // 10 * 10}-{age // 10 * 10 + 9}", "sex": sex, "ill": ill} for age, sex, ill in rows]
        for rows in (ours, theirs)
    ]
    people = [{"age": str(age), "sex": sex} for age, sex, _ in crowd]
    ways = [[oracle.read_ways(rows, ["age", "sex"], "ill", one, people) for rows in both] for one in people]
    frame = pd.DataFrame([(str(age), *rest) for age, *rest in ours], columns=["age", "sex", "ill"])
    quasi = {"age": ps.Intervals(10), "sex": ps.KeepOrDrop()}
    table = ps.Table(frame, quasi, "ill", population=pd.DataFrame(people))
    other = {"name": "b", "relation": pd.DataFrame(both[1]), "sensitive": "ill", "columns": ["age", "sex"]}
    for level in (Fraction(1), Fraction(1, 2)):
        asked = ps.Composition([other], str(level))
        try:
            made = ps.publish(engine, table, [asked], ps.Generalise({"age": 1, "sex": 0}))
        except ps.PrivacySqlError as refused:
            assert refused.code in ("no_common_value", "nobody_located")
            continue
        (verdict,) = made.verdicts.values()
        assert verdict.value == oracle.exposure(ways, level)


@pytest.mark.parametrize("name", METHODS)
def test_a_population_beside_a_candidate_without_levels_may_be_anywhere(engine: Any, name: str) -> None:
    rows = pd.DataFrame({"age": ["21", "23", "41", "42"], "ill": ["flu", "cold", "x", "y"]})
    other = {"groups": [{"id": "b", "region": {"age": {"lt": 30}}, "sensitive": ["flu", "acne"]}]}
    crowd = pd.DataFrame({"age": ["22", "24", "41", "42"]})
    table = ps.Table(rows, {"age": ps.Intervals(10)}, "ill", population=crowd)
    method = ps.Microaggregate(2) if name == "centres" else METHODS[name]()
    made = ps.publish(engine, table, [ps.KAnonymity(2)], method)
    assert min(row["fewest"] for row in ps.Composition([other]).gather(made.grouping)) == 1
