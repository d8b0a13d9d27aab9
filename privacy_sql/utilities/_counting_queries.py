"""Counting queries asked of a base and of the choices that publish it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property

import numpy as np
import numpy.typing as npt

from privacy_sql.counted.base import Base
from privacy_sql.counted.groups import MOST_BITS, Combinations
from privacy_sql.errors import UsageError
from privacy_sql.query.template import Sql, names, render
from privacy_sql.spaces.lattice import Choice
from privacy_sql.utilities import Held, Queries, Query
from privacy_sql.utilities.query_error import Some

Shares = npt.NDArray[np.float64]
# so many queries about the same columns are answered faster from the counts of these columns alone
WORTH_GROUPING = 6


class Answers:
    """The answers to one set of random queries: the true ones, and estimates from what a choice shows."""

    def __init__(self, base: Base, utility: Queries) -> None:
        if not base.table.sensitives:
            raise UsageError(
                "no_sensitive",
                "query_error asks about a sensitive value, and no column is sensitive",
                where=base.table.name,
            )
        self.base, self.utility = base, utility
        self._shares: dict[tuple[str, int], Sql] = {}
        self._tables: dict[tuple[int, int], tuple[npt.NDArray[np.int64], Shares]] = {}  # column, level
        self._true: dict[int, float] = {}

    @cached_property
    def values(self) -> list[list[int]]:
        """The codes of every quasi-identifier and of the sensitive value, in order."""
        columns = zip(self.base.columns.values(), self.base.labels, self.base.domains, strict=True)
        quasi = [domain if kind.height else labels for (_, kind), labels, domain in columns]
        rows = self.base.engine.fetch(
            render("counted/listed.sql", relation=self.base.dictionaries["s"], columns=names(["code"]))
        )
        return [*(labels.code.tolist() for labels in quasi), sorted(row["code"] for row in rows)]

    @cached_property
    def queries(self) -> list[Query]:
        """The queries, which ask for places in `values`."""
        return self.utility.queries([len(codes) for codes in self.values])

    @cached_property
    def actual(self) -> dict[int, float]:
        """The true answers; a query nobody answers to is missing."""
        bottom = (0,) * len(self.base.columns)
        return self._answers(self.base.relation, dict(zip(self.base.columns, bottom, strict=True)), "q")

    def in_memory(
        self, held: Held, finest: Callable[[], Held], choice: Choice
    ) -> tuple[dict[int, float], dict[int, float]]:
        """True answers and estimates from groups in memory; the finest choice of all tells the true ones."""
        asked = [(held, choice), *([] if self._true else [(finest(), (0,) * len(choice))])]
        estimated, *true = self._answered(asked)
        self._true = true[0] if true else self._true
        return self._true, estimated

    def _answered(self, asked: Sequence[tuple[Held, Choice]]) -> list[dict[int, float]]:
        """The answers to each query by some choices: all counts by the share of their labels it asks for."""
        last = len(self.values) - 1
        columns = [
            [*(codes[held.groups.of_each] for codes in held.labels), held.groups.value] for held, _ in asked
        ]
        alike: dict[tuple[int, ...], list[int]] = {}
        for number, query in enumerate(self.queries):
            alike.setdefault(tuple(sorted(query.keys() - {last})), []).append(number)
        answers: list[dict[int, float]] = [{} for _ in asked]
        for positions, numbers in alike.items():
            counts = []
            for (held, _), each in zip(asked, columns, strict=True):
                told, n = [each[position] for position in (*positions, last)], held.groups.n
                counts.append(grouped(told, n) if len(numbers) >= WORTH_GROUPING else (told, n))
            for number in numbers:
                # of one query only: those of all would be as many as all values
                codes = {
                    column: self._arrays[column][
                        wanted.chosen
                        if isinstance(wanted, Some)
                        else np.fromiter(wanted, np.int64, len(wanted))
                    ]
                    for column, wanted in self.queries[number].items()
                }
                for (_, choice), (told, n), found in zip(asked, counts, answers, strict=True):
                    found[number] = self._one(codes, told, n, positions, choice)
        return answers

    def _one(
        self,
        query: Mapping[int, npt.NDArray[np.int64]],
        columns: Sequence[npt.NDArray[np.int64]],
        n: npt.NDArray[np.int64],
        positions: Sequence[int],
        choice: Choice,
    ) -> float:
        """The answer to one query, from the columns it asks about and the sensitive value behind them."""
        *labels, value = columns
        wanted = np.zeros(self.values[-1][-1] + 1, np.bool_)
        wanted[query[len(self.values) - 1]] = True
        places = np.flatnonzero(wanted[value])
        told = n[places].astype(np.float64)
        for position, codes in zip(positions, labels, strict=True):
            label_of, leaves = self._labels_in_memory(position, choice[position])
            met = np.bincount(label_of[query[position]], minlength=len(leaves)) / leaves
            share = met[codes[places]]
            meets = share > 0
            places, told = places[meets], told[meets] * share[meets]
        return float(told.sum())

    @cached_property
    def _arrays(self) -> list[npt.NDArray[np.int64]]:
        return [np.array(codes, np.int64) for codes in self.values]

    def _labels_in_memory(self, position: int, level: int) -> tuple[npt.NDArray[np.int64], Shares]:
        """The label of every raw value at a level, and how many leaves each label has; both by code."""
        if (position, level) not in self._tables:
            labels = self.base.domains[position]
            n_codes = self.base.statistics[list(self.base.columns)[position]]["top"] + 1
            label_of = np.zeros(n_codes, np.int64)
            label_of[labels.code] = labels.at[level]
            leaves = np.maximum(np.bincount(labels.at[level], minlength=n_codes), 1).astype(np.float64)
            self._tables[position, level] = label_of, leaves
        return self._tables[position, level]

    def estimated(self, histogram: Sql, choice: Choice) -> dict[int, float]:
        """The answers a reader gets from published counts."""
        return self._answers(histogram, dict(zip(self.base.columns, choice, strict=True)), "k")

    def _answers(self, counted: Sql, levels: Mapping[str, int], prefix: str) -> dict[int, float]:
        aliases = names(f"{prefix}{number}" for number, _ in enumerate(levels, start=1))
        shown = list(zip(aliases, levels.items(), strict=True))
        answers: dict[int, float] = {}
        for asked, wanted in self._wanted.items():
            shares = [(shown[place][0], self._share(*shown[place][1])) for place in sorted(asked)]
            query = render("utilities/query_error.sql", counted=counted, shares=shares, wanted=wanted)
            answers |= {row["query"]: row["answer"] for row in self.base.engine.fetch(query)}
        return answers

    @cached_property
    def _wanted(self) -> dict[frozenset[int], Sql]:
        """The sensitive values queries ask for, by the columns they ask about; the others are summed up."""
        codes, last = self.values[-1], len(self.values) - 1
        rows: dict[frozenset[int], list[tuple[int, int]]] = {}
        for number, query in enumerate(self.queries):
            asked = [(number, codes[place]) for place in query[last]]
            rows.setdefault(frozenset(query) - {last}, []).extend(asked)
        loaded = {}
        for columns, found in rows.items():
            queries, wanted = [q for q, _ in found], [code for _, code in found]
            relation = {"query": ("bigint", queries), "code": ("bigint", wanted)}
            loaded[columns] = self.base.engine.load(relation, "wanted")
        return loaded

    def _share(self, column: str, level: int) -> Sql:
        """For every query about a column and every label the share of its leaves that is asked for."""
        if (column, level) not in self._shares:
            position = list(self.base.columns).index(column)
            # the label of every raw value at a level
            labels, codes = self.base.domains[position], self.values[position]
            label_of = dict(zip(labels.code.tolist(), labels.at[level].tolist(), strict=True))
            leaves = Counter(label_of.values())
            shares = [
                (number, label, n / leaves[label])
                for number, query in enumerate(self.queries)
                if position in query
                # how many leaves of each label a query asks for; each value is looked at once
                for label, n in Counter(label_of[codes[place]] for place in query[position]).items()
            ]
            kinds = {"query": "bigint", "code": "bigint", "share": "double"}
            self._shares[column, level] = self.base.engine.load(
                {name: (kind, [row[n] for row in shares]) for n, (name, kind) in enumerate(kinds.items())},
                "share",
            )
        return self._shares[column, level]


def grouped(
    columns: Sequence[npt.NDArray[np.int64]], n: npt.NDArray[np.int64]
) -> tuple[list[npt.NDArray[np.int64]], npt.NDArray[np.int64]]:
    """Equal rows counted together; the same rows where they are too wide to be packed."""
    widths = [int(column.max(initial=0)).bit_length() for column in columns]
    if sum(widths) > MOST_BITS:
        return list(columns), n
    keys = np.zeros(len(n), np.int64)
    for column, width in zip(columns, widths, strict=True):
        keys = (keys << width) | column
    found = Combinations.added_up(keys, n)
    shifts = [sum(widths[place + 1 :]) for place, _ in enumerate(widths)]
    told = [(found.keys >> shift) & ((1 << width) - 1) for shift, width in zip(shifts, widths, strict=True)]
    return told, found.n
