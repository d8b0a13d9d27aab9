"""Boxes in arrays and by statements are the same to the place and the number, and those of the paper's words.

Random tables: NULL, repeated people, numbers, words and hierarchies, one value per person, sets and
multisets, one and two sensitive columns, columns that are published as they are, every way to cut.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest

import privacy_sql as ps
from privacy_sql.boxes import in_memory
from privacy_sql.boxes.partitioning import Boxes, CutPlan, Partitioning
from privacy_sql.counted.base import Base, count
from privacy_sql.criteria import Criterion
from privacy_sql.judge import Requirements
from privacy_sql.query.template import Query
from privacy_sql.spaces import partitions
from tests import engines
from tests.oracles.partitions import Along, partition
from tests.oracles.verdicts import keeps
from tests.seeds import NIGHTLY, OFTEN, enough, seeds, tries

SEEDS = seeds(400 if NIGHTLY else 10, OFTEN)
JOBS = {"a": "x", "b": "x", "c": "y", "d": "y"}
ZIPS = {str(n): (f"u{n // 2}", f"v{n // 6}") for n in range(18)}
KINDS: dict[str, Any] = {
    "age": ps.Intervals(5),
    "job": ps.Tree({job: [parent, "*"] for job, parent in JOBS.items()}),
    "size": None,
    "zip": ps.Tree({zip_: [*nodes, "*"] for zip_, nodes in ZIPS.items()}),
    "word": None,
}
LEVELS: dict[str, list[Any]] = {
    "job": [lambda v: v, JOBS.get],
    "zip": [lambda v: v, lambda v: v and ZIPS[v][0], lambda v: v and ZIPS[v][1]],
}
REQUIRE: list[list[Criterion]] = [
    [ps.KAnonymity(1)],
    [ps.KAnonymity(3)],
    [ps.KAnonymity(2), ps.LDiversity(2)],
    [ps.LDiversity("1.5", kind="entropy")],
    [ps.LDiversity(2, kind="recursive", c=3)],
    [ps.LDiversity("3/2", kind="probabilistic")],
    [ps.TCloseness("0.5")],
    [ps.BetaLikeness("3")],
    [ps.DeltaDisclosure("2")],
    [ps.AlphaKAnonymity("0.8", 2)],
    [ps.CKSafety("0.9", 1)],
    [ps.KAnonymity(2), ps.CKSafety("0.95", 1), ps.TCloseness("0.7")],
]
# not all of these are asked by hand
MORE: list[list[Criterion]] = [
    [ps.CKSafety("0.95", 1, {"u": {"c": "0.8", "k": 0}, "w": {"c": "0.9", "k": 2}})],
]
SKYLINES: list[list[Criterion]] = [
    [ps.PrivacySkyline([[1, 0, 1, "0.9"], [0, 1, 0, "0.8"]])],
    [ps.CKSafety("0.95", 1), ps.PrivacySkyline([[0, 0, 1, "0.9"]])],
]


def people(rng: random.Random, most: int, per_person: str = "one") -> pd.DataFrame:
    ages = [None, *range(20, 60)] if rng.random() < 0.5 else [*range(20, 25)]
    rows = []
    for number in range(rng.randint(1, most)):
        person = (
            number,
            rng.choice(ages),
            rng.choice([*"abcd", None]),
            rng.choice([1.5, 2.5, None, 7.0, 1000.0]),
            str(rng.randrange(18)),
            rng.choice(["é", "a", "Z", "10", "9", None]),
            rng.choice("mn"),
        )
        held = [
            rng.choice(["u", "v", "w", None]) for _ in range(1 if per_person == "one" else rng.randint(1, 3))
        ]
        for value in set(held) if per_person == "set" else held:
            rows.append((*person, value, rng.choice(["hi", "lo", None])))
    columns = ["id", *KINDS, "sex", "s", "class"]
    return pd.DataFrame(rows, columns=columns, dtype=object)


def drawn(seed: int) -> tuple[ps.Table, list[Criterion], CutPlan]:
    rng = random.Random(seed)
    per_person = rng.choice(["one", "one", "set", "multiset"])
    rows = people(rng, 60, per_person)
    quasi = rng.sample(list(KINDS), rng.randint(1, 5))
    joint = per_person == "one" and rng.random() < 0.2
    known = rng.random() < 0.2
    beside = {"columns": ["sex"], "known": True} if known else {"columns": ["sex"], "acknowledge": "a test"}
    more: dict[str, Any] = (
        {} if per_person == "one" else {"identifier": "id", "values_per_person": per_person}
    )
    table = ps.Table(
        rows,
        {name: KINDS[name] for name in KINDS if name in quasi},
        ["s", "class"] if joint else "s",
        insensitive=beside,
        joint=joint,
        **more,
    )
    table = table.with_joint() if joint else table
    fit = REQUIRE if per_person == "one" else REQUIRE[:3]
    split = rng.choice(["median", "range", "information_gain"])
    by_class = rng.choice([None, "sex", "s"]) if split == "information_gain" and not joint else None
    return (
        table,
        rng.choice(fit + (SKYLINES + MORE) * (per_person == "one")),
        CutPlan(split, by_class, rng.random() < 0.4, ("sex",) if known else ()),
    )


def told(base: Base, boxes: Boxes) -> tuple[Any, ...]:
    """The box of every combination, what every box prints, and how many cuts there were."""

    def listed(columns: str, relation: Any) -> list[tuple[Any, ...]]:
        found = base.engine.fetch(Query(f"select {columns} from {relation}", "boxes"))
        return sorted(tuple(row.values()) for row in found)

    labels = ", ".join(["g", *(f"label_{alias}" for alias in base.columns)])
    return listed("c, g", boxes.final), listed(labels, boxes.printed), boxes.cuts


def both(base: Base, require: Sequence[Criterion], plan: CutPlan) -> tuple[Any, ...] | None:
    """What arrays and statements say alike; None where the whole table is not safe."""
    asked = Requirements.of(base.table, require)
    found = []
    for memory in (None if base.engine.embedded else True, False):
        partitioning = Partitioning(base, asked.require, plan, in_memory=memory)
        if not asked.judge(partitioning.whole):
            return None
        boxes = partitioning.run()
        assert partitioning.in_memory == (memory is not False)
        verdicts = asked.judge(boxes.grouping)
        found.append((*told(base, boxes), [(v.safe, v.value) for v in verdicts.values()]))
    assert found[0] == found[1], (require, plan)
    return found[0]


@pytest.mark.parametrize("few_places", [partitions.FEW_PLACES, 3])
def test_boxes_in_memory_are_those_of_statements(monkeypatch: pytest.MonkeyPatch, few_places: int) -> None:
    monkeypatch.setattr(partitions, "FEW_PLACES", few_places)
    monkeypatch.setattr(in_memory, "AT_ONCE", 40)
    cut = 0
    with engines.opened() as engine:
        for seed in SEEDS:
            table, require, plan = drawn(seed * 2 + (few_places == 3))
            base = count(engine, table)
            found = both(base, require, plan) if base.holds_rows else None
            cut += bool(found and found[2])
    assert enough(cut, len(SEEDS) // 3)


def by_hand(rows: list[Any], quasi: list[str], require: Sequence[Criterion], split: str) -> Any:
    def safe(groups: list[list[Any]]) -> bool:
        flat = [(number, str(row[-1])) for number, group in enumerate(groups) for row in group]
        return all(keeps(criterion, flat) for criterion in require)

    axes = [
        Along(number, [row[number] for row in rows], LEVELS.get(name, ()))
        for number, name in enumerate(quasi)
    ]
    if not safe([rows]):
        return None
    return Counter(tuple(sorted(map(str, box))) for box in partition(rows, axes, safe, split))


@pytest.mark.parametrize("split", ["median", "range"])
@pytest.mark.parametrize("seed", seeds(len(SEEDS) // 2))
def test_boxes_are_those_of_the_words_of_the_paper(split: str, seed: int) -> None:
    rng = random.Random(f"{seed} {split}")
    require = rng.choice([*REQUIRE, *SKYLINES])
    frame = people(rng, 8 if require in SKYLINES else 24)
    quasi = [name for name in KINDS if name in rng.sample(list(KINDS), rng.randint(1, 3))]
    rows = [tuple(row) for row in frame[[*quasi, "s"]].itertuples(index=False, name=None)]
    expected = by_hand(rows, quasi, require, split)
    table = ps.Table(frame[[*quasi, "s"]], {name: KINDS[name] for name in quasi}, "s")
    with engines.opened() as engine:
        base = count(engine, table)
        plan = CutPlan(split)
        found = both(base, require, plan)
        assert (found is None) == (expected is None)
        if expected is None:
            return
        boxes = Partitioning(base, Requirements.of(table, require).require, plan).run()
        raw = ", ".join([*(f"r_{alias}" for alias in base.columns), "s"])
        lines = engine.fetch(Query(f"select g, {raw} from {boxes.grouping.rows}", "rows"))
    groups: dict[int, list[str]] = {}
    for g, *row in (line.values() for line in lines):
        groups.setdefault(g, []).append(str(tuple(row)))
    assert Counter(tuple(sorted(box)) for box in groups.values()) == expected


def test_every_engine_cuts_the_same_boxes_as_arrays(engine: Any) -> None:
    for seed in (1, 2):
        rng = random.Random(seed)
        table = ps.Table(
            people(rng, 60)[["age", "job", "s"]], {"age": KINDS["age"], "job": KINDS["job"]}, "s"
        )
        both(count(engine, table), [ps.KAnonymity(3), ps.LDiversity(2)], CutPlan())


LIMITS = 60 if NIGHTLY else 6  # enough of them to have met each kind


def test_limits_at_what_is_attained_and_next_to_it_part_boxes_alike() -> None:
    makes = [ps.CKSafety, lambda c, _: ps.TCloseness(c), lambda c, _: ps.BetaLikeness(c)]
    asked = 0
    with engines.opened() as engine:
        for seed in tries(24):
            rng = random.Random(seed)
            base = count(engine, ps.Table(people(rng, 40)[["age", "job", "s"]], ["age", "job"], "s"))
            make = makes[seed % 3]
            first = both(base, [make("0.9", 1)], CutPlan())
            value = first and first[3][0][1]
            step = Fraction(1, 10**9)
            for limit in [] if value is None else [value - step, value, value + step]:
                if 0 < limit <= 1:
                    asked += both(base, [make(str(limit), 1)], CutPlan()) is not None
            if asked >= LIMITS:
                break
    assert asked >= LIMITS


class Lenient(ps.KAnonymity):
    """A requirement of somebody's own: its own judgement has to be asked."""

    def failing(self, evidence: Any) -> list[int]:
        return []


def test_larger_tables_and_requirements_of_somebody_are_cut_by_statements(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    table = ps.Table(people(random.Random(3), 40)[["age", "job", "s"]], ["age", "job"], "s")
    with engines.opened() as engine:
        base = count(engine, table)

        def in_arrays(*require: Criterion) -> bool:
            made = Partitioning(base, Requirements.of(table, require).require, CutPlan())
            made.run()
            return bool(made.in_memory)

        assert in_arrays(ps.KAnonymity(2)) and not in_arrays(Lenient(2))
        assert not in_arrays(ps.BTPrivacy(bandwidth="0.9", t="0.9"))
        monkeypatch.setattr(in_memory, "MOST_COMBINATIONS", base.combinations - 1)
        assert not in_arrays(ps.KAnonymity(2))


def test_a_median_is_found_among_more_places_than_are_counted_side_by_side() -> None:
    found = in_memory.numbered(np.array([10**9, 5, 10**9, 7]), 2 * 10**9)
    assert [part.tolist() for part in found] == [[5, 7, 10**9], [2, 0, 2, 1]]
