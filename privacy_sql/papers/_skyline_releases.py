"""Chen et al. 2008, Sec. 8.2 and 8.4: how SkylineAnonymize scales, and how useful its releases are."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from privacy_sql.api import publish
from privacy_sql.criteria.k_anonymity import KAnonymity
from privacy_sql.criteria.privacy_skyline import PrivacySkyline
from privacy_sql.engines import Engine, connect
from privacy_sql.errors import NotSafe
from privacy_sql.hierarchies import KeepOrDrop
from privacy_sql.methods.generalise import Generalise
from privacy_sql.methods.multidimensional import Multidimensional
from privacy_sql.papers import Figure
from privacy_sql.query.template import Query
from privacy_sql.release import Release
from privacy_sql.studies.bucketized_kl import bucketized_kl
from privacy_sql.studies.classification_accuracy import classification_accuracy
from privacy_sql.table import Table

PARTS = ("fig7", "fig8", "table3", "fig9")
SIZES = (1_000_000, 2_000_000, 5_000_000, 12_000_000)
SETTINGS = ((3, 1000, 10), (0, 1000, 0))  # Fig. 7
VARIED = {"l": (0, 2, 4, 6, 8, 10), "k": (0, 4, 8, 12), "m": (0, 4, 8, 12)}  # Fig. 8
BASES = {"nothing else": (0, 0, 0), "(2, 6, 2)": (2, 6, 2)}
# Table 3: degrees of protection by occupation, and the highest of them for everybody
VALUE_CENTRIC: dict[str, Any] = {
    "points": [[1, 5, 1, "0.9"]],
    "per_value": {
        "Armed-Forces": [[5, 10, 5, "0.7"]],
        "Exec-managerial": [[4, 10, 4, "0.9"]],
        "Protective-serv": [[3, 8, 3, "0.9"]],
    },
}
ATTRIBUTE_CENTRIC: dict[str, Any] = {"points": [[5, 10, 5, "0.7"]]}
NURSERY = {"l": (0, 1, 2, 3), "k": (0, 4, 8, 16), "m": (0, 4, 8, 16)}  # Fig. 9


def run(engine: Engine, data: Path, wanted: Sequence[str]) -> Iterator[Figure]:
    """The requested figures."""
    if "fig7" in wanted:
        yield scalability(SIZES)
    if "fig8" in wanted:
        yield adult_utility(engine, data, VARIED)
    if "table3" in wanted:
        yield centric(engine, data)
    if "fig9" in wanted:
        yield nursery_accuracy(engine, data, NURSERY)


def scalability(sizes: Sequence[int], memory_limit: str = "512MB") -> Figure:
    """Fig. 7: seconds that SkylineAnonymize takes on synthetic records of nine zip codes, by their number."""
    rows = []
    # records like those of Agrawal et al.'s generator: salary, age, education, car, house, loan and more
    domains = {"salary": 50, "commission": 20, "age": 61, "elevel": 5, "car": 20, "hvalue": 30, "hyears": 30}
    drawn = [f"hash(i * 31 + {n}) % {top} as {name}" for n, (name, top) in enumerate(domains.items())]
    columns = ", ".join([*drawn, "cast(hash(i * 37 + 99) % 9 as varchar) as zip"])
    with tempfile.TemporaryDirectory(prefix="experiment-") as folder:
        for size in sizes:
            path = Path(folder) / f"{size}.parquet"
            with connect("duckdb:") as engine:
                query = f"select {columns} from range({size}) t(i)"
                engine.write_file(Query(query, "synthetic"), path, "parquet")
            for amounts in SETTINGS:
                started = time.perf_counter()
                with connect("duckdb:", memory_limit=memory_limit) as engine:
                    release = _cut(
                        engine,
                        Table(
                            path, ["salary", "commission", "age", "elevel", "car", "hvalue", "hyears"], "zip"
                        ),
                        [[*amounts, "0.9"]],
                        "median",
                    )
                    groups = release.groups.n_groups if release else 1
                rows.append((str(amounts), size, time.perf_counter() - started, groups))
            path.unlink()
    return Figure(
        "fig7",
        "Fig. 7: time of SkylineAnonymize against the number of records",
        ("setting", "records", "seconds", "groups"),
        tuple(rows),
        x="records",
        y="seconds",
        series="setting",
        note=f"Nine zip codes sensitive, seven quasi-identifiers, limit 0.9, memory limit {memory_limit}.",
    )


def _cut(
    engine: Engine,
    table: Table,
    points: Sequence[Sequence[object]],
    split: str,
    per_value: Mapping[str, Sequence[Sequence[object]]] | None = None,
) -> Release | None:
    """A bucketized release; None where even the whole table is not safe."""
    method = Multidimensional(split=split, output="bucketized", seed=1)
    try:
        return publish(engine, table, [PrivacySkyline(points, per_value)], method)
    except NotSafe:
        return None


def adult_utility(
    engine: Engine,
    data: Path,
    varied: Mapping[str, Sequence[int]],
    bases: Mapping[str, tuple[int, int, int]] = BASES,
) -> Figure:
    """Fig. 8: average group size and divergence as one amount of knowledge grows, alone or with others."""
    rows = []
    for name, base in bases.items():
        for axis, amounts in varied.items():
            for amount in amounts:
                point = [*base]
                point[list(varied).index(axis)] = amount
                release = _cut(engine, adult(data), [[*point, "0.9"]], "information_gain")
                if release is not None:
                    rows.append((f"{axis}, {name}", amount, *_worth(engine, release)))
    return Figure(
        "fig8",
        "Fig. 8: utility of Adult against the amount of knowledge",
        ("varied", "amount", "average_group_size", "kl"),
        tuple(rows),
        x="amount",
        y="average_group_size",
        series="varied",
        note="Confidence limit 0.9 for every occupation; what even one group does not keep is left out.",
    )


def centric(engine: Engine, data: Path) -> Figure:
    """Table 3: protection by value against the highest protection for all values."""
    rows = []
    for name, asked in (("value-centric", VALUE_CENTRIC), ("attribute-centric", ATTRIBUTE_CENTRIC)):
        release = _cut(engine, adult(data), asked["points"], "information_gain", asked.get("per_value"))
        assert release is not None and release.safe
        rows.append((name, *_worth(engine, release)))
    return Figure(
        "table3",
        "Table 3: value-centric against attribute-centric protection",
        ("criterion", "average_group_size", "kl"),
        tuple(rows),
    )


def _worth(engine: Engine, release: Release) -> tuple[float, float]:
    return (release.rows_in or 0) / release.groups.n_groups, bucketized_kl(engine, release)


def adult(data: Path) -> Table:
    """Adult 45,222: all demographic columns and the class unchanged, occupation sensitive.

    The sampling weight (fnlwgt) says nothing about a person and nearly identifies everybody, so it is left
    out.
    """
    columns = (
        "age workclass education education_num marital_status relationship race sex capital_gain capital_loss"
        " hours_per_week native_country income"
    )
    complete = "workclass is not null and occupation is not null and native_country is not null"
    return Table(data / "adult.csv.gz", columns.split(), "occupation", where=complete)


def nursery_accuracy(
    engine: Engine, data: Path, varied: Mapping[str, Sequence[int]], folds: int = 10
) -> Figure:
    """Fig. 9: how well a tree learns the class of a nursery application as one amount grows."""
    columns = ["parents", "form", "children", "housing", "finance", "social", "health"]
    table = Table(
        data / "nursery.csv.gz",
        {column: KeepOrDrop() for column in columns},
        "has_nurs",
        insensitive={"columns": ["class"], "acknowledge": "it is what the tree learns, and is never written"},
    )
    rows = []
    # what a tree learns from the original rows, with and without their sensitive value
    without = replace(table, sensitive=None, drop=[*table.drop, *table.sensitives])
    for name, shown in (("original", table), (f"without {table.sensitives[0]}", without)):
        whole = publish(engine, shown, [KAnonymity(1)], Generalise({}))
        rows.append((name, 0, classification_accuracy(engine, whole, "class", folds=folds), 1.0))
    for axis, amounts in varied.items():
        for amount in amounts:
            point = [0, 0, 0]
            point[list(varied).index(axis)] = amount
            release = _cut(engine, table, [[*point, "0.9"]], "information_gain")
            if release is not None:
                score = classification_accuracy(engine, release, "class", folds=folds)
                rows.append((axis, amount, score, (release.rows_in or 0) / release.groups.n_groups))
    return Figure(
        "fig9",
        "Fig. 9: classification accuracy of Nursery against the amount of knowledge",
        ("varied", "amount", "accuracy", "average_group_size"),
        tuple(rows),
        x="amount",
        y="accuracy",
        series="varied",
        note=f"{folds} folds of published rows; confidence limit 0.9, the other amounts 0.",
    )
