"""Overlapping samples of a table, each published on its own: what the figures of ganta2008 attack."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privacy_sql.attacks.intersection import intersection_attack
from privacy_sql.base import Base, count
from privacy_sql.engines import Engine
from privacy_sql.experiments._partition import partition
from privacy_sql.findings import Findings
from privacy_sql.kernels.microaggregation import mdav
from privacy_sql.query import Sql, names, render
from privacy_sql.table import Table

OVERLAP = 5000
LEVELS = (Fraction(1), Fraction(1, 2), Fraction(1, 3), Fraction(1, 4), Fraction(1, 10))
WHO = "who"

Array = NDArray[Any]
Safe = Callable[[Array], bool]


@dataclass(frozen=True)
class Source:
    """A table of the paper: its file, what is known of people, what is not, and which rows count."""

    file: str
    quasi: tuple[str, ...]
    sensitive: str
    where: str


SOURCES = {
    "adult": Source(
        "adult.csv.gz",
        ("age", "workclass", "education", "marital_status", "race", "sex", "native_country"),
        "occupation",
        "part = 'train' and workclass is not null and occupation is not null and native_country is not null",
    ),
    "ipums": Source(
        "ipums_la_small.csv.gz",
        ("age", "classwkg", "educrec", "marst", "raceg", "sex", "bplg"),
        "occ1950",
        "census_year = '1970'",
    ),
    "acs": Source(
        "acs2018_small_states.csv.gz",
        ("age", "work_class", "education", "marital_status", "race", "sex", "birthplace"),
        "occupation",
        "occupation is not null",
    ),
}


class People:
    """A table in codes: one row per person, every quasi-identifier as a place in its order."""

    def __init__(self, engine: Engine, data: Path, name: str) -> None:
        self.engine, self.name = engine, name
        source = SOURCES[name]
        table = Table(data / source.file, list(source.quasi), source.sensitive, where=source.where)
        base = count(engine, table)
        self.columns = list(source.quasi)
        inside = [*base.aliases.values(), "s", "n_rows"]
        found = base.engine.arrays(render("listed.sql", relation=base.relation, columns=names(inside)))
        rows = np.repeat(np.arange(len(found["s"])), found["n_rows"].astype(int))
        places = [_places(base, alias)[found[alias].astype(int)] for alias in base.aliases.values()]
        self.points: Array = np.array(places, dtype=np.int64).T[rows]
        self.values: Array = found["s"].astype(int)[rows]

    @cached_property
    def spans(self) -> Array:
        """The range of each column, 1 for a column of one value."""
        return np.asarray(np.maximum(np.ptp(self.points, axis=0), 1))

    @cached_property
    def shares(self) -> Array:
        """How common each sensitive value is."""
        return np.asarray(np.bincount(self.values) / len(self.values))

    def samples(self, generator: np.random.Generator, overlap: int) -> tuple[Array, Array, Array]:
        """Two samples of one size that share `overlap` people, and those people."""
        order = generator.permutation(len(self.points))
        alone = (len(order) - overlap) // 2
        shared = order[:overlap]
        first, second = order[overlap : overlap + alone], order[overlap + alone : overlap + 2 * alone]
        return np.append(shared, first), np.append(shared, second), shared


def _places(base: Base, alias: str) -> Array:
    """The code of each value, numbers in the order of numbers."""
    query = render("readable.sql", dictionary=base.dictionaries[alias], value=Sql("value"))
    rows = sorted(
        base.engine.fetch(query), key=lambda row: (row["number"] is None, row["number"] or 0, row["code"])
    )
    places = np.zeros(len(rows) + 1, dtype=np.int64)
    for place, row in enumerate(rows):
        places[row["code"]] = place
    return places


class Pair:
    """Two overlapping samples of a table, published as often as asked and attacked."""

    def __init__(self, people: People, seed: int) -> None:
        self.people = people
        overlap = min(OVERLAP, len(people.points) * 5 // 7)
        self.first, self.second, self.shared = people.samples(np.random.default_rng(seed), overlap)
        self._published: dict[tuple[int, str, int, str], Published] = {}

    def attacked(
        self, methods: tuple[str, str], k: int, kept: str = "k", safe: Safe | None = None
    ) -> Findings:
        """The attack on both samples, each published by its method."""
        releases = [self.published(which, method, k, kept, safe) for which, method in enumerate(methods)]
        described = [each.description for each in releases]
        return intersection_attack(self.people.engine, described, self._table(described), LEVELS)

    def published(
        self, which: int, method: str, k: int, kept: str = "k", safe: Safe | None = None
    ) -> Published:
        """One sample as an adversary gets it; with `mdav nearest` people are found by their centroid."""
        key = (which, method.split()[0], k, kept)
        if key not in self._published:
            rows = (self.first, self.second)[which]
            self._published[key] = _published(self.people, rows, key[1], k, safe)
        made = self._published[key]
        return made.nearest(self.people) if method.endswith("nearest") else made

    def rightly_located(self, found: Findings, methods: tuple[str, str], k: int) -> float:
        """The percentage of people whose own group is among those they fit, over both samples."""
        told = {person.id: person.candidates for person in found.people()}
        right = [
            truth[who] in told[who][which]
            for which, method in enumerate(methods)
            for truth in [self.published(which, method, k).truth]
            for who in self.shared.tolist()
        ]
        return 100 * sum(right) / len(right)

    def _table(self, described: Sequence[dict[str, Any]]) -> Table:
        import pandas as pd

        known = pd.DataFrame(self.people.points[self.shared], columns=self.people.columns)
        known[WHO], known["named"] = self.shared, self.shared
        by_name = [WHO] if any(WHO in each["columns"] for each in described) else []
        quasi = [*self.people.columns, *by_name]
        return Table(known, quasi, identifier="named", name="people in both samples")


@dataclass(frozen=True)
class Published:
    """A published sample, how to read it, and the true group of each person."""

    description: dict[str, Any]
    truth: dict[int, int]

    def nearest(self, people: People) -> Published:
        """The same release for an adversary who has to find people by the nearest centroid."""
        spans = dict(zip(people.columns, people.spans.tolist(), strict=True))
        more = {"columns": people.columns, "locate": "centroid", "scale": spans}
        return replace(self, description={**self.description, **more})


def _published(people: People, rows: Array, method: str, k: int, safe: Safe | None) -> Published:
    import pandas as pd

    points, values = people.points[rows], people.values[rows]
    by_distance = method == "mdav"
    groups = _mdav_groups(people, points, k) if by_distance else _boxes(points, values, k, safe)
    group = np.empty(len(rows), dtype=np.int64)
    for number, members in enumerate(groups):
        group[members] = number
    show = _centres if by_distance else _ranges
    labels = np.array([show(points[members]) for members in groups], dtype=object)
    frame = pd.DataFrame(labels[group], columns=people.columns)
    frame["group"], frame["value"], frame[WHO] = group, values, rows
    description = {
        "name": method,
        "relation": frame,
        "sensitive": "value",
        "group": "group",
        # the paper takes for granted that a person's centroid can be found, so they are found by name
        "columns": [WHO] if by_distance else people.columns,
        "locate": "exact" if by_distance else "region",
    }
    return Published(description, dict(zip(rows.tolist(), group.tolist(), strict=True)))


def _boxes(points: Array, values: Array, k: int, safe: Safe | None) -> list[Array]:
    def keep(halves: Sequence[Array]) -> Array:
        return np.array([safe is None or safe(values[half]) for half in halves])

    return partition(points, keep, k)


def _mdav_groups(people: People, points: Array, k: int) -> list[Array]:
    combinations, inverse, rows = np.unique(points, axis=0, return_inverse=True, return_counts=True)
    allocation = mdav(combinations / people.spans, rows, k)
    order = np.argsort(allocation.point, kind="stable")
    dealt = np.repeat(allocation.group[order], allocation.rows[order])
    group = np.empty(len(points), dtype=np.int64)
    group[np.argsort(inverse.ravel(), kind="stable")] = dealt
    by_group = np.argsort(group, kind="stable")
    return np.split(by_group, np.flatnonzero(np.diff(group[by_group])) + 1)


def _ranges(points: Array) -> list[str]:
    low, high = points.min(axis=0).tolist(), points.max(axis=0).tolist()
    return [f"{a}-{b}" for a, b in zip(low, high, strict=True)]


def _centres(points: Array) -> list[str]:
    return [repr(centre) for centre in points.mean(axis=0).tolist()]
