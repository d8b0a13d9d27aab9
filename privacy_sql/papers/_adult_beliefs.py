"""Adult as li2009 studies it: people as points, their priors, and what a grouping reveals about them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from privacy_sql.beliefs import beliefs, studied_table
from privacy_sql.counted.base import Base, count
from privacy_sql.engines import Engine
from privacy_sql.hierarchies import Hierarchy, Intervals, Tree
from privacy_sql.kernels.beliefs.distance import jensen_shannon_smoothed_by, smoothing_weights
from privacy_sql.kernels.beliefs.kernel_prior import kernel_prior, weight_matrix
from privacy_sql.kernels.beliefs.move import Method, Moves, group_moves
from privacy_sql.kernels.beliefs.posterior import STATE_CAP
from privacy_sql.table import Table

if TYPE_CHECKING:
    from privacy_sql.beliefs.beliefs import Bandwidth

Array = NDArray[Any]
TREES = ("workclass", "education", "marital_status", "race", "sex")
SMOOTHING = "3/4"  # on a hierarchy of height 2; the paper only says "at least 0.5"


def adult(data: Path, *, evenly: bool = False) -> Table:
    """The training rows of Adult without missing values, with the quasi-identifiers of Table IV.

    `evenly` replaces distances in the trees by the number of leaves between two values, in their order.
    """
    files = data / "hierarchies" / "adult"
    quasi: dict[str, Hierarchy] = {"age": Intervals(5, 10, 20, 40)}
    quasi |= {column: Tree.from_file(files / f"{column}.csv", column) for column in TREES}
    whole = "workclass is not null and occupation is not null and native_country is not null"
    return Table(
        data / "adult.csv.gz",
        quasi,
        "occupation",
        sensitive_hierarchy=Tree.from_file(files / "occupation.csv", "occupation"),
        domains={"age": (17, 90)},
        distances={column: _by_order(quasi[column]) for column in TREES} if evenly else None,
        where=f"part = 'train' and {whole}",
    )


def _by_order(kind: Hierarchy) -> dict[str, dict[str, Fraction]]:
    """Distances between the leaves of a tree that grow by the same step from one leaf to the next."""
    assert isinstance(kind, Tree)
    leaves = [str(row[0]) for row in kind.rows()]
    apart = max(len(leaves) - 1, 1)
    return {
        one: {other: Fraction(abs(i - j), apart) for j, other in enumerate(leaves)}
        for i, one in enumerate(leaves)
    }


@dataclass(frozen=True)
class AdultStudy:
    """One row per person: their kind, their sensitive value, and their position in ordered codes."""

    table: studied_table.Studied
    kind: Array
    value: Array
    points: Array
    apart: Array  # distances of sensitive values
    priors: dict[Any, Array] = field(default_factory=dict)

    @classmethod
    def of(cls, engine: Engine, data: Path, *, evenly: bool = False) -> AdultStudy:
        base = count(engine, adult(data, evenly=evenly))
        table = studied_table.studied(base)
        place = {tuple(codes): c for c, codes in enumerate(table.kinds.tolist())}
        kinds = np.array([place[tuple(codes)] for codes in table.codes.tolist()])
        apart = studied_table.sensitive_distances(table)
        assert apart is not None
        ordered = np.column_stack([_in_order(base, i)[table.kinds[:, i]] for i in range(len(table.columns))])
        # engines return counts in any order; a seeded draw of people needs a fixed one
        rows = np.lexsort((table.sensitive, kinds))
        kind, value = (np.repeat(of[rows], table.counts[rows]) for of in (kinds, table.sensitive))
        return cls(table, kind, value, ordered[kind], apart)

    def prior(self, bandwidth: Bandwidth) -> Array:
        if bandwidth not in self.priors:
            self.priors[bandwidth] = beliefs.prior(self.table, bandwidth).beliefs.astype(float)
        return self.priors[bandwidth]

    def fresh_prior(self, bandwidth: float, share: float) -> Array:
        """The prior from a share of the rows, computed from scratch."""
        rows = slice(0, round(share * len(self.table.codes)))
        table = self.table
        weights = [
            weight_matrix(r.distances, bandwidth) for r in table.resemblances if r.distances is not None
        ]
        codes = table.codes[rows]
        return kernel_prior(
            codes, table.sensitive[rows], table.counts[rows], weights, codes, len(table.values)
        )

    def measure(self, before: Array, after: Array) -> Array:
        weights = smoothing_weights(self.apart, SMOOTHING)
        return jensen_shannon_smoothed_by(before, after, weights)

    def counts(self, groups: Sequence[Array]) -> Array:
        """The histogram of each group."""
        made = np.zeros((len(groups), len(self.table.values)), dtype=np.int64)
        number = np.repeat(np.arange(len(groups)), [len(rows) for rows in groups])
        np.add.at(made, (number, self.value[np.concatenate(groups)]), 1)
        return made

    def moves(
        self, groups: Sequence[Array], bandwidth: Bandwidth, method: Method, cap: int
    ) -> tuple[Moves, Array, Array]:
        """How far beliefs move, per kind in each group, with the group and the people of each entry."""
        number = np.repeat(np.arange(len(groups)), [len(rows) for rows in groups])
        n_kinds = len(self.table.kinds)
        key, people = np.unique(number * n_kinds + self.kind[np.concatenate(groups)], return_counts=True)
        found = group_moves(
            self.prior(bandwidth),
            key // n_kinds,
            key % n_kinds,
            people,
            self.counts(groups),
            partial(jensen_shannon_smoothed_by, weights=smoothing_weights(self.apart, SMOOTHING)),
            method,
            cap,
        )
        return found, key // n_kinds, people

    def risks(
        self, groups: Sequence[Array], bandwidth: Bandwidth, method: Method, cap: int = STATE_CAP
    ) -> Array:
        """The largest move in each group; nan where it is undecided."""
        found, group, _ = self.moves(groups, bandwidth, method, cap)
        risk = np.full(len(groups), -np.inf)
        with np.errstate(invalid="ignore"):
            np.maximum.at(risk, group, found.moves)
        return risk

    def people_over(
        self, groups: Sequence[Array], bandwidth: Bandwidth, t: float, method: Method
    ) -> tuple[int, int]:
        """How many people the belief about whom moves by more than t, and for how many that is unknown."""
        found, _, people = self.moves(groups, bandwidth, method, STATE_CAP)
        return int(people[found.moves > t].sum()), int(people[np.isnan(found.moves)].sum())

    def distance_to_table(self, groups: Sequence[Array]) -> Array:
        """Earth mover's distance of each group to the table over the occupation tree, edge by edge."""
        counts = self.counts(groups).astype(float)
        off = counts / counts.sum(axis=1, keepdims=True) - np.bincount(self.value) / len(self.value)
        # leaves with one parent are 1/2 apart, all others 1: every edge has length 1/4
        parents = np.unique(self.apart <= 0.5, axis=0).astype(float)
        return np.asarray((np.abs(off).sum(axis=1) + np.abs(off @ parents.T).sum(axis=1)) / 4)

    def discernibility(self, groups: Sequence[Array]) -> int:
        return sum(len(rows) ** 2 for rows in groups)

    def boxes(self, groups: Sequence[Array]) -> tuple[Array, Array, Array]:
        """Lower corner, upper corner and histogram of each group."""
        low = np.array([self.points[rows].min(axis=0) for rows in groups])
        high = np.array([self.points[rows].max(axis=0) for rows in groups])
        return low, high, self.counts(groups)

    def certainty_penalty(self, groups: Sequence[Array]) -> float:
        """Width of each person's box divided by the table's, averaged over attributes and people."""
        low, high, counts = self.boxes(groups)
        widths = (high - low) / np.maximum(np.ptp(self.points, axis=0), 1)
        return float(np.average(widths.mean(axis=1), weights=counts.sum(axis=1)))

    def query(
        self, random: np.random.Generator, dimensions: int, selectivity: float
    ) -> tuple[Array, Array, Array]:
        """A range on some attributes and a set of sensitive values, each covering its share of the domain."""
        first, last = self.points.min(axis=0), self.points.max(axis=0)
        low, high = first.copy(), last.copy()
        share = selectivity ** (1 / (dimensions + 1))
        for d in random.choice(len(first), dimensions, replace=False):
            width = max(0, round((last[d] - first[d] + 1) * share) - 1)
            low[d] = random.integers(first[d], last[d] - width + 1)
            high[d] = low[d] + width
        wanted = np.zeros(len(self.table.values), dtype=bool)
        wanted[random.choice(len(wanted), max(1, round(len(wanted) * share)), replace=False)] = True
        return low, high, wanted

    def query_error(
        self, boxes: tuple[Array, Array, Array], queries: Sequence[tuple[Array, Array, Array]]
    ) -> float:
        """Average relative error of counts, estimated as if people were spread evenly over their boxes."""
        low, high, counts = boxes
        people = np.zeros((len(self.table.kinds), len(self.table.values)))
        np.add.at(people, (self.kind, self.value), 1)
        _, first_of_kind = np.unique(self.kind, return_index=True)
        places = self.points[first_of_kind]
        errors = []
        for first, last, wanted in queries:
            inside = people[((places >= first) & (places <= last)).all(axis=1)][:, wanted].sum()
            overlap = np.minimum(high, last) - np.maximum(low, first) + 1
            share = np.prod(np.clip(overlap / (high - low + 1), 0, 1), axis=1)
            if inside:
                estimate = float((share * counts[:, wanted].sum(axis=1)).sum())
                errors.append(abs(estimate - inside) / inside)
        return float(np.mean(errors))


def _in_order(base: Base, column: int) -> Array:
    """For each code of a column its rank: numbers by value, leaves in the order of their tree."""
    alias = list(base.aliases.values())[column]
    _, hierarchy = base.columns[alias]
    known = studied_table.dictionary(base, alias)
    place = {leaf: i for i, leaf in enumerate(hierarchy.leaves())}
    if place:
        return np.array([place.get(str(known.get(code)), 0) for code in range(max(known) + 1)])
    return np.array([int(known.get(code) or 0) for code in range(max(known) + 1)])
