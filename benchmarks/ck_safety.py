"""How long (c,k)-safety takes: the kernel, one check against its GROUP BY, and whole lattices.

Prints JSON; times are the best of a few runs, those of the kernel (one thread) in processor seconds; a goal
that is missed says MISSED. Check and lattices need PRIVACY_SQL_DATA (the folder with adult.csv.gz and
hierarchies/).

    python benchmarks/ck_safety.py [--rows 1000000] [--part kernel,check,lattices]
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import resource
import sys
import tempfile
import time
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import check as classical  # the scripts beside this one
import duckdb
import group_by
import numpy as np

import privacy_sql as ps
from privacy_sql.counted.base import count
from privacy_sql.hierarchies import Tree
from privacy_sql.judge import Requirements
from privacy_sql.kernels.worst_case.disclosure import implication_curve
from privacy_sql.kernels.worst_case.group_shapes import GroupShapes
from privacy_sql.kernels.worst_case.running import RunningWorstCase
from privacy_sql.papers import martin

GROUPS, VALUES, FACTS = 50_000, 40, 32
BASELINE_GROUPS, BASELINE_FACTS = 1_000, 8
ARX = ["sex", "age", "race", "marital_status", "education", "native_country", "workclass"]
TRAINING = (
    "part = 'train' and workclass is not null and occupation is not null and native_country is not null"
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--part", default="kernel,check,lattices")
    options = parser.parse_args()
    parts: dict[str, Callable[[], dict[str, Any]]] = {
        "kernel": kernel,
        "check": lambda: check(options.rows),
        "lattices": lattices,
    }
    found = {name: parts[name]() for name in options.part.split(",")}
    machine = {"cpus": os.cpu_count(), "python": platform.python_version(), "duckdb": duckdb.__version__}
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    json.dump({"benchmark": "ck_safety", "machine": machine, "peak_mb": peak, **found}, sys.stdout, indent=2)
    print()


def kernel() -> dict[str, Any]:
    """All k up to 32 on 50,000 groups, no two alike; the paper's recursion on some; a small change."""
    random = np.random.default_rng(7)
    top = -np.sort(-random.integers(1, 60, (GROUPS, VALUES)), axis=1)
    shapes = GroupShapes(top.sum(axis=1), top, np.ones(GROUPS, np.int64))
    times = {k: spent(lambda k=k: implication_curve(shapes, k)) for k in (1, 3, 8, 16, FACTS)}
    few = top[:BASELINE_GROUPS]
    part = GroupShapes(few.sum(axis=1), few, np.ones(len(few), np.int64))
    ours = spent(lambda: implication_curve(part, BASELINE_FACTS))
    theirs = spent(lambda: recursion(few.tolist(), BASELINE_FACTS), runs=1)
    running = RunningWorstCase(8, Fraction(1))
    rows = running.learn(shapes)
    running.change(added=rows)
    running.allows([], [])
    pairs = iter(range(0, GROUPS, 2))

    def merge_two() -> None:
        i = next(pairs)
        together = running.learn(GroupShapes.of([(top[i] + top[i + 1]).tolist()]))
        running.allows(rows[i : i + 2], together)
        running.change(rows[i : i + 2], together)

    return {
        "groups": GROUPS,
        "processor_seconds_by_k": {k: round(seconds, 4) for k, seconds in times.items()},
        "goal": goal(times[FACTS] <= 0.3, f"k = {FACTS} in 0.3 s"),
        "recursion": {
            "groups": BASELINE_GROUPS,
            "k": BASELINE_FACTS,
            "seconds": round(theirs, 3),
            "ours": round(ours, 4),
            "ratio": round(theirs / ours),
        },
        "merge_of_two_groups": {
            "k": 8,
            "seconds": round(spent(merge_two, runs=20), 5),
            "anew": round(times[8], 4),
        },
    }


def recursion(groups: list[list[int]], facts: int) -> float:
    """MINIMIZE1 and MINIMIZE2 as the paper lists them, with memo, in plain Python and floats."""
    cumulated = [np.concatenate([[0], np.cumsum(group)]).tolist() for group in groups]

    @cache
    def minimize1(b: int, i: int, most: int, left: int) -> float:
        if left == 0:
            return 1.0
        people = cumulated[b][-1] - i
        return min(
            max(0, people - cumulated[b][k]) / people * minimize1(b, i + 1, k, left - k)
            for k in range(1, min(most, left) + 1)
        )

    @cache
    def minimize2(b: int, left: int, placed: bool) -> float:
        if b == len(groups):
            return 1.0 if placed and not left else float("inf")
        found = float("inf")
        for h in range(left + 1):
            found = min(found, minimize1(b, 0, h, h) * minimize2(b + 1, left - h, placed))
            if not placed:
                odds = minimize1(b, 0, h + 1, h + 1) * cumulated[b][-1] / groups[b][0]
                found = min(found, odds * minimize2(b + 1, left - h, True))
        return found

    sys.setrecursionlimit(10 * len(groups) + 1_000)
    return 1 / (1 + minimize2(0, facts, False))


def check(rows: int) -> dict[str, Any]:
    """One check end to end, and the GROUP BY it cannot do without."""
    data = os.environ.get("PRIVACY_SQL_DATA")
    if not data:
        return {"skipped": "PRIVACY_SQL_DATA is not set"}
    found: dict[str, Any] = {"rows": rows}
    with tempfile.TemporaryDirectory() as folder:
        classical._resample(Path(data), Path(folder), rows)
        place = Path(folder) / f"people_{rows}"
        for quasi in (list(martin.FIG_5), classical.QUASI):
            columns, require = [*quasi, "occupation"], [ps.CKSafety("0.9", 3)]
            found[f"{len(quasi)} quasi-identifiers"] = group_by.by_source(place, columns, require, 1.5)
    return found


def lattices() -> dict[str, Any]:
    """All minimal safe choices of the paper's lattice and of one with 2,160, from the counted base."""
    data = os.environ.get("PRIVACY_SQL_DATA")
    if not data:
        return {"skipped": "PRIVACY_SQL_DATA is not set"}
    files = Path(data) / "hierarchies" / "arx"
    trees = {n: Tree.from_file(files / f"adult_hierarchy_{n.replace('_', '-')}.csv", n) for n in ARX}
    large = ps.Table(Path(data) / "adult.csv.gz", trees, "occupation", where=TRAINING)
    return {
        "martin": _lattice(martin.adult(Path(data)), [("1/2", 3), ("7/10", 3), ("4/5", 7)], 1.0),
        "large": _lattice(large, [("1/2", 3), ("7/10", 2), ("9/10", 5)], 5.0),
    }


def _lattice(table: ps.Table, points: list[tuple[str, int]], seconds: float) -> dict[str, Any]:
    method = ps.FullDomain(minimise="height")
    found: dict[str, Any] = {}
    with ps.connect() as engine:
        began = time.perf_counter()
        base = count(engine, table)
        found["base_s"] = round(time.perf_counter() - began, 3)
        for c, k in points:
            asked = Requirements((ps.CKSafety(c, k),))
            took = best(lambda asked=asked: method.search(base, asked, "all"), runs=2)
            told = method.search(base, asked, "all").to_json()
            found[f"c={c} k={k}"] = {
                "choices": told["choices"],
                "explored": told["explored"],
                "minimal": len(told["minimal"]),
                "seconds": round(took, 3),
                "goal": goal(took <= seconds, f"{seconds:g} s"),
            }
    return found


def best(call: Callable[[], object], runs: int = 5, clock: Callable[[], float] = time.perf_counter) -> float:
    """The fastest of some runs."""
    found = []
    for _ in range(runs):
        began = clock()
        call()
        found.append(clock() - began)
    return min(found)


def spent(call: Callable[[], object], runs: int = 5) -> float:
    """Processor seconds: what one thread takes on a machine with nothing else to do."""
    return best(call, runs, time.process_time)


def goal(met: bool, text: str) -> str:
    return f"{text}: {'met' if met else 'MISSED'}"


if __name__ == "__main__":
    main()
