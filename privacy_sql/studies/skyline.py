"""Breach probabilities and knowledge skylines of a table, for one sensitive value or all (chen2008)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, cast

from privacy_sql.base import Base, count
from privacy_sql.criteria._skyline_points import limit_of, points_of
from privacy_sql.engines import Engine
from privacy_sql.errors import DataError, UsageError
from privacy_sql.grouping import Grouping
from privacy_sql.kernels import skyline as kernel
from privacy_sql.kernels.skyline_find import Point
from privacy_sql.kernels.skyline_find import find_skyline as edge
from privacy_sql.kernels.skyline_groups import Histograms
from privacy_sql.query import render


def breach_probability(engine: Engine, table: Any, *, value: Any, l: int, k: int, m: int) -> Fraction | float:  # noqa: E741
    """How sure somebody can be that a person has `value`, who knows at most l, k and m of the three kinds.

    chen2008, Sec. 6.1: l values tied to the target, k other people, m members of the target's family; what
    that means for people with several values is in Def. 2. A value that does not occur has 0.

    >>> import pandas as pd
    >>> import privacy_sql as ps
    >>> rows = pd.DataFrame({"age": ["3*"] * 5, "disease": ["AIDS", "flu", "flu", "flu", "flu"]})
    >>> with ps.connect() as engine:
    ...     print(
    ...         ps.breach_probability(engine, ps.Table(rows, ["age"], "disease"), value="AIDS", l=0, k=3, m=0)
    ...     )
    1/2
    """
    amounts = points_of([[l, k, m, 1]], "breach_probability")[0][0]
    asked = Skylines.of_table(engine, table)
    groups = asked.tables.about(asked.code(value), amounts.ruled_out, asked.case)
    return kernel.breach_probability(groups, amounts, asked.case)


def find_skyline(engine: Engine, table: Any, *, value: Any, limit: Any) -> list[Point]:
    """All maximal amounts (l, k, m) under which nobody can be as sure as `limit` that a person has `value`.

    chen2008, Def. 5 and Fig. 5. None is without bound; no point at all: unsafe without any knowledge.

    >>> import pandas as pd
    >>> import privacy_sql as ps
    >>> rows = pd.DataFrame({"age": ["3*"] * 5, "disease": ["AIDS", "flu", "flu", "flu", "flu"]})
    >>> with ps.connect() as engine:
    ...     print(ps.find_skyline(engine, ps.Table(rows, ["age"], "disease"), value="AIDS", limit="0.5"))
    [(0, 0, 2), (0, 1, 1), (0, 2, 0)]
    """
    allowed = limit_of(limit, "find_skyline")
    asked = Skylines.of_table(engine, table)
    return edge(asked.tables, asked.code(value), allowed, asked.case)


@dataclass(frozen=True)
class Skylines:
    """The counts of all groups of one table, and its sensitive values by code."""

    base: Base
    tables: Histograms

    @classmethod
    def of_table(cls, engine: Engine, table: Any) -> Skylines:
        base = count(engine, table)
        return cls.of(base.grouped(base.own_keys()))

    @classmethod
    def of(cls, grouping: Grouping) -> Skylines:
        base = grouping.base
        if not base.table.sensitives:
            raise UsageError("no_sensitive", "a skyline needs a sensitive column", where=base.table.name)
        if not base.rows:
            raise DataError(
                "empty_table", f"{base.table.name} has no rows", hint="There is nothing to disclose."
            )
        query = render("studies/group_counts.sql", groups=grouping.groups, histogram=grouping.histogram)
        tables, _ = Histograms.from_columns(base.engine.arrays(query))
        return cls(base, tables)

    @property
    def case(self) -> kernel.ValuesPerPerson:
        return cast(kernel.ValuesPerPerson, self.base.table.values_per_person)

    def code(self, value: Any) -> int:
        """The code of a sensitive value; -1 when it does not occur."""
        named: dict[str, tuple[str, list[Any]]] = {
            "position": ("bigint", [0]),
            "name": ("varchar", [str(value)]),
        }
        query = render(
            "studies/named_values.sql",
            values=self.base.dictionaries["s"],
            named=self.base.engine.load(named, "named"),
        )
        return next((int(row["code"]) for row in self.base.engine.fetch(query)), -1)

    def values(self) -> dict[int, Any]:
        """Every sensitive value that occurs, by code. Names of values: for those who may see the data."""
        rows = self.base.engine.fetch(render("studies/value_names.sql", values=self.base.dictionaries["s"]))
        return {row["code"]: row["value"] for row in rows}

    def all(self, limit: Fraction) -> Iterator[tuple[int, list[Point]]]:
        """The skyline of every sensitive value at one limit."""
        for code in self.tables.values:
            yield code, edge(self.tables, code, limit, self.case)
