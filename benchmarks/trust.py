"""What the promises cost: one check, one run, and a register of ten releases, in CPU seconds.

An invented table of people is checked, published by a project of one release, and published ten times into a
project that keeps a register; then one more release is judged beside the ten. Each step is a process of its
own; the least of some rounds is shown. Prints JSON. `--beside FOLDER` measures another checkout as well, in
turns step by step, so that whatever else the machine does falls on both; `ratio` is this one to that one, and
`ratios` the least and the largest of single rounds.

    python benchmarks/trust.py [--rows 30000] [--rounds 5] [--beside ../before]
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
from collections.abc import Mapping
from pathlib import Path

HERE = Path(__file__).resolve().parent.parent
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
# a step: the project it is done in, its words, and the exit codes it may have
STEPS: dict[str, tuple[str, list[str], tuple[int, ...]]] = {
    "check": ("one", CHECK, (0, 1)),
    "run": ("one", ["run", "--json"], (0,)),
    "register_of_ten": ("ten", ["run", "--json"], (0,)),
    "run_beside_ten": ("ten", ["run", "--json", "--overwrite", "--select", "r0"], (0,)),
}


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
    folder.mkdir(parents=True)
    people(folder / "people.csv", rows)
    (folder / "privacy.yml").write_text(
        PROJECT.format(releases="".join(RELEASE.format(number=number) for number in numbers))
    )


def cpu(checkout: Path, arguments: list[str], folder: Path, *, allowed: tuple[int, ...]) -> float:
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


def measured(checkouts: Mapping[str, Path], rows: int, rounds: int) -> dict[str, dict[str, list[float]]]:
    """The figures of every checkout, round by round; who comes first changes with each."""
    found: dict[str, dict[str, list[float]]] = {name: {step: [] for step in STEPS} for name in checkouts}
    for number in range(rounds):
        names = list(checkouts) if number % 2 else list(reversed(checkouts))
        with tempfile.TemporaryDirectory() as place:
            for name in names:
                project(Path(place) / name / "one", range(1), rows)
                project(Path(place) / name / "ten", range(10), rows)
                (Path(place) / name / "ten" / "privacy_register.jsonl").touch()
            for step, (folder, words, allowed) in STEPS.items():
                for name in names:
                    seconds = cpu(checkouts[name], words, Path(place) / name / folder, allowed=allowed)
                    found[name][step].append(seconds)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=int, default=30_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--beside", type=Path, help="another checkout, measured in turns with this one")
    options = parser.parse_args()
    checkouts = {"here": HERE} | ({"beside": options.beside.resolve()} if options.beside else {})
    times = measured(checkouts, options.rows, options.rounds)
    least = {name: {step: round(min(of), 2) for step, of in steps.items()} for name, steps in times.items()}
    found: dict[str, object] = {"rows": options.rows, "rounds": options.rounds, "cpu_seconds": least["here"]}
    if options.beside:
        ratios = {
            step: sorted(a / b for a, b in zip(times["here"][step], times["beside"][step], strict=True))
            for step in STEPS
        }
        found |= {
            "beside": least["beside"],
            "ratio": {step: round(least["here"][step] / least["beside"][step], 2) for step in STEPS},
            "ratios": {step: [round(of[0], 2), round(of[-1], 2)] for step, of in ratios.items()},
        }
    print(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
