"""Sensitive values that are written in several ways: one value or several, and the worse reading counts."""

from __future__ import annotations

import random
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import privacy_sql as ps
from privacy_sql.hierarchies.numeric import NUMBER
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
