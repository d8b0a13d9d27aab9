"""Empty texts beside missing values: a CSV file shows both alike, other sources and files tell them apart."""

from __future__ import annotations

import random
from fractions import Fraction
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import privacy_sql as ps
from privacy_sql.errors import NoSafeChoice, NotSafe
from tests.oracles.composition import exposure, own_ways
from tests.publishing.test_published_groups import read, written
from tests.seeds import enough, seeds

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
    for seed in seeds(8):
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
def test_what_one_release_shows_as_missing_and_another_as_empty_is_one_value(
    engine: Any, tmp_path: Path, kind: str
) -> None:
    exposed = 0
    for seed in seeds(12):
        dice = random.Random(seed)
        before, now = (table(dice, [dice.choice(["", None])]) for _ in range(2))
        release = ps.publish(engine, before, [ps.KAnonymity(1)], ps.Generalise({}))
        place = ps.write(engine, release, tmp_path / f"{seed}.{kind}")
        (verdict,) = ps.check(engine, now, [ps.Composition([place], at="1/2", max_exposed="99/100")]).values()
        first, second = (as_read(made.source) for made in (before, now))
        people = [
            [own_ways(rows, ["age"], "illness", person) for rows in (first, second)] for person in second
        ]
        assert verdict.value == exposure(people, Fraction(1, 2)), seed
        exposed += verdict.value > 0
    assert enough(exposed, 1)


def as_read(rows: pd.DataFrame) -> list[dict[str, Any]]:
    """The rows as somebody reads them to whom nothing is nothing."""
    return [{name: value or "" for name, value in row.items()} for row in rows.to_dict("records")]
