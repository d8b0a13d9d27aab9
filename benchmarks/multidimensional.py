"""Multidimensional partitioning: at growing size, on continuous columns, beside other programs on Adult.

    python benchmarks/multidimensional.py [--rows 1000000 10000000] [--anonypyx PYTHON] [--parts scale,adult]

`scale`: synthetic people of seven columns as skewed as a census, cut with k = 25, k = 1000 and the skyline
point (3, 1000, 10, 0.9), and two continuous columns that no counting makes smaller, cut at medians and, at
the smallest size, where most is told about a job they do not tell: a deep tree. `partition_s` is the time
after the base is counted. Each measurement is a process of its own with `memory_limit` 1 GB.

`adult`: the 45,222 complete people of Adult (needs PRIVACY_SQL_DATA), k = 25, against Mondrian in numpy on
the same people and anonypyx (`--anonypyx`: the Python of an environment that has it), and the utility of the
boxes beside `full_domain` with local recoding. Prints JSON; a goal that is missed says MISSED.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import resource
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
from release_utility import worth

import privacy_sql as ps
from privacy_sql.counted.base import count
from privacy_sql.papers._partition import partition
from privacy_sql.query.template import Query

SIZES = (1_000_000, 10_000_000)
MEMORY_LIMIT = "1GB"
MOST_MEMORY_GB, MOST_SECONDS = 2.0, 5.0  # at 10M rows
LINEAR = 1.5  # times the growth of the base
MOST_ADULT_SECONDS = 3.0
MOST_TELLING_SECONDS = 60.0  # two continuous columns of 1M rows
CENSUS = {
    "age": (74, 1.5),
    "education": (16, 4),
    "marital": (7, 3),
    "race": (5, 6),
    "sex": (2, 1),
    "workclass": (8, 5),
    "country": (41, 10),
}
REQUIRE: dict[str, Callable[[], ps.Criterion]] = {
    "k=25": lambda: ps.KAnonymity(25),
    "k=1000": lambda: ps.KAnonymity(1000),
    "(3, 1000, 10)": lambda: ps.PrivacySkyline([[3, 1000, 10, "0.9"]]),
}
ADULT = ["age", "workclass", "education", "marital_status", "race", "sex", "native_country"]
TREES = [name for name in ADULT if name != "age"]
K = 25
ANONYPYX = """
import json, sys, time
import anonypyx
import pandas as pd
file, quasi = sys.argv[1], json.loads(sys.argv[2])
rows = pd.read_csv(file)
for name in quasi:
    if name != "age":
        rows[name] = rows[name].astype("category")
began = time.perf_counter()
made = anonypyx.Anonymiser(rows, k=25, algorithm="Mondrian", feature_columns=quasi).anonymise()
spent = round(time.perf_counter() - began, 2)
labels = made.drop(columns=["occupation", "count"]).drop_duplicates()
print(json.dumps({"seconds": spent, "groups": len(labels)}))
"""


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, nargs="*", default=list(SIZES))
    parser.add_argument("--parts", default="scale,adult")
    parser.add_argument("--anonypyx")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="benchmark-") as folder:
        if "scale" in options.parts:
            scale(options.rows, Path(folder))
        if "adult" in options.parts:
            adult(Path(os.environ["PRIVACY_SQL_DATA"]), Path(folder), options.anonypyx)


def scale(sizes: list[int], folder: Path) -> None:
    """Time and memory against the number of rows."""
    found: dict[str, dict[str, Any]] = {}
    for rows in sizes:
        census, continuous = written(rows, folder)
        for name in REQUIRE:
            found.setdefault(name, {})[rows] = alone(measured, census, [*CENSUS], name)
        found.setdefault("continuous, k=25", {})[rows] = alone(measured, continuous, ["x", "y"], "k=25")
    _, continuous = written(min(sizes), folder)
    told = alone(measured, continuous, ["x", "y"], "k=25", "information_gain")
    print(json.dumps({**found, "continuous, k=25, information_gain": {min(sizes): told}}, indent=1))
    if told["partition_s"] > MOST_TELLING_SECONDS * max(1, min(sizes) / SIZES[0]):
        print(f"MISSED: information gain: {told['partition_s']:.1f} s, goal {MOST_TELLING_SECONDS} s")
    for name in found:
        goals(name, found[name], min(sizes), max(sizes))


def goals(name: str, found: dict[int, dict[str, Any]], small: int, large: int) -> None:
    """Say what is missed."""
    few, many = found[small], found[large]
    base = many["combinations"] / few["combinations"]
    growth = many["partition_s"] / few["partition_s"]
    if growth > LINEAR * base:
        print(f"MISSED: {name}: {growth:.1f} times the time for {base:.1f} times the base")
    if name in REQUIRE and large == SIZES[-1] and many["partition_s"] > MOST_SECONDS:
        print(f"MISSED: {name}: {many['partition_s']:.1f} s, goal {MOST_SECONDS} s")
    if many["peak_gb"] > MOST_MEMORY_GB:
        print(f"MISSED: {name}: peak memory {many['peak_gb']:.2f} GB, goal {MOST_MEMORY_GB} GB")


def written(rows: int, folder: Path) -> tuple[Path, Path]:
    """Files of synthetic people: skewed categories, and two continuous columns."""

    def drawn(seed: int) -> str:
        return f"(hash(i * 31 + {seed}) % 1000003 / 1000003.0)"

    census = [
        f"cast(floor(power({drawn(n)}, {skew}) * {top}) as int) as {name}"
        for n, (name, (top, skew)) in enumerate(CENSUS.items(), start=1)
    ]
    job = f"cast(floor(power({drawn(8)}, 1.5) * 14) as int) as job"
    continuous = [f"hash(i * 31 + {n}) / 1e15 as {name}" for n, name in enumerate("xy", start=1)]
    with ps.connect("duckdb:") as engine:
        for name, columns in (("census", census), ("continuous", continuous)):
            query = f"select {', '.join([*columns, job])} from range({rows}) t(i)"
            path = folder / f"{name}-{rows}.parquet"
            engine.write_file(Query(query, name), path, "parquet")
    return folder / f"census-{rows}.parquet", folder / f"continuous-{rows}.parquet"


def alone(work: Callable[..., Any], *given: Any) -> Any:
    """What a function returns in a process of its own, so that its memory is its own."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(work, given)


def measured(path: Path, quasi: list[str], require: str, split: str = "median") -> dict[str, Any]:
    """Count, then partition."""
    from privacy_sql.judge import Requirements

    table = ps.Table(path, quasi, "job")
    with ps.connect("duckdb:", memory_limit=MEMORY_LIMIT) as engine:
        base = count(engine, table)
        began = time.perf_counter()
        wanted = Requirements.of(table, [REQUIRE[require]()])
        proposal = ps.Multidimensional(split=split).propose(base, wanted)
        spent = time.perf_counter() - began
        groups = proposal.grouping.n_groups
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    return {
        "combinations": base.combinations,
        "groups": groups,
        "partition_s": round(spent, 2),
        "peak_gb": round(peak, 2),
    }


# -- Adult ---------------------------------------------------------------------------------------------------


def adult(data: Path, folder: Path, anonypyx: str | None) -> None:
    """Seconds beside other programs, utility beside another method."""
    found: dict[str, Any] = {}
    whole = "workclass is not null and occupation is not null and native_country is not null"
    file, trees = data / "adult.csv.gz", data / "hierarchies" / "adult"
    kinds = {name: ps.Tree.from_file(trees / f"{name}.csv", name) for name in TREES}
    plain = ps.Table(file, ADULT, "occupation", where=whole)
    generalised = ps.Table(file, {"age": ps.Intervals(5, 10, 20, 40), **kinds}, "occupation", where=whole)
    recoded = ps.FullDomain(max_suppressed="0.1", local_recoding=True)
    with ps.connect("duckdb:", memory_limit=MEMORY_LIMIT) as engine:
        for name, table, method in (
            ("multidimensional", plain, ps.Multidimensional()),
            ("multidimensional, hierarchies", generalised, ps.Multidimensional()),
            ("full_domain, local recoding", generalised, recoded),
        ):
            found[name] = published(engine, table, method, nodes_of(trees))
        found["numpy"] = in_numpy(count(engine, plain))
    if anonypyx:
        found["anonypyx"] = in_anonypyx(anonypyx, file, whole, folder / "adult.csv")
    print(json.dumps(found, indent=1))
    if found["multidimensional"]["seconds"] > MOST_ADULT_SECONDS:
        print(f"MISSED: Adult in {found['multidimensional']['seconds']} s, goal {MOST_ADULT_SECONDS} s")


def published(engine: Any, table: ps.Table, method: Any, nodes: Any) -> dict[str, Any]:
    """Seconds to publish, and what the release is worth."""
    began = time.perf_counter()
    release = ps.publish(engine, table, [ps.KAnonymity(K)], method)
    spent = time.perf_counter() - began
    names = ", ".join(ADULT)
    counted = f"select {names}, count(*) as n_rows from ({{}}) group by {names}"
    groups = release.grouping.base.engine.fetch(Query(counted.format(release.view.sql), "published"))
    source = f"select * from read_csv('{table.source}', all_varchar = true) where {table.where}"
    people = duckdb.sql(counted.format(source)).to_arrow_table().to_pylist()
    return {
        "seconds": round(spent, 2),
        "groups": release.grouping.n_groups,
        "suppressed": release.rows_in - release.rows_out,
        **worth(groups, people, nodes),
    }


def nodes_of(trees: Path) -> dict[str, dict[str, set[str]]]:
    """The leaves of every label, by column; bands of ages are read as ranges."""
    found: dict[str, dict[str, set[str]]] = {}
    for name in TREES:
        for line in (trees / f"{name}.csv").read_text().splitlines():
            leaf, *labels = line.split(";")
            for label in labels:
                found.setdefault(name, {}).setdefault(label, set()).add(leaf)
    return found


def in_anonypyx(python: str, file: Path, where: str, rows: Path) -> dict[str, Any]:
    """Mondrian of another package, on the same people."""
    columns = ", ".join([*ADULT, "occupation"])
    duckdb.execute(f"copy (select {columns} from '{file}' where {where}) to '{rows}' (format csv, header)")
    call = [python, "-c", ANONYPYX, str(rows), json.dumps(ADULT)]
    told: dict[str, Any] = json.loads(subprocess.run(call, check=True, capture_output=True).stdout)
    return told


def in_numpy(base: Any) -> dict[str, Any]:
    """Mondrian on arrays of the same rows, in memory."""
    columns = [*base.columns]
    found = base.engine.arrays(Query(f"select {', '.join(columns)}, n_rows from {base.relation}", "rows"))
    points = np.repeat(np.column_stack([found[c] for c in columns]), found["n_rows"], axis=0)
    began = time.perf_counter()
    leaves = partition(points, lambda halves: np.ones(len(halves), dtype=bool), K)
    return {"seconds": round(time.perf_counter() - began, 2), "groups": len(leaves)}


if __name__ == "__main__":
    main()
