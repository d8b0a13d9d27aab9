"""What each choice of a lattice costs under a utility, from its labels if they are enough, or its groups."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import log, prod
from typing import Any, ClassVar, Protocol, TypeAlias, TypeVar

import numpy as np

from privacy_sql.counted.base import Base
from privacy_sql.counted.grouping import Grouping
from privacy_sql.counted.groups import sum_of_logs
from privacy_sql.counted.levels import ValueLabels
from privacy_sql.criteria import Criterion
from privacy_sql.hierarchies.base import text_of
from privacy_sql.judge import failing
from privacy_sql.lattice.in_memory import GroupMask, GroupsInMemory
from privacy_sql.query.template import Query, Sql, names, render
from privacy_sql.spaces.lattice import Choice
from privacy_sql.utilities import (
    Additive,
    Answered,
    Held,
    Label,
    MeasuredColumn,
    Published,
    Queries,
    Row,
    Utility,
)
from privacy_sql.utilities._counting_queries import Answers

Gone = TypeVar("Gone")


class SeenGroups(Protocol[Gone]):
    """The groups of a choice, as relations or in memory; some of them are named as `failing` returns them."""

    @property
    def grouping(self) -> Grouping | None: ...

    @property
    def in_memory(self) -> GroupsInMemory | None: ...

    @property
    def people(self) -> np.ndarray[Any, Any]: ...

    def failing(self, criteria: Sequence[Criterion]) -> Gone: ...

    def without(self, gone: Gone) -> SeenGroups[Gone]: ...

    def labels(self, position: int) -> np.ndarray[Any, Any]: ...

    def people_in(self, gone: Gone) -> int: ...

    def rows_in(self, gone: Gone) -> int: ...

    def lines_in(self, gone: Gone) -> int: ...

    def among(self, gone: Gone) -> np.ndarray[Any, Any]: ...


AnySeen: TypeAlias = SeenGroups[Any]  # for both ways of holding them


class GroupsInSql:
    """A grouping and the answers about its groups, each computed once."""

    in_memory: ClassVar[None] = None

    def __init__(self, grouping: Grouping) -> None:
        self.grouping = grouping
        self._failing: dict[str, frozenset[int]] = {}

    def failing(self, criteria: Sequence[Criterion]) -> frozenset[int]:
        """The groups that break a requirement on their own."""
        for criterion in criteria:
            if str(criterion) not in self._failing:
                self._failing[str(criterion)] = frozenset(failing(self.grouping, criterion))
        return frozenset().union(*(self._failing[str(criterion)] for criterion in criteria))

    def without(self, gone: frozenset[int]) -> GroupsInSql:
        """The groups that stay."""
        return GroupsInSql(self.grouping.without(gone))

    @cached_property
    def groups(self) -> dict[str, np.ndarray[Any, Any]]:
        """The groups with their keys and people: g, k1.., n_people."""
        return self._counted(self.grouping.members)

    @property
    def people(self) -> np.ndarray[Any, Any]:
        """The people of each group."""
        return self.groups["n_people"]

    def labels(self, position: int) -> np.ndarray[Any, Any]:
        """The label of one column in each group, as codes."""
        return self.groups[f"k{position + 1}"]

    def people_in(self, gone: frozenset[int]) -> int:
        """How many people are in some groups."""
        return int(self.people[self.among(gone)].sum()) if gone else 0

    def rows_in(self, gone: frozenset[int]) -> int:
        """How many rows are in some groups when a person may have several."""
        if not gone:
            return 0
        rows = self._counted(self.grouping.candidate)
        return int(rows["n_people"][_among(rows["g"], gone)].sum())

    def lines_in(self, gone: frozenset[int]) -> int:
        """How many lines some groups have: one for each value, and one for each person without any."""
        if not gone:
            return 0
        query = render("counted/listed.sql", relation=self.grouping.holders, columns=names(["g", "n_rows"]))
        found = self.grouping.base.engine.arrays(query)
        holders = int(found["n_rows"][_among(found["g"], gone)].sum())
        return self.rows_in(gone) + self.people_in(gone) - holders

    def among(self, gone: frozenset[int]) -> np.ndarray[Any, Any]:
        """Whether each group is one of these."""
        return _among(self.groups["g"], gone)

    def _counted(self, members: Sql) -> dict[str, np.ndarray[Any, Any]]:
        aliases = names(f"k{number}" for number, _ in enumerate(self.grouping.keys, start=1))
        query = render("lattice/people_by_group.sql", members=members, aliases=aliases)
        return dict(self.grouping.base.engine.arrays(query))


def _among(groups: np.ndarray[Any, Any], gone: frozenset[int]) -> np.ndarray[Any, Any]:
    return np.isin(groups, np.fromiter(gone, np.int64, len(gone)))


@dataclass(frozen=True)
class Shown:
    """What a choice publishes: its groups, without those that are suppressed."""

    choice: Choice
    seen: AnySeen
    gone: frozenset[int] | GroupMask = frozenset()  # some of its groups
    n_before: int = 0  # people whom the groups seen leave out already

    @cached_property
    def n_suppressed(self) -> int:
        """The people who are left out."""
        return int(self.n_before + self.seen.people_in(self.gone))

    @cached_property
    def n_rows_suppressed(self) -> int:
        """The rows that are left out, of which a person may have several."""
        return int(self.n_before + self.seen.rows_in(self.gone))

    @cached_property
    def left(self) -> AnySeen:
        """The groups that stay."""
        return self.seen.without(self.gone) if self.gone else self.seen

    @property
    def grouping(self) -> Grouping:
        """The same as relations, where they are."""
        assert self.left.grouping is not None
        return self.left.grouping

    @property
    def in_memory(self) -> GroupsInMemory | None:
        """The same where they are in memory."""
        return self.left.in_memory


DICTIONARY = ("code", "value")


class Costs:
    """Utilities of the choices of one base; facts about labels are counted once."""

    def __init__(self, base: Base, k: int | None = None, weights: Sequence[Fraction] | None = None) -> None:
        self.base = base
        self.k = k  # the largest k that is required
        # of each column in the mean; None: every column weighs the same, and steps are added up
        self.weights = weights
        self._loaded: dict[tuple[int, int], Sql] = {}
        self._covered: dict[tuple[int, int], np.ndarray[Any, Any]] = {}
        self._asked: Answers | None = None

    @cached_property
    def labels(self) -> list[list[dict[int, Label]]]:
        """Per column and level the labels by code."""
        return [
            [_labels_at(labels, level, listed) for level, listed in enumerate(self._listed(position))]
            for position, labels in enumerate(self.base.labels)
        ]

    def _listed(self, position: int) -> Sequence[Mapping[int, int] | None]:
        """For each level, how many declared values are below each label, by code; None without a list.

        Iyengar 2002, Sec. 3.3, and Xu et al. 2006, Def. 2, count the leaves of a public taxonomy; without a
        declared domain the values of the table are counted.
        """
        column, (name, kind) = list(self.base.columns.items())[position]
        codes, at = self.base.labels[position].code, self.base.labels[position].at
        declared = (self.base.table.domains or {}).get(name)
        if not isinstance(declared, (list, tuple)):
            return [None] * len(at)
        relation = self.base.dictionaries[column]
        query = render("counted/listed.sql", relation=relation, columns=names(DICTIONARY))
        found = self.base.engine.arrays(query)
        values = dict(zip(found["code"].tolist(), found["value"].tolist(), strict=True))
        # a value that occurs belongs to the domain even if it was not declared; so does a missing one
        domain = {*map(text_of, declared), *(text_of(v) for v in values.values() if v is not None)}
        missing = sum(values[code] is None for code in codes.tolist())
        listed = []
        for level, labels in enumerate(at):
            below = Counter(str(kind.label(leaf, level)) for leaf in domain)
            shown = {label: values[code] for label, code in zip(labels.tolist(), codes.tolist(), strict=True)}
            listed.append(
                {
                    label: 1 if value is None else below[str(kind.label(text_of(value), level))]
                    for label, value in shown.items()
                }
            )
        listed[-1] = {label: len(domain) + missing for label in listed[-1]} if kind.height else listed[-1]
        return listed

    @cached_property
    def n_people(self) -> int:
        """The people of the source."""
        return self.columns[0].whole.n_rows

    @cached_property
    def columns(self) -> list[MeasuredColumn]:
        """Every quasi-identifier with one label that covers all of it."""
        found = []
        for levels in self.labels:
            height, n_leaves, n_rows, weight = len(levels) - 1, 0, 0, 0.0
            numbers: list[float] = []
            for label in levels[0].values():
                n_rows += label.n_rows
                weight += label.n_rows * log(label.n_rows) if label.n_rows else 0
                numbers += [n for n in (label.low, label.high) if n is not None]
            # the highest level shows one label, or one for each value if the column has no hierarchy
            for label in levels[-1].values():
                n_leaves += label.n_leaves
            low, high = (min(numbers), max(numbers)) if numbers else (None, None)
            whole = Label(height, n_leaves, n_rows, _bits(n_rows, weight), low, high)
            found.append(MeasuredColumn(height, whole))
        return found

    def parts(self, utility: Additive, *, least: bool = False) -> list[list[float]]:
        """What each level of each column adds to the cost without suppression.

        `least`: a lower bound that holds whatever rows are suppressed.
        """
        weights, total = self._weights(utility)
        return [
            [weight * self._part(utility, column, list(level.values()), least) / total for level in levels]
            for column, levels, weight in zip(self.columns, self.labels, weights, strict=True)
        ]

    def _weights(self, utility: Additive) -> tuple[Sequence[float], float]:
        """How much each column counts, and what the sum over the columns is divided by."""
        if self.weights is not None:
            return list(map(float, self.weights)), float(sum(self.weights))
        return [1.0] * len(self.columns), 1.0 if utility.of_levels else float(len(self.columns))

    def _part(self, utility: Additive, column: MeasuredColumn, labels: list[Label], least: bool) -> float:
        part = utility.part(column, [(label, label.n_rows) for label in labels], self.n_people)
        if not least or utility.of_levels:
            return part
        above = [max(0.0, utility.penalty(label, column) - utility.suppressed(column)) for label in labels]
        saved = sum(label.n_rows * more for label, more in zip(labels, above, strict=True))
        return part - saved / self.n_people

    def spared(self, utility: Additive) -> list[list[float]]:
        """A lower bound of what suppressing one value of each level costs, compared with publishing it."""
        weights, total = self._weights(utility)
        return [
            [
                weight
                * (
                    utility.suppressed(column)
                    - max(utility.penalty(label, column) for label in level.values())
                )
                / total
                for level in levels
            ]
            for column, levels, weight in zip(self.columns, self.labels, weights, strict=True)
        ]

    def cost(self, utility: Utility, shown: Shown) -> float:
        """The cost of what is published; a suppressed row costs as much as any row can."""
        return utility.measure(Priced(self, shown))

    def answers(self, utility: Queries, shown: Shown) -> Answered:
        """The true answers to the queries of a utility, and the answers of a reader of the release."""
        if self._asked is None or type(self._asked.utility) is not type(utility):
            self._asked = Answers(self.base, utility)
        if (held := shown.in_memory) is None:
            return self._asked.actual, self._asked.estimated(shown.grouping.candidate, shown.choice)
        counts, bottom = held.counts, (0,) * len(shown.choice)

        def finest() -> Held:
            seen = GroupsInMemory(counts, counts.groups(bottom))
            return self.held(seen, Shown(bottom, seen))

        return self._asked.in_memory(self.held(held, shown), finest, shown.choice)

    def held(self, seen: GroupsInMemory, shown: Shown) -> Held:
        """What a choice publishes, for utilities measured in memory."""
        labels = [seen.labels(position) for position, _ in enumerate(self.base.columns)]
        leaves = np.ones(len(seen.of))
        for position, (level, codes) in enumerate(zip(shown.choice, labels, strict=True)):
            if level:
                leaves *= self._leaves_of(position, level)[codes]
        n = seen.counts.n_of_source
        source = int(n.sum()), sum_of_logs(n)
        return Held(seen.of, leaves, source, self.published(shown).everywhere, labels)

    def _leaves_of(self, position: int, level: int) -> np.ndarray[Any, Any]:
        """How many raw values each label of a level covers, by its code."""
        if (position, level) not in self._covered:
            codes = self.base.labels[position].at[level]
            self._covered[position, level] = np.bincount(codes).astype(np.float64)
        return self._covered[position, level]

    def published(self, shown: Shown) -> Published:
        """How much of the source a choice publishes, and how many combinations are possible."""
        values = self.base.statistics["s"]["n_values"] if self.base.table.sensitives else 1
        combinations = float(prod(len(labels.code) for labels in self.base.labels))
        return Published(self.n_people, shown.n_suppressed, combinations, values, self.k)

    def published_labels(self, shown: Shown) -> list[tuple[MeasuredColumn, list[tuple[Label, int]]]]:
        """For each column its published labels, each with its rows."""
        found = [
            (column, levels[level])
            for column, levels, level in zip(self.columns, self.labels, shown.choice, strict=True)
        ]
        if not shown.n_suppressed:
            return [(column, [(label, label.n_rows) for label in level.values()]) for column, level in found]
        kept = ~shown.seen.among(shown.gone)
        people = shown.seen.people[kept]
        published = []
        for position, (column, level) in enumerate(found):
            totals = np.bincount(shown.seen.labels(position)[kept], weights=people)
            published.append(
                (column, [(level[code], int(totals[code])) for code in np.flatnonzero(totals).tolist()])
            )
        return published

    @property
    def _aliases(self) -> list[Sql]:
        return names(f"k{number}" for number, _ in enumerate(self.base.columns, start=1))

    def asked(self, template: str, shown: Shown) -> Query:
        """Run the statement of a utility on what a choice publishes."""
        context = {
            "published": shown.grouping.members,
            "histogram": shown.grouping.candidate,
            "aliases": self._aliases,
            "base": self.base.relation,
            "sensitive": bool(self.base.table.sensitives),
            "everywhere": repr(self.published(shown).everywhere),
            "leaves": [
                (alias, self._leaves(position, level))
                for position, (alias, level) in enumerate(zip(self._aliases, shown.choice, strict=True))
                if level
            ],
        }
        return render(f"utilities/{template}.sql", **context)

    def _leaves(self, position: int, level: int) -> Sql:
        if (position, level) not in self._loaded:
            codes = list(self.labels[position][level])
            leaves = self._leaves_of(position, level)[codes].astype(np.int64).tolist()
            columns = {"code": ("bigint", codes), "n_leaves": ("bigint", leaves)}
            self._loaded[position, level] = self.base.engine.load(columns, "leaves")
        return self._loaded[position, level]


@dataclass(frozen=True)
class Priced:
    """What a choice publishes, in the form that utilities read."""

    costs: Costs
    choice: Shown

    @property
    def counts(self) -> Published:
        return self.costs.published(self.choice)

    @property
    def labels(self) -> Sequence[tuple[MeasuredColumn, Sequence[tuple[Label, int]]]]:
        return self.costs.published_labels(self.choice)

    @property
    def weights(self) -> Sequence[float] | None:
        weights = self.costs.weights
        return None if weights is None else list(map(float, weights))

    @property
    def held(self) -> Held | None:
        seen = self.choice.in_memory
        return None if seen is None else self.costs.held(seen, self.choice)

    def rows(self, template: str) -> Sequence[Row]:
        return self.costs.base.engine.fetch(self.costs.asked(template, self.choice))

    def columns(self, template: str) -> Mapping[str, np.ndarray[Any, Any]]:
        return self.costs.base.engine.arrays(self.costs.asked(template, self.choice))

    def answers(self, asked: Queries) -> Answered:
        return self.costs.answers(asked, self.choice)


def _bits(n_rows: int, weight: float) -> float:
    """The entropy below a label in bits, from its rows and the sum of n ln n over its raw values."""
    return max(0.0, log(n_rows) - weight / n_rows) / log(2) if n_rows else 0.0


def _labels_at(labels: ValueLabels, level: int, listed: Mapping[int, int] | None) -> dict[int, Label]:
    """The labels of a level by code, counted over the values they cover; `listed` has their leaves."""
    codes, place = np.unique(labels.at[level], return_inverse=True)
    n_leaves = np.bincount(place, minlength=len(codes))
    n_rows = np.bincount(place, labels.n_rows, minlength=len(codes))
    weights = np.bincount(place, labels.n_rows * np.log(np.maximum(labels.n_rows, 1)), minlength=len(codes))
    lows: list[float | None] = [None] * len(codes)
    highs: list[float | None] = [None] * len(codes)
    if labels.number is not None:
        # the ends of the numbers behind each label; None where no value is a number
        length = len(codes)
        least, largest = np.full(length, np.inf), np.full(length, -np.inf)
        told = ~np.isnan(labels.number)
        np.minimum.at(least, place[told], labels.number[told])
        np.maximum.at(largest, place[told], labels.number[told])
        found = np.isfinite(least)
        lows, highs = [
            [float(n) if has else None for n, has in zip(ends, found, strict=True)]
            for ends in (least, largest)
        ]
    leaves = n_leaves.tolist() if listed is None else [listed[code] for code in codes.tolist()]
    columns = (codes.tolist(), leaves, n_rows.tolist(), weights.tolist(), lows, highs)
    return {
        code: Label(level, leaves, int(rows), _bits(int(rows), weight), low, high)
        for code, leaves, rows, weight, low, high in zip(*columns, strict=True)
    }
