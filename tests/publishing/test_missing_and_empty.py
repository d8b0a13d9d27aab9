"""Empty texts beside missing values: a CSV file shows both alike, other sources and files tell them apart."""

from __future__ import annotations

import random
from datetime import date
from fractions import Fraction
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import privacy_sql as ps
from privacy_sql.errors import NoSafeChoice, NotSafe
from privacy_sql.history import group_contents
from privacy_sql.history.register import Register
from tests.oracles.composition import exposure, exposure_in_readings, own_ways
from tests.publishing.test_published_groups import read, written
from tests.seeds import NIGHTLY, OFTEN, enough, seeds

METHODS = {
    "generalise": lambda: ps.Generalise({}, max_suppressed="1/2"),
    "full_domain": lambda: ps.FullDomain(),
    "boxes": lambda: ps.Multidimensional(),
    "bucketize": lambda: ps.Bucketize(["age"]),
    "two tables": lambda: ps.Bucketize(["age"], layout="two_tables"),
}


def table(dice: random.Random, missing: list[str | None]) -> ps.Table:
    """Some people of few ages and illnesses, and what is missing among them written in these ways."""
    ages = [dice.choice([*missing, "1", "2"]) for _ in range(24)]
    illnesses = [dice.choice([*missing, "u", "v"]) for _ in range(24)]
    rows = pd.DataFrame({"age": ages, "illness": illnesses}, dtype=object)
    return ps.Table(rows, {"age": ps.KeepOrDrop()}, "illness", name="people")


@pytest.mark.parametrize("name", METHODS)
def test_a_csv_file_shows_no_values_alike_that_were_judged_apart(
    engine: Any, tmp_path: Path, name: str
) -> None:
    met: dict[bool, int] = {True: 0, False: 0}
    for seed in seeds(15, OFTEN):
        dice = random.Random(seed)
        made = table(dice, dice.choice([["", None], [""], [None]]))
        asked = [ps.KAnonymity(2), ps.LDiversity("1.01", kind="entropy"), ps.BTPrivacy([["0.5", "0.99"]])]
        try:
            release = ps.publish(engine, made, asked, METHODS[name]())
        except (NoSafeChoice, NotSafe):
            continue
        if not release.safe:
            continue
        ps.write(engine, release, tmp_path / f"{seed}.parquet")
        files = [pd.read_parquet(file) for file in tmp_path.glob(f"{seed}.*parquet")]
        columns = [list(rows[name]) for rows in files for name in rows.columns]
        alike = any("" in column and any(pd.isna(value) for value in column) for column in columns)
        met[alike] += 1
        place = tmp_path / f"{seed}.csv"
        try:
            ps.write(engine, release, place)
        except NotSafe as problem:
            assert alike and problem.code == "read_alike", problem
            continue
        assert not alike
        groups = read(written(place, release))
        assert release.verdicts["k_anonymity(k=2)"].value == min(sum(n for _, n in group) for group in groups)
        worst = max(Fraction(max(n for _, n in group), sum(n for _, n in group)) for group in groups)
        assert Fraction(release.baseline.to_json()["as_published"]["worst_guess"]) == worst
    assert enough(min(met.values()), 1)


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_what_one_release_shows_as_missing_and_another_as_empty_is_read_as_one_value_and_as_two(
    engine: Any, tmp_path: Path, kind: str
) -> None:
    exposed = 0
    for seed in seeds(12):
        dice = random.Random(seed)
        before, now = (table(dice, [dice.choice(["", None])]) for _ in range(2))
        release = ps.publish(engine, before, [ps.KAnonymity(1)], ps.Generalise({}))
        place = ps.write(engine, release, tmp_path / f"{seed}.{kind}")
        (verdict,) = ps.check(engine, now, [ps.Composition([place], at="1/2", max_exposed="99/100")]).values()
        readings = [[as_read(made.source) for made in (before, now)] for _ in range(2)]
        # as two values; a CSV file does not show an empty text
        for rows, made in zip(readings[1], (before, now), strict=True):
            for row, value in zip(rows, made.source["illness"], strict=True):
                unseen = value == "" and kind == "csv" and made is before
                row["illness"] = None if unseen else value
        people = [
            [[own_ways(rows, ["age"], "illness", person) for rows in reading] for reading in readings]
            for person in readings[0][1]
        ]
        assert verdict.value == exposure_in_readings(people, Fraction(1, 2)), seed
        exposed += verdict.value > 0
    assert enough(exposed, 1)


TREE = ps.Tree({"": ["low", "*"], "1": ["low", "*"], "2": ["high", "*"], "3": ["high", "*"]})
RELEASED = {
    "tree": lambda: (TREE, ps.Generalise({"age": 1})),
    "mask": lambda: (ps.Mask(1, 0), ps.Generalise({"age": 1})),
    "words": lambda: (ps.AsIs(), ps.Multidimensional()),
    "nodes": lambda: (TREE, ps.Multidimensional()),
    "known": lambda: (ps.KeepOrDrop(), ps.Multidimensional()),
    "labels": lambda: (ps.AsIs(), ps.Multidimensional()),  # and nothing is kept of it
}


@pytest.mark.parametrize("name", RELEASED)
def test_who_is_known_without_a_value_is_found_where_an_empty_text_lies(
    engine: Any, tmp_path: Path, name: str
) -> None:
    exposed = 0
    for seed in seeds(3 if NIGHTLY else 1):
        dice = random.Random(seed)
        ages = [dice.choice(["", "1", "2", "3"]) for _ in range(16)]
        before = pd.DataFrame({"age": ages, "illness": [dice.choice("uvw") for _ in ages]}, dtype=object)
        kind, method = RELEASED[name]()
        asked = [ps.KAnonymity(1 if isinstance(method, ps.Generalise) else 4)]
        release = ps.publish(engine, ps.Table(before, {"age": kind}, "illness", name="people"), asked, method)
        folder = tmp_path / str(seed)
        folder.mkdir()
        place = ps.write(engine, release, folder / "out.parquet")
        if name != "labels":
            Register(folder / "register.jsonl").keep("out", place, private=group_contents.writer(release))
        illnesses = [dice.choice("uvw") for _ in ages]
        found = {}
        # the table, its population, and nobody beside the table: each may have the empty texts
        for ours, theirs in [("", None), (None, None), (None, ""), ("", "none")]:
            now = spelt(ages, ours).assign(illness=illnesses)
            people = {"population": spelt(ages, theirs)} if theirs != "none" else {}
            again = ps.Table(now, {"age": ps.KeepOrDrop()}, "illness", name="people", **people)
            named = [place] if name == "labels" else "register"
            beside = ps.Composition(
                named, at="1/2", max_exposed="1/9", register=str(folder / "register.jsonl")
            )
            (verdict,) = ps.check(engine, again, [beside]).values()
            found[ours, theirs] = verdict.value
        assert len(set(found.values())) == 1, (seed, found)
        exposed += found["", None] > 0
    assert enough(exposed, 1)


@pytest.mark.parametrize("missing", ["", None])
def test_who_may_lie_where_nothing_or_where_an_empty_text_is_shown_is_judged_by_the_worse(
    engine: Any, tmp_path: Path, missing: str | None
) -> None:
    for seed in seeds(8):
        dice = random.Random(seed)
        ages = [dice.choice(["", None, "1"]) for _ in range(9)]
        rows = pd.DataFrame({"age": ages, "illness": [dice.choice("uvwx") for _ in ages]}, dtype=object)
        before = ps.Table(rows, {"age": ps.KeepOrDrop()}, "illness", name="people")
        illnesses = [dice.choice("uvwx") for _ in ages]
        release = ps.publish(engine, before, [ps.KAnonymity(1)], ps.Generalise({}))
        place = ps.write(engine, release, tmp_path / f"{seed}.parquet")
        now = spelt([age or "" for age in ages], missing).assign(illness=illnesses)
        again = ps.Table(now, {"age": ps.KeepOrDrop()}, "illness", name="people")
        (verdict,) = ps.check(engine, again, [ps.Composition([place], at="1/2", max_exposed="1/9")]).values()
        shown = rows.to_dict("records")
        people = [
            [own_ways(shown, ["age"], "illness", there), own_ways(as_read(now), ["age"], "illness", here)]
            for there, here in zip(shown, as_read(now), strict=True)
        ]
        assert verdict.value >= exposure(people, Fraction(1, 2)), seed


def test_people_are_found_by_the_days_of_a_parquet_file(engine: Any, tmp_path: Path) -> None:
    days = ["2020-01-01", "2020-01-02", None]
    rows = pd.DataFrame({"born": days * 2, "illness": list("uvwcdx")}, dtype=object)
    typed = rows.assign(born=[day and date.fromisoformat(day) for day in rows["born"]])
    before = ps.Table(typed, {"born": ps.AsIs()}, "illness", name="people")
    now = [each.assign(illness=list("uvwabx")) for each in (rows, typed)]
    release = ps.publish(engine, before, [ps.KAnonymity(2)], ps.Generalise({}))
    place = ps.write(engine, release, tmp_path / "out.parquet")
    for each in now:
        table = ps.Table(each, {"born": ps.AsIs()}, "illness", name="people")
        (verdict,) = ps.check(engine, table, [ps.Composition([place], at=1, max_exposed="1/2")]).values()
        assert verdict.value == Fraction(2, 3)


def spelt(ages: list[str], missing: str | None) -> pd.DataFrame:
    """The ages with what is missing among them written in this way."""
    return pd.DataFrame({"age": [age or missing for age in ages]}, dtype=object)


def as_read(rows: pd.DataFrame) -> list[dict[str, Any]]:
    """The rows as somebody reads them to whom nothing is nothing."""
    return [{name: value or "" for name, value in row.items()} for row in rows.to_dict("records")]
