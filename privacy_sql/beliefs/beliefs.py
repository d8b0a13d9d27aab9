"""What an adversary who studied the table believes: Li et al. 2009, eq. (2), on a counted base.

The prior is computed in memory if it fits, and otherwise by a chain of kernel joins in SQL. Both agree, and
the result says which one was used.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from privacy_sql.beliefs.prior_chain import chained
from privacy_sql.beliefs.resemblance import wide_mass
from privacy_sql.beliefs.studied_table import Studied
from privacy_sql.errors import UsageError
from privacy_sql.kernels.beliefs.kernel_chain import is_identity
from privacy_sql.kernels.beliefs.kernel_prior import (
    MEMORY_BUDGET,
    Array,
    Kernel,
    Number,
    as_number,
    kernel_prior,
    weight_matrix,
)
from privacy_sql.kernels.distinct_codes import keys
from privacy_sql.query.template import render

if TYPE_CHECKING:
    from privacy_sql.counted.grouping import Grouping

Bandwidth = Number | str | Sequence[Number | str]  # for all columns, or one per quasi-identifier
# the weights of a column that tells nobody apart, whatever its values
EVERYBODY_ALIKE = np.ones((2, 2))
EXACTLY_ALIKE = np.full((2, 2), Fraction(1), dtype=object)


@dataclass(frozen=True)
class Prior:
    """P_pri(B, q): a row per kind, a column per sensitive value; nan (None) if nobody resembles the kind."""

    beliefs: Array
    path: str  # dense, chain, running sums or chain of running sums


def bandwidths(given: Bandwidth, columns: Sequence[str]) -> tuple[Fraction | float, ...]:
    """One bandwidth per quasi-identifier.

    >>> bandwidths("0.3", ["age", "sex"])
    (Fraction(3, 10), Fraction(3, 10))
    """
    several = list(given) if isinstance(given, list | tuple) else [given] * len(columns)
    if len(several) != len(columns):
        raise UsageError(
            "bad_bandwidth",
            f"{len(several)} bandwidths for {len(columns)} quasi-identifiers ({', '.join(columns)})",
            hint="Give one number for all, or one for each in this order.",
        )
    try:
        numbers = tuple(as_number(b if isinstance(b, Fraction) else str(b)) for b in several)
    except UsageError:
        raise UsageError("bad_bandwidth", "a bandwidth must be a number, 0 or more, or inf") from None
    if any(b < 0 for b in numbers):
        raise UsageError(
            "bad_bandwidth",
            "a bandwidth must be 0 or more",
            hint="With 0 the adversary knows each kind of person exactly.",
        )
    return numbers


def prior(table: Studied, bandwidth: Bandwidth, kernel: Kernel = "epanechnikov", path: str = "auto") -> Prior:
    """The prior of every kind: dense if it fits in memory, otherwise (or on request) the chain in SQL."""
    bs = bandwidths(bandwidth, [r.name for r in table.resemblances])
    alike = EXACTLY_ALIKE if table.exact and path != "chain" else EVERYBODY_ALIKE
    weights = [  # None if a column has too many values to weigh pair by pair
        alike if b == math.inf else None if r.distances is None else weight_matrix(r.distances, b, kernel)
        for r, b in zip(table.resemblances, bs, strict=True)
    ]
    wide = [i for i, w in enumerate(weights) if w is None]
    told = [alike if w is None else w for w in weights]
    if wide:
        return _with_wide_column(table, wide, bs, told, kernel, path)
    counted = (table.codes, table.sensitive, table.counts, told, table.kinds, len(table.values))
    if path != "chain":
        try:
            return Prior(kernel_prior(*counted, budget=MEMORY_BUDGET), "dense")
        except MemoryError:
            if path == "dense":
                raise
    return Prior(chained(table, told), "chain")


def _with_wide_column(
    table: Studied,
    wide: Sequence[int],
    bs: Sequence[Fraction | float],
    weights: Sequence[Array],
    kernel: Kernel,
    path: str,
) -> Prior:
    """The prior by running sums, for a column with too many numbers to compare pair by pair.

    In memory if the other columns only tell equal from different, or nothing; otherwise in SQL.
    """
    column, place = table.resemblances[wide[0]], wide[0]
    if len(wide) > 1 or kernel != "epanechnikov":
        # running sums support the Epanechnikov kernel and one column
        other = table.resemblances[wide[1]].name if len(wide) > 1 else ""
        beside = f"beside {other}" if other else f"with the {kernel} kernel"
        many = f"{column.name} has {len(column.numbers):,} different numbers"
        problem = f"{many}, too many to compare pair by pair {beside}"
        raise UsageError("wide_column", problem, hint="Group its numbers into bands first.")
    same = [i for i, w in enumerate(weights) if is_identity(w)]
    mixing = any(not np.all(w == 1) for i, w in enumerate(weights) if i not in same)
    if path == "chain" or (path == "auto" and mixing):
        return Prior(chained(table, weights, (place, bs[place])), "chain of running sums")
    if mixing:
        raise UsageError("wide_column", f"{column.name} is too wide for memory", hint='Use path="chain".')
    key = keys(np.concatenate([table.codes, table.kinds])[:, same], [len(weights[i]) for i in same])
    n = len(table.codes)
    rows = (key[:n], table.codes[:, place], table.sensitive, table.counts)
    mass = wide_mass(column, bs[place], rows, (key[n:], table.kinds[:, place]), len(table.values))
    total = mass.sum(axis=1, keepdims=True)
    found = np.divide(mass, total, out=np.full(mass.shape, np.nan), where=total > 0)
    return Prior(np.asarray(found), "running sums")


@dataclass(frozen=True)
class PublishedGroups:
    """What a grouping says: who is in which group, and which values each group has."""

    numbers: Array  # g of each group, ascending
    group: Array  # place of the group, one entry per (group, kind), ascending
    kind: Array  # ascending within its group
    people: Array
    counts: Array  # group by sensitive value


def published(grouping: Grouping, table: Studied) -> PublishedGroups:
    """The groups of a candidate, as numbers only."""
    engine = table.base.engine
    who = engine.arrays(
        render(
            "criteria/bt_privacy.sql",
            candidate=grouping.members,
            combinations=table.combinations,
            columns=list(table.columns),
        )
    )
    what = engine.arrays(render("beliefs/histogram.sql", histogram=grouping.histogram))
    numbers = np.unique(who["g"])
    group = np.searchsorted(numbers, who["g"])
    counts = np.zeros((len(numbers), len(table.values)), dtype=np.int64)
    place = np.searchsorted(list(table.values), what["s"].astype(np.int64))
    counts[np.searchsorted(numbers, what["g"]), place] = what["n_rows"]
    order = np.lexsort((who["c"], group))
    return PublishedGroups(
        numbers,
        group[order],
        who["c"].astype(np.int64)[order],
        who["n_people"].astype(np.int64)[order],
        counts,
    )
