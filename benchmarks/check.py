"""How long one check of five classical criteria takes: against its GROUP BY, and against pycanon.

k-anonymity, distinct, recursive and entropy ℓ-diversity and t-closeness in one check, on people resampled
from Adult with noise. Prints JSON; all times are the best of a few runs, side by side; a goal that is
missed says MISSED (group_by.py says which source the goal is about). Needs PRIVACY_SQL_DATA (the folder with
adult.csv.gz).

    python benchmarks/check.py [--rows 30000 1000000] [--pycanon PYTHON] [--patience SECONDS]

`--pycanon` names the Python of an environment that has pycanon; without it one is made in a temporary folder.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import duckdb
import group_by  # the script beside this one

import privacy_sql as ps

QUASI = ["age", "sex", "race", "marital_status", "education", "workclass", "native_country"]
SENSITIVE = "occupation"
REQUIRE = [
    ps.KAnonymity(5),
    ps.LDiversity(4),
    ps.LDiversity(4, "recursive", 3),
    ps.LDiversity(3, "entropy"),
    ps.TCloseness("0.3"),
]
ADULT = """
select row_number() over (order by {columns}) as number, {columns}
from read_csv('{file}', all_varchar = true)
where part = 'train' and columns(*) is not null
"""
# one person in ten is up to two years older or younger, one in twenty has somebody else's schooling
RESAMPLED = """
select
    i as person_id,
    cast(cast(a.age as int) + case when hash(i, 2) % 10 = 0 then cast(hash(i, 3) % 5 as int) - 2 else 0 end
        as varchar) as age,
    a.sex, a.race, a.marital_status,
    case when hash(i, 4) % 20 = 0 then b.education else a.education end as education,
    a.workclass, a.native_country, a.occupation
from range({rows}) as t(i)
join adult as a on a.number = 1 + hash(i, 0) % {people}
join adult as b on b.number = 1 + hash(i, 1) % {people}
"""
PYCANON = """
import json, sys, time
import pandas
from pycanon import anonymity
frame = pandas.read_csv(sys.argv[1], dtype=str)
quasi, sensitive = sys.argv[2].split(","), [sys.argv[3]]
began = time.perf_counter()
found = {
    "k": anonymity.k_anonymity(frame, quasi),
    "distinct": anonymity.l_diversity(frame, quasi, sensitive),
    "recursive": anonymity.recursive_c_l_diversity(frame, quasi, sensitive),
    "entropy": anonymity.entropy_l_diversity(frame, quasi, sensitive),
    "t": anonymity.t_closeness(frame, quasi, sensitive),
}
print(json.dumps({"seconds": time.perf_counter() - began}))
"""


def main() -> None:
    options = _options()
    data = os.environ.get("PRIVACY_SQL_DATA")
    if not data:
        sys.exit("Set PRIVACY_SQL_DATA to the folder with adult.csv.gz.")
    with tempfile.TemporaryDirectory() as folder:
        python = options.pycanon or _environment(Path(folder))
        sizes = [_size(Path(data), Path(folder), rows, python, options.patience) for rows in options.rows]
    machine = {"cpus": os.cpu_count(), "python": platform.python_version(), "duckdb": duckdb.__version__}
    json.dump({"benchmark": "check", "machine": machine, "sizes": sizes}, sys.stdout, indent=2)
    print()


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, nargs="+", default=[30_000, 1_000_000])
    parser.add_argument("--pycanon", help="the Python of an environment that has pycanon")
    parser.add_argument("--patience", type=float, default=20, help="least seconds to wait for pycanon")
    return parser.parse_args()


def _size(data: Path, folder: Path, rows: int, python: str | None, patience: float) -> dict[str, Any]:
    """All measurements at one number of rows."""
    table, combinations = _resample(data, folder, rows)
    # below a million rows the fixed cost of some twenty statements shows, and there is no goal
    limit = 1.3 if rows >= 1_000_000 else None
    sources = group_by.by_source(folder / f"people_{rows}", [*QUASI, SENSITIVE], REQUIRE, limit)
    found: dict[str, Any] = {"rows": rows, "combinations": combinations, "sources": sources}
    ours = sources["table"]["check_s"]
    # long enough to see a hundredfold difference
    found["pycanon"] = _pycanon(python, table, max(patience, 101 * ours), ours)
    if rows >= 1_000_000:
        ratio = found["pycanon"].get("ratio_at_least") or found["pycanon"].get("ratio", 0)
        found["pycanon"]["goal"] = "ratio >= 100: " + ("met" if ratio >= 100 else "MISSED")
    return found


def _resample(data: Path, folder: Path, rows: int) -> tuple[Path, int]:
    columns = ", ".join([*QUASI, SENSITIVE])
    made = folder / f"people_{rows}"
    with duckdb.connect(f"{made}.db") as connection:
        adult = ADULT.format(columns=columns, file=data / "adult.csv.gz")
        connection.execute(f"create temp table adult as {adult}")
        (people,) = connection.execute("select count(*) from adult").fetchall()[0]
        connection.execute(f"create table people as {RESAMPLED.format(rows=rows, people=people)}")
        group_by.export(connection, made)
        (combinations,) = connection.execute(
            f"select count(*) from (select distinct {columns} from people)"
        ).fetchall()[0]
    return Path(f"{made}.csv"), combinations


def _environment(folder: Path) -> str | None:
    """A virtual environment with pycanon from the registry; None when it cannot be had."""
    python = folder / "pycanon" / "bin" / "python"
    try:
        subprocess.run([sys.executable, "-m", "venv", str(folder / "pycanon")], check=True)
        subprocess.run([str(python), "-m", "pip", "install", "--quiet", "pycanon"], check=True)
    except subprocess.CalledProcessError:
        return None
    return str(python)


def _pycanon(python: str | None, table: Path, patience: float, ours: float) -> dict[str, Any]:
    """pycanon on the same rows, reading excluded; a lower bound when it takes longer than we wait."""
    if python is None:
        return {"not_installed": "pycanon could not be installed from the registry"}
    command = [python, "-W", "ignore", "-c", PYCANON, str(table), ",".join(QUASI), SENSITIVE]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=patience, check=True)
    except subprocess.TimeoutExpired:
        return {"seconds_more_than": patience, "ratio_at_least": round(patience / ours)}
    except subprocess.CalledProcessError as problem:
        return {"failed": problem.stderr.strip().splitlines()[-1:]}
    seconds = json.loads(done.stdout.splitlines()[-1])["seconds"]
    return {"seconds": round(seconds, 3), "ratio": round(seconds / ours)}


if __name__ == "__main__":
    main()
