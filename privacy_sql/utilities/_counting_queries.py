"""Counting queries asked of a base and of the choices that publish it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from privacy_sql.counted.base import Base
from privacy_sql.errors import UsageError
from privacy_sql.query.template import Sql, names, render
from privacy_sql.spaces.lattice import Choice
from privacy_sql.utilities import Held, Queries, Query
from privacy_sql.utilities.query_error import Some

Entry = TypeVar("Entry", bound=np.generic)
# of a table of queries and values, or of queries and counts: a million of either need little memory
MOST_CELLS = 2**19


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
        self._tables: dict[tuple[int, int], tuple[npt.NDArray[np.int64], ...]] = {}  # column, level
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
        self._true = self._true or self._true_in_memory(finest())
        return self._true, self._estimated_in_memory(held, choice)

    def _true_in_memory(self, finest: Held) -> dict[int, float]:
        """The true answers, to eight queries at a time.

        For each value of a column one byte says which of the eight queries ask for it. What the bytes of a
        row have in common are the queries that count it, so the rows are added up by this byte.
        """
        groups, answers = finest.groups, dict[int, float]()
        n = groups.n.astype(np.float64)
        counted_by = np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1).astype(np.float64)
        for batch in self._batches(max(map(len, self.values)), multiple=8):
            tables = {
                position: by_code(np.packbits(self._asked(batch, position), axis=0), self._arrays[position])
                for position in (*self._columns(batch), self._last)
            }
            for row, start in enumerate(range(0, len(batch), 8)):
                eight = batch[start : start + 8]
                common = np.full(len(groups), 255, np.uint8)
                for position in self._columns(eight):
                    common &= tables[position][row][finest.labels[position]]
                common = common[groups.of_each] & tables[self._last][row][groups.value]
                told = np.bincount(common, n, minlength=256) @ counted_by
                answers |= zip(eight, told.tolist(), strict=False)
        return answers

    def _estimated_in_memory(self, held: Held, choice: Choice) -> dict[int, float]:
        """The answers of a reader, who takes of each group the share of its labels that a query asks for."""
        groups, answers = held.groups, dict[int, float]()
        showing = groups.showing
        for batch in self._batches(max(len(groups.n), *map(len, self.values))):
            told = np.zeros((len(batch), len(groups)))
            if len(showing):
                wanted = by_code(self._asked(batch, self._last), self._arrays[self._last])[:, groups.value]
                told[:, showing] = np.add.reduceat(wanted * groups.n, groups.start[showing], axis=1)
            for position in self._columns(batch):
                asked: npt.NDArray[Any] = self._asked(batch, position)
                labels = self._arrays[position]
                if choice[position]:
                    order, labels, first, n_leaves = self._by_label(position, choice[position])
                    met = np.add.reduceat(asked[:, order], first, axis=1, dtype=np.int64)
                    asked = met / n_leaves
                told *= by_code(asked, labels)[:, held.labels[position]]
            answers |= zip(batch, told.sum(axis=1).tolist(), strict=True)
        return answers

    def _batches(self, cells: int, multiple: int = 1) -> Iterator[list[int]]:
        """As many queries at a time as fit into memory, those about the same columns one after the other."""
        alike = sorted(range(len(self.queries)), key=lambda number: sorted(self.queries[number]))
        size = max(1, MOST_CELLS // (max(1, cells) * multiple)) * multiple
        return (alike[start : start + size] for start in range(0, len(alike), size))

    def _columns(self, numbers: Sequence[int]) -> list[int]:
        """The quasi-identifiers that some queries ask about."""
        return sorted({column for number in numbers for column in self.queries[number]} - {self._last})

    def _asked(self, numbers: Sequence[int], position: int) -> npt.NDArray[np.uint8]:
        """For each query 1 for every value it asks for, which is all of a column it does not ask about."""
        domain = len(self.values[position])
        found = np.ones((len(numbers), domain), np.uint8)
        asking = [row for row, number in enumerate(numbers) if position in self.queries[number]]
        wanted = [self.queries[numbers[row]][position] for row in asking]
        bits = b"".join(
            its.bits if isinstance(its, Some) else Some.of(np.array([*its], np.int64), domain).bits
            for its in wanted
        )
        packed = np.frombuffer(bits, np.uint8).reshape(len(asking), -(-domain // 8))
        found[asking] = np.unpackbits(packed, axis=1, count=domain)
        return found

    @property
    def _last(self) -> int:
        """Where queries say which sensitive values they ask for."""
        return len(self.values) - 1

    @cached_property
    def _arrays(self) -> list[npt.NDArray[np.int64]]:
        return [np.array(codes, np.int64) for codes in self.values]

    def _by_label(self, position: int, level: int) -> tuple[npt.NDArray[np.int64], ...]:
        """A column's values in the order of their labels; every label, its first value and its leaves."""
        if (position, level) not in self._tables:
            at = self.base.domains[position].at[level]
            order = np.argsort(at, kind="stable")
            found = np.unique(at[order], return_index=True, return_counts=True)
            self._tables[position, level] = order, *found
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


def by_code(columns: npt.NDArray[Entry], codes: npt.NDArray[np.int64]) -> npt.NDArray[Entry]:
    """A table with a column for each code, those of codes that do not occur empty.

    >>> by_code(np.array([[1, 2]]), np.array([1, 3])).tolist()
    [[0, 1, 0, 2]]
    """
    table = np.zeros((len(columns), int(codes.max(initial=0)) + 1), columns.dtype)
    table[:, codes] = columns
    return table
