"""What the promises cost: one check, one run, and a register of ten releases, in CPU seconds.

An invented table of people is checked, published by a project of one release, and published ten times into a
project that keeps a register; then one more release is judged beside the ten. Each step is a process of its
own, three times, and the least is shown. Prints JSON. `--beside FOLDER` measures another checkout in the same
run, and `ratio` is this one to that one.

    python benchmarks/trust.py [--rows 30000] [--beside ../before]
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import random
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent.parent
ROUNDS = 3
PROJECT = """version: 1
name: cost
releases:
{releases}
"""
RELEASE = """  r{number}:
    source: {{file: people.csv, where: "part <> '{number}'"}}
    quasi_identifiers:
      - {{column: age, hierarchy: {{intervals: [5, 10, 20]}}}}
      - {{column: zip, hierarchy: {{mask: [4, 3, 2, 0]}}}}
      - {{column: sex, hierarchy: keep_or_drop}}
    sensitive: {{column: illness}}
    drop: [part]
    require: {{k_anonymity: {{k: 5}}, l_diversity: {{l: 3}}}}
    method: {{full_domain: {{minimise: loss, max_suppressed: 0.01}}}}
    output: {{target: out/r{number}.csv}}
"""
CHECK = [
    *("check", "--source", "people.csv", "--quasi", "age,zip,sex", "--sensitive", "illness"),
    *("--require", "k_anonymity(k=5)", "--require", "l_diversity(l=3)", "--json"),
]


def people(place: Path, rows: int) -> None:
    """An invented table: the same for every checkout."""
    draw = random.Random(7)
    with place.open("w", newline="") as stream:
        out = csv.writer(stream)
        out.writerow(["age", "zip", "sex", "part", "illness"])
        for _ in range(rows):
            age, area = draw.randint(18, 90), draw.randint(10000, 10400)
            out.writerow([age, area, draw.choice("FM"), draw.randint(0, 9), f"i{draw.randint(1, 12)}"])


def project(folder: Path, numbers: range, rows: int) -> None:
    """A project of so many releases, each without another tenth of the people."""
    folder.mkdir()
    people(folder / "people.csv", rows)
    (folder / "privacy.yml").write_text(
        PROJECT.format(releases="".join(RELEASE.format(number=number) for number in numbers))
    )


def cpu(checkout: Path, arguments: list[str], folder: Path, *, allowed: tuple[int, ...] = (0,)) -> float:
    """The CPU seconds of one command of a checkout."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(
        [sys.executable, "-m", "privacy_sql", *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(checkout)},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode not in allowed:
        raise SystemExit(f"{arguments[0]} ended with {done.returncode}: {done.stderr[-400:]}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def measured(checkout: Path, rows: int) -> dict[str, float]:
    """The three figures of one checkout."""
    found: dict[str, list[float]] = {"check": [], "run": [], "register_of_ten": [], "run_beside_ten": []}
    for _ in range(ROUNDS):
        with tempfile.TemporaryDirectory() as place:
            one, ten = Path(place) / "one", Path(place) / "ten"
            project(one, range(1), rows)
            found["check"].append(cpu(checkout, CHECK, one, allowed=(0, 1)))
            found["run"].append(cpu(checkout, ["run", "--json"], one))
            project(ten, range(10), rows)
            (ten / "privacy_register.jsonl").touch()
            found["register_of_ten"].append(cpu(checkout, ["run", "--json"], ten))
            again = ["run", "--json", "--overwrite", "--select", "r0"]
            found["run_beside_ten"].append(cpu(checkout, again, ten))
    return {name: round(min(times), 2) for name, times in found.items()}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=int, default=30_000)
    parser.add_argument("--beside", type=Path, help="another checkout, measured in the same run")
    options = parser.parse_args()
    found: dict[str, object] = {"rows": options.rows, "cpu_seconds": (here := measured(HERE, options.rows))}
    if options.beside:
        there = measured(options.beside.resolve(), options.rows)
        found |= {"beside": there, "ratio": {name: round(here[name] / there[name], 2) for name in here}}
    print(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
