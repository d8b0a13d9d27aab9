"""How long an intersection attack takes, on Adult against anonypyx and on a million people; and MDAV.

Two overlapping samples of Adult are published as multidimensional boxes (k = 5) and attacked together with
5,000 people; anonypyx attacks the same boxes for some of them, reading excluded for both. All of Adult is
microaggregated. Then a million people in three multidimensional releases are attacked, in a process of its
own whose memory is read when it ends. Prints JSON; a goal that is missed says MISSED. Needs
PRIVACY_SQL_DATA (the folder with adult.csv.gz).

    python benchmarks/composition.py [--million 1000000] [--peer-people 100] [--anonypyx PYTHON]

`--anonypyx` names the Python of an environment that has anonypyx; without it one is made for the run.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
from group_by import seconds  # the script beside this one

import privacy_sql as ps
from privacy_sql.counted.base import count
from privacy_sql.papers._overlap import Pair, PaperPeople

QUASI = ["age", "sex", "race", "marital_status", "education", "workclass", "native_country"]
PEER = """
import json, sys, time
import pandas
from anonypyx.attackers import IntersectionAttacker
from anonypyx.generalisation import MachineReadable
folder, columns, n = sys.argv[1], sys.argv[2].split(","), int(sys.argv[3])
releases = [pandas.read_csv(f"{folder}/peer_{number}.csv") for number in (0, 1)]
known = pandas.read_csv(f"{folder}/peer_people.csv")[:n]
schema = MachineReadable({}, {c: (c + "_min", c + "_max") for c in columns}, ["value"])
began = time.perf_counter()
attacker = IntersectionAttacker(known, columns, "value", schema)
for release in releases:
    attacker.observe(release, columns + ["value"], range(n))
left = [len(attacker.predict(person, "value")) for person in range(n)]
print(json.dumps({"seconds": time.perf_counter() - began, "left": left}))
"""
# one person in ten is up to two years older or younger, one in three has somebody else's schooling
RESAMPLED = """
with adult as (
    select row_number() over (order by {columns}) as number, {columns}, occupation
    from read_csv('{file}', all_varchar = true)
    where part = 'train' and columns(*) is not null
)
select
    i as who,
    cast(cast(a.age as int) + case when hash(i, 2) % 10 = 0 then cast(hash(i, 3) % 5 as int) - 2 else 0 end
        as varchar) as age,
    a.sex, a.race, a.marital_status,
    case when hash(i, 4) % 3 = 0 then b.education else a.education end as education,
    a.workclass, a.native_country, a.occupation
from range({rows}) as t(i)
join adult as a on a.number = 1 + hash(i, 0) % 30162
join adult as b on b.number = 1 + hash(i, 1) % 30162
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--million", type=int, default=1_000_000, help="people of the large attack, 0: none")
    parser.add_argument("--peer-people", type=int, default=100)
    parser.add_argument("--anonypyx", help="the Python of an environment that has anonypyx")
    parser.add_argument("--attack", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.attack:
        print(json.dumps(_large_attack(options.attack)))
        return
    data = os.environ.get("PRIVACY_SQL_DATA")
    if not data:
        sys.exit("Set PRIVACY_SQL_DATA to the folder with adult.csv.gz.")
    with tempfile.TemporaryDirectory() as folder:
        found = {"adult": _adult(Path(data), Path(folder), options), "microaggregate": _mdav(Path(data))}
        if options.million:
            found["large"] = _large(Path(data), Path(folder), options.million)
    machine = {
        "cpus": os.cpu_count(),
        "load": round(os.getloadavg()[0], 1),
        "python": platform.python_version(),
        "duckdb": duckdb.__version__,
    }
    json.dump({"benchmark": "composition", "machine": machine, **found}, sys.stdout, indent=2)
    print()


def _adult(data: Path, folder: Path, options: argparse.Namespace) -> dict[str, Any]:
    with ps.connect() as engine:
        pair = Pair(PaperPeople(engine, data, "adult"), seed=0)
        people = _coded(pair.people)
        releases = [_boxes(engine, people.iloc[rows], pair.people) for rows in (pair.first, pair.second)]
        known = people.iloc[pair.shared][pair.people.quasi].reset_index(drop=True)
        table = ps.Table(known.assign(who=range(len(known))), pair.people.quasi, identifier="who")
        tables = [ps.Table(r["relation"], r["columns"], r["sensitive"]) for r in releases]

        def load() -> None:
            for each in (table, *tables):
                count(engine, each)

        def attack() -> None:
            found.append(ps.intersection_attack(engine, releases, table))
            assert found[-1].summary.n_ok == len(known)

        found: list[Any] = []
        attack()
        runs = [(seconds(attack), seconds(load)) for _ in range(10)]
        people = {person.id: person.EA_post for person in found[-1].people()}
    attacking, loading = min(each for each, _ in runs), min(each for _, each in runs)
    beyond = attacking - loading
    answer = {
        "people": len(known),
        "attack_s": round(attacking, 3),
        "loading_s": round(loading, 3),
        "beyond_loading_s": round(beyond, 3),
        "goal": "beyond loading <= 0.2 s: " + ("met" if beyond <= 0.2 else "MISSED"),
    }
    left = [people[who] for who in range(options.peer_people)]
    answer["anonypyx"] = _peer(folder, releases, known, options, left, beyond / len(known))
    return answer


def _coded(people: PaperPeople) -> pd.DataFrame:
    """Every quasi-identifier as its place in the order of its values, for the peer reads numbers only."""
    coded = people.rows.copy()
    for column in people.quasi:
        values = coded[column].astype(int) if column == "age" else coded[column]
        coded[column] = values.rank(method="dense").astype(int).astype(str)
    return coded


def _boxes(engine: ps.Engine, sample: pd.DataFrame, people: PaperPeople) -> dict[str, Any]:
    """A sample published as boxes, and how to read it."""
    sensitive = people.source.sensitive
    table = ps.Table(sample[[*people.quasi, sensitive]], people.quasi, sensitive)
    release = ps.publish(engine, table, [ps.KAnonymity(5)], ps.Multidimensional())
    shown = pd.DataFrame(release.grouping.base.engine.fetch(release.view))
    return {"relation": shown, "sensitive": sensitive, "columns": people.quasi}


def _mdav(data: Path) -> dict[str, Any]:
    with ps.connect() as engine:
        people = PaperPeople(engine, data, "adult")
        rows = people.rows[[*people.quasi, people.source.sensitive]]
        table = ps.Table(rows, people.quasi, people.source.sensitive)
        found: dict[str, Any] = {"rows": len(rows), "k": 5}
        for size in ("fixed", "variable"):
            method = ps.Microaggregate(5, size=size)
            spent = seconds(lambda method=method: ps.publish(engine, table, [ps.KAnonymity(5)], method))
            found[f"{size}_s"] = round(spent, 2)
    met = max(found["fixed_s"], found["variable_s"]) <= 10
    return {**found, "goal": "30k rows in <= 10 s: " + ("met" if met else "MISSED")}


def _peer(
    folder: Path,
    releases: list[Any],
    known: pd.DataFrame,
    options: argparse.Namespace,
    left: list[int],
    ours_per_person: float,
) -> dict[str, Any]:
    """anonypyx on the same boxes, for the first people, reading excluded."""
    python = options.anonypyx or _environment(folder)
    if python is None:
        return {"not_installed": "anonypyx could not be installed from the registry"}
    columns = list(known.columns)
    for number, release in enumerate(releases):
        rows = release["relation"]
        ends = {
            f"{column}_{end}": rows[column].str.split("-").str[place].astype(int)
            for column in columns
            for place, end in ((0, "min"), (-1, "max"))
        }
        values = {"value": rows[release["sensitive"]]}
        counted = pd.DataFrame({**ends, **values}).value_counts().reset_index(name="count")
        counted.to_csv(folder / f"peer_{number}.csv", index=False)
    exact = {f"{column}_{end}": known[column] for column in columns for end in ("min", "max")}
    pd.DataFrame({**exact, "ID": range(len(known))}).to_csv(folder / "peer_people.csv", index=False)
    command = [python, "-W", "ignore", "-c", PEER, str(folder), ",".join(columns), str(len(left))]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        return {"failed": done.stderr.strip().splitlines()[-1:]}
    found = json.loads(done.stdout.splitlines()[-1])
    ratio = found["seconds"] / len(left) / ours_per_person
    return {
        "people": len(left),
        "seconds": round(found["seconds"], 2),
        "same_answers": found["left"] == left,
        "ratio_per_person": round(ratio),
        "goal": "ratio >= 200: " + ("met" if ratio >= 200 else "MISSED"),
    }


def _environment(folder: Path) -> str | None:
    python = folder / "anonypyx" / "bin" / "python"
    try:
        subprocess.run([sys.executable, "-m", "venv", str(folder / "anonypyx")], check=True)
        subprocess.run([str(python), "-m", "pip", "install", "--quiet", "anonypyx"], check=True)
    except subprocess.CalledProcessError:
        return None
    return str(python)


def _large(data: Path, folder: Path, people: int) -> dict[str, Any]:
    """Publish three releases of the same people, then attack them in a process of its own."""
    with duckdb.connect() as connection:
        text = RESAMPLED.format(columns=", ".join(QUASI), file=data / "adult.csv.gz", rows=people)
        connection.execute(f"copy ({text}) to '{folder}/people.parquet' (format parquet)")
    table = ps.Table(folder / "people.parquet", QUASI, "occupation", identifier="who", name="people")
    with ps.connect() as engine:
        for k in (25, 50, 100):
            release = ps.publish(engine, table, [ps.KAnonymity(k)], ps.Multidimensional())
            ps.write(engine, release, folder / f"release_{k}.parquet")
    command = [sys.executable, __file__, "--attack", str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    met = found["peak_memory_gb"] <= 2
    return {
        "people": people,
        "releases": 3,
        **found,
        "goal": "memory <= 2 GB: " + ("met" if met else "MISSED"),
    }


def _large_attack(folder: Path) -> dict[str, Any]:
    places = sorted(folder.glob("*.manifest.json"))
    table = ps.Table(folder / "people.parquet", QUASI, identifier="who", name="people")
    with ps.connect(memory_limit="1GB") as engine:
        began = time.perf_counter()
        found = ps.intersection_attack(engine, places, table)
        summary = found.summary
        seconds = time.perf_counter() - began
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024**2
    return {
        "seconds": round(seconds, 2),
        "peak_memory_gb": round(peak, 2),
        "located": [float(share) for share in found.located],
        "exposed_at_a_quarter": float(summary.PVP["1/4"]),
    }


if __name__ == "__main__":
    main()
