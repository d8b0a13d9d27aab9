"""Check, counted base, full-domain search and partitioning on the three engines, at 1 and 10 million rows.

People resampled from Adult with noise, seven quasi-identifiers (384 choices). DuckDB reads a table of a file,
PostgreSQL a table of a server of its own, Spark Parquet with local[2]. Each engine and size runs in a process
of its own; `cpu_s` and `peak_mb` are those of the Python process, which on DuckDB hold the engine as well.
Prints JSON; goals are about Python: beside an engine its time and memory stay flat as rows grow. Needs
PRIVACY_SQL_DATA (the folder with adult.csv.gz).

    python benchmarks/engines.py [--rows 1000000 10000000] [--engines duckdb postgres spark] [--travel 0]
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
from check import ADULT, QUASI, RESAMPLED, SENSITIVE  # the script beside this one

import privacy_sql as ps
from privacy_sql.counted.base import count

sys.path.append(str(Path(__file__).resolve().parent.parent))
server = importlib.import_module("tests.engines.server")  # starts a PostgreSQL of its own

COLUMNS = ", ".join([*QUASI, SENSITIVE])
HIERARCHIES = {name: ps.Intervals(5, 10, 20, 40, 80) if name == "age" else ps.KeepOrDrop() for name in QUASI}
# a server somebody set up for tables of this size
server.SETTINGS |= {"work_mem": "256MB", "shared_buffers": "1GB", "max_wal_size": "8GB"}


def main() -> None:
    options = _options()
    if options.child:
        json.dump(_measured(options), sys.stdout)
        return
    data = os.environ.get("PRIVACY_SQL_DATA")
    if not data:
        sys.exit("Set PRIVACY_SQL_DATA to the folder with adult.csv.gz.")
    server.reserve()
    try:
        with tempfile.TemporaryDirectory() as folder:
            Path(folder).chmod(0o755)  # the server reads the file it loads
            sizes = [_size(options, Path(data), Path(folder), rows) for rows in options.rows]
    finally:
        server.stop()
    found = {"benchmark": "engines", "machine": _machine(), "sizes": sizes, "goals": _goals(sizes)}
    json.dump(found, sys.stdout, indent=2)
    print()


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, nargs="+", default=[1_000_000, 10_000_000])
    parser.add_argument("--engines", nargs="+", default=["duckdb", "postgres", "spark"])
    parser.add_argument("--travel", type=int, help="combinations that may travel; 0: everything stays")
    parser.add_argument("--memory", default="4g", help="of Spark's driver, which is all of it here")
    parser.add_argument("--child", nargs=2, help=argparse.SUPPRESS)
    return parser.parse_args()


def _machine() -> dict[str, Any]:
    return {"cpus": os.cpu_count(), "python": platform.python_version(), "duckdb": duckdb.__version__}


def _size(options: argparse.Namespace, data: Path, folder: Path, rows: int) -> dict[str, Any]:
    """All engines at one number of rows; the rows are there before anything is measured."""
    made = folder / f"people_{rows}"
    with duckdb.connect(f"{made}.db") as connection:
        connection.execute(
            f"create temp table adult as {ADULT.format(columns=COLUMNS, file=data / 'adult.csv.gz')}"
        )
        (people,) = connection.execute("select count(*) from adult").fetchall()[0]
        connection.execute(f"create table people as {RESAMPLED.format(rows=rows, people=people)}")
        connection.execute(f"copy people to '{made}.parquet' (format parquet)")
        if "postgres" in options.engines:
            connection.execute(f"copy people to '{made}.csv' (format csv, header false)")
    found: dict[str, Any] = {"rows": rows}
    for engine in options.engines:
        if engine == "postgres":
            _load(Path(f"{made}.csv"))
            Path(f"{made}.csv").unlink()
        found[engine] = _child(options, engine, made)
    return found


def _load(file: Path) -> None:
    import psycopg

    with psycopg.connect(server.dsn(), autocommit=True) as connection:
        columns = ", ".join(f"{name} text" for name in ["person_id", *COLUMNS.split(", ")])
        connection.execute("drop table if exists people")
        connection.execute(f"create unlogged table people ({columns})".encode())
        connection.execute(f"copy people from '{file}' (format csv)".encode())
        connection.execute("vacuum analyze people")


def _child(options: argparse.Namespace, engine: str, made: Path) -> Any:
    command = [
        sys.executable,
        __file__,
        "--child",
        engine,
        str(made),
        "--memory",
        options.memory,
    ]
    if options.travel is not None:
        command += ["--travel", str(options.travel)]
    environment = dict(os.environ)
    if engine == "postgres":
        environment["PRIVACY_SQL_BENCH_DSN"] = server.dsn()
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(done.stdout)


def _measured(options: argparse.Namespace) -> dict[str, Any]:
    """The four pieces of work on one engine."""
    engine, source = _connected(options)
    table = ps.Table(source, HIERARCHIES, SENSITIVE)
    require = [ps.KAnonymity(10), ps.LDiversity(3)]
    base = count(engine, table)  # what is opened and loaded on first use is not measured
    steps: dict[str, Callable[[], Any]] = {
        "check": lambda: ps.check(engine, table, require),
        "base": lambda: count(engine, table),
        "search": lambda: ps.search(engine, table, require, ps.FullDomain(minimise="discernibility")),
        "partition": lambda: ps.publish(engine, table, [ps.KAnonymity(25)], ps.Multidimensional()),
    }
    found: dict[str, Any] = {"version": engine.version(), "combinations": base.combinations}
    found["travelled"] = type(base.engine).__name__ == "Travelled"
    for name, work in steps.items():
        found[name] = _seconds(work)
    return found


def _connected(options: argparse.Namespace) -> tuple[Any, Any]:
    name, made = options.child
    travel = {} if options.travel is None or name == "duckdb" else {"travel": options.travel}
    if name == "duckdb":
        return ps.connect(f"duckdb:{made}.db"), "people"
    if name == "postgres":
        return ps.connect("postgres:", dsn_env="PRIVACY_SQL_BENCH_DSN", **travel), "people"
    settings = {"spark.driver.memory": options.memory, "spark.sql.shuffle.partitions": "4"}
    return ps.connect("spark:local[2]", settings=settings, **travel), Path(f"{made}.parquet")


def _seconds(work: Callable[[], Any]) -> dict[str, float]:
    began, worked = time.perf_counter(), time.process_time()
    work()
    return {
        "s": round(time.perf_counter() - began, 2),
        "cpu_s": round(time.process_time() - worked, 2),
        "peak_mb": _peak(),
    }


def _peak() -> int:
    """The most memory this process has had, in MB; getrusage would count its parent's as well."""
    status = Path("/proc/self/status").read_text()
    return next(int(line.split()[1]) // 1024 for line in status.splitlines() if line.startswith("VmHWM"))


def _goals(sizes: list[dict[str, Any]]) -> dict[str, str]:
    """Python beside a server: ten times the rows, and neither its time nor its memory grows with them."""
    goals = {}
    for engine in ("postgres", "spark"):
        if len(sizes) > 1 and all(engine in size for size in sizes):
            small, large = sizes[0][engine], sizes[-1][engine]
            grown = large["combinations"] / small["combinations"]
            for measure, slack in (("cpu_s", 0.2), ("peak_mb", 50)):
                before, after = small["check"][measure], large["check"][measure]
                met = "met" if after <= before * max(grown, 1) * 1.5 + slack else "MISSED"
                goals[f"{engine} {measure} of a check"] = (
                    f"{before} -> {after}, combinations x{grown:.1f}: {met}"
                )
    return goals


if __name__ == "__main__":
    main()
