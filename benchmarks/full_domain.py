"""All minimal safe choices of Adult, from CSV: against its GROUP BY, anjana, and one query per node.

k = 5 over 7 quasi-identifiers (2,160 choices) and over 9 (12,960 choices), on the 30,162 people of Adult
and on more, resampled from them with noise. Every measurement is a process of its own: its CPU seconds,
wall seconds and peak memory. `search` is the part after the base is counted. Prints JSON; a goal that is
missed says MISSED. Needs PRIVACY_SQL_DATA (the folder with adult.csv.gz and hierarchies/arx).

    python benchmarks/full_domain.py [--rows 30162 1000000] [--anjana PYTHON] [--memory 256MB]

`--anjana` names the Python of an environment that has anjana; without it that comparison is left out.
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

SEVEN = ["sex", "age", "race", "marital_status", "education", "native_country", "workclass"]
NINE = [*SEVEN, "occupation", "income"]
# CPU seconds of the whole process; peak memory in MB
GOALS: dict[int, dict[str, float]] = {
    30_162: {"cpu_s": 0.9},
    1_000_000: {"cpu_s": 1.4},
    5_000_000: {"cpu_s": 4.0, "peak_mb": 500},
}
PEOPLE = """
create temp table adult as
select row_number() over () - 1 as number, {columns}
from read_csv('{file}', all_varchar = true, nullstr = '')
where part = 'train' and columns(*) is not null
"""
# one person in ten is up to two years older or younger, one in twenty has somebody else's schooling
RESAMPLED = """
select
    cast(least(90, greatest(17, cast(a.age as int)
        + case when hash(i, 2) % 10 = 0 then cast(hash(i, 3) % 5 as int) - 2 else 0 end)) as varchar) as age,
    case when hash(i, 4) % 20 = 0 then b.education else a.education end as education,
    a.* exclude (number, age, education)
from range({rows}) as t(i)
join adult as a on a.number = hash(i, 0) % {people}
join adult as b on b.number = hash(i, 1) % {people}
"""
OURS = """
import json, resource, sys, time
import privacy_sql as ps
from privacy_sql.counted.base import count
file, folder, quasi, memory, rows = json.loads(sys.argv[1])
names = {name: folder + "/adult_hierarchy_" + name.replace("_", "-") + ".csv" for name in quasi}
names = {name: path.replace("income", "salary-class") for name, path in names.items()}
trees = {name: ps.Tree.from_file(path, name) for name, path in names.items()}
with ps.connect("duckdb:", memory_limit=memory, threads=2) as engine:
    table = ps.Table(file, trees)
    from privacy_sql.judge import Requirements
    method, asked = ps.FullDomain(), Requirements((ps.KAnonymity(5),))
    base = count(engine, table)
    began = time.process_time()
    found = method.search(base, asked, "all")
    spent = time.process_time() - began
print(json.dumps({"choices": found.found.choices, "safe": found.found.safe_choices, "minimal":
len(found.minimal),
    "explored": found.found.explored, "combinations": base.combinations, "search_cpu_s": round(spent, 3)}))
"""
GROUP_BY = """
import json, sys, duckdb
file, folder, quasi, memory, rows = json.loads(sys.argv[1])
connection = duckdb.connect()
connection.execute("set threads = 2")
columns = ", ".join(quasi)
(n,) = connection.execute(f"select count(*) from (select {columns}, count(*) from read_csv('{file}', "
    f"all_varchar = true) group by {columns})").fetchone()
print(json.dumps({"combinations": n}))
"""
# every tenth choice, counted from the source on its own; the labels come by joins
PER_NODE = """
import itertools, json, sys, time, duckdb
file, folder, quasi, memory, rows = json.loads(sys.argv[1])
connection = duckdb.connect()
connection.execute("set threads = 2")
connection.execute(f"create temp table people as select * from read_csv('{file}', all_varchar = true)")
heights = []
for name in quasi:
    path = (folder + "/adult_hierarchy_" + name.replace("_", "-") + ".csv").replace("income", "salary-class")
    connection.execute(f"create temp table h_{name} as select * from read_csv('{path}', header = false, "
        "all_varchar = true, delim = ';')")
    heights.append(len(connection.execute(f"select * from h_{name} limit 0").description))
nodes = list(itertools.product(*map(range, heights)))
asked = nodes[:: max(1, len(nodes) // 40)]
began = time.process_time()
for node in asked:
    labels = ", ".join(f"h_{name}.column{level}" for name, level in zip(quasi, node))
    joins = " ".join(f"join h_{name} on people.{name} = h_{name}.column0" for name in quasi)
    counted = f"select count(*) as n from people {joins} group by {labels}"
    connection.execute(f"select min(n) from ({counted})").fetchone()
spent = time.process_time() - began
print(json.dumps({"nodes_asked": len(asked), "all_nodes_cpu_s": round(spent / len(asked) * len(nodes), 1)}))
"""
ANJANA = """
import json, sys, pandas
from anjana.anonymity import k_anonymity
file, folder, quasi, memory, rows = json.loads(sys.argv[1])
frame = pandas.read_csv(file, dtype=str)
levels = {}
for name in quasi:
    path = (folder + "/adult_hierarchy_" + name.replace("_", "-") + ".csv").replace("income", "salary-class")
    read = pandas.read_csv(path, sep=";", header=None, dtype=str)
    levels[name] = {level: read[level].values for level in read.columns}
made = k_anonymity(frame, [], quasi, 5, 0, levels)
print(json.dumps({"rows_out": len(made), "finds": "one table, not all minimal ones"}))
"""


def main() -> None:
    options = _options()
    data = os.environ.get("PRIVACY_SQL_DATA")
    if not data:
        sys.exit("Set PRIVACY_SQL_DATA to the folder with adult.csv.gz and hierarchies/arx.")
    with tempfile.TemporaryDirectory() as folder:
        sizes = [_size(Path(data), Path(folder), rows, options) for rows in options.rows]
    machine = {"cpus": os.cpu_count(), "python": platform.python_version(), "duckdb": duckdb.__version__}
    json.dump({"benchmark": "full_domain", "machine": machine, "sizes": sizes}, sys.stdout, indent=2)
    print()


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, nargs="+", default=[30_162, 1_000_000])
    parser.add_argument("--anjana", help="the Python of an environment that has anjana")
    parser.add_argument("--memory", default="256MB", help="memory_limit of the engine from a million rows on")
    return parser.parse_args()


def _size(data: Path, folder: Path, rows: int, options: argparse.Namespace) -> dict[str, Any]:
    """All measurements at one number of rows."""
    file = _people(data, folder, rows)
    memory = options.memory if rows >= 1_000_000 else None
    arguments = [str(file), str(data / "hierarchies" / "arx"), SEVEN, memory, rows]
    ours = _process(sys.executable, OURS, arguments)
    found = {"rows": rows, "all_minimal_2160": ours}
    found["all_minimal_12960"] = _process(sys.executable, OURS, [*arguments[:2], NINE, *arguments[3:]])
    found["group_by"] = _process(sys.executable, GROUP_BY, arguments)
    ours["ratio_to_group_by"] = round(ours["cpu_s"] / found["group_by"]["cpu_s"], 2)
    if rows <= 100_000:
        found["one_query_per_node"] = _process(sys.executable, PER_NODE, arguments)
        if options.anjana:
            found["anjana"] = _process(options.anjana, ANJANA, arguments)
            found["anjana"]["ratio"] = round(found["anjana"]["cpu_s"] / ours["cpu_s"], 1)
    for measure, goal in GOALS.get(rows, {}).items():
        ours[f"goal_{measure}"] = f"<= {goal}: {'met' if ours[measure] <= goal else 'MISSED'}"
    return found


def _people(data: Path, folder: Path, rows: int) -> Path:
    """The people of Adult without missing values; more of them resampled with noise."""
    columns, made = ", ".join(NINE), folder / f"people_{rows}.csv"
    with duckdb.connect() as connection:
        connection.execute(PEOPLE.format(columns=columns, file=data / "adult.csv.gz"))
        (people,) = connection.execute("select count(*) from adult").fetchall()[0]
        source = (
            f"select {columns} from adult" if rows == people else RESAMPLED.format(rows=rows, people=people)
        )
        connection.execute(f"copy ({source}) to '{made}' (format csv, header true)")
    return made


def _process(python: str, code: str, arguments: list[Any]) -> dict[str, Any]:
    """What a program prints, with the CPU, wall and memory of its whole process; the best of three runs."""
    runs = [_once(python, code, arguments) for _ in range(3 if arguments[-1] <= 100_000 else 1)]
    return min(runs, key=lambda run: run["cpu_s"])


WATCH = """
import json, os, resource, subprocess, sys, time
began = time.perf_counter()
done = subprocess.run(sys.argv[1:], capture_output=True, text=True)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
if done.returncode:
    sys.exit(done.stderr[-500:])
found = json.loads(done.stdout.splitlines()[-1])
found["cpu_s"] = round(used.ru_utime + used.ru_stime, 3)
found["wall_s"] = round(time.perf_counter() - began, 3)
found["peak_mb"] = round(used.ru_maxrss / 1024)
print(json.dumps(found))
"""


def _once(python: str, code: str, arguments: list[Any]) -> dict[str, Any]:
    command = [sys.executable, "-c", WATCH, python, "-W", "ignore", "-c", code, json.dumps(arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        return {"failed": done.stderr.strip().splitlines()[-1:], "cpu_s": float("inf")}
    return dict(json.loads(done.stdout))


if __name__ == "__main__":
    main()
