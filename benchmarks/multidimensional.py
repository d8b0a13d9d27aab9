"""Multidimensional partitioning: at growing size, on continuous columns, beside other programs on Adult.

    python benchmarks/multidimensional.py [--rows 1000000 10000000] [--anonypyx PYTHON]
        [--parts scale,whole,finer,adult]

`scale`: synthetic people of seven columns as skewed as a census, cut with k = 25, k = 1000 and the skyline
point (3, 1000, 10, 0.9), and two continuous columns that no counting makes smaller, cut at medians and, at
the smallest size, where most is told about a job they do not tell: a deep tree. `partition_s` is the time
after the base is counted. Each measurement is a process of its own with `memory_limit` 1 GB.

`whole`: from the file to a Parquet file that is published and audited, in processor seconds: the counting,
the cutting with what is shown, the writing, and the reading and judging of what was written.

`finer`: boxes of Adult whose median cut is not safe along any column, cut on at every place that is safe, the
most even first, by hand: how many more boxes there are, and what that tells more.

`adult`: the 45,222 complete people of Adult (needs PRIVACY_SQL_DATA), k = 25, against Mondrian in numpy on
the same people and anonypyx (`--anonypyx`: the Python of an environment that has it), and the utility of the
boxes beside `full_domain` with local recoding. Prints JSON; a goal that is missed says MISSED.
"""

from __future__ import annotations

import argparse
import itertools
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
    parser.add_argument("--parts", default="scale,whole,adult")
    parser.add_argument("--anonypyx")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="benchmark-") as folder:
        if "scale" in options.parts:
            scale(options.rows, Path(folder))
        if "whole" in options.parts:
            whole = {rows: from_end_to_end(written(rows, Path(folder))[0]) for rows in options.rows}
            print(json.dumps(whole, indent=1))
        if "finer" in options.parts:
            print(json.dumps(finer(Path(os.environ["PRIVACY_SQL_DATA"])), indent=1))
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


def from_end_to_end(census: Path) -> dict[str, Any]:
    """Every requirement, from the file to an audited one."""
    return {name: alone(audited, census, [*CENSUS], name) for name in REQUIRE}


def audited(path: Path, quasi: list[str], require: str) -> dict[str, Any]:
    """Count, cut, write and audit, each in seconds of the processor."""
    from privacy_sql.query.statements import listening

    def spent() -> float:
        used = resource.getrusage(resource.RUSAGE_SELF)
        return used.ru_utime + used.ru_stime

    with ps.connect("duckdb:", memory_limit=MEMORY_LIMIT) as engine, tempfile.TemporaryDirectory() as folder:
        marks = [spent()]
        counted = ps.count(engine, ps.Table(path, quasi, "job"))
        marks.append(spent())
        release = ps.publish(engine, counted, [REQUIRE[require]()], ps.Multidimensional())
        marks.append(spent())
        with listening() as heard:
            ps.write(engine, release, Path(folder) / "out.parquet")
        marks.append(spent())
        written = sum(one.seconds for one in heard if one.step == "write")
        after, boxes = sum(one.seconds for one in heard), release.grouping.n_groups
    count_s, cut_s, write_s = (round(b - a, 2) for a, b in itertools.pairwise(marks))
    part = written / after if after else 0.0
    return {
        "boxes": boxes,
        "count_s": count_s,
        "cut_s": cut_s,
        "write_s": round(write_s * part, 2),
        "audit_s": round(write_s * (1 - part), 2),
        "whole_s": round(marks[-1] - marks[0], 2),
        "peak_gb": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20, 2),
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


Counts = dict[int, int]
SAFE: dict[str, tuple[list[ps.Criterion], Callable[[Counts], bool]]] = {
    "k=25": ([ps.KAnonymity(25)], lambda n: sum(n.values()) >= 25),
    "k=25, distinct l=6": (
        [ps.KAnonymity(25), ps.LDiversity(6)],
        lambda n: sum(n.values()) >= 25 and len(n) >= 6,
    ),
    "k=25, recursive (3,6)": (
        [ps.KAnonymity(25), ps.LDiversity(6, kind="recursive", c=3)],
        lambda n: sum(n.values()) >= 25 and max(n.values()) < 3 * sum(sorted(n.values())[:-5]),
    ),
    "alpha=0.3, k=10": (
        [ps.AlphaKAnonymity("0.3", 10)],
        lambda n: sum(n.values()) >= 10 and 10 * max(n.values()) <= 3 * sum(n.values()),
    ),
}


def finer(data: Path) -> dict[str, Any]:
    """Boxes cut at medians, and cut on at any place."""
    whole = "workclass is not null and occupation is not null and native_country is not null"
    table = ps.Table(data / "adult.csv.gz", ADULT, "occupation", where=whole)
    found: dict[str, Any] = {}
    with ps.connect("duckdb:", memory_limit=MEMORY_LIMIT) as engine:
        counted = ps.count(engine, table)
        for name, (require, safe) in SAFE.items():
            release = ps.publish(engine, counted, require, ps.Multidimensional())
            grouping = release.grouping
            columns = [f"q{n}" for n, _ in enumerate(ADULT, start=1)]
            query = f"select g, {', '.join(columns)}, s, n_rows from {grouping.candidate}"
            rows = grouping.base.engine.arrays(Query(query, "rows"))
            points = np.column_stack([rows[c] for c in [*columns, "s", "n_rows"]])
            boxes = [points[rows["g"] == g] for g in np.unique(rows["g"])]
            after = [part for box in boxes for part in cut_on(box, safe)]
            cut = sum(len(cut_on(box, safe)) > 1 for box in boxes)
            found[name] = {
                "boxes": len(boxes),
                "boxes_that_can_be_cut": cut,
                "boxes_after": len(after),
                "kl": round(divergence(boxes), 4),
                "kl_after": round(divergence(after), 4),
            }
    return found


def cut_on(box: np.ndarray, safe: Callable[[Counts], bool]) -> list[np.ndarray]:
    """A box cut at the most even safe place along any column, and its parts again; else itself."""
    half, best = box[:, -1].sum() / 2, None
    for axis in range(box.shape[1] - 2):
        for edge in np.unique(box[:, axis])[1:]:
            below = box[:, axis] < edge
            uneven = abs(box[below, -1].sum() - half)
            if (
                (best is None or uneven < best[0])
                and safe(values_of(box[below]))
                and safe(values_of(box[~below]))
            ):
                best = uneven, below
    if best is None:
        return [box]
    return [part for side in (best[1], ~best[1]) for part in cut_on(box[side], safe)]


def values_of(box: np.ndarray) -> Counts:
    """How many people of a box have each value."""
    values, which = np.unique(box[:, -2], return_inverse=True)
    return dict(
        zip(values.tolist(), np.bincount(which, weights=box[:, -1]).astype(int).tolist(), strict=True)
    )


def divergence(boxes: list[np.ndarray]) -> float:
    """The divergence of the quasi-identifiers from people spread evenly in their box."""
    everybody = np.concatenate(boxes)
    ranges = [np.unique(everybody[:, axis]) for axis in range(everybody.shape[1] - 2)]
    total = 0.0
    for box in boxes:
        cells, which = np.unique(box[:, :-2], axis=0, return_inverse=True)
        people = np.bincount(which.reshape(-1), weights=box[:, -1])
        places = [
            np.searchsorted(r, cells[:, a].max(), "right") - np.searchsorted(r, cells[:, a].min())
            for a, r in enumerate(ranges)
        ]
        size = float(np.prod([float(n) for n in places]))
        total += float((people * np.log(people * size / people.sum())).sum())
    return total / float(everybody[:, -1].sum())


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
