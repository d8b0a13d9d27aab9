"""What an adversary who studied the table believes: Li et al. 2009, eq. (2), on a counted base.

The prior is contracted in memory where that fits and is a chain of kernel joins in SQL where it does not;
both agree, and which one was taken is said.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from privacy_sql.beliefs.prior_chain import chained
from privacy_sql.beliefs.resemblance import WIDE, Resemblance, is_span, read_matrix, resemblance, wide_mass
from privacy_sql.counted.base import no_rows
from privacy_sql.errors import UsageError
from privacy_sql.hierarchies import Hierarchy, Tree
from privacy_sql.hierarchies.base import text_of
from privacy_sql.kernels.beliefs.kernel_chain import is_identity
from privacy_sql.kernels.beliefs.kernel_prior import (
    MEMORY_BUDGET,
    Array,
    Kernel,
    as_number,
    kernel_prior,
    weight_matrix,
)
from privacy_sql.kernels.distinct_codes import keys
from privacy_sql.query.template import Sql, names, render

if TYPE_CHECKING:
    from privacy_sql.counted.base import Base
    from privacy_sql.counted.grouping import Grouping

Bandwidth = Any  # one number for all columns, or one per quasi-identifier
SMALL = 1_000  # combinations times sensitive values that are computed in exact fractions on request
# the weights of a column that tells nobody apart, whatever its values
EVERYBODY_ALIKE = np.ones((2, 2))
EXACTLY_ALIKE = np.full((2, 2), Fraction(1), dtype=object)


@dataclass(frozen=True)
class Studied:
    """A table as the adversary sees it: kinds of people, their values, and how far apart values are.

    A kind is a combination of quasi-identifiers, numbered as in `combinations`; codes index each column's
    `resemblances`, and `sensitive` is the place of a value among `values`.
    """

    base: Base
    columns: tuple[Sql, ...]
    combinations: Sql  # c, q1.., n_rows
    kinds: Array  # one row of codes per c
    codes: Array  # one row of codes per counted (combination, sensitive value)
    sensitive: Array
    counts: Array
    # sensitive code -> value; beliefs have a column for each, in this order
    values: dict[int, Any] = field(repr=False)
    resemblances: tuple[Resemblance, ...]
    exact: bool


def studied(
    base: Base, targets: Sequence[Sequence[Any]] | None = None, in_fractions: bool = False
) -> Studied:
    """Read the counts and distances of a base; `targets` are kinds asked for instead of those that occur.

    A small table is answered `in_fractions` on request.
    """
    refuse(base)
    quasi = names(base.aliases.values())
    found = base.engine.arrays(
        render("counted/counts_by.sql", base=base.relation, columns=[*quasi, Sql("s")])
    )
    codes = _matrix(found, quasi)
    combinations = base.engine.create(render("beliefs/combinations.sql", base=base.relation, columns=quasi))
    values = [_by_code(base, column) for column in quasi]
    if targets is None:
        kinds = _matrix(
            base.engine.arrays(render("beliefs/kinds.sql", combinations=combinations, columns=quasi)), quasi
        )
    else:
        kinds = _coded(targets, values, list(base.aliases))
        combinations = _loaded_kinds(base, quasi, kinds)
    sensitive = dictionary(base, "s")
    exact = in_fractions and len(codes) * len(sensitive) <= SMALL and len(kinds) <= SMALL
    alike = tuple(_resemblance(base, column, v, exact) for column, v in zip(quasi, values, strict=True))
    return Studied(
        base,
        tuple(quasi),
        combinations,
        kinds,
        codes,
        np.searchsorted(list(sensitive), found["s"].astype(np.int64)),
        found["n_rows"].astype(np.int64),
        sensitive,
        alike,
        exact,
    )


def refuse(base: Base) -> None:
    """Beliefs are about people with one value each."""
    if base.table.values_per_person != "one":
        raise UsageError(
            "several_values",
            "beliefs are about one sensitive value per person",
            where=base.table.name,
            hint="Keep one row per person, or require privacy_skyline, which knows several.",
        )
    if not base.table.sensitives:
        raise UsageError("no_sensitive", "a belief is about a sensitive column", hint="Name it.")
    if not base.rows:
        raise no_rows(base.table)


def _matrix(found: dict[str, NDArray[Any]], columns: Sequence[Sql]) -> Array:
    rows = len(found["n_rows"])
    return np.column_stack(
        [found[str(c)].astype(np.int64) for c in columns] or [np.zeros((rows, 0), np.int64)]
    )


def dictionary(base: Base, column: str) -> dict[int, Any]:
    """The values behind the codes of an internal column; code 0 is NULL where NULL occurs."""
    rows = base.engine.fetch(render("beliefs/values.sql", dictionary=base.dictionaries[str(column)]))
    return {row["code"]: row["value"] for row in rows}


def _by_code(base: Base, column: str) -> list[Any]:
    found = dictionary(base, column)
    return [found.get(code) for code in range(max(found, default=0) + 1)]


def _coded(targets: Sequence[Sequence[Any]], values: list[list[Any]], columns: list[str]) -> Array:
    """Targets in codes; a value the table does not have gets a code behind those that occur."""
    if any(len(target) != len(columns) for target in targets):
        raise UsageError("bad_target", f"a target has one value for each of {', '.join(columns)}")
    kinds = np.zeros((len(targets), len(columns)), dtype=np.int64)
    for i, known in enumerate(values):
        place = {value: code for code, value in reversed(list(enumerate(known)))}
        text = {str(value): code for value, code in place.items() if value is not None}
        for row, target in enumerate(targets):
            code = place.get(target[i], text.get(str(target[i])) if target[i] is not None else 0)
            if code is None:
                known.append(target[i])
                code = place[target[i]] = text[str(target[i])] = len(known) - 1
            kinds[row, i] = code
    return kinds


def _loaded_kinds(base: Base, columns: Sequence[Sql], kinds: Array) -> Sql:
    numbered: dict[str, tuple[str, list[int]]] = {"c": ("bigint", list(range(len(kinds))))}
    numbered |= {str(column): ("bigint", kinds[:, i].tolist()) for i, column in enumerate(columns)}
    return base.engine.load({**numbered, "n_rows": ("bigint", [0] * len(kinds))}, "kinds")


def _resemblance(base: Base, column: Sql, values: list[Any], exact: bool) -> Resemblance:
    name, hierarchy = base.columns[str(column)]
    table = base.table
    return resemblance(
        name, values, hierarchy, (table.domains or {}).get(name), (table.distances or {}).get(name), exact
    )


def sensitive_distances(base: Base, exact: bool = False) -> Array | None:
    """The distances between the values of D[S]; None when the table declares none."""
    name, table = base.table.sensitives[0], base.table
    domain, matrix = (table.domains or {}).get(name), (table.distances or {}).get(name)
    if table.sensitive_hierarchy is None and matrix is None and domain is None:
        return None
    return _over_domain(base, table.sensitive_hierarchy, domain, matrix, exact)


def given_distances(table: Studied, given: Any) -> Array | None:
    """Distances between the values of D[S] from a hierarchy or a matrix given with the question."""
    if isinstance(given, Hierarchy):
        return _over_domain(table.base, given)
    return _over_domain(table.base, matrix=given)


def _over_domain(
    base: Base,
    hierarchy: Hierarchy | None = None,
    domain: Any = None,
    matrix: Any = None,
    exact: bool = False,
) -> Array | None:
    """Distances between the values that occur, then those that are only in the hierarchy, list or matrix."""
    name, occur = base.table.sensitives[0], list(dictionary(base, "s").values())
    if matrix is not None:
        others, _ = read_matrix(matrix, occur, name)
    elif isinstance(hierarchy, Tree):
        others = [row[0] for row in hierarchy.rows()]
    else:
        others = list(domain) if isinstance(domain, list | tuple) and not is_span(domain) else []
    seen = {text_of(value) for value in occur if value is not None}
    values = occur + [value for value in others if text_of(value) not in seen]
    if len(values) > max(WIDE, len(occur)):
        raise UsageError(
            "wide_domain",
            f"the domain of {name} has {len(values):,} values, too many to compare pair by pair",
            hint="Ask for distance=js, or leave values that cannot occur out of the hierarchy.",
        )
    return resemblance(name, values, hierarchy, domain, matrix, exact).distances


@dataclass(frozen=True)
class Prior:
    """P_pri(B, q): a row per kind, a column per sensitive value; nan (None) where nobody resembles it."""

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
            hint="Give one number for all, or one for each in their order.",
        )
    try:
        numbers = tuple(as_number(b if isinstance(b, Fraction) else str(b)) for b in several)
    except (ValueError, ZeroDivisionError, UsageError):
        raise UsageError("bad_bandwidth", "a bandwidth is a number, 0 or more, or inf") from None
    if any(b < 0 for b in numbers):
        raise UsageError(
            "bad_bandwidth", "a bandwidth is 0 or more", hint="0 knows each kind of person exactly."
        )
    return numbers


def prior(table: Studied, bandwidth: Bandwidth, kernel: Kernel = "epanechnikov", path: str = "auto") -> Prior:
    """The prior of every kind: dense where it fits in memory, else (or when asked) the chain in SQL."""
    bs = bandwidths(bandwidth, [r.name for r in table.resemblances])
    alike = EXACTLY_ALIKE if table.exact and path != "chain" else EVERYBODY_ALIKE
    weights = [
        alike if b == math.inf else _weights(r, b, kernel)
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


def _weights(alike: Resemblance, bandwidth: Fraction | float, kernel: Kernel) -> Array | None:
    """The weights between all values of a column; None where these are too many."""
    return None if alike.distances is None else weight_matrix(alike.distances, bandwidth, kernel)


def _refuse_wide(wide: Sequence[Resemblance], kernel: Kernel) -> None:
    """Running sums know the Epanechnikov kernel, and one column at a time."""
    if len(wide) == 1 and kernel == "epanechnikov":
        return
    column, beside = wide[0], f"beside {wide[1].name}" if len(wide) > 1 else f"with the {kernel} kernel"
    many = f"{column.name} has {len(column.numbers):,} different numbers"
    problem = f"{many}, too many to compare pair by pair {beside}"
    raise UsageError("wide_column", problem, hint="Bin it first.")


def _with_wide_column(
    table: Studied,
    wide: Sequence[int],
    bs: Sequence[Fraction | float],
    weights: Sequence[Array],
    kernel: Kernel,
    path: str,
) -> Prior:
    """The prior where one column has too many numbers to compare pair by pair: by running sums.

    In memory, where the other columns tell only equal from different or nothing; else in SQL.
    """
    _refuse_wide([table.resemblances[i] for i in wide], kernel)
    column, place = table.resemblances[wide[0]], wide[0]
    same = [i for i, w in enumerate(weights) if is_identity(w)]
    mixing = any(not np.all(w == 1) for i, w in enumerate(weights) if i not in same)
    if path == "chain" or (path == "auto" and mixing):
        return Prior(chained(table, weights, (place, bs[place])), "chain of running sums")
    if mixing:
        raise UsageError("wide_column", f"{column.name} is too wide for memory", hint="Ask for the chain.")
    key = keys(np.concatenate([table.codes, table.kinds])[:, same], [len(weights[i]) for i in same])
    n = len(table.codes)
    rows = (key[:n], table.codes[:, place], table.sensitive, table.counts)
    mass = wide_mass(column, bs[place], rows, (key[n:], table.kinds[:, place]), len(table.values))
    total = mass.sum(axis=1, keepdims=True)
    found = np.divide(mass, total, out=np.full(mass.shape, np.nan), where=total > 0)
    return Prior(np.asarray(found), "running sums")


@dataclass(frozen=True)
class Published:
    """What a grouping tells: who is in which group, and which values each group holds."""

    numbers: Array  # g of each group, ascending
    group: Array  # place of the group, one entry per (group, kind), ascending
    kind: Array  # ascending within its group
    people: Array
    counts: Array  # group by sensitive value


def published(grouping: Grouping, table: Studied) -> Published:
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
    return Published(
        numbers,
        group[order],
        who["c"].astype(np.int64)[order],
        who["n_people"].astype(np.int64)[order],
        counts,
    )
