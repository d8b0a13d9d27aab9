"""What it costs to publish, write and audit many rows, beside the engine's own copy and GROUP BY of the file.

    python benchmarks/publishing.py [--rows 1000000] [--memory 2GB] [--parts boxes] [--beside ../before]

`boxes`: SkylineAnonymize to one point (chen2008, Sec. 6.2) over seven columns of invented people, as skewed
as a census. `levels`: three of the columns at a level, and small groups left out. `insensitive`: the same
with a column beside them, of a thousand values, published as it is. `several`: the same of people with two
values each on average. Each is a process of its own, from a Parquet file to an audited one, with so much
memory for the engine. `floor` is what DuckDB takes to copy the file that was written and to group it by its
columns. `--beside FOLDER` measures another checkout in the same run. Prints JSON in seconds of the processor;
a goal that is missed says MISSED.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent.parent
COLUMNS = {
    "age": (74, 1.5),
    "education": (16, 4),
    "marital": (7, 3),
    "race": (5, 6),
    "sex": (2, 1),
    "workclass": (8, 5),
    "country": (41, 10),
}
LEVELS = {"age": 2, "education": 1, "country": 1}
TIMES_FLOOR = 2.0  # write and audit
TIMES_BEFORE = 0.5  # boxes, from the file to the audited file, at ten million rows
LARGE = 10_000_000
PARTS = ("boxes", "levels", "insensitive", "several")
VISIT = "hour"  # the insensitive column


def written(part: str, rows: int, place: Path) -> None:
    """A Parquet file of invented people; where they have several values, two rows each on average."""
    import duckdb

    person = f"hash(i, 0) % {rows // 2}" if part == "several" else "i"

    def drawn(seed: int) -> str:
        return f"(hash({'i' if seed > 7 else 'person'} * 31 + {seed}) % 1000003 / 1000003.0)"

    shown = [
        f"cast(floor(power({drawn(n)}, {skew}) * {top}) as int) as {name}"
        for n, (name, (top, skew)) in enumerate(COLUMNS.items(), start=1)
    ]
    shown += [f"cast(floor(power({drawn(8)}, 1.5) * 14) as int) as job"]
    shown += {"insensitive": [f"cast({drawn(9)} * 1000 as int) as {VISIT}"], "several": ["person"]}.get(
        part, []
    )
    rows_of = f"(select i, {person} as person from range({rows}) t(i))"
    with duckdb.connect() as connection:
        connection.execute(f"copy (select {', '.join(shown)} from {rows_of}) to '{place}'")


def published(part: str, place: Path, target: Path, memory: str) -> dict[str, float]:
    """Publish, write and audit once; seconds of the processor and the most memory."""
    import privacy_sql as ps

    if part == "boxes":
        quasi: Any = list(COLUMNS)
        method: Any = ps.Multidimensional()
        require: list[Any] = [ps.PrivacySkyline([[3, 1000, 10, "0.9"]])]
    else:
        quasi = {name: ps.Intervals(5, 20) if name in LEVELS else ps.KeepOrDrop() for name in COLUMNS}
        method, require = ps.Generalise(LEVELS, max_suppressed="0.5"), [ps.KAnonymity(5)]
    with ps.connect("duckdb:", memory_limit=memory) as engine:
        roles: dict[str, Any] = {
            "insensitive": {"insensitive": {"columns": [VISIT], "acknowledge": "of the visit"}},
            "several": {"identifier": "person", "values_per_person": "multiset"},
        }.get(part, {})
        table = ps.Table(place, quasi, "job", **roles)
        release = ps.publish(engine, table, require, method)
        chosen = time.process_time()
        ps.write(engine, release, target)
        ended = time.process_time()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    return {
        "publish_s": round(chosen, 2),
        "write_and_audit_s": round(ended - chosen, 2),
        "all_s": round(ended, 2),
        "peak_gb": round(peak, 2),
    }


def copied(target: Path, memory: str) -> dict[str, float]:
    """One COPY and one GROUP BY of the written file by the engine alone."""
    import duckdb

    with duckdb.connect(config={"memory_limit": memory}) as connection:
        started = time.process_time()
        connection.execute(f"copy (from '{target}') to '{target}.copy' (format parquet)")
        connection.execute(f"create temp table t as select *, count(*) as n from '{target}' group by all")
        return {"floor_s": round(time.process_time() - started, 2)}


def alone(checkout: Path, *words: str) -> dict[str, float]:
    """What this script prints in a process of its own, with the package of a checkout."""
    done = subprocess.run(
        [sys.executable, __file__, "--one", *words],
        env={**os.environ, "PYTHONPATH": str(checkout)},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise SystemExit(done.stderr[-800:])
    found: dict[str, float] = json.loads(done.stdout)
    return found


def measured(part: str, rows: int, memory: str, beside: Path | None) -> dict[str, Any]:
    """One part at one size."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "people.parquet"
        written(part, rows, place)
        checkouts = {"this": HERE, **({"beside": beside} if beside else {})}
        found: dict[str, Any] = {}
        for name, checkout in checkouts.items():
            target = Path(folder) / f"{name}.parquet"
            found[name] = alone(checkout, "publish", part, str(place), str(target), memory)
        found["this"] |= alone(HERE, "copy", part, str(place), str(Path(folder) / "this.parquet"), memory)
    ratio = found["this"]["write_and_audit_s"] / found["this"]["floor_s"]
    found["times_floor"] = round(ratio, 2)
    found["goals"] = [f"write and audit <= {TIMES_FLOOR} times the floor: {said(ratio <= TIMES_FLOOR)}"]
    if beside:
        part_of = found["this"]["all_s"] / found["beside"]["all_s"]
        found["times_before"] = round(part_of, 2)
        if part == "boxes" and rows >= LARGE:
            found["goals"].append(f"all <= {TIMES_BEFORE} times before: {said(part_of <= TIMES_BEFORE)}")
    return found


def said(met: bool) -> str:
    return "met" if met else "MISSED"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, nargs="*", default=[1_000_000])
    parser.add_argument("--memory", default="2GB")
    parser.add_argument("--parts", default=",".join(PARTS))
    parser.add_argument("--beside", type=Path)
    parser.add_argument("--one", nargs=5, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        what, part, place, target, memory = options.one
        work = published(part, Path(place), Path(target), memory) if what == "publish" else None
        print(json.dumps(work or copied(Path(target), memory)))
        return
    found = {
        part: {rows: measured(part, rows, options.memory, options.beside) for rows in options.rows}
        for part in options.parts.split(",")
    }
    print(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
