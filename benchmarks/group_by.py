"""What a whole check costs beside the one GROUP BY it needs, on the same rows as CSV, Parquet and a table.

Helps the benchmarks beside it. Both are measured in turns, from a fresh connection to the last answer. The
goal is about files as they come, CSV: there reading is part of both. On DuckDB's own tables, whose text is
compressed and grouped without being read, what a check does with the combinations shows most; those ratios
are printed with the milliseconds a check adds, which grow with the combinations and not with the rows.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import duckdb

import privacy_sql as ps
from privacy_sql.query import statements

CPU_TIMES = 1.5  # the GROUP BY of a Parquet file of a million rows, in seconds of the processor


def export(connection: duckdb.DuckDBPyConnection, place: Path) -> None:
    """The table `people` of a database at `place`.db also as CSV and Parquet beside it."""
    connection.execute(f"copy people to '{place}.csv' (format csv, header true)")
    connection.execute(f"copy people to '{place}.parquet' (format parquet)")


def by_source(place: Path, columns: Sequence[str], require: list[Any], limit: float | None) -> dict[str, Any]:
    """Check against GROUP BY for each kind of source; the last column is the sensitive one."""
    found = {kind: side_by_side(place, kind, columns, require) for kind in ("csv", "parquet", "table")}
    if limit is not None:
        met = found["csv"]["ratio"] <= limit
        found["csv"]["goal"] = f"ratio <= {limit}: {'met' if met else 'MISSED'}"
        met = found["parquet"]["cpu_ratio"] <= CPU_TIMES
        found["parquet"]["goal"] = f"cpu_ratio <= {CPU_TIMES}: {'met' if met else 'MISSED'}"
    return found


def side_by_side(
    place: Path, kind: str, columns: Sequence[str], require: list[Any], runs: int = 5
) -> dict[str, Any]:
    """The check and its one GROUP BY on the same source, in turns; the best of some runs."""
    database = f"{place}.db" if kind == "table" else ""
    source = "people" if kind == "table" else f"{place}.{kind}"
    rows = {"table": source, "csv": f"read_csv('{source}', all_varchar = true)"}.get(kind, f"'{source}'")
    shown = ", ".join(columns)
    statement = f"create temp table counted as select {shown}, count(*) from {rows} group by {shown}"

    def group_by(clock: Callable[[], float] = time.perf_counter) -> float:
        with duckdb.connect(database or ":memory:") as connection:
            return seconds(lambda: connection.execute(statement), clock)

    def check(clock: Callable[[], float] = time.perf_counter) -> float:
        with ps.connect(f"duckdb:{database}") as engine:
            ps.check(engine, ps.Table(source, [], None), [ps.KAnonymity(1)])  # opens the connection
            table = ps.Table(source, columns[:-1], columns[-1])
            return seconds(lambda: ps.check(engine, table, require), clock)

    pairs = [(group_by(), check()) for _ in range(runs)]
    base, whole = (min(times) for times in zip(*pairs, strict=True))
    rounds = []
    for _ in range(runs):
        with statements.listening() as heard:
            check()
        rounds.append(list(heard))
    each = [(same[0].name, min(one.seconds for one in same)) for same in zip(*rounds, strict=True)]
    dearest = sorted(each, key=lambda found: -found[1])[:6]
    worked = [(group_by(time.process_time), check(time.process_time)) for _ in range(runs)]
    cpu_base, cpu_whole = (min(times) for times in zip(*worked, strict=True))
    return {
        "group_by_s": round(base, 4),
        "check_s": round(whole, 4),
        "ratio": round(whole / base, 2),
        "cpu_ratio": round(cpu_whole / cpu_base, 2),
        "check_adds_ms": round(1000 * (whole - base)),
        "dearest_statements_ms": [[name, round(1000 * took, 1)] for name, took in dearest],
    }


def seconds(call: Callable[[], object], clock: Callable[[], float] = time.perf_counter) -> float:
    """How long a call takes by a clock."""
    began = clock()
    call()
    return clock() - began
