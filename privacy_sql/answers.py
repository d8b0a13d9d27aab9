"""Counting queries asked of a base and of the choices that publish it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from functools import cached_property

from privacy_sql.base import Base
from privacy_sql.errors import UsageError
from privacy_sql.query import Sql, names, render
from privacy_sql.spaces.lattice import Choice
from privacy_sql.utilities.query_error import Query, QueryError, overlap


class Answers:
    """The answers to one set of random queries: the true ones, and estimates from what a choice shows."""

    def __init__(self, base: Base, utility: QueryError) -> None:
        if not base.table.sensitives:
            raise UsageError(
                "no_sensitive",
                "query_error asks about a sensitive value, and no column is sensitive",
                where=base.table.name,
            )
        self.base, self.utility = base, utility
        self._shares: dict[tuple[str, int], Sql] = {}

    @cached_property
    def values(self) -> list[list[int]]:
        """The codes of every quasi-identifier and of the sensitive value, in order."""
        dictionaries = [self.base.dictionaries[column] for column in [*self.base.columns, "s"]]
        return [self._codes(dictionary) for dictionary in dictionaries]

    @cached_property
    def queries(self) -> list[Query]:
        """The queries, which ask for places in `values`."""
        return self.utility.queries([len(codes) for codes in self.values])

    @cached_property
    def actual(self) -> dict[int, float]:
        """The true answers; a query nobody answers to is missing."""
        bottom = (0,) * len(self.base.columns)
        return self._answers(self.base.relation, dict(zip(self.base.columns, bottom, strict=True)), "q")

    def error(self, histogram: Sql, choice: Choice) -> float:
        """The mean relative error when the queries are answered from published counts."""
        return self.utility.value(self.actual, self.estimated(histogram, choice))

    def estimated(self, histogram: Sql, choice: Choice) -> dict[int, float]:
        """The answers a reader gets from published counts."""
        return self._answers(histogram, dict(zip(self.base.columns, choice, strict=True)), "k")

    def _answers(self, counted: Sql, levels: Mapping[str, int], prefix: str) -> dict[int, float]:
        aliases = names(f"{prefix}{number}" for number, _ in enumerate(levels, start=1))
        shares = [
            (alias, self._share(column, level))
            for alias, (column, level) in zip(aliases, levels.items(), strict=True)
        ]
        query = render("utilities/query_error.sql", counted=counted, shares=shares, wanted=self._wanted)
        return {row["query"]: row["answer"] for row in self.base.engine.fetch(query)}

    @cached_property
    def _wanted(self) -> Sql:
        """The sensitive values every query asks for."""
        codes, last = self.values[-1], len(self.values) - 1
        rows = [(number, codes[place]) for number, query in enumerate(self.queries) for place in query[last]]
        columns = zip(*rows, strict=True)
        return self.base.engine.load(
            {name: ("bigint", list(column)) for name, column in zip(("query", "code"), columns, strict=True)},
            "wanted",
        )

    def _share(self, column: str, level: int) -> Sql:
        """For every query and label the share of the label's leaves that is asked for, where any is."""
        if (column, level) not in self._shares:
            position = list(self.base.columns).index(column)
            below = self._leaves(column, level)
            rows = [
                (number, code, overlap(leaves, self._asked(query, position)))
                for number, query in enumerate(self.queries)
                for code, leaves in below.items()
            ]
            kept = [row for row in rows if row[2] > 0]
            kinds = {"query": "bigint", "code": "bigint", "share": "double"}
            self._shares[column, level] = self.base.engine.load(
                {name: (kind, [row[n] for row in kept]) for n, (name, kind) in enumerate(kinds.items())},
                "share",
            )
        return self._shares[column, level]

    def _asked(self, query: Query, position: int) -> list[int]:
        codes = self.values[position]
        return [codes[place] for place in query[position]] if position in query else codes

    def _leaves(self, column: str, level: int) -> dict[int, list[int]]:
        codes = self.base.level_codes.get(column, self.base.dictionaries[column])
        at = level if column in self.base.level_codes else None
        below: dict[int, list[int]] = {}
        for row in self.base.engine.fetch(render("utilities/raw_codes.sql", codes=codes, level=at)):
            below.setdefault(row["label"], []).append(row["code"])
        return below

    def _codes(self, dictionary: Sql) -> list[int]:
        rows = self.base.engine.fetch(render("utilities/raw_codes.sql", codes=dictionary, level=None))
        return sorted(Counter(row["code"] for row in rows))
