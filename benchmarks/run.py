"""What `run` and `report` cost beside an older version: CPU seconds of whole commands, and SQL statements.

The example project of `demo`, published anew, and Adult's 30,162 people with seven quasi-identifiers, found
by a full-domain search; then the report of each with nothing measured before it, and once more. Both versions
in turns, the least of some rounds. Prints JSON; a goal that is missed says MISSED. Adult needs
PRIVACY_SQL_DATA (adult.csv.gz and hierarchies/arx) and is left out without it.

    python benchmarks/run.py [--rounds 5] [--beside CHECKOUT]
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import resource
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import duckdb

HERE = Path(__file__).resolve().parent.parent
GOAL = 0.55  # of what a run of the older version takes
SEVEN = ["sex", "age", "race", "marital_status", "education", "native_country", "workclass"]
ADULT = """
copy (
    select {columns}, occupation from read_csv('{file}', all_varchar = true, nullstr = '')
    where part = 'train' and columns(*) is not null
) to '{target}' (header)
"""
STEPS = {
    "run": ["run", "--overwrite"],
    "report": ["report"],
    "report_again": ["report"],
}
# counts what is given to the engine, in whichever version
COUNTED = """
import atexit, inspect, runpy
from privacy_sql.engines import duckdb as module
asked = []
(kind,) = [c for _, c in inspect.getmembers(module, inspect.isclass) if "_run" in vars(c)]
own = kind._run
def run(self, *given, **named):
    asked.append(1)
    return own(self, *given, **named)
kind._run = run
atexit.register(lambda: print("STATEMENTS", len(asked), flush=True))
runpy.run_module("privacy_sql", run_name="__main__", alter_sys=True)
"""


def called(checkout: Path, words: list[str], folder: Path) -> tuple[float, str]:
    """The CPU seconds of a command of a checkout in a process of its own, and what it printed."""
    # compiled modules are kept, as those of an installed package are
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(
        [sys.executable, *words],
        cwd=folder,
        env={**kept, "PYTHONPATH": str(checkout)},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        sys.exit(f"{words} ended with {done.returncode}: {done.stderr[-400:]}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, done.stdout


def statements(checkout: Path, words: list[str], folder: Path) -> int:
    """How many statements a command of a checkout gives to the engine."""
    _, printed = called(checkout, ["-c", COUNTED, *words], folder)
    return int(printed.split()[-1])


def example(folder: Path, checkout: Path) -> None:
    """The project that `demo` writes, published once."""
    called(checkout, ["-m", "privacy_sql", "demo", str(folder)], folder.parent)


def adult(folder: Path, checkout: Path, data: Path) -> None:
    """Adult with seven quasi-identifiers, published once."""
    shutil.copytree(data / "hierarchies" / "arx", folder / "trees")
    with duckdb.connect() as connection:
        columns, file = ", ".join(SEVEN), data / "adult.csv.gz"
        connection.execute(ADULT.format(columns=columns, file=file, target=folder / "adult.csv"))
    trees = {name: f"trees/adult_hierarchy_{name.replace('_', '-')}.csv" for name in SEVEN}
    release = {
        "source": {"file": "adult.csv"},
        "quasi_identifiers": [{"column": name, "hierarchy": {"file": file}} for name, file in trees.items()],
        "sensitive": {"column": "occupation"},
        "require": {"k_anonymity": {"k": "5"}, "l_diversity": {"l": "3"}},
        "method": {"full_domain": {}},
        "output": {"target": "out/adult.csv"},
    }
    text = json.dumps({"version": "1", "name": "adult", "releases": {"adult": release}})
    (folder / "privacy.yml").write_text(text)
    called(checkout, ["-m", "privacy_sql", "run"], folder)


def measured(checkouts: dict[str, Path], rounds: int, data: Path | None) -> dict[str, Any]:
    """CPU seconds and statements of every step in every project, by checkout."""
    found: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as place:
        for project in ["example", *(["adult"] if data else [])]:
            folders = {name: Path(place) / f"{project}_{name}" for name in checkouts}
            for name, folder in folders.items():
                folder.mkdir()
                if data is not None and project == "adult":
                    adult(folder, checkouts[name], data)
                else:
                    example(folder, checkouts[name])
            seconds: dict[str, dict[str, list[float]]] = {
                name: {step: [] for step in STEPS} for name in checkouts
            }
            for number in range(rounds):
                for name in list(checkouts) if number % 2 else reversed(list(checkouts)):
                    for step, words in STEPS.items():
                        took, _ = called(checkouts[name], ["-m", "privacy_sql", *words], folders[name])
                        seconds[name][step].append(took)
            found[project] = {
                name: {
                    step: {
                        "cpu_seconds": round(min(seconds[name][step]), 2),
                        "statements": statements(checkouts[name], words, folders[name]),
                    }
                    for step, words in STEPS.items()
                }
                for name in checkouts
            }
    return found


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--beside", type=Path, help="another checkout, measured in turns with this one")
    options = parser.parse_args()
    data = os.environ.get("PRIVACY_SQL_DATA")
    checkouts = {"here": HERE} | ({"beside": options.beside.resolve()} if options.beside else {})
    projects = measured(checkouts, options.rounds, Path(data) if data else None)
    for found in projects.values():
        if options.beside:
            ratio = found["here"]["run"]["cpu_seconds"] / found["beside"]["run"]["cpu_seconds"]
            found["run_ratio"] = f"{ratio:.2f}{'' if ratio <= GOAL else f' MISSED: {GOAL}'}"
    machine = {"python": platform.python_version(), "duckdb": duckdb.__version__, "cores": os.cpu_count()}
    print(json.dumps({"machine": machine, "rounds": options.rounds, **projects}, indent=1))


if __name__ == "__main__":
    main()
