"""What `profile` costs beside reading the file once and counting every column's distinct values.

`python benchmarks/profile.py` makes a CSV file of 43 columns and 300,000 rows, as wide and as varied as a
census extract, and prints JSON. Both are measured in turns, each from a fresh connection, in seconds of the
processor.
"""

from __future__ import annotations

import json
import random
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import duckdb

import privacy_sql as ps
from privacy_sql.counted.profiling import profile

ROWS = 300_000
GOAL = 1.5
RUNS = 3
# distinct values of each column: codes, ages, places, and one column that nearly identifies
WIDE = [90, 9, 52, 47, 17, 1200, 3, 7, 24, 15, 5, 10, 2, 3, 6, 8, 130, 1800, 6, 6, 51, 38, 8, 10, 9, 10, 3, 4]
WIDE += [7, 5, 43, 43, 43, 5, 3, 3, 3, 53, 2, 99_800, 2, 200, 30]


def make(place: Path) -> None:
    """A file whose columns have so many values, the frequent ones first."""
    draw = random.Random(2006)
    shapes = [draw.randint(1, 3) for _ in WIDE]
    columns = ", ".join(
        f"cast(floor(pow(random(), {shape}) * {n}) as integer) as c{number}"
        for number, (n, shape) in enumerate(zip(WIDE, shapes, strict=True))
    )
    with duckdb.connect() as connection:
        connection.execute("select setseed(0.5)")
        connection.execute(f"copy (select {columns} from range({ROWS})) to '{place}' (header)")


def processor(work: Callable[[], object]) -> float:
    started = time.process_time()
    work()
    return time.process_time() - started


def floor(place: Path) -> None:
    """Read once, count the distinct values of every column."""
    with duckdb.connect() as connection:
        connection.execute(f"create temp table t as from read_csv('{place}', all_varchar = true)")
        asked = ", ".join(f"count(distinct c{number})" for number in range(len(WIDE)))
        connection.execute(f"select {asked} from t").fetchall()


def ours(place: Path) -> None:
    with ps.connect() as engine:
        profile(engine, place)


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "wide.csv"
        make(place)
        ours(place)  # loads what is loaded once
        pairs = [(processor(lambda: floor(place)), processor(lambda: ours(place))) for _ in range(RUNS)]
    base, whole = (min(times) for times in zip(*pairs, strict=True))
    met = "met" if whole <= GOAL * base else "MISSED"
    found = {
        "rows": ROWS,
        "columns": len(WIDE),
        "read_and_count_s": round(base, 3),
        "profile_s": round(whole, 3),
    }
    print(json.dumps({**found, "ratio": round(whole / base, 2), "goal": f"ratio <= {GOAL}: {met}"}, indent=2))


if __name__ == "__main__":
    main()
