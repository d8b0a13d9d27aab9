"""Microaggregation end to end: sizes, centres, and no row lost."""

from __future__ import annotations

import random
from collections import Counter
from fractions import Fraction
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import privacy_sql as ps
from privacy_sql.errors import DataError, UsageError
from tests.seeds import seeds

# how it publishes the forty-eight people of tests/parts.py
EXAMPLE = {"k": 6, "seed": 1}

ILLNESS = st.sampled_from(["flu", "cold", None])
ROWS = st.lists(
    st.tuples(
        st.integers(20, 60), st.sampled_from("xyz"), st.sampled_from(["flu", "cold", None]), st.integers(0, 2)
    ),
    min_size=4,
    max_size=14,
)


def _table(rows: list[Any]) -> ps.Table:
    frame = pd.DataFrame(rows, columns=["age", "town", "illness", "visits"])
    return ps.Table(
        frame.astype({"age": str, "visits": str}),
        ["age", "town"],
        "illness",
        insensitive={"columns": ["visits"], "acknowledge": "a test reads it"},
    )


def _published(release: Any) -> list[dict[str, Any]]:
    return release.base.engine.fetch(release.view)


@settings(deadline=None, max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rows=ROWS, k=st.integers(1, 4), size=st.sampled_from(["fixed", "variable"]), together=st.booleans())
def test_no_row_is_lost_and_the_published_groups_are_those_judged(
    engine: Any, rows: list[Any], k: int, size: str, together: bool
) -> None:
    release = ps.publish(engine, _table(rows), [ps.KAnonymity(k)], ps.Microaggregate(k, size, together))
    published = _published(release)
    kept = Counter((row["illness"], row["visits"]) for row in published)
    assert kept == Counter((illness, str(visits)) for _, _, illness, visits in rows)
    assert release.safe
    groups = Counter((row["age"], row["town"]) for row in published)
    assert min(groups.values()) >= k
    assert sum(row["age"] for row in published) == pytest.approx(sum(age for age, *_ in rows))


def test_the_centre_is_the_mean_of_numbers_and_the_median_of_labels(engine: Any) -> None:
    towns = ps.Tree({"a": ["north", "*"], "b": ["north", "*"], "c": ["south", "*"]})
    frame = pd.DataFrame(
        {"age": ["20", "21", "25", "80"], "town": ["c", "a", "b", "c"], "illness": ["x"] * 4}
    )
    table = ps.Table(frame[:3], {"age": None, "town": towns}, "illness")
    (row, *others) = _published(ps.publish(engine, table, [ps.KAnonymity(3)], ps.Microaggregate(3)))
    assert (row["age"], row["town"]) == (22, "b")
    assert others == [row, row]


def test_alike_rows_are_dealt_to_groups_unless_kept_together(engine: Any) -> None:
    rows = [(age, "x", illness, 0) for age in (30, 31) for illness in ("flu", "cold", "gout")]
    release = ps.publish(engine, _table(rows), [ps.KAnonymity(2)], ps.Microaggregate(2))
    assert sorted({row["age"] for row in _published(release)}) == [30, 30.5, 31]
    together = ps.publish(engine, _table(rows), [ps.KAnonymity(2)], ps.Microaggregate(2, together=True))
    assert sorted({row["age"] for row in _published(together)}) == [30, 31]


@pytest.mark.parametrize("seed", seeds(8))
def test_what_is_said_is_counted_on_the_rows_that_are_published(engine: Any, seed: int) -> None:
    rng = random.Random(seed)
    rows = [
        (rng.choice([20, 30, 41]), rng.choice("xy"), rng.choice(["flu", "cold"]), 0)
        for _ in range(rng.randint(6, 12))
    ]
    asked = [ps.KAnonymity(2), ps.LDiversity(2, "probabilistic")]
    release = ps.publish(engine, _table(rows), asked, ps.Microaggregate(2, rng.choice(["fixed", "variable"])))
    groups: dict[Any, Counter[str]] = {}
    for row in _published(release):
        groups.setdefault((row["age"], row["town"]), Counter())[row["illness"]] += 1
    smallest, share = release.verdicts.values()
    assert smallest.value == min(group.total() for group in groups.values())
    assert share.value == max(Fraction(max(group.values()), group.total()) for group in groups.values())
    assert release.grouping.n_groups == len(groups)


def test_a_release_is_written_audited_and_attacked_by_its_manifest(engine: Any, tmp_path: Path) -> None:
    rows = [(20 + i, "x" if i < 6 else "y", ("flu", "cold", "gout")[i % 3], 0) for i in range(12)]
    release = ps.publish(engine, _table(rows), [ps.KAnonymity(3)], ps.Microaggregate(3))
    place = ps.write(engine, release, tmp_path / "out.csv")
    assert ps.verify(place)["method"] == "microaggregate"
    people = [{"id": i, "qi": {"age": age, "town": town}} for i, (age, town, *_) in enumerate(rows)]
    found = ps.intersection_attack(engine, [place], people)
    assert found.summary.n_ok == 12
    told = {person.id: person["set"] for person in found.people()}
    assert sum(rows[i][2] in values for i, values in told.items()) >= 9


def test_a_seed_marks_the_release_and_repeats_it(engine: Any) -> None:
    rows = [(30, "x", illness, 0) for illness in ("flu", "cold", "gout", "cold")]
    first, second = (
        ps.publish(engine, _table(rows), [ps.KAnonymity(2)], ps.Microaggregate(2, seed=7)) for _ in range(2)
    )
    assert first.rehearsal and _published(first) == _published(second)


def test_numbers_that_are_missing_have_no_place(engine: Any) -> None:
    table = ps.Table(pd.DataFrame({"age": ["30", None, "31"], "s": ["a", "b", "c"]}), ["age"], "s")
    with pytest.raises(DataError, match="without a number"):
        ps.publish(engine, table, [ps.KAnonymity(1)], ps.Microaggregate(1))


@pytest.mark.parametrize("params", [{"k": 0}, {"k": 2, "size": "huge"}])
def test_parameters_without_meaning_are_refused(params: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        ps.Microaggregate(**params)


def test_fewer_rows_than_k_are_refused(engine: Any) -> None:
    with pytest.raises(DataError, match="fewer than k=9"):
        ps.publish(engine, _table([(30, "x", "flu", 0)] * 4), [ps.KAnonymity(1)], ps.Microaggregate(9))
