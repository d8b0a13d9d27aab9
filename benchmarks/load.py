"""Load: how time and memory grow with rows, columns, values and groups. By hand, minutes.

`python benchmarks/load.py CASE...` prints one JSON line for each question of a case; docs/limits.md holds
the figures. Every question runs in a process of its own with 4 GB for DuckDB, so that its peak memory is its
own. The tables are generated, and stay in a temporary folder for as long as the script runs.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb

import privacy_sql as ps

MEMORY = "4GB"
PEOPLE = """
create or replace table people as
with drawn as (select hash(i) as h, hash(i + 1000000007) as j from range({rows}) as t(i))
select
    cast(h % 80 as integer) as age,
    cast((h >> 8) % 2 as integer) as sex,
    cast((h >> 16) % {regions} as integer) as region,
    cast((h >> 24) % 16 as integer) as education,
    cast(((h >> 24) % 16 + (h >> 32) % 3) % 20 as integer) as job,
    cast(j % {illnesses} as integer) as illness
from drawn
"""
QUASI = {
    "age": ps.Intervals(5, 10, 20, 40),
    "sex": ps.KeepOrDrop(),
    "region": ps.Intervals(5, 10),
    "education": ps.Intervals(4),
    "job": ps.Intervals(5, 10),
}
REQUIRE = [ps.KAnonymity(25), ps.LDiversity(3)]
WIDE = "create or replace table wide as select i % 100 as q, i % 7 as s, {columns} from range(100000) as t(i)"
DISTINCT = "create or replace table many as select i as q, hash(i) % 1000000 as s from range(1000000) as t(i)"
GROUPS = """
create or replace table grouped as
select g, cast(v as integer) as s, 1 + hash(g * 1000 + v) % 9 as n
from range(100000) as a(g) cross join range(250) as b(v)
"""


RAW, KINDS = ps.Table("people", list(QUASI), "illness"), ps.Table("people", QUASI, "illness")
PEOPLE_ASKED: dict[str, Callable[[Any], Any]] = {
    "check": lambda engine: ps.check(engine, RAW, REQUIRE),
    "full_domain search": lambda engine: ps.search(engine, KINDS, REQUIRE),
    "multidimensional": lambda engine: ps.publish(engine, RAW, REQUIRE, ps.Multidimensional()),
}


def wide(engine: Any) -> Any:
    columns = [f"c{number}" for number in range(498)]
    table = ps.Table("wide", {"q": ps.Intervals(10)}, "s", insensitive=columns)
    release = ps.publish(engine, table, [ps.KAnonymity(25)], ps.Generalise({"q": 1}))
    with tempfile.TemporaryDirectory() as folder:
        return ps.verify(ps.write(engine, release, Path(folder) / "out.csv"))


def asked(table: str, quasi: Any, *require: Any, **more: Any) -> Callable[[Any], Any]:
    return lambda engine: ps.check(engine, ps.Table(table, quasi, "s", **more), list(require))


def grouped(*require: Any) -> Callable[[Any], Any]:
    return asked("grouped", ["g"], *require, count="n")


CASES: dict[str, tuple[str, dict[str, Callable[[Any], Any]]]] = {
    # nearly as many combinations as rows, which is the worst that can be; then 1.5 million of them
    **{
        f"people {n}": (PEOPLE.format(rows=n, regions=50, illnesses=30), PEOPLE_ASKED) for n in (10**6, 10**7)
    },
    "people 100000000": (PEOPLE.format(rows=10**8, regions=20, illnesses=10), PEOPLE_ASKED),
    "500 columns": (
        WIDE.format(columns=", ".join(f"(i * {n + 3}) % 1000 as c{n}" for n in range(498))),
        {"publish and write": wide},
    ),
    "10^6 values": (
        DISTINCT,
        {
            "check": asked("many", ["q"], ps.KAnonymity(2), ps.LDiversity(2)),
            "t_closeness, ordered": asked("many", {"q": ps.Intervals(1000)}, ps.TCloseness("0.5", "ordered")),
        },
    ),
    "10^5 groups of 250 values": (
        GROUPS,
        {
            "k_anonymity and l_diversity": grouped(ps.KAnonymity(2), ps.LDiversity(9, kind="entropy")),
            "t_closeness": grouped(ps.TCloseness("0.5")),
            "beta_likeness": grouped(ps.BetaLikeness(2)),
            "ck_safety": grouped(ps.CKSafety("0.9", 5)),
            "privacy_skyline": grouped(ps.PrivacySkyline([[2, 2, 2, "0.9"]])),
        },
    ),
}


def measure(case: str, question: str, place: str) -> dict[str, Any]:
    """Seconds and peak memory of one question, in this process."""
    started = time.perf_counter()
    with ps.connect(f"duckdb:{place}", memory_limit=MEMORY) as engine:
        CASES[case][1][question](engine)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    return {
        "case": case,
        "question": question,
        "seconds": round(time.perf_counter() - started, 1),
        "peak_mb": peak,
    }


def main(cases: list[str]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        place = str(Path(folder) / "load.db")
        for case in cases or list(CASES):
            with duckdb.connect(place) as connection:
                connection.execute(f"set memory_limit = '{MEMORY}'")
                connection.execute(CASES[case][0])
            for question in CASES[case][1]:
                subprocess.run([sys.executable, __file__, "--measure", case, question, place], check=False)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--measure"]:
        print(json.dumps(measure(*sys.argv[2:5])), flush=True)
    else:
        main(sys.argv[1:])
