"""A table as an adversary who studied it sees it: kinds of people, their values, and distances of values.

li2009, Sec. II. Beliefs are computed from it; codes replace values everywhere.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from privacy_sql.beliefs.resemblance import WIDE, Matrix, Resemblance, is_span, read_matrix, resemblance
from privacy_sql.counted.base import no_rows
from privacy_sql.errors import UsageError
from privacy_sql.hierarchies import Hierarchy
from privacy_sql.hierarchies.base import text_of
from privacy_sql.kernels.beliefs.kernel_prior import (
    Array,
)
from privacy_sql.query.template import Sql, names, render

if TYPE_CHECKING:
    from privacy_sql.counted.base import Base

SMALL = 1_000  # the most combinations times sensitive values for exact fractions


@dataclass(frozen=True)
class Studied:
    """A table as the adversary sees it: kinds of people, their values, and distances of values.

    A kind is a combination of quasi-identifiers, numbered as in `combinations`. Codes index the
    `resemblances` of each column, and `sensitive` is the index of a value in `values`.
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
    base: Base,
    targets: Sequence[Sequence[Any]] | None = None,
    in_fractions: bool = False,
    unknown: Collection[str] = (),
) -> Studied:
    """Read the counts and distances of a base; `targets` replace the kinds that occur.

    `in_fractions` gives exact results for small tables; `unknown` columns tell the adversary nothing.
    """
    refuse(base)
    quasi = names(alias for alias in base.aliases.values() if alias not in unknown)
    found = base.engine.arrays(
        render("counted/counts_by.sql", base=base.relation, columns=[*quasi, Sql("s")])
    )
    codes = _matrix(found, quasi)
    combinations = base.engine.create(render("beliefs/combinations.sql", base=base.relation, columns=quasi))
    by_code = [dictionary(base, column) for column in quasi]
    values = [[found.get(code) for code in range(max(found, default=0) + 1)] for found in by_code]
    if targets is None:
        kinds = _matrix(
            base.engine.arrays(render("beliefs/kinds.sql", combinations=combinations, columns=quasi)), quasi
        )
    else:
        kinds = _coded(targets, values, list(base.aliases))
        of_each = {str(column): kinds[:, i].tolist() for i, column in enumerate(quasi)}
        numbered = {"c": list(range(len(kinds))), **of_each, "n_rows": [0] * len(kinds)}
        typed = {name: ("bigint", numbers) for name, numbers in numbered.items()}
        combinations = base.engine.load(typed, "kinds")
    sensitive = dictionary(base, "s")
    exact = in_fractions and len(codes) * len(sensitive) <= SMALL and len(kinds) <= SMALL
    domains, distances = base.table.domains or {}, base.table.distances or {}
    alike = []
    for column, known in zip(quasi, values, strict=True):
        name, hierarchy = base.columns[str(column)]
        alike.append(resemblance(name, known, hierarchy, domains.get(name), distances.get(name), exact))
    return Studied(
        base,
        tuple(quasi),
        combinations,
        kinds,
        codes,
        np.searchsorted(list(sensitive), found["s"].astype(np.int64)),
        found["n_rows"].astype(np.int64),
        sensitive,
        tuple(alike),
        exact,
    )


def refuse(base: Base) -> None:
    """Refuse tables whose people do not have exactly one sensitive value."""
    if base.table.values_per_person != "one":
        raise UsageError(
            "several_values",
            "beliefs need one sensitive value per person",
            where=base.table.name,
            hint="Keep one row per person, or require privacy_skyline, which allows several values.",
        )
    if not base.table.sensitives:
        raise UsageError("no_sensitive", "beliefs need a sensitive column", hint="Name it.")
    if not base.rows:
        raise no_rows(base.table)


def _matrix(found: dict[str, NDArray[Any]], columns: Sequence[Sql]) -> Array:
    rows = len(found["n_rows"])
    return np.column_stack(
        [found[str(c)].astype(np.int64) for c in columns] or [np.zeros((rows, 0), np.int64)]
    )


def dictionary(base: Base, column: str) -> dict[int, Any]:
    """The values of the codes in an internal column; code 0 is NULL if NULL occurs."""
    rows = base.engine.fetch(render("beliefs/values.sql", dictionary=base.dictionaries[str(column)]))
    return {row["code"]: row["value"] for row in rows}


def _coded(targets: Sequence[Sequence[Any]], values: list[list[Any]], columns: list[str]) -> Array:
    """Targets as codes; a value that the table does not have gets a code above those that occur."""
    if any(len(target) != len(columns) for target in targets):
        raise UsageError("bad_target", f"a target needs one value for each of {', '.join(columns)}")
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


def sensitive_distances(study: Studied) -> Array | None:
    """The distances between the values of D[S]; None if the table declares none."""
    table = study.base.table
    name = table.sensitives[0]
    domain, matrix = (table.domains or {}).get(name), (table.distances or {}).get(name)
    if table.sensitive_hierarchy is None and matrix is None and domain is None:
        return None
    return _over_domain(study, table.sensitive_hierarchy, domain, matrix)


def given_distances(table: Studied, given: Hierarchy | Matrix) -> Array | None:
    """Distances between the values of D[S] from a hierarchy or a matrix in the call."""
    if isinstance(given, Hierarchy):
        return _over_domain(table, given)
    return _over_domain(table, matrix=given)


def _over_domain(
    study: Studied,
    hierarchy: Hierarchy | None = None,
    domain: object = None,
    matrix: Matrix | None = None,
) -> Array | None:
    """Distances between the values with beliefs, followed by values only in the hierarchy, list or matrix."""
    name, occur = study.base.table.sensitives[0], list(study.values.values())
    if matrix is not None:
        others, _ = read_matrix(matrix, occur, name)
    elif hierarchy is not None and (listed := list(hierarchy.leaves())):
        others = listed
    else:
        others = list(domain) if isinstance(domain, list | tuple) and not is_span(domain) else []
    seen = {text_of(value) for value in occur if value is not None}
    values = occur + [value for value in others if text_of(value) not in seen]
    if len(values) > max(WIDE, len(occur)):
        raise UsageError(
            "wide_domain",
            f"the domain of {name} has {len(values):,} values, too many to compare pair by pair",
            hint="Use distance=js, or remove values that cannot occur from the hierarchy.",
        )
    return resemblance(name, values, hierarchy, domain, matrix).distances
