"""dbt's `generalise` and a run show one label for one value, for every kind of hierarchy and every level."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import pytest

import privacy_sql as ps
from privacy_sql.hierarchies.spec import from_spec
from tests import engines
from tests.package_macros import Macros, Relation
from tests.render_package import HIERARCHIES
from tests.seeds import seeds

NUMBERS = ["0", "-0", "0.0", "0.29", "0.3", "0.30", "2.5", "2.50", "10", "1e1", "-7", "+3", "0.25", "19.999"]
VALUES = {
    "whole bands": [str(n) for n in (-21, -1, 0, 2, 3, 7, 8, 12, 13, 40, 1000)],
    "bands for fractions": NUMBERS,
    "cut": NUMBERS,
    "days": ["2024-01-31", "2024-02-29", "1999-12-31", "0001-01-01", "9999-12-31"],
    "tree": ["a", "b", "c"],
    "tree of one": ["a", "b"],
}
WORDS = ["abcd", "ab", "a", "x*z", "12345", " 1 ", "Ünï", "O'Hara"]


def labels_of_a_run(hierarchy: Any, level: int, values: list[str | None]) -> list[Any]:
    """What `generalise` of a run shows of each value, in the order of the values."""
    kind = from_spec(hierarchy, "v", Path())
    rows = pd.DataFrame({"v": pd.Series(values, dtype=object), "n": [str(n) for n in range(len(values))]})
    with engines.opened() as engine:
        table = ps.Table(
            rows, {"v": kind}, insensitive={"columns": ["n"], "acknowledge": "it orders the rows"}
        )
        release = ps.publish(engine, table, [ps.KAnonymity(1)], ps.Generalise({"v": level}))
        shown = engine.fetch(release.view)
    return [row["v"] for row in sorted(shown, key=lambda row: int(row["n"]))]


def labels_of_dbt(hierarchy: Any, level: int, values: list[str | None]) -> list[Any]:
    """What the macro `generalise` of the dbt package shows of each value."""
    text = Macros().generalise(
        Relation("people", ("v", "n")), {"v": hierarchy}, levels={"v": level}, insensitive=["n"]
    )
    connection = duckdb.connect()
    connection.execute("create table people (v varchar, n integer)")
    connection.executemany("insert into people values (?, ?)", [[v, n] for n, v in enumerate(values)])
    return [row[0] for row in connection.execute(f'select "v" from ({text}) order by "n"').fetchall()]


@pytest.mark.parametrize("name", HIERARCHIES)
def test_dbt_and_a_run_show_the_same_label_for_every_value_at_every_level(name: str) -> None:
    hierarchy = HIERARCHIES[name]
    draw = random.Random(name)
    values: list[str | None] = [*VALUES.get(name, WORDS), None]
    if name in ("whole bands", "cut"):
        values += [str(draw.randint(-200, 200)) for _ in range(20)]
    for level in range(from_spec(hierarchy, "v", Path()).height + 1):
        assert labels_of_dbt(hierarchy, level, values) == labels_of_a_run(hierarchy, level, values), level


def spelt(draw: random.Random, value: float) -> Any:
    """One number as people write it."""
    ways: list[Any] = [value, f"{value:g}", f"{value}0", f"+{value}" if value >= 0 else f"{value}"]
    return draw.choice(ways + [int(value)] * (value == int(value)))


def breaks(draw: random.Random) -> dict[str, Any]:
    cuts, levels = (
        sorted({draw.choice([draw.randint(-50, 50), draw.randint(-99, 99) / 10]) for _ in "12345"}),
        [],
    )
    while cuts and len(levels) < 4:
        levels.append([spelt(draw, float(cut)) for cut in cuts])
        cuts = sorted(draw.sample(cuts, len(cuts) - 1))
    return {"breaks": levels}


def intervals(draw: random.Random) -> dict[str, Any]:
    widths = [draw.choice([0.1, 0.25, 0.5])]
    for _ in range(draw.randint(0, 2)):
        widths.append(round(widths[-1] * draw.choice([2, 3, 4]), 4))
    return {
        "intervals": [spelt(draw, w) for w in widths],
        "origin": spelt(draw, draw.choice([-3.0, 0.05, 2.5])),
    }


def days(draw: random.Random) -> dict[str, Any]:
    parts = ["day", "month", "quarter", "year", "five_years", "decade"]
    return {"dates": sorted(draw.sample(parts, draw.randint(1, 6)), key=parts.index)}


@pytest.mark.parametrize("seed", seeds(6))
def test_dbt_and_a_run_show_the_same_labels_of_any_hierarchy(seed: int) -> None:
    draw = random.Random(seed)
    kind = (breaks, intervals, days)[seed % 3]
    hierarchy = kind(draw)
    numbers = [spelt(draw, draw.randint(-600, 600) / 10) for _ in range(12)]
    dates = [f"{draw.choice([1, 999, 1899, 2024]):04d}-{draw.randint(1, 12):02d}-{draw.randint(1, 28):02d}"
             for _ in range(8)]  # fmt: skip
    values = [*(dates if kind is days else [*map(str, numbers), *NUMBERS, "007", "1E2"]), None]
    for level in range(from_spec(hierarchy, "v", Path()).height + 1):
        told = labels_of_dbt(hierarchy, level, values)
        assert told == labels_of_a_run(hierarchy, level, values), (hierarchy, level)
