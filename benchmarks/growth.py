"""How cost grows with rows, groups, values and attributes: one curve each, seconds at four sizes.

`python benchmarks/growth.py [AXIS...]` prints one JSON line for each point, the best of two; `--draw FOLDER`
also draws each curve as SVG. docs/limits.md holds the figures. What does not grow is fixed: rows have the
same combinations at every size, groups the same values, values the same groups.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import privacy_sql as ps
from privacy_sql.papers._svg import plotted

PEOPLE = """
create or replace table people as
with drawn as (select hash(i) as h, hash(i + 1000000007) as j from range({rows}) as t(i))
select {columns}, cast(j % 8 as integer) as illness from drawn
"""
# three levels each
AGES = {f"a{n}": ps.Intervals(4, 8) for n in range(5)}
GROUPED = """
create or replace table grouped as
select g, cast(v as integer) as illness, 1 + hash(g * 1000 + v) % 9 as n
from range({groups}) as a(g) cross join range({values}) as b(v)
"""
REQUIRE = [ps.KAnonymity(5), ps.LDiversity(3)]
Question = Callable[[Any, Any], Any]


def written(engine: Any, table: ps.Table) -> None:
    with tempfile.TemporaryDirectory() as folder:
        levels = dict.fromkeys(table.hierarchies, 2)
        release = ps.publish(engine, table, REQUIRE, ps.Generalise(levels))
        ps.write(engine, release, Path(folder) / "out.csv")


ABOUT_PEOPLE: dict[str, Question] = {
    "check": lambda engine, table: ps.check(engine, table, REQUIRE),
    "full_domain": lambda engine, table: ps.search(engine, table, REQUIRE),
    "multidimensional": lambda engine, table: ps.publish(engine, table, REQUIRE, ps.Multidimensional()),
}
ABOUT_GROUPS: dict[str, Question] = {
    str(criterion).partition("(")[0]: lambda engine, table, asked=criterion: ps.check(engine, table, [asked])
    for criterion in (
        ps.LDiversity(9, kind="entropy"),
        ps.TCloseness("0.5"),
        ps.CKSafety("0.9", 5),
        ps.PrivacySkyline([[2, 2, 2, "0.9"]]),
    )
}


def people(rows: int, attributes: int) -> tuple[str, ps.Table]:
    names = list(AGES)[:attributes]
    columns = ", ".join(f"cast((h >> {6 * n}) % 16 as integer) as {name}" for n, name in enumerate(names))
    table = ps.Table("people", {name: AGES[name] for name in names}, "illness")
    return PEOPLE.format(rows=rows, columns=columns), table


def grouped(groups: int, values: int) -> tuple[str, ps.Table]:
    return GROUPED.format(groups=groups, values=values), ps.Table("grouped", ["g"], "illness", count="n")


# axis: sizes, the table of a size, what is asked of it
CURVES: dict[str, tuple[list[int], Callable[[int], tuple[str, ps.Table]], dict[str, Question]]] = {
    "rows": (
        [500_000 * n for n in (1, 2, 4, 8)],
        lambda n: people(n, 3),
        {**ABOUT_PEOPLE, "generalise and write": written},
    ),
    "groups": ([20_000 * n for n in (1, 2, 4, 8)], lambda n: grouped(n, 20), ABOUT_GROUPS),
    "values": ([25 * n for n in (1, 2, 4, 8)], lambda n: grouped(10_000, n), ABOUT_GROUPS),
    "attributes": ([2, 3, 4, 5], lambda n: people(200_000, n), ABOUT_PEOPLE),
}


def seconds(table: ps.Table, made: str, question: Question) -> float:
    """The better of two, each on an engine of its own."""
    found = []
    for _ in range(2):
        with ps.connect() as engine:
            engine.connection.execute(made)
            started = time.perf_counter()
            question(engine, table)
            found.append(time.perf_counter() - started)
    return round(min(found), 2)


def measure(axis: str) -> dict[str, list[tuple[float, float]]]:
    """The curve of each question along an axis."""
    sizes, table_of, questions = CURVES[axis]
    curves: dict[str, list[tuple[float, float]]] = {name: [] for name in questions}
    for size in sizes:
        made, table = table_of(size)
        for name, question in questions.items():
            taken = seconds(table, made, question)
            curves[name].append((size, taken))
            print(json.dumps({"axis": axis, "size": size, "question": name, "seconds": taken}), flush=True)
    return curves


def main(words: list[str]) -> None:
    folder = Path(words[words.index("--draw") + 1]) if "--draw" in words else None
    for axis in [word for word in words if word in CURVES] or CURVES:
        curves = measure(axis)
        if folder:
            picture = plotted(f"Seconds by {axis}", axis, "seconds", curves)
            (folder / f"{axis}.svg").write_text(picture, encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
