"""Multidimensional partitioning at growing size: time linear in rows, memory bounded.

    python benchmarks/multidimensional.py [ROWS ...]

Synthetic people (age, zip of 1,000, job of 40, 9 illnesses), k = 25, from a Parquet file, memory limit 1 GB.
Prints JSON; MISSED where a goal is missed.
"""

from __future__ import annotations

import json
import multiprocessing
import resource
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import privacy_sql as ps
from privacy_sql.query import Query

SIZES = (1_000_000, 10_000_000)
MEMORY_LIMIT = "1GB"
MOST_MEMORY_GB = 2.0  # at 10M rows
LINEAR = 1.5  # times the growth of the rows
COLUMNS = """
    cast(18 + hash(i * 3) % 73 as integer) as age,
    cast(hash(i * 5) % 1000 as integer) as zip,
    'job ' || hash(i * 7) % 40 as job,
    'illness ' || hash(i * 11) % 9 as illness
"""


def written(rows: int, folder: Path) -> Path:
    """A file of synthetic people."""
    path = folder / f"{rows}.parquet"
    with ps.connect("duckdb:") as engine:
        engine.write_file(Query(f"select {COLUMNS} from range({rows}) t(i)", "people"), path, "parquet")
    return path


def measured(path: Path, folder: Path) -> dict[str, Any]:
    """Partition and write, in a process of its own so that its memory is its own."""
    started = time.perf_counter()
    with ps.connect("duckdb:", memory_limit=MEMORY_LIMIT) as engine:
        table = ps.Table(path, ["age", "zip", "job"], "illness")
        release = ps.publish(engine, table, [ps.KAnonymity(25)], ps.Multidimensional())
        chosen = time.perf_counter()
        ps.write(engine, release, folder / f"{path.stem}-out.parquet")
        end = time.perf_counter()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    return {
        "groups": release.grouping.n_groups,
        "safe": release.safe,
        "partition_s": chosen - started,
        "write_and_audit_s": end - chosen,
        "peak_gb": peak,
    }


def main(sizes: list[int]) -> None:
    found: dict[str, dict[str, Any]] = {}
    with tempfile.TemporaryDirectory(prefix="benchmark-") as name:
        folder = Path(name)
        for rows in sizes:
            path = written(rows, folder)
            with multiprocessing.get_context("spawn").Pool(1) as pool:
                found[str(rows)] = pool.apply(measured, (path, folder))
    print(json.dumps({"k": 25, "memory_limit": MEMORY_LIMIT, "sizes": found}, indent=1))
    small, large = str(min(sizes)), str(max(sizes))
    growth = found[large]["partition_s"] / found[small]["partition_s"]
    if growth > LINEAR * max(sizes) / min(sizes):
        print(f"MISSED: {growth:.1f} times the time for {max(sizes) / min(sizes):.0f} times the rows")
    if found[large]["peak_gb"] > MOST_MEMORY_GB:
        print(f"MISSED: peak memory {found[large]['peak_gb']:.2f} GB, goal {MOST_MEMORY_GB} GB")


if __name__ == "__main__":
    main([int(word.replace("_", "")) for word in sys.argv[1:]] or list(SIZES))
