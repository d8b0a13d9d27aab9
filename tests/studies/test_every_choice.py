"""Mixing and disclosure of every choice, from arrays and by statements, beside the rows of each choice."""

from __future__ import annotations

import math
import random
from collections import Counter
from typing import Any

import pandas as pd
import pytest

import privacy_sql as ps
from privacy_sql.errors import UsageError
from privacy_sql.lattice import in_memory
from privacy_sql.studies.every_choice import every_choice
from tests import engines
from tests.oracles.worst_case import recursion_of_the_paper
from tests.seeds import seeds

PARENTS = {"a": "x", "b": "x", "c": "y"}
LEVELS: list[list[Any]] = [
    [lambda v: v, lambda v: v and int(v) // 10, lambda v: "*"],
    [lambda v: v, PARENTS.get, lambda v: "*"],
]


def table(rows: list[Any], **more: Any) -> ps.Table:
    frame = pd.DataFrame(rows, columns=["age", "job", "ill"], dtype=object)
    jobs = ps.Tree({job: [parent, "*"] for job, parent in PARENTS.items()})
    return ps.Table(frame, {"age": ps.Intervals(10), "job": jobs}, "ill", **more)


@pytest.mark.parametrize("seed", seeds(2))
def test_every_choice_says_what_its_rows_say_counted_in_arrays_or_by_statements(
    engine: Any, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    draw = random.Random(seed)
    rows = [
        (
            draw.choice(["20", "25", "31", None]),
            draw.choice([*"abc", None]),
            draw.choice(["f", "g", "h", None]),
        )
        for _ in range(draw.randint(1, 14))
    ]
    found = every_choice(engine, table(rows), (0, 1, 2))
    monkeypatch.setattr(in_memory, "MOST_COMBINATIONS", -1)
    by_statements = every_choice(engine, table(rows), (0, 1, 2))
    assert len(found) == len(by_statements) == 9
    for one, other in zip(found, by_statements, strict=True):
        assert (one.levels, one.disclosure) == (other.levels, other.disclosure)
        assert one.entropy == pytest.approx(other.entropy, abs=1e-12)
        levels = [one.levels["age"], one.levels["job"]]
        groups: dict[Any, Counter[Any]] = {}
        for *person, ill in rows:
            key = tuple(LEVELS[n][level](v) for n, (level, v) in enumerate(zip(levels, person, strict=True)))
            groups.setdefault(key, Counter())[ill] += 1
        counts = [list(group.values()) for group in groups.values()]
        mixed = [-sum(n / sum(its) * math.log(n / sum(its)) for n in its) for its in counts]
        assert one.entropy == pytest.approx(min(mixed), abs=1e-12)
        values = {None, *"fgh"}
        named = [[group[value] for value in values] for group in groups.values()]
        assert one.disclosure == {facts: recursion_of_the_paper(named, facts) for facts in (0, 1, 2)}


def test_a_table_without_one_value_for_each_person_has_no_such_choices() -> None:
    rows = pd.DataFrame({"id": [1, 1], "age": ["20", "20"], "ill": ["f", "g"]})
    several = ps.Table(rows, ["age"], "ill", identifier="id", values_per_person="set")
    with engines.opened() as engine, pytest.raises(UsageError, match="one sensitive value per person"):
        every_choice(engine, several)
