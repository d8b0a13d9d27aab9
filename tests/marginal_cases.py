"""Collections of anonymized marginals for tests: those of the vectors in numbers, and random small ones."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import log
from typing import Any

import pandas as pd
from hypothesis import strategies as st

import privacy_sql as ps
from privacy_sql.kernels.marginals.junction_tree import Resolutions
from privacy_sql.kernels.marginals.leaf_domain import Cell, Counts, LeafDomain
from tests.conftest import FIXTURES


@dataclass(frozen=True)
class Small:
    """A table of leaf cells, its domain and a collection; the sensitive attribute is the last one."""

    domain: LeafDomain
    table: dict[Cell, int]
    collection: list[Resolutions]
    sensitive: int

    @property
    def sizes(self) -> list[int]:
        return [len(paths) for paths in self.domain.paths]

    def node(self, attribute: int, leaf: int, resolution: int) -> int:
        return self.domain.paths[attribute][leaf][resolution]

    def counts(self, collection: list[Resolutions]) -> dict[Resolutions, dict[Cell, int]]:
        return {r: self.domain.marginal(self.table, self.domain.finest, r) for r in collection}


def domain_of(labels: Sequence[Sequence[Sequence[object]]]) -> LeafDomain:
    """Number the nodes of hierarchies given as rows `[leaf, level 1, ..., root]`, one per leaf.

    Two nodes with the same label are the same node if they are at the same level.

    >>> domain_of([[["a", "x", "*"], ["b", "x", "*"], ["c", "y", "*"]]]).paths
    (((0, 0, 0), (0, 0, 1), (0, 1, 2)),)
    """
    numbered = []
    for rows in labels:
        levels = list(zip(*(tuple(reversed(row)) for row in rows), strict=True))
        codes = [{label: i for i, label in enumerate(dict.fromkeys(level))} for level in levels]
        numbered.append(tuple(tuple(codes[r][row[-1 - r]] for r in range(len(codes))) for row in rows))
    return LeafDomain(tuple(numbered))


def kl_divergence(
    domain: LeafDomain, leaf_counts: Counts, expected: Mapping[Cell, Fraction | float], at: Resolutions
) -> float:
    """KL divergence, in nats, of the original table from the maximum-entropy table (Sect. 3.2).

    Summed over the cells of the original only (0 log 0 is 0). Multiplied by |T|, it is the loss of
    log-likelihood of Sect. 5.2.
    """
    total = sum(leaf_counts.values())
    summed = 0.0
    for leaf, n_rows in leaf_counts.items():
        if n_rows:
            cell = domain.project(leaf, domain.finest, at)
            summed += n_rows * (log(n_rows * domain.leaves(cell, at)) - log(expected[cell]))
    return summed / total


def vector_cases() -> list[Any]:
    return json.loads((FIXTURES / "vectors" / "marginals.json").read_text(encoding="utf-8"))["cases"]


def in_numbers(case: Any) -> Small:
    names = [c for c in case["columns"] if c != "count"]
    domain = domain_of([case["attributes"][name] for name in names])
    leaf = [{row[0]: i for i, row in enumerate(case["attributes"][name])} for name in names]
    table: dict[Cell, int] = {}
    for *values, n in case["rows"]:
        cell = tuple(leaf[a][v] for a, v in enumerate(values))
        table[cell] = table.get(cell, 0) + n
    collection = [resolutions_of(case, heights) for heights in case["collection"]]
    return Small(domain, table, collection, names.index(case["sensitive"]))


def resolutions_of(case: Any, heights: dict[str, int]) -> Resolutions:
    names = [c for c in case["columns"] if c != "count"]
    tops = [len(case["attributes"][name][0]) - 1 for name in names]
    return tuple(top - heights.get(name, top) for name, top in zip(names, tops, strict=True))


def cell_of(case: Any, values: list[str]) -> Cell:
    names = [c for c in case["columns"] if c != "count"]
    return tuple(
        [row[0] for row in case["attributes"][n]].index(v) for n, v in zip(names, values, strict=True)
    )


PATHS = {  # hierarchies of two to four leaves, also one with a chain (a node with one child)
    "pair": ((0, 0), (0, 1)),
    "three": ((0, 0, 0), (0, 0, 1), (0, 1, 2)),
    "four": ((0, 0, 0), (0, 0, 1), (0, 1, 2), (0, 1, 3)),
    "flat": ((0, 0), (0, 1), (0, 2)),
}


@st.composite
def small_collections(draw: st.DrawFn, most_rows: int = 12, attributes: int = 2) -> Small:
    """A few rows over `attributes` quasi-identifiers and a sensitive one, and any collection of them."""
    shapes = [draw(st.sampled_from(sorted(PATHS))) for _ in range(attributes)]
    domain = LeafDomain((*(PATHS[shape] for shape in shapes), PATHS[draw(st.sampled_from(["pair", "flat"]))]))
    sizes = [len(paths) for paths in domain.paths]
    rows = draw(st.lists(st.tuples(*(st.integers(0, n - 1) for n in sizes)), min_size=1, max_size=most_rows))
    table: dict[Cell, int] = {}
    for row in rows:
        table[row] = table.get(row, 0) + 1
    finest = domain.finest
    marginals = st.tuples(*(st.integers(0, r) for r in finest)).filter(any)
    return Small(domain, table, draw(st.lists(marginals, min_size=1, max_size=3)), attributes)


def on_engine(engine: Any, small: Small) -> ps.MarginalSet:
    """The same table and collection behind the public door; leaves are named after their numbers."""
    quasi = {
        f"a{a}": ps.Tree(
            {f"v{leaf}": [f"n{node}" for node in reversed(path[:-1])] for leaf, path in enumerate(paths)}
        )
        for a, paths in enumerate(small.domain.paths[:-1])
    }
    names = [*quasi, "s"]
    rows = [[f"v{leaf}" for leaf in cell] + [n] for cell, n in small.table.items()]
    values = ps.Tree({f"v{leaf}": ["*"] for leaf in range(small.sizes[-1])})
    table = ps.Table(
        pd.DataFrame(rows, columns=[*names, "n"]), quasi, "s", count="n", sensitive_hierarchy=values
    )
    finest = small.domain.finest
    collection = [
        {name: finest[a] - r for a, (name, r) in enumerate(zip(names, m, strict=True)) if r}
        for m in small.collection
    ]
    return ps.MarginalSet(engine, table, collection, domain="hierarchy")
