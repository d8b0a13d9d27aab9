"""A release measured against its source: beside every person and every row, one by one."""

from __future__ import annotations

import random
from fractions import Fraction
from itertools import pairwise
from math import comb
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from scipy.stats import beta

import privacy_sql as ps
from tests.command_line import call
from tests.seeds import seeds


def _rows(chance: random.Random, most: int) -> list[tuple[Any, ...]]:
    return [
        (
            chance.choice([None, "", "a", "b"]),
            chance.choice(["1", "2", None]),
            chance.choice(["x", "y", None]),
        )
        for _ in range(chance.randint(1, most))
    ]


def _frame(rows: list[tuple[Any, ...]]) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=["a", "b", "s"], dtype=object)


def _right(people: list[tuple[Any, ...]], shown: list[tuple[Any, ...]]) -> Fraction:
    right = Fraction(0)
    for person in people:
        values = [row[2] for row in shown if row[:2] == person[:2]]
        best = [v for v in dict.fromkeys(values) if values.count(v) == max(map(values.count, values))]
        right += Fraction(person[2] in best, len(best) or 1)
    return right


@pytest.mark.parametrize("seed", seeds(25))
def test_the_study_agrees_with_asking_about_everybody(engine: Any, seed: int) -> None:
    chance = random.Random(seed)
    people, shown, others = _rows(chance, 15), _rows(chance, 15), _rows(chance, 8)
    found = ps.measure(
        engine, _frame(people), _frame(shown), ["a", "b"], "s", _frame(others), most=1, linked=(["a"], ["b"])
    )
    assert found.right == _right(people, shown)
    assert found.people == len(people)
    assert found.fitted == sum(any(row[:2] == person[:2] for row in shown) for person in people)
    values = [person[2] for person in people]
    assert found.baseline == Fraction(max(map(values.count, values)), len(people))
    assert found.control is not None
    assert found.control.right == _right(others, shown)
    for columns, told in [
        ((0, 1), found.singled_out),
        ((0,), found.subsets["a",]),
        ((1,), found.subsets["b",]),
    ]:
        ours, theirs = ([tuple(row[c] for c in columns) for row in rows] for rows in (people, shown))
        alone = {key for key in theirs if theirs.count(key) == 1}
        assert (told.right, told.alone) == (sum(ours.count(key) == 1 for key in alone), len(alone))
    linked = 0
    for person in people:
        if all([each[c] for each in people].count(person[c]) == 1 for c in (0, 1)):
            linked += sum(row[0] == person[0] and row[1] == person[1] for row in shown) == 1
    assert found.linked == linked


@pytest.mark.parametrize(("right", "asked"), [(0, 7), (7, 7), (1, 20), (19, 20), (10, 21), (300, 5000)])
@pytest.mark.parametrize("level", ["0.9", "0.975"])
def test_the_interval_is_that_of_the_beta_distribution_and_covers_what_it_says(
    right: int, asked: int, level: str
) -> None:
    low, high = ps.clopper_pearson(right, asked, level)
    tail = (1 - float(level)) / 2
    assert float(low) == pytest.approx(beta.ppf(tail, right, asked - right + 1) if right else 0, abs=1e-9)
    assert float(high) == pytest.approx(
        beta.ppf(1 - tail, right + 1, asked - right) if right < asked else 1, abs=1e-9
    )
    if asked <= 21:
        # outwards: at either end so many, or so few, are no likelier than half the error
        chances = [comb(asked, n) * low**n * (1 - low) ** (asked - n) for n in range(right, asked + 1)]
        assert sum(chances) <= (1 - Fraction(level)) / 2 or low == 0
        chances = [comb(asked, n) * high**n * (1 - high) ** (asked - n) for n in range(right + 1)]
        assert sum(chances) <= (1 - Fraction(level)) / 2 or high == 1


def test_shares_of_more_people_have_narrower_intervals_around_them() -> None:
    widths = []
    for asked in (10, 100, 1000):
        low, high = ps.clopper_pearson(asked // 5, asked)
        assert low < Fraction(1, 5) < high
        widths.append(high - low)
    assert all(narrow < wide for wide, narrow in pairwise(widths))


def test_a_number_right_that_is_no_whole_number_is_rounded_away_from_the_middle() -> None:
    low, high = ps.clopper_pearson(Fraction(5, 2), 10)
    assert (low, high) == (ps.clopper_pearson(2, 10)[0], ps.clopper_pearson(3, 10)[1])


def test_a_release_of_ours_is_measured_at_its_levels(tmp_path: Path) -> None:
    people = pd.DataFrame(
        {
            "age": [str(20 + n % 17) for n in range(60)],
            "ill": [("flu", "cold", "gout")[n % 3] for n in range(60)],
        }
    )
    people.to_csv(tmp_path / "people.csv", index=False)
    table = ps.Table(tmp_path / "people.csv", {"age": ps.Intervals(5, 10)}, "ill")
    with ps.connect() as engine:
        release = ps.publish(engine, table, [ps.KAnonymity(3)], ps.Generalise({"age": 2}))
        written = ps.write(engine, release, tmp_path / "out.csv")
        found = ps.measure(engine, tmp_path / "people.csv", tmp_path / "out.csv", ["age"], "ill")
    assert written
    bands = [(str(int(age) // 10), ill) for age, ill in zip(people["age"], people["ill"], strict=True)]
    assert found.fitted == 60
    assert found.right == _right([(a, "", s) for a, s in bands], [(a, "", s) for a, s in bands])
    outcome = call(
        *("attack", "measure", "--source", "people.csv", "--release", "out.csv.manifest.json"),
        *("--known", "age", "--secret", "ill", "--control", "people.csv"),
        *("--project", tmp_path, "--json"),
    )
    told = outcome.json["attack"]
    assert told["right"] == str(found.right)
    assert told["control"]["right"] == str(found.right)


@pytest.mark.parametrize(
    ("known", "secret", "more", "message"),
    [
        ([], "s", {}, "at least one column"),
        (["a", "s"], "s", {}, "not the secret"),
        (["a", "a"], "s", {}, "each once"),
        (["a", "b"], "s", {"linked": (["a"], [])}, "two sets"),
        (["a", "nope"], "s", {}, "nope"),
        (["a"], "s", {"level": "1.5"}, "level"),
        (["a", "b"], "s", {"control": _frame([])}, "no rows"),
    ],
)
def test_what_cannot_be_asked_is_refused(known: Any, secret: str, more: Any, message: str) -> None:
    rows = _frame([("a", "1", "x"), ("b", "2", "y")])
    with ps.connect() as engine, pytest.raises(ps.PrivacySqlError, match=message):
        ps.measure(engine, rows, rows, known, secret, **{"control": rows, **more})
