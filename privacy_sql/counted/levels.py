"""Hierarchies on an engine: the labels of a column's distinct values at every level."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from privacy_sql.engines import Engine
from privacy_sql.errors import DataError, PrivacySqlError, number_of, raise_all
from privacy_sql.hierarchies import Hierarchy
from privacy_sql.query.template import Query, Sql, render
from privacy_sql.table import Table

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt


def fitted(engine: Engine, table: Table, dictionaries: Mapping[str, Sql]) -> Table:
    """The table with bands for fractions, `[20, 25)`, if a column with whole bands has fractions."""
    written = {}
    for number, (column, kind) in enumerate(table.hierarchies.items(), start=1):
        if kind.of_whole_numbers:
            query = render(
                "counted/fractions.sql", dictionary=dictionaries[f"q{number}"], value=Sql("d.value")
            )
            (found,) = engine.fetch(query)
            if found["n_values"]:
                written[column] = kind.for_fractions()
    return replace(table, quasi={**table.hierarchies, **written}) if written else table


def labels(engine: Engine, dictionary: Sql, kind: Hierarchy) -> Sql:
    """A dictionary's values at every level of a hierarchy: (code, n_rows, l0..lH)."""
    return engine.create(labelled(engine, dictionary, kind))


def labelled(engine: Engine, dictionary: Sql, kind: Hierarchy) -> Query:
    """The query for them."""
    lookup = None
    by_level = list(zip(*kind.rows(), strict=True))
    if by_level:
        columns = {f"l{level}": ("varchar", list(column)) for level, column in enumerate(by_level)}
        lookup = engine.load(columns, "lookup")
    return render(
        "counted/levels.sql",
        dictionary=dictionary,
        height=kind.height,
        lookup=lookup,
        recipe=None if lookup else kind.recipe(),
        value=Sql("d.value"),
    )


@dataclass(frozen=True)
class ValueLabels:
    """The values of one column by index: their codes, their rows, and their label at every level."""

    code: npt.NDArray[np.int64]
    n_rows: npt.NDArray[np.int64]
    number: npt.NDArray[np.float64] | None  # NaN if a value is not a number; only for a numeric hierarchy
    at: tuple[npt.NDArray[np.int64], ...]  # per level the code of each value's label, the value itself first


def every_label(
    engine: Engine,
    table: str,
    columns: Mapping[str, tuple[str, Hierarchy]],
    dictionaries: Mapping[str, Sql],
    shown: Mapping[str, Sql],
    codes: Mapping[str, Sql],
) -> list[ValueLabels]:
    """The labels of several columns, from one statement; refuses uncovered values.

    `shown` has the labels of columns with a hierarchy, and `codes` their codes, if these exist already.
    """
    asked, highest = [], 0
    for column, (_, kind) in columns.items():
        plain = Sql(f"(select code, n_rows, value as l0 from {dictionaries[column]})")
        asked.append((shown.get(column, plain), codes.get(column), kind.height, kind.numeric))
        highest = max(highest, kind.height)
    query = render("counted/every_label.sql", columns=asked, highest=highest, value=Sql("v.l0"))
    return labels_from(engine, query, table, columns)


def labels_from(
    engine: Engine, query: Query, table: str, columns: Mapping[str, tuple[str, Hierarchy]]
) -> list[ValueLabels]:
    """The labels of several columns that a statement gives; refuses uncovered values."""
    import numpy as np

    found = {name: np.asarray(column) for name, column in engine.arrays(query).items()}
    order = np.lexsort((found["code"], found["position"]))
    found = {name: column[order] for name, column in found.items()}
    ends = np.searchsorted(found["position"], np.arange(len(columns) + 1))
    labels, problems = [], []
    for (name, kind), start, end in zip(columns.values(), ends[:-1], ends[1:], strict=True):
        its = {part: values[start:end] for part, values in found.items()}
        stray = its["is_mapped"] == 0
        problems += _unmapped(int(stray.sum()), int(its["n_rows"][stray].sum()), kind, table, name)
        number = np.where(its["is_number"] == 1, its["number"], np.nan) if kind.numeric else None
        at = tuple(its[f"c{level}"].astype(np.int64) for level in range(kind.height + 1))
        labels.append(ValueLabels(its["code"].astype(np.int64), its["n_rows"].astype(np.int64), number, at))
    raise_all(problems)
    return labels


def codes(engine: Engine, levels: Sql, kind: Hierarchy) -> Sql:
    """The same labels as small integers: (code, c0..cH)."""
    return engine.create(render("counted/level_codes.sql", levels=levels, height=kind.height))


def unmapped(engine: Engine, levels: Sql, kind: Hierarchy, table: str, column: str) -> list[PrivacySqlError]:
    """The error for values that a hierarchy does not cover: how many, never which."""
    (found,) = engine.fetch(render("counted/unmapped.sql", levels=levels, height=kind.height))
    return _unmapped(found["n_values"], found["n_rows"], kind, table, column)


def _unmapped(n_values: int, n_rows: int, kind: Hierarchy, table: str, column: str) -> list[PrivacySqlError]:
    if not n_values:
        return []
    return [
        DataError(
            "unmapped_value",
            f"the hierarchy of {column} does not cover {number_of(n_values, 'value')}"
            f" ({number_of(n_rows, 'row')})",
            where=f"{table}.{column}",
            hint=f"{kind.unmapped_hint} A project run lists them in target/private/unmapped.csv.",
        )
    ]
