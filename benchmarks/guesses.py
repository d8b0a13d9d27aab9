"""What the baseline of a guess costs beside the GROUP BY it needs, on one thread.

Prints JSON; a goal that is missed says MISSED: with the baseline at most 1.5 times its GROUP BY where the
histogram has under 10 % of the rows, at most 2.5 times always. Needs nothing but the package.

    python benchmarks/guesses.py [--rows 1000000] [--times 5]
"""

from __future__ import annotations

import argparse
import json
import platform
import statistics
import sys
import time
from collections.abc import Callable

import duckdb

from privacy_sql.query.template import Query, Sql, render

# groups per million rows; each has up to twenty sensitive values
GROUPS = (1_000, 4_000, 30_000, 300_000, 20_000_000)
VALUES = 20
SMALL, GOAL, ALWAYS = 0.1, 1.5, 2.5
ROWS = """
create or replace table people as
select cast(hash(range) % {groups} as bigint) as g, cast(hash(range * 7 + 1) % {values} as bigint) as s
from range({rows})
"""
HISTOGRAM = "create or replace table histogram as select g, s, count(*) as n_rows from people group by g, s"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--times", type=int, default=5)
    asked = parser.parse_args()
    shell = duckdb.connect(config={"threads": 1})
    guesses = render("publishing/baseline.sql", histogram=Sql("histogram"), members=None)
    measured = [_measured(shell, asked.rows, groups, asked.times, guesses) for groups in GROUPS]
    missed = [row for row in measured if row["goal"] == "MISSED"]
    versions = {"duckdb": duckdb.__version__, "python": platform.python_version()}
    print(json.dumps({"rows": asked.rows, "versions": versions, "measured": measured}, indent=1))
    sys.exit(bool(missed))


def _measured(
    shell: duckdb.DuckDBPyConnection, rows: int, groups: int, times: int, guesses: Query
) -> dict[str, object]:
    shell.execute(ROWS.format(rows=rows, groups=max(1, groups * rows // 1_000_000), values=VALUES))
    grouping = _seconds(lambda: shell.execute(HISTOGRAM), times)
    guessing = _seconds(lambda: shell.execute(guesses.sql).fetchall(), times)
    ((lines,),) = shell.execute("select count(*) from histogram").fetchall()
    share, ratio = lines / rows, (grouping + guessing) / grouping
    goal = GOAL if share < SMALL else ALWAYS
    return {
        "histogram_share": round(share, 4),
        "group_by_seconds": round(grouping, 4),
        "guesses_seconds": round(guessing, 4),
        "times_group_by": round(ratio, 2),
        "at_most": goal,
        "goal": "kept" if ratio <= goal else "MISSED",
    }


def _seconds(work: Callable[[], object], times: int) -> float:
    """The median of a few runs."""
    taken = []
    for _ in range(times):
        began = time.perf_counter()
        work()
        taken.append(time.perf_counter() - began)
    return statistics.median(taken)


if __name__ == "__main__":
    main()
