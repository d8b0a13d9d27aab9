"""Searching and judging collections of marginals: all listed, eight columns, large joins, many rows.

Prints JSON; a goal that is missed says MISSED. Needs PRIVACY_SQL_DATA (the folder with adult.csv.gz).

    python benchmarks/marginals.py [--part listed,eight,joins,rows,mbi] [--rows 5000000]
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import platform
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import numpy as np

import privacy_sql as ps
from privacy_sql.counted.base import count
from privacy_sql.kernels.marginals import worst_groups
from privacy_sql.kernels.marginals.clique_join import JoinClique
from privacy_sql.kernels.marginals.worst_groups import fewest_values, least_entropy, worst_ratio
from privacy_sql.marginals.search import MarginalSearch
from privacy_sql.papers.kifer import EIGHT, MORE_AGE, MORE_MARITAL, CollectionStudy, adult, eight_columns
from privacy_sql.searches import Limits
from privacy_sql.searches.annealing import Annealing
from privacy_sql.searches.beam import Beam

# the least divergence known for each requirement on eight columns (nats)
KNOWN = (3.30151, 4.42192, 3.19065, 3.30569)
WHOLE = "workclass is not null and occupation is not null and native_country is not null"
SAMPLE = """
create table people as
select
    cast(cast(a.age as int) + cast(hash(i, 3) % 3 as int) - 1 as varchar) as age,
    a.race, a.sex, a.marital_status, a.occupation
from range({rows}) as t(i)
join (select *, row_number() over () as number from read_csv('{file}', all_varchar = true) where {whole}) as a
    on a.number = 1 + hash(i, 0) % 45222
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--part", default="listed,eight,joins,rows,mbi")
    parser.add_argument("--rows", type=int, default=5_000_000)
    options = parser.parse_args()
    data = Path(os.environ["PRIVACY_SQL_DATA"])
    parts: dict[str, Callable[[], Any]] = {
        "listed": lambda: listed(data),
        "eight": lambda: eight(data),
        "joins": joins,
        "rows": lambda: rows(data, options.rows),
        "mbi": mbi,
    }
    found = {name: parts[name]() for name in options.part.split(",")}
    machine = {"cpus": os.cpu_count(), "python": platform.python_version(), "duckdb": duckdb.__version__}
    json.dump({"benchmark": "marginals", "machine": machine, **found}, sys.stdout, indent=2)
    print()


def goal(reached: bool, words: str) -> str:
    return f"{'reached' if reached else 'MISSED'}: {words}"


def listed(data: Path) -> dict[str, Any]:
    """Martin's five columns: every admissible collection listed, the best safe one proven."""
    with ps.connect() as engine:
        began = time.perf_counter()
        study = CollectionStudy.of(engine, adult(data, MORE_AGE, MORE_MARITAL))
        counted = time.perf_counter()
        best = study.optimum
        done = time.perf_counter()
    seconds = done - counted
    return {
        "counting_seconds": round(counted - began, 3),
        "seconds": round(seconds, 3),
        "marginals_counted": len(study.search.counted),
        "joins_judged": len(study.search.verdicts),
        "kl": round(best.kl, 5),
        "goal": goal(seconds <= 2 and round(best.kl, 5) <= 0.29942, "the best collection in 2 s"),
    }


def eight(data: Path) -> dict[str, Any]:
    """Four searches over eight quasi-identifiers, against the least divergences known."""
    with ps.connect() as engine:
        base = count(engine, eight_columns(data))
        return {
            f"k={k} ({c},{ell})": _searched(base, (ps.KLink(k), ps.MaxentLDiversity(l=ell, c=c)), known)
            for (k, c, ell), known in zip(EIGHT, KNOWN, strict=True)
        }


def _searched(base: Any, require: Any, known: float) -> dict[str, Any]:
    search = MarginalSearch(base, require)
    found: dict[str, Any] = {}
    best = None
    for name, width in (("greedy", 1), ("beam", 10)):
        began = time.perf_counter()
        reached = Beam(width).choose(search.space, search.safe, lambda c: c.kl, Limits())
        seconds = time.perf_counter() - began
        best = reached.best
        found[name] = _row(best, seconds, reached.explored)
    began = time.perf_counter()
    reached = Annealing().choose(
        search.space, search.safe, lambda c: c.kl, np.random.default_rng(0), start=best
    )
    found["annealing"] = _row(reached.best, time.perf_counter() - began, reached.explored)
    least = min(part["kl"] for part in found.values())
    return {**found, "known": known, "goal": goal(least <= known, "the least divergence known")}


def _row(best: Any, seconds: float, explored: int) -> dict[str, Any]:
    return {
        "kl": round(best.kl, 5),
        "seconds": round(seconds, 3),
        "collections": explored,
        "per_second": round(explored / seconds),
    }


MEASURES: dict[str, Callable[[list[JoinClique]], Any]] = {
    "critical c": lambda join: worst_ratio(join, 6).value,
    "entropy": lambda join: least_entropy(join).risk,
    "values": lambda join: fewest_values(join).value,
}


def joins() -> dict[str, Any]:
    """The worst group of joins of three marginals, walked whole and by bound and expand."""
    found: dict[str, Any] = {}
    for groups in (47, 100, 216):
        entry = found[f"{groups**3} groups"] = {}
        for name, measure in MEASURES.items():
            by_bounds, seconds = _timed(measure, star(groups), plain=0)
            walked, whole_seconds = _timed(measure, star(groups), plain=10**12)
            assert by_bounds == walked
            entry[name] = {"bounds_seconds": seconds, "whole_seconds": whole_seconds}
    return found


def _timed(measure: Callable[[list[JoinClique]], Any], join: list[JoinClique], plain: int) -> Any:
    """What a join measures and the seconds it took; joins above `plain` groups are walked by bounds."""
    kept, worst_groups.PLAIN_GROUPS = worst_groups.PLAIN_GROUPS, plain
    try:
        began = time.perf_counter()
        return measure(join), round(time.perf_counter() - began, 3)
    finally:
        worst_groups.PLAIN_GROUPS = kept


def star(groups: int) -> list[JoinClique]:
    """Three marginals that share the sensitive value of 14 alone."""
    random = np.random.default_rng(groups)
    share = random.dirichlet(np.full(14, 5.0))
    sizes = np.full(groups, 40_000 // groups)
    tables = [np.array([random.multinomial(n, share) for n in sizes]) + 1 for _ in range(3)]
    # the marginals are of one table, so each must count the values alike
    total = np.max([table.sum(axis=0) for table in tables], axis=0)
    for table in tables:
        table[0] += total - table.sum(axis=0)
    zeros = np.zeros(groups, dtype=np.int64)
    return [JoinClique(tables[0]), *(JoinClique(table, 0, zeros, zeros) for table in tables[1:])]


def rows(data: Path, n_rows: int) -> dict[str, Any]:
    """Publishing from few and from many rows: the source is counted once, the rest sees counts only."""
    found: dict[str, Any] = {}
    for size in (n_rows // 100, n_rows):
        with tempfile.TemporaryDirectory() as folder, people(data, Path(folder), size) as engine:
            found[f"{size} rows"] = _published(engine, five_columns(data), size, Path(folder) / "out.csv")
    few, many = (part["after_counting_seconds"] for part in found.values())
    return {
        **found,
        "goal": goal(many <= 2 * few, "what follows the count costs the same for 100 times the rows"),
    }


def five_columns(data: Path) -> ps.Table:
    marital = data / "hierarchies" / "adult" / "marital_status.csv"
    quasi = {
        "age": ps.Intervals(5, 10, 20),
        "race": ps.KeepOrDrop(),
        "sex": ps.KeepOrDrop(),
        "marital_status": ps.Tree.from_file(marital, "marital_status"),
    }
    return ps.Table("people", quasi, "occupation")


def _published(engine: Any, table: ps.Table, size: int, place: Path) -> dict[str, Any]:
    """Counted on its own first; then from the rows to audited files. k is a share of the rows."""
    began = time.perf_counter()
    combinations = count(engine, table).combinations
    counting = time.perf_counter() - began
    began = time.perf_counter()
    method = ps.Marginals(beam=10, most_choices=1_000)
    require = [ps.KLink(size // 2_000), ps.MaxentLDiversity(l=6, c=3)]
    release = ps.publish(engine, table, require, method)
    searched = time.perf_counter()
    ps.write(engine, release, place)
    done = time.perf_counter()
    return {
        "combinations": combinations,
        "counting_seconds": round(counting, 3),
        "publish_seconds": round(searched - began, 3),
        "write_and_audit_seconds": round(done - searched, 3),
        "after_counting_seconds": round(done - began - counting, 3),
        "kl": round((release.search or {})["kl"], 5),
    }


def people(data: Path, folder: Path, size: int) -> Any:
    """An engine on a database of people resampled from Adult."""
    with duckdb.connect(str(folder / "people.db")) as made:
        made.execute(SAMPLE.format(rows=size, file=data / "adult.csv.gz", whole=WHOLE))
    return ps.connect(f"duckdb:{folder / 'people.db'}")


def mbi() -> dict[str, Any]:
    """Against private-pgm's estimation of the maximum-entropy table, where it is installed."""
    if importlib.util.find_spec("mbi") is None:
        return {"skipped": "mbi is not installed"}
    from mbi import Dataset, Domain, LinearMeasurement, estimation  # type: ignore[import-not-found]

    sizes = {"a": 16, "b": 7, "c": 14}
    random = np.random.default_rng(5)
    domain = Domain(list(sizes), list(sizes.values()))
    rows = {name: random.integers(0, size, 50_000) for name, size in sizes.items()}
    dataset = Dataset(rows, domain)
    cliques = [("a", "c"), ("b", "c")]
    began = time.perf_counter()
    measured = [LinearMeasurement(dataset.project(q).datavector(), q, stddev=1.0) for q in cliques]
    estimation.mirror_descent(domain, measured, iters=500)
    theirs = time.perf_counter() - began
    import pandas as pd

    with ps.connect() as engine:
        began = time.perf_counter()
        table = ps.Table(pd.DataFrame(rows).astype(str), ["a", "b"], "c")
        found = ps.MarginalSet(engine, table, [{"a": 0, "c": 0}, {"b": 0, "c": 0}])
        assert found.max_entropy(exact=False)
        ours = time.perf_counter() - began
    return {
        "theirs_seconds": round(theirs, 3),
        "ours_seconds": round(ours, 3),
        "ratio": round(theirs / ours, 1),
    }


if __name__ == "__main__":
    main()
