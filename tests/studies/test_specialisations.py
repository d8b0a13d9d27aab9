"""Information gained per anonymity lost, against the definition on the rows."""

from __future__ import annotations

import random
from collections import Counter
from math import log2
from typing import Any

import pandas as pd
import pytest

import privacy_sql as ps
from privacy_sql.errors import UsageError

CHANCE = random.Random(3)
ROWS = [(str(CHANCE.randrange(20, 60)), CHANCE.choice("FM")) for _ in range(120)]
FRAME = pd.DataFrame(
    [(age, sex, CHANCE.choice("ab" if age < "35" else "abc")) for age, sex in ROWS],
    columns=["age", "sex", "job"],
)
TABLE = ps.Table(FRAME, {"age": ps.Intervals(5, 20), "sex": ps.KeepOrDrop()}, "job")


def band(age: str, level: int) -> Any:
    return [age, int(age) // 5, int(age) // 20, "*"][level]


def entropy_given(key: Any) -> float:
    """H(job | key) in bits."""
    joint = Counter((key(row), row.job) for row in FRAME.itertuples())
    alone = Counter(key(row) for row in FRAME.itertuples())
    return sum(n / len(FRAME) * log2(alone[k] / n) for (k, _), n in joint.items())


def smallest(key: Any) -> int:
    return min(Counter(key(row) for row in FRAME.itertuples()).values())


def test_gain_and_loss_are_those_of_the_rows(engine: Any) -> None:
    found = {step.column: step for step in ps.specialisations(engine, TABLE, {"age": 2, "sex": 1})}
    gain = entropy_given(lambda r: band(r.age, 2)) - entropy_given(lambda r: band(r.age, 1))
    assert found["age"].gain == pytest.approx(gain, abs=1e-12) and found["age"].level == 1
    assert found["age"].anonymity == (smallest(lambda r: band(r.age, 2)), smallest(lambda r: band(r.age, 1)))
    gain = entropy_given(lambda r: 0) - entropy_given(lambda r: r.sex)
    assert found["sex"].gain == pytest.approx(gain, abs=1e-12)
    after = smallest(lambda r: (band(r.age, 2), r.sex))
    assert found["sex"].anonymity == (smallest(lambda r: band(r.age, 2)), after)
    assert found["sex"].ratio == pytest.approx(gain / (found["sex"].anonymity[0] - after + 1))


def test_the_best_ratio_comes_first_and_raw_columns_have_no_step(engine: Any) -> None:
    steps = ps.specialisations(engine, TABLE, {"age": 3})
    assert [step.column for step in steps] == ["age"]
    both = ps.specialisations(engine, TABLE, {"age": 3, "sex": 1})
    assert [step.ratio for step in both] == sorted((step.ratio for step in both), reverse=True)


def test_a_table_without_a_class_is_refused(engine: Any) -> None:
    with pytest.raises(UsageError, match="class"):
        ps.specialisations(engine, ps.Table(FRAME, ["age"]), {})
