"""Values that are written in several ways: one value or several, and the worse reading counts."""

from __future__ import annotations

import random
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import privacy_sql as ps
from privacy_sql.hierarchies.numeric import NUMBER
from privacy_sql.history import group_contents
from privacy_sql.history.register import Register
from tests.oracles import composition as oracle
from tests.seeds import seeds

PAIRS = [("01", "1"), ("1.0", "1"), ("1e2", "100"), ("", None)]


def _table(rows: list[tuple[str, str | None]]) -> ps.Table:
    return ps.Table(pd.DataFrame(rows, columns=["age", "ill"], dtype=object), ["age"], "ill")


def _other(rows: list[tuple[str, str | None]], folder: Path, number: int) -> dict[str, Any]:
    place = folder / f"{number}.parquet"  # where NULL and an empty text differ
    pd.DataFrame(rows, columns=["age", "ill"], dtype="string").to_parquet(place)
    return {"name": f"other {number}", "file": str(place), "sensitive": "ill", "columns": ["age"]}


def _one_value(value: str | None) -> Any:
    if value and NUMBER.fullmatch(value):
        return Decimal(value.strip()).normalize()
    return value or None


@pytest.mark.parametrize(("first", "second"), PAIRS)
def test_values_that_one_table_counts_as_two_are_not_taken_as_one(
    engine: Any, tmp_path: Path, first: str, second: str | None
) -> None:
    now = [("20", "x"), ("20", second), ("30", "u"), ("30", "v")]
    (diverse,) = ps.check(engine, _table([("20", first), ("20", second)]), [ps.LDiversity(2)]).values()
    assert diverse.value == 2
    for before in (first, "unlike"):
        other = _other([("20", "x"), ("20", before), ("30", "u"), ("30", "v")], tmp_path, 1)
        (verdict,) = ps.check(engine, _table(now), [ps.Composition([other])]).values()
        assert (verdict.value, verdict.safe) == (Fraction(1, 2), False)


def test_a_format_that_changed_between_releases_hides_nobody(engine: Any, tmp_path: Path) -> None:
    """01 and 02 are 1 and 2 now; only 1 is in both."""
    other = _other([("20", "01"), ("20", "03"), ("30", "u"), ("30", "v")], tmp_path, 1)
    table = _table([("20", "1"), ("20", "2"), ("30", "u"), ("30", "v")])
    (verdict,) = ps.check(engine, table, [ps.Composition([other])]).values()
    assert verdict.value == Fraction(1, 2)


@pytest.mark.parametrize("seed", seeds(60, share=20))
def test_the_share_exposed_is_that_of_whoever_is_known_in_one_of_the_readings(
    engine: Any, tmp_path: Path, seed: int
) -> None:
    dice = random.Random(seed)
    values = ["1", "01", "1.0", "2", "2e0", "", None, "x"]
    tables = [
        [(age, dice.choice(values)) for age in ("20", "30", "40") for _ in range(dice.randint(2, 4))]
        for _ in range(dice.choice([2, 3]))
    ]
    readings: list[Any] = [lambda value: value, _one_value]
    held = [
        [
            oracle.groups_of([{"age": age, "ill": read(ill)} for age, ill in rows], ["age"], "ill")
            for rows in tables
        ]
        for read in readings
    ]
    ways = [[[[groups[(age,)]] for groups in read] for read in held] for age, _ in tables[0]]
    others = [_other(rows, tmp_path, number) for number, rows in enumerate(tables[1:], start=1)]
    people = [{"id": n, "qi": {"age": age}} for n, (age, _) in enumerate(tables[0])]
    attacked = [_other(tables[0], tmp_path, 0), *others]
    for level in (Fraction(1), Fraction(1, 2), Fraction(1, 3)):
        expected = oracle.exposure_in_readings(ways, level)
        try:
            (verdict,) = ps.check(engine, _table(tables[0]), [ps.Composition(others, str(level))]).values()
            assert verdict.value == expected
        except ps.PrivacySqlError as refused:
            assert refused.code == "no_common_value"
        found = ps.intersection_attack(engine, attacked, people, [level])
        assert Fraction(found.exposed(level), len(people)) == expected
        for person in found.people():
            assert len(person["set"]) == person.EA_post


ZIPS = ["02139", "02140", "10001", "10002", None, None]
BORN = ["1987-05-14", "1987-06-01", "1970-01-01", "1970-02-02", None, None]
ILL = ["flu", "cold"] * 3


def _beside(
    engine: ps.Engine, labels: tuple[str, str], people: list[str | None], kind: ps.Hierarchy
) -> ps.Verdict:
    """Two groups of one illness each and somebody without a label, beside a release in one group."""
    rows = {"q": [*labels, None, None], "ill": ["flu", "cold", "flu", "cold"]}
    other = {"name": "b", "relation": pd.DataFrame(rows, dtype=object), "sensitive": "ill", "columns": ["q"]}
    table = ps.Table(pd.DataFrame({"q": people, "ill": ILL}, dtype=object), {"q": kind}, "ill")
    (verdict,) = ps.publish(
        engine, table, [ps.Composition([other])], ps.Generalise({"q": kind.height})
    ).verdicts.values()
    return verdict


@pytest.mark.parametrize(
    ("labels", "people", "kind"),
    [
        (("021**", "100**"), ZIPS, ps.KeepOrDrop()),
        (("021xx", "100xx"), ZIPS, ps.KeepOrDrop()),
        (("021*", "100*"), ZIPS, ps.KeepOrDrop()),  # four characters, and every code has five
        (("021", "100"), ZIPS, ps.KeepOrDrop()),  # codes of three
        (("1987", "1970"), BORN, ps.Dates("month", "decade")),
        (("198*", "197*"), BORN, ps.Dates("month", "decade")),
        (("19870514", "19700101"), BORN, ps.KeepOrDrop()),
        (("year 1987", "year 1970"), BORN, ps.Dates("month", "decade")),
    ],
)
def test_a_label_that_cannot_be_meant_as_it_stands_may_mean_anybody(
    engine: Any, labels: tuple[str, str], people: list[str | None], kind: ps.Hierarchy
) -> None:
    verdict = _beside(engine, labels, people, kind)
    assert (verdict.value, verdict.safe) == (Fraction(2, 3), False)


@pytest.mark.parametrize(
    ("labels", "people"),
    [(("555**", "666**"), ZIPS), (("55501", "66601"), ZIPS), (("55", "66"), ["20", "30"] * 3)],
)
def test_a_label_of_people_who_are_not_here_says_nothing_of_those_who_are(
    engine: Any, labels: tuple[str, str], people: list[str | None]
) -> None:
    verdict = _beside(engine, labels, [*people[:4], None, None], ps.KeepOrDrop())
    assert (verdict.value, verdict.witness["located"]) == (0, 2)


DAYS = ["1987-05-14", "1987-05-14", "1990-01-01", "1990-01-01", None, None]
TRUE = [True, True, False, False, None, None]


@pytest.mark.parametrize(
    ("before", "now", "method"),
    [
        (pd.Series(DAYS), pd.Series(pd.to_datetime(DAYS)), ps.Multidimensional()),
        (pd.Series(pd.to_datetime(DAYS)), pd.Series(DAYS), ps.Multidimensional()),
        (pd.Series(pd.to_datetime(DAYS)), pd.Series(DAYS), ps.Generalise({"c": 0})),
        (pd.Series(DAYS), pd.Series(pd.to_datetime(DAYS)), ps.Microaggregate(2)),
        (
            pd.Series(TRUE, dtype="boolean"),
            pd.Series(["True", "True", "False", "False", None, None]),
            ps.Generalise({"c": 0}),
        ),
        (
            pd.Series(["TRUE", "TRUE", "FALSE", "FALSE", None, None]),
            pd.Series(TRUE, dtype="boolean"),
            ps.Multidimensional(),
        ),
    ],
)
def test_a_day_or_a_truth_value_is_the_same_in_a_column_of_another_type(
    engine: Any, tmp_path: Path, before: pd.Series, now: pd.Series, method: ps.Method
) -> None:
    dates = before.tolist()[0] not in (True, "TRUE")
    kind: ps.Hierarchy = ps.Dates("month", "decade") if dates else ps.KeepOrDrop()
    table = ps.Table(
        pd.DataFrame({"c": before, "ill": ["flu", "flu", "cold", "cold", *ILL[:2]]}), {"c": kind}, "ill"
    )
    release = ps.publish(engine, table, [ps.KAnonymity(2)], method)
    register = Register(tmp_path / "register.jsonl")
    place = ps.write(engine, release, tmp_path / "before.csv")
    register.keep("people", place, private=group_contents.writer(release))
    later = ps.Table(pd.DataFrame({"c": now, "ill": ILL}), {"c": kind}, "ill")
    asked = ps.Composition("register", register=str(register.path))
    (verdict,) = ps.publish(engine, later, [asked], ps.Generalise({"c": kind.height})).verdicts.values()
    assert (verdict.value, verdict.witness["located"]) == (Fraction(2, 3), 6)


def test_an_illness_that_is_told_by_true_and_false_is_one_in_any_spelling(
    engine: Any, tmp_path: Path
) -> None:
    other = _other([("20", "True"), ("20", "False"), ("30", "u"), ("30", "v")], tmp_path, 1)
    table = _table([("20", "true"), ("20", "x"), ("30", "u"), ("30", "v")])
    (verdict,) = ps.check(engine, table, [ps.Composition([other])]).values()
    assert verdict.value == Fraction(1, 2)


def test_a_release_that_shows_who_is_who_is_about_persons_and_not_about_their_rows(engine: Any) -> None:
    """One of two people is known for certain, although nine of ten rows are the other's."""
    now = pd.DataFrame({"who": ["p1"] + ["p2"] * 9, "age": ["20"] * 10, "ill": ["flu", *"abcdefghi"][:10]})
    out = pd.DataFrame({"who": ["p1"] * 2 + ["p2"] * 9, "ill": ["flu", "x", *"abcdefghi"]})
    other = {"name": "b", "relation": out, "sensitive": "ill", "columns": ["who"]}
    table = ps.Table(now, {"age": ps.KeepOrDrop()}, "ill", identifier="who", values_per_person="set")
    asked = ps.Composition([other], max_exposed="0.4")
    (verdict,) = ps.publish(engine, table, [asked], ps.Generalise({"age": 1})).verdicts.values()
    assert verdict.witness["people"] == 2 and not verdict.safe


def test_labels_that_are_to_be_read_exactly_are_no_ranges(engine: Any) -> None:
    rows = pd.DataFrame({"size": ["1-2", "1", "3"], "ill": ["flu", "cold", "x"]})
    other = {"name": "z", "relation": rows, "sensitive": "ill", "columns": ["size"]}
    for locate, found in (("region", ["cold", "flu"]), ("exact", ["cold"])):
        (person,) = ps.intersection_attack(
            engine, [{**other, "locate": locate}], [{"id": 1, "qi": {"size": "1"}}]
        ).people()
        assert person["set"] == found


@pytest.mark.parametrize("value", [True, np.True_, "true", "True"])
def test_a_truth_value_of_somebody_given_by_hand_is_that_of_the_engine(engine: Any, value: object) -> None:
    rows = pd.DataFrame({"m": [True, True, False], "ill": ["flu", "gout", "cold"]})
    other = {"name": "z", "relation": rows, "sensitive": "ill", "columns": ["m"]}
    people = [
        {"id": 1, "qi": {"m": value}},
        {"id": 2, "qi": {"m": float("nan")}},
        {"id": 3, "qi": {"m": None}},
    ]
    one, missing, null = ps.intersection_attack(engine, [other], people).people()
    assert (one["set"], one.status) == (["flu", "gout"], "ok")
    assert (missing["set"], missing.status) == (null["set"], null.status)
