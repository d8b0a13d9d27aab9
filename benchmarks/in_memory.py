"""Searches in memory against the same searches of an older version, and against counting the table once.

Adult's 30,162 people under k, recursive and (c,k) ℓ-diversity, t-closeness and a skyline, and under k-map and
presence among all 45,222, with and without suppression; and whole processes from CSV, at a million people
resampled from them as well. CPU seconds of one thread's work, the least of three in a warm process. With
`--today`, the Python of an environment that has the older version, both run in turns, every choice that is
found has to be the same, and the ratios are printed.
Prints JSON; a goal that is missed says MISSED. Needs PRIVACY_SQL_DATA (adult.csv.gz and hierarchies/arx).

    python benchmarks/in_memory.py [--today PYTHON] [--rows 1000000 5000000]
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
from statistics import median
from typing import Any

import duckdb

SEVEN = ["sex", "age", "race", "marital_status", "education", "native_country", "workclass"]
CASES: dict[str, dict[str, Any]] = {
    "k, 7 columns": {"more": [], "require": "k"},
    "k, 8 columns": {"more": ["occupation"], "require": "k", "goal_ms": 80},
    "k, 9 columns": {"more": ["occupation", "income"], "require": "k"},
    "k and recursive, 7 columns": {"more": [], "sensitive": "occupation", "require": "k recursive"},
    "k and recursive, 8 columns": {
        "more": ["income"],
        "sensitive": "occupation",
        "require": "k recursive",
        "goal_ms": 100,
    },
    "k and t, 7 columns": {"more": [], "sensitive": "occupation", "require": "k t"},
    "k and (c,k), 7 columns": {"more": [], "sensitive": "occupation", "require": "k ck", "goal_counts": 4},
    "k and skyline, 7 columns": {
        "more": [],
        "sensitive": "occupation",
        "require": "k skyline",
        "goal_counts": 4,
    },
    # twice the count of the people and of a population one and a half times as large, which a search counts
    "k-map, 7 columns": {"more": [], "require": "map", "population": True, "goal_counts": 5},
    "presence, 7 columns": {"more": [], "require": "presence", "population": True, "goal_counts": 5},
}
CASES |= {
    f"{name}, 1 % suppressed": {
        **{key: part for key, part in case.items() if not key.startswith("goal")},
        "share": "0.01",
        "goal_choice_ms": 6 if "ck" in case["require"] else 1.5,
    }
    for name, case in CASES.items()
    if name not in ("k, 8 columns", "k and skyline, 7 columns")
}
# a version that counts the population again for every choice takes hours for one of these
OLDER = {name: case for name, case in CASES.items() if not case.get("population")}
GOAL_COUNTS = 2  # a search takes at most so many times what counting the table takes
PEOPLE = """
create temp table adult as
select row_number() over () - 1 as number, sex, age, race, marital_status, education, native_country,
    workclass, occupation, income
from read_csv('{file}', all_varchar = true, nullstr = '')
where part in ('train'{others}) and columns(*) is not null
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
COMMON = """
import json, sys, time
import privacy_sql as ps
REQUIRE = {"k": ps.KAnonymity(5), "recursive": ps.LDiversity(4, kind="recursive", c=3),
    "t": ps.TCloseness("0.2"), "ck": ps.CKSafety("0.9", 2),
    "skyline": ps.PrivacySkyline([[1, 0, 1, "0.9"], [0, 1, 1, "0.9"], [1, 1, 2, "0.95"]]),
    "map": ps.KMap(5), "presence": ps.DeltaPresence(0, "0.9")}
file, folder, seven, cases = json.loads(sys.argv[1])
def table(case):
    names = [*seven, *case["more"]]
    files = {name: name.replace("_", "-").replace("income", "salary-class") for name in names}
    trees = {n: ps.Tree.from_file(f"{folder}/adult_hierarchy_{file}.csv", n) for n, file in files.items()}
    everybody = f"{file[:-4]}_everybody.csv" if case.get("population") else None
    require = [REQUIRE[word] for word in case["require"].split()]
    return ps.Table(file, trees, case.get("sensitive"), population=everybody), require
"""
WARM = (
    COMMON
    + """
try:
    from privacy_sql.counted.base import count
    from privacy_sql.judge import Requirements
except ImportError:
    from privacy_sql.base import count
    from privacy_sql.judging import Requirements
told = {}
with ps.connect("duckdb:", threads=1) as engine:
    for name, case in cases.items():
        people, require = table(case)
        method = ps.FullDomain(max_suppressed=case.get("share", 0))
        runs = []
        for _ in range(3):
            began = time.process_time()
            base = count(engine, people)
            counted = time.process_time()
            found = method.search(base, Requirements.of(people, require), "all")
            runs.append((time.process_time() - counted, counted - began))
            if runs[-1][0] > 2:  # what takes seconds is not measured in milliseconds
                break
        said = found.to_json()
        values = {k: v and float(f"{v:.9g}") for k, v in said["best"]["values"].items()}
        best = {**said["best"], "values": values}
        told[name] = {"search_ms": round(min(r[0] for r in runs) * 1000, 1),
            "count_ms": round(min(r[1] for r in runs) * 1000, 1), "explored": said["explored"],
            "found": [said["safe_choices"], [choice["levels"] for choice in said["minimal"]], best]}
print(json.dumps(told))
"""
)
BOXED = {
    f"{name}, {kind}": {"more": [], "sensitive": "occupation", "require": word, "plain": kind == "places"}
    for name, word in (("k", "k"), ("(c,k)", "ck"), ("skyline", "skyline"))
    for kind in ("places", "trees")
}
GOAL_BOXES = 1 / 7  # of the older version, from the counted base to the proposal
BOXES = (
    COMMON
    + """
try:
    from privacy_sql.counted.base import count
    from privacy_sql.judge import Requirements
except ImportError:
    from privacy_sql.base import count
    from privacy_sql.judging import Requirements
told = {}
with ps.connect("duckdb:", threads=1) as engine:
    for name, case in cases.items():
        people, require = table(case)
        people = ps.Table(file, seven, case["sensitive"]) if case["plain"] else people
        runs = []
        for _ in range(3):
            base = count(engine, people)
            began = time.process_time()
            found = ps.Multidimensional().propose(base, Requirements.of(people, require))
            runs.append(time.process_time() - began)
        told[name] = {"propose_ms": round(min(runs) * 1000, 1), "found": found.search}
print(json.dumps(told))
"""
)
GOAL_ONE_CHOICE_MS = 25
ONE_CHOICE = (
    COMMON
    + """
import random
from privacy_sql.counted.base import count
from privacy_sql.lattice.search import LatticeSearch
(case,) = cases.values()
people, require = table(case)
with ps.connect("duckdb:", threads=1) as engine:
    search = LatticeSearch(count(engine, people), tuple(asked.on(people) for asked in require))
    choices = random.Random(1).sample(list(search.lattice.choices()), 200)
    runs = []
    for choice in choices:
        began = time.process_time()
        groups = search.counts.groups(choice)
        for asked in search.require:
            asked.decide(groups)
        runs.append(time.process_time() - began)
print(json.dumps({"ms": round(sorted(runs)[189] * 1000, 2)}))
"""
)
PROCESS = (
    COMMON
    + """
(case,) = cases.values()
people, require = table(case)
with ps.connect("duckdb:", threads=1) as engine:
    found = ps.search(engine, people, require)
print(json.dumps({"found": found.to_json()["best"]["levels"]}))
"""
)
# what no search can be without: the engine, and one GROUP BY of the file with the reader of CSV
FLOOR = """
import json, sys, duckdb
file, _, seven, cases = json.loads(sys.argv[1])
(case,) = cases.values()
columns = ", ".join([*seven, *case["more"], case["sensitive"]])
header = ", ".join(f"'{name}': 'VARCHAR'" for name in open(file).readline().strip().split(","))
options = "delim = ',', quote = '\\"', escape = '\\"', nullstr = '', header = true, auto_detect = false"
read = f"read_csv('{file}', columns = {{{header}}}, {options})"
with duckdb.connect(config={"threads": 1}) as engine:
    engine.execute(f"create temp table t as select {columns}, count(*) from {read} group by {columns}")
print(json.dumps(None))
"""
WATCH = """
import json, resource, subprocess, sys
done = subprocess.run(sys.argv[1:], capture_output=True, text=True)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
if done.returncode:
    sys.exit(done.stderr[-500:])
found = json.loads(done.stdout.splitlines()[-1])
print(json.dumps({"told": found, "cpu_s": round(used.ru_utime + used.ru_stime, 3),
    "peak_mb": round(used.ru_maxrss / 1024)}))
"""


def main() -> None:
    options = _options()
    data = os.environ.get("PRIVACY_SQL_DATA")
    if not data:
        sys.exit("Set PRIVACY_SQL_DATA to the folder with adult.csv.gz and hierarchies/arx.")
    pythons = {"now": sys.executable, **({"today": options.today} if options.today else {})}
    with tempfile.TemporaryDirectory() as folder:
        file = _people(Path(data), Path(folder), None)
        _people(Path(data), Path(folder), None, everybody=True)
        trees = str(Path(data) / "hierarchies" / "arx")
        warm = {
            who: _run(python, WARM, [str(file), trees, SEVEN, CASES if who == "now" else OLDER])["told"]
            for who, python in pythons.items()
        }
        searches = {name: _compared(name, warm) for name in CASES}
        boxes = _boxes({who: _run(p, BOXES, [str(file), trees, SEVEN, BOXED]) for who, p in pythons.items()})
        five = {"all": {"more": [], "sensitive": "occupation", "require": "k recursive t ck skyline"}}
        one_choice = _run(sys.executable, ONE_CHOICE, [str(file), trees, SEVEN, five])["told"]["ms"]
        processes = {}
        for rows in (None, *options.rows):
            path = file if rows is None else _people(Path(data), Path(folder), rows)
            case = {"search": CASES["k and recursive, 8 columns"]}
            given = [str(path), trees, SEVEN, case]
            runs = {who: _least(python, PROCESS, given) for who, python in pythons.items()}
            runs["floor"] = _least(sys.executable, FLOOR, given)
            processes[str(rows or 30_162)] = _process(rows, runs)
        for rows in options.rows:
            path = _people(Path(data), Path(folder), rows, numbered=True)
            given = [str(path), trees, SEVEN, {"search": CASES["k and recursive, 8 columns"]}]
            runs = {who: _least(python, PROCESS, given) for who, python in pythons.items()}
            runs["floor"] = _least(sys.executable, FLOOR, given)
            processes[f"{rows}, no line twice"] = _process(rows, runs)
            path.unlink()
    machine = {"cpus": os.cpu_count(), "python": platform.python_version(), "duckdb": duckdb.__version__}
    told = {"benchmark": "in_memory", "machine": machine, "searches": searches, "processes": processes}
    told |= {"boxes": boxes, "one_choice_95_percent": _goal(one_choice, GOAL_ONE_CHOICE_MS)}
    json.dump(told, sys.stdout, indent=2)
    print()


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--today", help="the Python of an environment that has the older version")
    parser.add_argument("--rows", type=int, nargs="*", default=[1_000_000, 5_000_000])
    return parser.parse_args()


def _compared(name: str, warm: dict[str, Any]) -> dict[str, Any]:
    """One search: what it took, what was found by both, and which goals it keeps."""
    case, now = CASES[name], dict(warm["now"][name])
    found = now.pop("found")
    told = {**now, "per_asked_choice_ms": round(now["search_ms"] / now["explored"], 2)}
    if name in warm.get("today", ()):
        older = warm["today"][name]
        told |= {
            "today_ms": older["search_ms"],
            "times_faster": round(older["search_ms"] / now["search_ms"], 1),
            "same_answers": "yes" if older["found"] == found else "MISSED",
        }
    goals = {"goal_ms": now["search_ms"], "goal_choice_ms": told["per_asked_choice_ms"]}
    for goal, value in goals.items():
        if goal in case:
            told[goal] = _goal(value, case[goal])
    if "share" not in case:
        told["goal_counts"] = _goal(now["search_ms"] / now["count_ms"], case.get("goal_counts", GOAL_COUNTS))
    return told


def _boxes(runs: dict[str, Any]) -> dict[str, Any]:
    """Boxes: what they took, whether both versions made as many, and the goal."""
    told: dict[str, Any] = {}
    for name, now in runs["now"]["told"].items():
        told[name] = dict(now)
        if "today" in runs:
            older = runs["today"]["told"][name]
            told[name] |= {
                "today_ms": older["propose_ms"],
                "same_boxes": "yes" if older["found"].items() <= now["found"].items() else "MISSED",
                "goal_of_today": _goal(now["propose_ms"] / older["propose_ms"], round(GOAL_BOXES, 3)),
            }
    return told


def _process(rows: int | None, runs: dict[str, Any]) -> dict[str, Any]:
    """A whole process from CSV to the result."""
    now = runs["now"]
    floor = runs["floor"]["cpu_s"]
    told = {"cpu_s": now["cpu_s"], "peak_mb": now["peak_mb"], "floor_cpu_s": floor}
    told["times_the_floor"] = round(now["cpu_s"] / floor, 2)
    if rows is None:
        told["goal_cpu_s"] = _goal(now["cpu_s"], 1.0)
    if "today" in runs:
        told |= {"today_cpu_s": runs["today"]["cpu_s"], "today_peak_mb": runs["today"]["peak_mb"]}
        if rows is None or rows <= 1_000_000:
            told["goal_memory"] = _goal(now["peak_mb"] / runs["today"]["peak_mb"], 1.0)
        told["same_best"] = "yes" if now["told"] == runs["today"]["told"] else "MISSED"
        told["goal_of_today"] = _goal(now["cpu_s"] / runs["today"]["cpu_s"], 0.5)
        told["floor_of_today"] = round(floor / runs["today"]["cpu_s"], 2)  # what the engine takes alone
    return told


def _goal(value: float, goal: float) -> str:
    return f"{value:.2f} <= {goal}: {'met' if value <= goal else 'MISSED'}"


def _people(
    data: Path, folder: Path, rows: int | None, *, numbered: bool = False, everybody: bool = False
) -> Path:
    """The people of Adult without missing values; more of them resampled with noise, or numbered.

    `everybody` also has those set aside for tests: the population that the people are of.
    """
    made = folder / f"people_{rows}{'_numbered' if numbered else ''}{'_everybody' if everybody else ''}.csv"
    with duckdb.connect() as connection:
        others = ", 'test'" if everybody else ""
        connection.execute(PEOPLE.format(file=data / "adult.csv.gz", others=others))
        (people,) = connection.execute("select count(*) from adult").fetchall()[0]
        source = "select * exclude (number) from adult"
        if rows is not None:
            source = RESAMPLED.format(rows=rows, people=people)
        shown = "row_number() over () as number, *" if numbered else "*"
        connection.execute(f"copy (select {shown} from ({source})) to '{made}' (format csv, header true)")
    return made


def _least(python: str, code: str, arguments: list[Any]) -> dict[str, Any]:
    runs = [_run(python, code, arguments) for _ in range(4)]
    # a run may get along with less memory than it usually takes
    return {**min(runs, key=lambda run: float(run["cpu_s"])), "peak_mb": median(r["peak_mb"] for r in runs)}


def _run(python: str, code: str, arguments: list[Any]) -> dict[str, Any]:
    # -P: the package of that environment, not the one of the folder we are in
    command = [sys.executable, "-c", WATCH, python, "-P", "-W", "ignore", "-c", code, json.dumps(arguments)]
    # compiled modules are kept, as those of an installed package are
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=kept)
    if done.returncode:
        sys.exit(done.stderr)
    return dict(json.loads(done.stdout))


if __name__ == "__main__":
    main()
