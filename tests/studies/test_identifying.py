"""Sets of columns that single people out, against brute force from the definitions."""

from __future__ import annotations

import random
from typing import Any

import pandas as pd
import pytest

import privacy_sql as ps
from privacy_sql.errors import UsageError
from tests import engines
from tests.oracles.identifying import ratios, unique_sets
from tests.seeds import seeds

NAMES = ["a", "b", "c", "d"]


def people_of(seed: int) -> list[tuple[Any, ...]]:
    """People with few values, some missing, some alike in everything."""
    draw = random.Random(seed)
    width = draw.randint(1, 4)
    kinds = [draw.randint(1, 4) for _ in range(width)]
    rows = [
        tuple(None if draw.random() < 0.1 else str(draw.randrange(kind)) for kind in kinds)
        for _ in range(draw.randint(1, 9))
    ]
    return rows + draw.choices(rows, k=draw.randint(0, 2))


@pytest.mark.parametrize("seed", seeds(6))
def test_sets_and_ratios_are_those_of_every_person(engine: Any, seed: int) -> None:
    people = people_of(seed)
    names, most = NAMES[: len(people[0])], 1 + seed % 3
    frame = pd.DataFrame(people, columns=names, dtype=object)
    found = ps.identify(engine, ps.Table(frame, names), most)
    most = min(most, len(names))
    sets = unique_sets(people, most)
    sizes = range(1, most + 1)
    least = [min(map(len, mine)) for mine in sets if mine]
    assert found.people == len(people)
    assert found.people_by_least_size == {size: least.count(size) for size in sizes}
    every = [chosen for mine in sets for chosen in mine]
    assert found.sets_by_size == {size: sum(len(chosen) == size for chosen in every) for size in sizes}
    for place, name in enumerate(names):
        with_it = [sum(place in chosen for chosen in mine) for mine in sets]
        assert found.people_with_column[name] == sum(map(bool, with_it))
        assert found.share_of_sets_with_column[name] * max(len(every), 1) == sum(with_it)
    for chosen, told in found.ratios.items():
        expected = ratios(people, tuple(names.index(name) for name in chosen))
        assert (told.distinct, told.unique, told.separation) == expected


def test_several_rows_of_one_person_are_one_person() -> None:
    rows = pd.DataFrame({"id": ["p", "p", "q"], "a": ["1", "1", "2"], "s": ["x", "y", "x"]})
    table = ps.Table(rows, ["a"], "s", identifier="id", values_per_person="set")
    with engines.opened() as engine:
        found = ps.identify(engine, table)
    assert found.people == 2 and found.people_by_least_size == {1: 2}


def test_more_sets_than_anybody_reads_are_refused_with_their_number() -> None:
    wide = pd.DataFrame({f"c{n}": ["1"] for n in range(43)})
    with engines.opened() as engine:
        with pytest.raises(UsageError, match="43 columns have 13,287 sets of at most 3") as refused:
            ps.identify(engine, ps.Table(wide, list(wide)), 3)
        with pytest.raises(UsageError, match="no set of columns"):
            ps.identify(engine, ps.Table(wide, list(wide)), 0)
        with pytest.raises(UsageError, match="no set of columns"):
            ps.identify(engine, ps.Table(wide, []), 2)
    assert "Name fewer columns" in refused.value.hint
