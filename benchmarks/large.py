"""Whether a hundred million rows end in the memory they are given, and what they cost beside the engine.

    python benchmarks/large.py [--rows 10000000 100000000] [--memory 4GB] [--keep FOLDER]

A Parquet file of people resampled from Adult (seven quasi-identifiers, occupation), with noise. `check`
judges k-anonymity and l-diversity, `search` finds all minimal choices, `publish` the best one, written to
Parquet and audited, `multidimensional` cuts boxes and judges them; each is a process of its own with so much
memory for the engine. `floor` is what DuckDB takes to copy the file and to group it twice by its columns.
Prints JSON in seconds of the processor and the most memory; a goal that is missed says MISSED. Needs
PRIVACY_SQL_DATA (adult.csv.gz and hierarchies/arx); `--keep` makes the file in a folder and leaves it there.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from check import ADULT, QUASI, RESAMPLED, SENSITIVE  # the script beside this one

STEPS = ("floor", "check", "search", "publish", "multidimensional")
LARGE = 100_000_000
TIMES = {"publish": ("floor", 2.0), "search": ("check", 1.5), "multidimensional": ("check", 2.0)}


def made(rows: int, place: Path, data: Path) -> None:
    """The file, in the memory of a small machine."""
    import duckdb

    columns = ", ".join([*QUASI, SENSITIVE])
    with duckdb.connect(config={"memory_limit": "4GB", "preserve_insertion_order": False}) as connection:
        adult = ADULT.format(columns=columns, file=data / "adult.csv.gz")
        connection.execute(f"create temp table adult as {adult}")
        (people,) = connection.execute("select count(*) from adult").fetchall()[0]
        resampled = RESAMPLED.format(rows=rows, people=people)
        connection.execute(f"copy (select {columns} from ({resampled})) to '{place}' (format parquet)")


def floor(place: Path, memory: str) -> None:
    """One copy and two GROUP BYs of the same columns, by the engine alone."""
    import duckdb

    with duckdb.connect(config={"memory_limit": memory}) as connection:
        connection.execute(f"copy (from '{place}') to '{place}.copy' (format parquet)")
        for table in ("first", "second"):
            connection.execute(
                f"create temp table {table}_count as select *, count(*) from '{place}' group by all"
            )
    Path(f"{place}.copy").unlink()


def asked(step: str, place: Path, memory: str, trees: Path) -> None:
    """One of our verbs."""
    import privacy_sql as ps

    files = {name: trees / f"adult_hierarchy_{name.replace('_', '-')}.csv" for name in QUASI}
    kinds = {name: ps.Tree.from_file(file, name) for name, file in files.items()}
    require = [ps.KAnonymity(10), ps.LDiversity(3)]
    with ps.connect("duckdb:", memory_limit=memory) as engine:
        table = ps.Table(place, kinds, SENSITIVE)
        if step == "check":
            ps.check(engine, ps.Table(place, QUASI, SENSITIVE), require)
        elif step == "search":
            ps.search(engine, table, require)
        elif step == "publish":
            release = ps.publish(engine, table, require, ps.FullDomain())
            ps.write(engine, release, f"{place}.out.parquet", overwrite=True)
        else:
            ps.publish(engine, table, require, ps.Multidimensional())


def alone(step: str, place: Path, memory: str, trees: Path) -> dict[str, float]:
    """Seconds of the processor and the most memory of a step in a process of its own."""
    command = [sys.executable, __file__, "--one", step, str(place), memory, str(trees)]
    started = time.perf_counter()
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        return {"failed": done.returncode, "told": done.stderr[-300:]}  # type: ignore[dict-item]
    found: dict[str, float] = json.loads(done.stdout)
    return found | {"wall_s": round(time.perf_counter() - started, 1)}


def measured(rows: int, memory: str, folder: Path, data: Path) -> dict[str, Any]:
    """All steps at one size, with what was asked of them."""
    place = folder / f"people_{rows}.parquet"
    if not place.exists():
        made(rows, place, data)
    found: dict[str, Any] = {}
    for step in STEPS:
        found[step] = alone(step, place, memory, data / "hierarchies" / "arx")
        print(rows, step, found[step], file=sys.stderr, flush=True)
    for step, (other, times) in TIMES.items():
        ratio = found[step].get("cpu_s", float("inf")) / found[other]["cpu_s"]
        found[step][f"times_{other}"] = round(ratio, 2)
        if rows >= LARGE:  # below it what does not grow with the rows shows
            found[step]["goal"] = f"<= {times} times {other}: {'met' if ratio <= times else 'MISSED'}"
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, nargs="*", default=[10_000_000])
    parser.add_argument("--memory", default="4GB")
    parser.add_argument("--keep", type=Path)
    parser.add_argument("--one", nargs=4, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        step, place, memory, trees = options.one
        if step == "floor":
            floor(Path(place), memory)
        else:
            asked(step, Path(place), memory, Path(trees))
        used = resource.getrusage(resource.RUSAGE_SELF)
        cpu, peak = used.ru_utime + used.ru_stime, used.ru_maxrss / 2**20
        print(json.dumps({"cpu_s": round(cpu, 2), "peak_gb": round(peak, 2)}))
        return
    data = os.environ.get("PRIVACY_SQL_DATA")
    if not data:
        sys.exit("Set PRIVACY_SQL_DATA to the folder with adult.csv.gz.")
    with contextlib.ExitStack() as stack:
        folder = options.keep or Path(stack.enter_context(tempfile.TemporaryDirectory()))
        found = {rows: measured(rows, options.memory, folder, Path(data)) for rows in options.rows}
    print(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
